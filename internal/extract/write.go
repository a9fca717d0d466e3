package extract

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"net/netip"
	"slices"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/capture/packet"
	"dubbo-wire/internal/capture/pcapng"
	"dubbo-wire/internal/capture/rewrite"
)

// Options are what is known of the capture that is read again.
type Options struct {
	// Apart is that of the run ([pipeline.Options]).
	Apart []int
	// Origin and Ended are those of [rewrite.Interfaces].
	Origin func(p *capture.Packet) capture.Origin
	Ended  func(file int) bool
	// Stop, if set, ends the copying when it returns true.
	Stop func() bool
}

// Summary counts what was written.
type Summary struct {
	Packets, Comments, Connections int64
	Stopped                        bool
}

// flow is the direction of successive connections between two ends.
type flow struct {
	source   int // of the input, if sources are separate
	src, dst packet.Endpoint
}

// stream is one direction of a selected connection, sorted.
type stream struct {
	*direction
	conn  *call.Conn
	start uint32 // sequence number of the first byte
	at    int64  // position of the last segment
}

// position returns the position of a sequence number, which wraps every 4 GiB.
func (s *stream) position(seq uint32) int64 { return s.at + int64(int32(seq-(s.start+uint32(s.at)))) }

// writer copies packets.
type writer struct {
	sel     *Selection
	opt     *Options
	out     io.Writer
	ifaces  rewrite.Interfaces
	flows   map[flow][]*stream
	decoder packet.Decoder
	segment packet.Segment
	sum     Summary
	buf     []byte
	notes   []string
	held    []heldFragment
	heldLen int
}

// heldFragment is a copy of an IP fragment whose packet is not complete yet.
type heldFragment struct {
	ordinal int64 // of the decoded packet
	packet  capture.Packet
	iface   int
}

// maxHeld limits the bytes of held fragments.
const maxHeld = 8 << 20

// maxNotes is the largest number of comments of one packet.
const maxNotes = 256

// Write reads a capture again, from its start, and copies the packets of the selection to out. Packets keep their order;
// the fragments of a packet come right before its last one.
func (s *Selection) Write(src capture.Source, out io.Writer, opt Options) (Summary, error) {
	w := &writer{sel: s, opt: &opt, out: out, flows: make(map[flow][]*stream)}
	w.ifaces = rewrite.Interfaces{Origin: opt.Origin, Ended: opt.Ended}
	w.decoder.Layers = new(packet.Layers)
	w.index()
	err := w.write(pcapng.AppendSection(nil, "Packets of selected calls, copied by dubbo-wire.", "", "dubbo-wire"))
	var p capture.Packet
	for n, ordinal := int64(1), int64(0); err == nil; n++ {
		if n%1024 == 0 && opt.Stop != nil && opt.Stop() {
			w.sum.Stopped = true
			break
		}
		if e := src.Next(&p); e != nil {
			if !errors.Is(e, io.EOF) {
				err = e
			}
			break
		}
		switch w.decoder.Decode(&p, &w.segment) {
		case packet.TCP:
			ordinal++
			err = w.take(&p, ordinal)
		case packet.Held:
			w.hold(&p, n)
		}
	}
	return w.sum, err
}

// index makes the streams of the selection, by flow.
func (w *writer) index() {
	conns := make([]*call.Conn, 0, len(w.sel.streams))
	for c := range w.sel.streams {
		conns = append(conns, c)
	}
	slices.SortFunc(conns, func(a, b *call.Conn) int { return cmp.Compare(a.Key, b.Key) })
	for _, c := range conns {
		w.sum.Connections++
		sides := w.sel.streams[c]
		for side := range sides {
			sides[side].sort()
			s := &stream{direction: &sides[side], conn: c, start: c.Starts[side]}
			f := flow{w.source(c.Input), endpoint(c.Ends[side]), endpoint(c.Ends[1-side])}
			w.flows[f] = append(w.flows[f], s)
		}
	}
}

// endpoint parses an end of a connection.
func endpoint(text string) packet.Endpoint {
	a, _ := netip.ParseAddrPort(text)
	return packet.Endpoint{IP: a.Addr().As16(), Port: a.Port()}
}

func (w *writer) source(file int) int {
	if file < len(w.opt.Apart) {
		return w.opt.Apart[file]
	}
	return 0
}

// take writes a packet with a segment if it belongs to the selection.
func (w *writer) take(p *capture.Packet, ordinal int64) error {
	s := &w.segment
	streams := w.flows[flow{w.source(p.File), s.Src, s.Dst}]
	wanted := false
	w.notes = w.notes[:0]
	for _, t := range streams {
		if ordinal < int64(t.conn.Key) || ordinal >= t.conn.Closed {
			continue
		}
		wanted = wanted || t.whole
		if s.PayloadLen == 0 {
			continue
		}
		seq := s.Seq
		if s.Flags&packet.SYN != 0 {
			seq++ // the payload follows it
		}
		from := t.position(seq)
		to := from + int64(s.PayloadLen)
		t.at = from
		wanted = wanted || t.has(from, to)
		i, _ := slices.BinarySearchFunc(t.messages, from, func(m message, at int64) int { return cmp.Compare(m.from, at) })
		for ; i < len(t.messages) && t.messages[i].from < to && len(w.notes) < maxNotes; i++ {
			if m := &t.messages[i]; !m.done {
				m.done = true
				w.notes = append(w.notes, w.sel.comment(m))
			}
		}
	}
	if !wanted {
		return nil
	}
	w.sum.Comments += int64(len(w.notes))
	if len(w.decoder.Layers.Parts) > 0 {
		if err := w.fragments(); err != nil {
			return err
		}
	}
	return w.copy(w.ifaces.Of(p), p, w.notes)
}

func (w *writer) copy(iface int, p *capture.Packet, comments []string) error {
	w.sum.Packets++
	w.buf = w.ifaces.AppendDescription(w.buf[:0], iface)
	w.buf = w.ifaces.AppendPacket(w.buf, iface, p.Time, p.Data, p.WireLen, comments...)
	return w.write(w.buf)
}

func (w *writer) write(b []byte) error {
	_, err := w.out.Write(b)
	return err
}

// hold keeps a fragment. The oldest ones go where there are too many.
func (w *writer) hold(p *capture.Packet, ordinal int64) {
	h := heldFragment{ordinal: ordinal, packet: *p, iface: w.ifaces.Of(p)}
	h.packet.Data = bytes.Clone(p.Data)
	w.held = append(w.held, h)
	w.heldLen += len(p.Data)
	for w.heldLen > maxHeld || len(w.held) > maxHeld/64 {
		w.heldLen -= len(w.held[0].packet.Data)
		w.held = w.held[1:]
	}
}

// fragments writes the held fragments of the packet that was decoded last.
func (w *writer) fragments() error {
	own := make(map[int64]bool)
	for _, parts := range w.decoder.Layers.Parts {
		for _, part := range parts {
			own[part.Number] = true
		}
	}
	kept := w.held[:0]
	var err error
	for i := range w.held {
		h := &w.held[i]
		if !own[h.ordinal] {
			kept = append(kept, *h)
			continue
		}
		w.heldLen -= len(h.packet.Data)
		if err == nil {
			err = w.copy(h.iface, &h.packet, nil)
		}
	}
	w.held = kept
	return err
}
