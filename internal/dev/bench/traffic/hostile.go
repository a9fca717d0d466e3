package traffic

import (
	"bytes"
	"encoding/binary"
	"io"
	"slices"
	"strconv"

	"dubbo-wire/internal/capture/pcapng"
)

// Hostile is traffic that is made to be large, slow or wrong to read: captures that grow with every packet what a
// careless reader remembers. They are written as they are read and never lie anywhere whole.
type Hostile struct {
	Name string
	Text string // what there are N of
	N    int64
	// start writes what stands before the first of them (default: the header of a pcap file).
	start func(w *hostileWriter)
	send  func(w *hostileWriter, i int64)
}

// Reader returns a capture with n of them.
func (h *Hostile) Reader(n int64) io.Reader {
	r := &hostileReader{what: h, n: n}
	if h.start != nil {
		h.start(&r.w)
	} else {
		r.w.header()
	}
	return r
}

type hostileReader struct {
	what *Hostile
	w    hostileWriter
	i, n int64
	pos  int
}

// hostilePiece is how many bytes are made at once.
const hostilePiece = 256 << 10

func (r *hostileReader) Read(b []byte) (int, error) {
	if r.pos == len(r.w.buf) {
		r.w.buf, r.pos = r.w.buf[:0], 0
	}
	for len(r.w.buf) < hostilePiece && r.i < r.n {
		r.what.send(&r.w, r.i)
		r.i++
	}
	if r.pos == len(r.w.buf) {
		return 0, io.EOF
	}
	n := copy(b, r.w.buf[r.pos:])
	r.pos += n
	return n, nil
}

// hostileWriter appends packets: Ethernet, IPv4, TCP without options and without checksums, one microsecond apart.
type hostileWriter struct {
	buf     []byte
	now     int64
	payload []byte // memory to make payloads in
	ng      bool   // packets are pcapng blocks
	sent    uint32 // bytes of the client of the connection that is the only one
}

func (w *hostileWriter) header() { w.buf = appendFileHeader(w.buf) }

// hostilePair is a client and a server: number n of up to 2^40.
type hostilePair struct {
	client, server         uint32
	clientPort, serverPort uint16
}

func pairOf(n int64) hostilePair {
	return hostilePair{
		client: 0x0a000000 | uint32(n>>15)&0xffffff, clientPort: uint16(n&0x7fff | 0x8000),
		server: 0xc0a80001, serverPort: 20880,
	}
}

func (w *hostileWriter) record(size int) {
	w.buf = appendRecordHeader(w.buf, w.now, size)
	w.now++
}

// ip writes everything before the payload of an IPv4 packet; fragment is the field of flags and offset.
func (w *hostileWriter) ip(src, dst uint32, ident, fragment uint16, size int) {
	w.record(etherLen + ipLen + size)
	b := append(w.buf, 2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0, 0x45, 0)
	b = binary.BigEndian.AppendUint16(b, uint16(ipLen+size))
	b = binary.BigEndian.AppendUint16(b, ident)
	b = binary.BigEndian.AppendUint16(b, fragment)
	b = append(b, 64, 6, 0, 0)
	b = binary.BigEndian.AppendUint32(b, src)
	w.buf = binary.BigEndian.AppendUint32(b, dst)
}

// tcp writes a segment from the client, or from the server.
func (w *hostileWriter) tcp(p hostilePair, fromServer bool, flags byte, seq, ack uint32, payload []byte) {
	if fromServer {
		p = hostilePair{client: p.server, clientPort: p.serverPort, server: p.client, serverPort: p.clientPort}
	}
	start := len(w.buf)
	w.ip(p.client, p.server, uint16(w.now), 0x4000, tcpLen+len(payload))
	b := binary.BigEndian.AppendUint16(w.buf, p.clientPort)
	b = binary.BigEndian.AppendUint16(b, p.serverPort)
	b = binary.BigEndian.AppendUint32(b, seq)
	b = binary.BigEndian.AppendUint32(b, ack)
	b = append(b, tcpLen/4<<4, flags, 0x01, 0xf5, 0, 0, 0, 0)
	w.buf = append(b, payload...)
	if w.ng { // a block in place of the record
		packet := bytes.Clone(w.buf[start+recordLen:])
		w.buf = pcapng.AppendPacket(w.buf[:start], 0, uint64(epochMillis*1000+w.now), packet, len(packet))
	}
}

// open writes a handshake; both ends' numbers start after 1.
func (w *hostileWriter) open(p hostilePair) {
	w.tcp(p, false, flagSYN, 0, 0, nil)
	w.tcp(p, true, flagSYN|flagACK, 0, 1, nil)
	w.tcp(p, false, flagACK, 1, 1, nil)
}

// frameHead is a Dubbo header of a request in Hessian2 with that length of its body.
func frameHead(b []byte, id int64, length uint32) []byte {
	b = append(b, 0xda, 0xbb, 0xc2, 0)
	b = binary.BigEndian.AppendUint64(b, uint64(id))
	return binary.BigEndian.AppendUint32(b, length)
}

// request makes a whole request of a method without arguments. It is valid until the next one.
func (w *hostileWriter) request(id int64, service, method string) []byte {
	b := frameHead(w.payload[:0], id, 0)
	str := func(s string) {
		for len(s) > 0x7fff {
			b = append(b, 'R', 0x7f, 0xff)
			b = append(b, s[:0x7fff]...)
			s = s[0x7fff:]
		}
		b = append(b, 'S', byte(len(s)>>8), byte(len(s)))
		b = append(b, s...)
	}
	str("2.0.2")
	str(service)
	str("0.0.0")
	str(method)
	b = append(b, 0, 'H', 'Z')
	binary.BigEndian.PutUint32(b[12:], uint32(len(b)-16))
	w.payload = b
	return b
}

// fill is a payload of n times those bytes.
func (w *hostileWriter) fill(head []byte, n int, with ...byte) []byte {
	b := append(w.payload[:0], head...)
	for len(b) < n {
		b = append(b, with...)
	}
	w.payload = b[:n]
	return w.payload
}

// onePair is the connection of those captures that have one.
var onePair = pairOf(0)

// stream continues a stream in segments that a client may send.
func (w *hostileWriter) stream(p hostilePair, seq uint32, payload []byte) {
	const most = 32 << 10
	for len(payload) > 0 {
		n := min(len(payload), most)
		w.tcp(p, false, flagACK|flagPSH, seq, 1, payload[:n])
		seq += uint32(n)
		payload = payload[n:]
	}
}

func startOne(w *hostileWriter) {
	w.header()
	w.open(onePair)
}

// longName is how long names are that are as long as a segment may carry, about.
const longName = 60_000

// Hostiles are the hostile captures, with their full number.
var Hostiles = slices.Concat(hostiles, hostileHTTP2, hostileTLS)

var hostiles = []Hostile{
	{Name: "connections", Text: "connections that open, send a small request and are never heard of again", N: 1e6, send: func(w *hostileWriter, i int64) {
		p := pairOf(i)
		w.open(p)
		w.tcp(p, false, flagACK|flagPSH, 1, 1, w.request(i, "com.acme.Service", "call"))
	}},
	{Name: "half-open", Text: "frames that announce 8 MiB, of which a segment comes, each on its connection", N: 1e6, send: func(w *hostileWriter, i int64) {
		p := pairOf(i)
		w.tcp(p, false, flagSYN, 0, 0, nil)
		w.tcp(p, false, flagACK|flagPSH, 1, 1, w.fill(frameHead(nil, i, 8<<20), 1448, 'x'))
	}},
	{Name: "half-open-2g", Text: "frames that announce 2 GB, of which 600 bytes come, each on a connection joined midway", N: 1e6, send: func(w *hostileWriter, i int64) {
		w.tcp(pairOf(i), false, flagACK|flagPSH, 1, 1, w.fill(frameHead(nil, i, 1<<31-1), 600, 0x05, '2', '.', '0', '.', '2'))
	}},
	{Name: "half-read", Text: "frames of 2 KB whose first KB comes, with a readable envelope, each on its connection", N: 1e6, send: func(w *hostileWriter, i int64) {
		p := pairOf(i)
		w.tcp(p, false, flagSYN, 0, 0, nil)
		b := w.request(i, "com.acme.Service", "call")
		binary.BigEndian.PutUint32(b[12:], 2000)
		w.tcp(p, false, flagACK|flagPSH, 1, 1, w.fill(b[:len(b)-2:len(b)-2], 1016, 'N'))
	}},
	{Name: "syn-flood", Text: "SYNs, each of another 4-tuple", N: 1e7, send: func(w *hostileWriter, i int64) {
		w.tcp(pairOf(i), false, flagSYN, uint32(i), 0, nil)
	}},
	{Name: "out-of-order", Text: "segments of one byte that never connect, each behind a hole, in order", N: 1e6, start: startOne, send: func(w *hostileWriter, i int64) {
		w.tcp(onePair, false, flagACK, 100+2*uint32(i), 1, []byte{0xda})
	}},
	{Name: "backwards", Text: "segments of one byte that never connect, each before the last", N: 1e6, start: startOne, send: func(w *hostileWriter, i int64) {
		w.tcp(onePair, false, flagACK, 1<<30-2*uint32(i), 1, []byte{0xda})
	}},
	{Name: "holes", Text: "connections, each with a segment behind a hole that is never filled", N: 1e6, send: func(w *hostileWriter, i int64) {
		p := pairOf(i)
		w.tcp(p, false, flagSYN, 0, 0, nil)
		w.tcp(p, false, flagACK, 1000, 1, w.fill(nil, 1000, 'x'))
	}},
	{Name: "methods", Text: "requests, each of another service and method", N: 1e6, start: startOne, send: requests(func(i int64) (int64, string, string) {
		n := strconv.FormatInt(1e9+i, 10)
		return i, "com.acme.Service" + n, "call" + n
	})},
	{Name: "names", Text: "requests, each of another service, whose name has 60 KB", N: 20_000, start: startOne, send: requests(func(i int64) (int64, string, string) {
		return i, strconv.FormatInt(1e9+i, 10) + longText, "call"
	})},
	{Name: "unanswered", Text: "requests of one connection that nobody answers", N: 1e6, start: startOne, send: requests(func(i int64) (int64, string, string) {
		return i, "com.acme.Service", "call"
	})},
	{Name: "one-id", Text: "requests of one connection, all with the same id", N: 1e6, start: startOne, send: requests(func(int64) (int64, string, string) {
		return 7, "com.acme.Service", "call"
	})},
	{Name: "fragments", Text: "first fragments of IP packets, the rest of which never comes", N: 1e6, send: func(w *hostileWriter, i int64) {
		p := pairOf(i)
		w.ip(p.client, p.server, uint16(i), 0x2000, 1400)
		n := len(w.buf)
		w.buf = append(w.buf, w.fill(nil, 1400, 0)...)
		binary.BigEndian.PutUint16(w.buf[n:], p.clientPort)
		binary.BigEndian.PutUint16(w.buf[n+2:], p.serverPort)
		w.buf[n+12], w.buf[n+13] = tcpLen/4<<4, flagACK
	}},
	{Name: "magic", Text: "segments of nothing but da bb", N: 200_000, start: startOne, send: func(w *hostileWriter, i int64) {
		w.tcp(onePair, false, flagACK, 1+1448*uint32(i), 1, w.fill(nil, 1448, 0xda, 0xbb))
	}},
	{Name: "magic-midway", Text: "segments of nothing but da bb, on a connection joined midway", N: 200_000, send: func(w *hostileWriter, i int64) {
		w.tcp(onePair, false, flagACK, 1+1448*uint32(i), 1, w.fill(nil, 1448, 0xda, 0xbb))
	}},
	{Name: "headers-midway", Text: "segments full of legal headers that announce 4 MiB, on a connection joined midway", N: 200_000, send: func(w *hostileWriter, i int64) {
		w.tcp(onePair, false, flagACK, 1+1440*uint32(i), 1, w.fill(nil, 1440, frameHead(nil, i, 4<<20)...))
	}},
	{Name: "heartbeats", Text: "segments of heartbeats", N: 100_000, start: startOne, send: func(w *hostileWriter, i int64) {
		head := [17]byte{0xda, 0xbb, 0xe2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 'N'}
		w.tcp(onePair, false, flagACK, 1+1445*uint32(i), 1, w.fill(nil, 1445, head[:]...))
	}},
	{Name: "generations", Text: "generations of one 4-tuple: a SYN, a small request, and the next SYN", N: 1e6, send: func(w *hostileWriter, i int64) {
		seq := uint32(i) * 100_003
		w.tcp(onePair, false, flagSYN, seq, 0, nil)
		w.tcp(onePair, false, flagACK, seq+1, 1, w.request(i, "com.acme.Service", "call"))
	}},
	{Name: "resets", Text: "connections that open, send a small request and are reset", N: 500_000, send: func(w *hostileWriter, i int64) {
		p := pairOf(i)
		w.open(p)
		b := w.request(i, "com.acme.Service", "call")
		w.tcp(p, false, flagACK|flagPSH, 1, 1, b)
		w.tcp(p, true, 4|flagACK, 1, 1+uint32(len(b)), nil)
	}},
	{Name: "sections", Text: "sections of a pcapng file, each with an interface and a packet", N: 1e6, start: func(*hostileWriter) {}, send: func(w *hostileWriter, i int64) {
		w.section()
		w.ngInterface(1)
		w.tcp(onePair, false, flagACK, 1+uint32(i), 1, []byte{'x'})
	}},
	{Name: "interfaces", Text: "interfaces of one section of a pcapng file, of all link types, and as many packets", N: 1e6, start: func(w *hostileWriter) { w.section() }, send: func(w *hostileWriter, i int64) {
		w.ngInterface(uint16(i) + 1)
		w.tcp(onePair, false, flagACK, 1+uint32(i), 1, []byte{'x'})
	}},
	{Name: "options", Text: "blocks of a pcapng file with 8 MiB of options each", N: 50, start: func(w *hostileWriter) { w.section() }, send: func(w *hostileWriter, i int64) {
		const size = 8 << 20
		w.buf = binary.LittleEndian.AppendUint32(w.buf, 1)
		w.buf = binary.LittleEndian.AppendUint32(w.buf, 20+size)
		w.buf = append(w.buf, 1, 0, 0, 0, 0, 0, 0, 0)
		for range size / 4 {
			w.buf = append(w.buf, 1, 0, 0, 0) // a comment without text
		}
		w.buf = binary.LittleEndian.AppendUint32(w.buf, 20+size)
	}},
}

// requests sends one stream of requests.
func requests(of func(i int64) (id int64, service, method string)) func(w *hostileWriter, i int64) {
	return func(w *hostileWriter, i int64) {
		id, service, method := of(i)
		b := w.request(id, service, method)
		// All are equally long, so that the place of each is known.
		w.stream(onePair, 1+uint32(i)*uint32(len(b)), b)
	}
}

var longText = string(make([]byte, longName))

func (w *hostileWriter) section() {
	w.ng = true
	w.buf = pcapng.AppendSection(w.buf, "", "", "")
}

func (w *hostileWriter) ngInterface(link uint16) {
	w.buf = pcapng.AppendInterface(w.buf, pcapng.Description{Link: link, SnapLen: 262_144, Digits: 6})
}
