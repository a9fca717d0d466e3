package assemble

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/capture/packet"
)

// recorder notes what a stream is given, as text: data as it is, "<gap n>", "<repeat pos+n>", "<end>".
type recorder struct {
	b     strings.Builder
	order *strings.Builder // of all streams, if wanted
	link  int64            // link bytes: payload on the wire and overhead
}

func (r *recorder) Data(b []byte, m *Meta) {
	r.b.Write(b)
	if r.order != nil {
		r.order.Write(b)
	}
	r.link += int64(len(b) + m.Overhead)
}

func (r *recorder) Gap(n, wire int64, m *Meta) {
	fmt.Fprintf(&r.b, "<gap %d>", n)
	if r.order != nil {
		fmt.Fprintf(r.order, "<%d>", n)
	}
	r.link += wire + int64(m.Overhead)
}

func (r *recorder) Repeat(n int, m *Meta) {
	fmt.Fprintf(&r.b, "<repeat %d+%d>", m.Pos, n)
	r.link += int64(n + m.Overhead)
}

func (r *recorder) Late(b []byte, cut int64, m *Meta) {
	n := int64(len(b))
	fmt.Fprintf(&r.b, "<late %d+%d>", m.Pos, n+cut)
	r.link += n + cut + int64(m.Overhead)
}

func (r *recorder) End(bool) { r.b.WriteString("<end>") }

// handler keeps the streams of every connection by its number and side.
type handler struct {
	opened  int
	closed  int64
	streams map[string]*recorder
	order   *strings.Builder
}

func (h *handler) Open(c *Connection) *Flow {
	var s [2]Stream
	h.opened++
	for i := range s {
		r := &recorder{order: h.order}
		h.streams[fmt.Sprintf("%d.%d", h.opened, i)] = r
		s[i] = r
	}
	return new(Flow).Open(s)
}

func (h *handler) Begin(*Connection) {}
func (h *handler) Close(*Connection) { h.closed++ }

// wire is a test's network: it sends segments from "c" (the client) or "s".
type wire struct {
	a     *Assembler
	h     *handler
	n     int64
	o     Origin
	last  packet.Segment
	quiet bool // send only prepares last
	order strings.Builder
}

func newWire(cfg Config) *wire {
	h := &handler{streams: map[string]*recorder{}}
	return &wire{a: New(cfg, h), h: h}
}

const overhead = 66

var (
	client = packet.Endpoint{IP: [16]byte{15: 1}, Port: 40000}
	server = packet.Endpoint{IP: [16]byte{15: 2}, Port: 20880}
)

func (w *wire) send(from string, flags uint8, seq, ack uint32, data string) {
	w.cut(from, flags, seq, ack, data, len(data))
}

// cut sends a segment of n bytes of which the capture kept data.
func (w *wire) cut(from string, flags uint8, seq, ack uint32, data string, n int) {
	s := packet.Segment{Src: client, Dst: server, Seq: seq, Ack: ack, Flags: flags, Payload: []byte(data), PayloadLen: n}
	s.IPID = uint16(w.n + 1)
	if from == "s" {
		s.Src, s.Dst = server, client
	}
	if w.last = s; w.quiet {
		return
	}
	w.again(0, 0)
}

// again sends the last segment (again), as a packet of that file and interface.
func (w *wire) again(file, iface int) {
	w.n++
	s := w.last
	w.a.Segment(&s, &Origin{
		Ordinal: w.n, Time: w.n * int64(time.Millisecond), Packet: w.n, File: file, Interface: iface, Overhead: overhead,
	})
}

// send1 sends a segment as it is.
func (w *wire) send1(s *packet.Segment, at int64) {
	w.n++
	w.o = Origin{Ordinal: w.n, Time: at, Packet: w.n, Overhead: overhead}
	w.a.Segment(s, &w.o)
}

func (w *wire) open(isn uint32) {
	w.send("c", packet.SYN, isn, 0, "")
	w.send("s", packet.SYN|packet.ACK, 5000, isn+1, "")
	w.send("c", packet.ACK, isn+1, 5001, "")
}

const ack = packet.ACK

// idle lets time pass: packets of another connection.
func (w *wire) idle(packets int) {
	for range packets {
		s := packet.Segment{Src: client, Dst: server, Flags: ack}
		s.Src.Port = 1
		w.n++
		w.a.Segment(&s, &Origin{Ordinal: w.n, Time: w.n * int64(time.Millisecond), Packet: w.n, Overhead: overhead})
	}
}

// balance checks that every byte of the packets with payload was handed on once.
func balance(t *testing.T, w *wire) {
	l := w.a.Ledger
	require.NoError(t, l.Balance())
	assert.Zero(t, l.Held+l.HeldLink)
	link := int64(0)
	for _, r := range w.h.streams {
		link += r.link
	}
	assert.Equal(t, l.Stream+l.Repeated+l.BeyondSnap+l.Overhead, link, "link bytes handed on")
}
