package traffic

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"strconv"
	"sync"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// Frames of HTTP/2 (RFC 9113, section 6).
const (
	frameData = iota
	frameHeaders
	_
	frameReset
	frameSettings
	_
	framePing
	_
	_
	frameContinuation

	endStream, endHeaders, padded, priority = 1, 4, 8, 32
)

func appendFrame(b []byte, kind, flags byte, stream int64, payload ...byte) []byte {
	b = append(b, byte(len(payload)>>16), byte(len(payload)>>8), byte(len(payload)), kind, flags)
	b = binary.BigEndian.AppendUint32(b, uint32(stream)&0x7fffffff)
	return append(b, payload...)
}

// requestBlock is the header block of a request. It changes no table.
var requestBlock = sync.OnceValue(func() []byte {
	var b bytes.Buffer
	e := hpack.NewEncoder(&b)
	for _, f := range [][2]string{
		{":method", "POST"},
		{":scheme", "http"},
		{":path", "/com.acme.Service/call"},
		{"content-type", "application/grpc+proto"},
		{"grpc-encoding", "gzip"},
		{"tri-consumer-appname", "shop"},
	} {
		check(e.WriteField(hpack.HeaderField{Name: f[0], Value: f[1], Sensitive: true}))
	}
	return b.Bytes()
})

// literal appends a header to a block, which is added to the table if indexed is set.
func literal(b []byte, indexed bool, name, value string) []byte {
	first := byte(0)
	if indexed {
		first = 0x40
	}
	text := func(s string) {
		n := len(s)
		if n < 127 {
			b = append(b, byte(n))
		} else {
			b = binary.AppendUvarint(append(b, 127), uint64(n-127))
		}
		b = append(b, s...)
	}
	b = append(b, first)
	text(name)
	text(value)
	return b
}

// bomb is a gRPC message that is compressed to a thousandth.
var bomb = sync.OnceValue(func() []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, _ = w.Write(make([]byte, 8<<20))
	_ = w.Close()
	return append(binary.BigEndian.AppendUint32([]byte{1}, uint32(out.Len())), out.Bytes()...)
})

// say continues the stream of the client.
func (w *hostileWriter) say(b []byte) {
	w.stream(onePair, 1+w.sent, b)
	w.sent += uint32(len(b))
}

// startHTTP2 opens a connection and says what comes first.
func startHTTP2(first ...byte) func(w *hostileWriter) {
	return func(w *hostileWriter) {
		startOne(w)
		w.say(append(appendFrame([]byte(http2.ClientPreface), frameSettings, 0, 0), first...))
	}
}

// openStream is a request on stream 1 whose messages are to come.
func openStream() []byte { return appendFrame(nil, frameHeaders, endHeaders, 1, requestBlock()...) }

// openMessage is openStream with the prefix of a message that has the largest length.
func openMessage() []byte {
	return appendFrame(openStream(), frameData, 0, 1, 0, 0x7f, 0xff, 0xff, 0xff)
}

// connections is a connection each time, which begins with the preface, SETTINGS and what first appends, in one segment.
func connections(first func(b []byte) []byte) func(w *hostileWriter, i int64) {
	return func(w *hostileWriter, i int64) {
		p := pairOf(i)
		w.payload = first(appendFrame(append(w.payload[:0], http2.ClientPreface...), frameSettings, 0, 0))
		w.tcp(p, false, flagSYN, 0, 0, nil)
		w.tcp(p, false, flagACK|flagPSH, 1, 1, w.payload)
	}
}

// repeated is the same frames again and again, a segment at a time.
func repeated(frame []byte) func(w *hostileWriter, i int64) {
	b := bytes.Repeat(frame, max(1, 1440/len(frame)))
	return func(w *hostileWriter, _ int64) { w.say(b) }
}

// switchHead is the head of a request of HTTP/1 that asks to switch to HTTP/2, up to its last header field.
const switchHead = "POST /com.acme.Service/call HTTP/1.1\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAEAAEAA\r\n"

// startHTTP1 opens a connection that begins with a request of HTTP/1.
func startHTTP1(head string) func(w *hostileWriter) {
	return func(w *hostileWriter) {
		startOne(w)
		w.say([]byte(head))
	}
}

// hostileHTTP2 are those of HTTP/2.
var hostileHTTP2 = []Hostile{
	{
		Name: "http2-connections", N: 1e6, Text: "HTTP/2 connections, each with the first bytes of a message that announces 8 MiB",
		send: connections(func(b []byte) []byte {
			b = appendFrame(b, frameHeaders, endHeaders, 1, requestBlock()...)
			return appendFrame(b, frameData, 0, 1, 0, 0, 0x80, 0, 0, 1, 2, 3)
		}),
	},
	{
		Name: "http2-half-headers", N: 100_000, Text: "HTTP/2 connections, each with the first 14 KB of a header block",
		send: connections(func(b []byte) []byte {
			return append(append(b, 0, 0x40, 0, frameHeaders, endHeaders, 0, 0, 0, 1), longText[:14_000]...)
		}),
	},
	{
		Name: "http2-half-blocks", N: 100_000, Text: "HTTP/2 connections, each with HEADERS of 14 KB whose CONTINUATION is to come",
		send: connections(func(b []byte) []byte { return appendFrame(b, frameHeaders, 0, 1, []byte(longText[:14_000])...) }),
	},
	{
		Name: "http2-streams", N: 1e6, Text: "streams of one connection that nobody answers", start: startHTTP2(),
		send: func(w *hostileWriter, i int64) {
			b := appendFrame(nil, frameHeaders, endHeaders, 2*i+1, requestBlock()...)
			w.say(appendFrame(b, frameData, endStream, 2*i+1, 0, 0, 0, 0, 0))
		},
	},
	{
		Name: "http2-open-streams", N: 1e6, Text: "streams of one connection with the first bytes of a message that announces 8 MiB", start: startHTTP2(),
		send: func(w *hostileWriter, i int64) {
			b := appendFrame(nil, frameHeaders, endHeaders, 2*i+1, requestBlock()...)
			w.say(appendFrame(b, frameData, 0, 2*i+1, 0, 0, 0x80, 0, 0, 1, 2, 3))
		},
	},
	{
		Name: "http2-resets", N: 1e6, Text: "streams of one connection that are reset at once", start: startHTTP2(),
		send: func(w *hostileWriter, i int64) {
			b := appendFrame(nil, frameHeaders, endHeaders, 2*i+1, requestBlock()...)
			w.say(appendFrame(b, frameReset, 0, 2*i+1, 0, 0, 0, 8))
		},
	},
	{
		Name: "http2-table-bombs", N: 2000, Text: "header blocks that refer 16,000 times to an entry of 4 KB",
		start: startHTTP2(appendFrame(nil, frameHeaders, endHeaders|endStream, 1, literal(nil, true, "x", longText[:3900])...)...),
		send: func(w *hostileWriter, i int64) {
			w.say(appendFrame(nil, frameHeaders, endHeaders|endStream, 2*i+3, bytes.Repeat([]byte{0xbe}, 16_000)...))
		},
	},
	{
		Name: "http2-continuations", N: 100_000, Text: "CONTINUATION frames of 1 KB of one header block",
		start: startHTTP2(appendFrame(nil, frameHeaders, 0, 1, requestBlock()...)...),
		send: func(w *hostileWriter, i int64) {
			w.say(appendFrame(nil, frameContinuation, 0, 1, literal(nil, i%2 == 0, "x", longText[:1000])...))
		},
	},
	{
		Name: "http2-empty-continuations", N: 50_000, Text: "segments of empty CONTINUATION frames",
		start: startHTTP2(appendFrame(nil, frameHeaders, 0, 1, requestBlock()...)...),
		send:  repeated(appendFrame(nil, frameContinuation, 0, 1)),
	},
	{
		Name: "http2-long-headers", N: 20_000, Text: "header blocks of 16 KB that announce a value of 2 GB", start: startHTTP2(),
		send: func(w *hostileWriter, i int64) {
			block := append([]byte{0x40, 1, 'x', 127, 0x80, 0xff, 0xff, 0xff, 7}, longText[:16_000]...)
			w.say(appendFrame(nil, frameHeaders, endHeaders|endStream, 2*i+1, block...))
		},
	},
	{
		Name: "http2-paths", N: 20_000, Text: "requests, each with another path of 14 KB", start: startHTTP2(),
		send: func(w *hostileWriter, i int64) {
			block := literal(append([]byte(nil), 0x83, 0x86), false, ":path", "/"+strconv.FormatInt(1e9+i, 10)+longText[:14_000]+"/call")
			w.say(appendFrame(nil, frameHeaders, endHeaders|endStream, 2*i+1, block...))
		},
	},
	{
		Name: "http2-tables", N: 50_000, Text: "header blocks that add 2 KB to a table of 4 GB",
		start: startHTTP2(),
		send: func(w *hostileWriter, i int64) {
			if i == 0 { // the server's decoder allows it
				b := appendFrame(nil, frameSettings, 0, 0, 0, 1, 0xff, 0xff, 0xff, 0xff)
				w.tcp(onePair, true, flagACK|flagPSH, 1, 1+w.sent, b)
			}
			block := []byte{0x3f, 0xe0, 0xff, 0xff, 0xff, 0x0f} // the largest table
			block = literal(block, true, "x", longText[:2000])
			w.say(appendFrame(nil, frameHeaders, endHeaders|endStream, 2*i+1, append(block, requestBlock()...)...))
		},
	},
	{Name: "http2-settings", N: 50_000, Text: "segments of SETTINGS frames", start: startHTTP2(), send: repeated(appendFrame(nil, frameSettings, 0, 0, 0, 1, 0, 0, 16, 0, 0, 5, 0, 0, 64, 0))},
	{Name: "http2-pings", N: 50_000, Text: "segments of PING frames", start: startHTTP2(), send: repeated(appendFrame(nil, framePing, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))},
	{Name: "http2-unknown", N: 50_000, Text: "segments of frames of an unknown type", start: startHTTP2(), send: repeated(appendFrame(nil, 0xfa, 0xff, 77, 'x'))},
	{Name: "http2-empty-data", N: 50_000, Text: "segments of empty DATA frames of one stream", start: startHTTP2(openStream()...), send: repeated(appendFrame(nil, frameData, 0, 1))},
	{
		Name: "http2-padded", N: 50_000, Text: "segments of padded DATA frames of one message, with a byte or without",
		start: startHTTP2(openMessage()...),
		send:  repeated(appendFrame(appendFrame(nil, frameData, padded, 1, 1, 'x', 0), frameData, padded, 1, 0)),
	},
	{
		Name: "http2-byte-continuations", N: 50_000, Text: "segments of CONTINUATION frames of a byte",
		start: startHTTP2(appendFrame(nil, frameHeaders, 0, 1, requestBlock()...)...),
		send:  repeated(appendFrame(nil, frameContinuation, 0, 1, 0x84)),
	},
	{
		Name: "http2-more-headers", N: 50_000, Text: "segments of HEADERS with padding and priority, on one stream", start: startHTTP2(openStream()...),
		send: repeated(appendFrame(nil, frameHeaders, endHeaders|padded|priority, 1, 1, 0, 0, 0, 0, 0, 0x84, 0)),
	},
	{
		Name: "http2-more-fields", N: 50_000, Text: "HEADERS with 1,400 fields of a byte, on one stream", start: startHTTP2(openStream()...),
		send: repeated(appendFrame(nil, frameHeaders, endHeaders, 1, bytes.Repeat([]byte{0x84}, 1400)...)),
	},
	{Name: "http2-empty-messages", N: 5000, Text: "DATA frames of 280 empty messages each, of one call", start: startHTTP2(openStream()...), send: repeated(appendFrame(nil, frameData, 0, 1, make([]byte, 1400)...))},
	{Name: "http2-bombs", N: 400, Text: "messages of 8 KB that are 8 MiB without compression", start: startHTTP2(), send: func(w *hostileWriter, i int64) {
		b := appendFrame(nil, frameHeaders, endHeaders, 2*i+1, requestBlock()...)
		w.say(appendFrame(b, frameData, endStream, 2*i+1, bomb()...))
	}},
	{
		Name: "http1-switching", N: 1e6, Text: "connections that ask to switch to HTTP/2, each with the first bytes of a body of 8 MiB",
		send: func(w *hostileWriter, i int64) {
			p := pairOf(i)
			b := append(append(w.payload[:0], switchHead...), "Content-Length: 8388608\r\n\r\n[1, 2, 3"...)
			w.payload = b
			w.tcp(p, false, flagSYN, 0, 0, nil)
			w.tcp(p, false, flagACK|flagPSH, 1, 1, b)
		},
	},
	{
		Name: "http1-half-heads", N: 100_000, Text: "connections that ask to switch to HTTP/2, each with the first 14 KB of a head",
		send: func(w *hostileWriter, i int64) {
			p := pairOf(i)
			b := append(append(w.payload[:0], switchHead...), "X: "...)
			b = append(b, longText[:14_000]...)
			w.payload = b
			w.tcp(p, false, flagSYN, 0, 0, nil)
			w.tcp(p, false, flagACK|flagPSH, 1, 1, b)
		},
	},
	{Name: "http1-head", N: 50_000, Text: "segments of the head of a request to switch to HTTP/2", start: startHTTP1(switchHead), send: repeated([]byte("X: 1\r\n"))},
	{Name: "http1-pipeline", N: 2000, Text: "segments of requests of HTTP/1 that nobody answers", start: startHTTP1(""), send: repeated([]byte("GET /a HTTP/1.1\r\nHost: x\r\n\r\n"))},
	{
		Name: "http1-first-lines", N: 20_000, Text: "segments of first lines of HTTP/1, of which none begins a message", start: startHTTP1("GET / HTTP/1.1\r\nContent-Length: ?\r\n\r\n\n"),
		send: repeated([]byte("GET / HTTP/1.1\r\nA: b\r\n")),
	},
	{Name: "http1-body", N: 50_000, Text: "segments of the body of a request to switch to HTTP/2", start: startHTTP1(switchHead + "Content-Length: 99999999999\r\n\r\n"), send: repeated([]byte("[1]"))},
	{Name: "http1-chunks", N: 50_000, Text: "segments of chunks of a byte, of a request to switch to HTTP/2", start: startHTTP1(switchHead + "Transfer-Encoding: chunked\r\n\r\n"), send: repeated([]byte("1\r\n[\r\n"))},
	{Name: "http1-chunk-extensions", N: 50_000, Text: "segments of chunks of a byte with an extension, of a request to switch to HTTP/2", start: startHTTP1(switchHead + "Transfer-Encoding: chunked\r\n\r\n"), send: repeated([]byte("1;x\r\n[\r\n"))},
	{Name: "http2-midway", N: 50_000, Text: "segments of empty DATA frames, on a connection joined midway", send: repeated(appendFrame(nil, frameData, 0, 1))},
	{Name: "http2-midway-headers", N: 50_000, Text: "segments of frame headers that announce 16 KiB, on a connection joined midway", send: func(w *hostileWriter, i int64) {
		w.say(bytes.Repeat([]byte{0, 0x40, 0, 0, 0, 0, 0, 0, 1}, 160))
	}},
	{Name: "http2-midway-preface", N: 50_000, Text: "segments of prefaces, on a connection joined midway", send: repeated(appendFrame([]byte(http2.ClientPreface), frameSettings, 0, 0))},
}
