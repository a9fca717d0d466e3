package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"io"
	"maps"
	"math"
	"net"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// tap is a connection whose HTTP/2 frames are logged as the Java side logs its own.
type tap struct {
	net.Conn
	in, out *direction
}

func (l *truthLog) tap(c net.Conn, server bool) net.Conn {
	return &tap{c, newDirection(l, c, "in", server), newDirection(l, c, "out", !server)}
}

func (t *tap) Read(p []byte) (int, error) {
	n, err := t.Conn.Read(p)
	t.in.add(p[:n])
	return n, err
}

func (t *tap) Write(p []byte) (int, error) {
	n, err := t.Conn.Write(p)
	t.out.add(p[:n])
	return n, err
}

// direction is one direction of a connection.
type direction struct {
	log     *truthLog
	base    map[string]any
	preface bool // is still to come

	mu      sync.Mutex
	held    bytes.Buffer
	hpack   *hpack.Decoder
	fields  [][2]string
	streams map[uint32]*messages
}

func newDirection(l *truthLog, c net.Conn, dir string, fromClient bool) *direction {
	d := &direction{
		log: l, preface: fromClient, streams: map[uint32]*messages{},
		base: map[string]any{"side": l.side, "dir": dir, "local": c.LocalAddr().String(), "remote": c.RemoteAddr().String()},
	}
	d.hpack = hpack.NewDecoder(4096, func(f hpack.HeaderField) {
		if !utf8.ValidString(f.Value) {
			f.Value = base64.StdEncoding.EncodeToString([]byte(f.Value))
		}
		d.fields = append(d.fields, [2]string{f.Name, f.Value})
	})
	d.hpack.SetAllowedMaxDynamicTableSize(math.MaxUint32)
	return d
}

func (d *direction) line(kind string, more map[string]any) {
	all := maps.Clone(d.base)
	all["kind"] = kind
	maps.Copy(all, more)
	d.log.line(all)
}

func (d *direction) add(p []byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.held.Write(p)
	if d.preface {
		if d.held.Len() < len(http2.ClientPreface) {
			return
		}
		d.held.Next(len(http2.ClientPreface))
		d.preface = false
		d.line("http2", map[string]any{"type": "preface", "bytes": len(http2.ClientPreface)})
	}
	for d.held.Len() >= frameHeader {
		b := d.held.Bytes()
		length := frameHeader + int(b[0])<<16 + int(b[1])<<8 + int(b[2])
		if len(b) < length {
			return
		}
		d.frame(bytes.Clone(d.held.Next(length)))
	}
}

const frameHeader = 9

func (d *direction) frame(b []byte) {
	framer := http2.NewFramer(io.Discard, bytes.NewReader(b))
	framer.AllowIllegalReads = true // a CONTINUATION alone is legal here
	framer.SetMaxReadFrameSize(1<<24 - 1)
	f, err := framer.ReadFrame()
	if err != nil {
		panic(err)
	}
	h := f.Header()
	name := h.Type.String()
	if strings.HasPrefix(name, "UNKNOWN") {
		name = strconv.Itoa(int(h.Type))
	}
	more := map[string]any{"type": name, "stream": h.StreamID, "flags": h.Flags, "bytes": h.Length}
	var m *messages
	switch f := f.(type) {
	case *http2.DataFrame:
		more["padding"], more["endStream"] = int(h.Length)-len(f.Data()), f.StreamEnded()
		m = d.stream(h.StreamID)
		m.data(f.Data(), f.StreamEnded())
	case *http2.HeadersFrame:
		more["padding"] = padding(h, b)
		more["endStream"] = f.StreamEnded()
		if f.HasPriority() {
			priority(more, f.Priority)
		}
		m = d.block(more, h.StreamID, f.HeaderBlockFragment(), f.HeadersEnded())
	case *http2.ContinuationFrame:
		m = d.block(more, h.StreamID, f.HeaderBlockFragment(), f.HeadersEnded())
	case *http2.PriorityFrame:
		priority(more, f.PriorityParam)
	case *http2.RSTStreamFrame:
		more["code"] = f.ErrCode
	case *http2.SettingsFrame:
		settings := map[string]uint32{}
		if err := f.ForeachSetting(func(s http2.Setting) error {
			settings[strconv.Itoa(int(s.ID))] = s.Val
			return nil
		}); err != nil {
			panic(err)
		}
		if !f.IsAck() {
			more["settings"] = settings
		}
	case *http2.PingFrame:
		more["data"] = int64(binary.BigEndian.Uint64(f.Data[:]))
	case *http2.GoAwayFrame:
		more["lastStream"], more["code"], more["debug"] = f.LastStreamID, f.ErrCode, string(f.DebugData())
	case *http2.WindowUpdateFrame:
		more["increment"] = f.Increment
	}
	d.line("http2", more)
	if m != nil {
		for _, more := range m.done {
			more["stream"] = h.StreamID
			d.line("message", more)
		}
		m.done = nil
	}
}

// padding returns the bytes of padding with their length byte.
func padding(h http2.FrameHeader, b []byte) int {
	if !h.Flags.Has(http2.FlagHeadersPadded) {
		return 0
	}
	return 1 + int(b[frameHeader])
}

func priority(more map[string]any, p http2.PriorityParam) {
	more["dependency"], more["weight"], more["exclusive"] = p.StreamDep, int(p.Weight)+1, p.Exclusive
}

func (d *direction) stream(id uint32) *messages {
	m := d.streams[id]
	if m == nil {
		m = new(messages)
		d.streams[id] = m
	}
	return m
}

// block reads a piece of a header block; the last one gets its fields.
func (d *direction) block(more map[string]any, id uint32, piece []byte, last bool) *messages {
	if _, err := d.hpack.Write(piece); err != nil {
		panic(err)
	}
	if !last {
		return nil
	}
	if err := d.hpack.Close(); err != nil {
		panic(err)
	}
	more["headers"] = d.fields
	m := d.stream(id)
	m.headers(d.fields)
	d.fields = nil
	return m
}

// messages are the messages of one direction of a stream.
type messages struct {
	held     []byte
	grpc     bool
	encoding string
	count    int
	done     []map[string]any
}

func (m *messages) headers(fields [][2]string) {
	for _, f := range fields {
		switch f[0] {
		case "content-type":
			m.grpc = strings.HasPrefix(f[1], "application/grpc")
		case "grpc-encoding":
			m.encoding = f[1]
		}
	}
}

func (m *messages) data(b []byte, end bool) {
	m.held = append(m.held, b...)
	if !m.grpc {
		if end && len(m.held) > 0 {
			m.message(m.held, true, false)
		}
		return
	}
	for len(m.held) >= 5 {
		n := 5 + int(binary.BigEndian.Uint32(m.held[1:]))
		if len(m.held) < n {
			return
		}
		m.message(m.held[5:n], false, m.held[0] != 0)
		m.held = m.held[n:]
	}
}

func (m *messages) message(b []byte, plain, compressed bool) {
	m.count++
	more := map[string]any{"message": m.count, "plain": plain, "compressed": compressed, "bytes": len(b), "sha256": sum(b)}
	if compressed {
		more["encoding"] = m.encoding
		if z, err := gzip.NewReader(bytes.NewReader(b)); err != nil {
			more["error"] = err.Error()
		} else if b, err = io.ReadAll(z); err != nil {
			more["error"] = err.Error()
		} else {
			more["uncompressedBytes"], more["uncompressedSha256"] = len(b), sum(b)
		}
	}
	m.done = append(m.done, more)
}

func sum(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:8])
}
