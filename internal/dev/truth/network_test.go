package truth

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/capture/packet"
)

// A small network: the segments of a committed capture, which can be cut, lost, repeated and reordered, and printed
// again as packets of another link layer and another file format. Lengths and sequence numbers are always right.

// segment is one TCP segment of a capture.
type segment struct {
	at       int64
	src, dst packet.Endpoint
	seq, ack uint32
	flags    uint8
	payload  []byte
}

func (s *segment) way() way { return way{s.src.String(), s.dst.String()} }

// end is the sequence number after the segment.
func (s *segment) end() uint32 {
	n := uint32(len(s.payload))
	if s.flags&packet.SYN != 0 {
		n++
	}
	if s.flags&packet.FIN != 0 {
		n++
	}
	return s.seq + n
}

// readSegments returns the TCP segments of a committed capture.
func readSegments(t *testing.T, file string) []segment {
	src, err := capture.Open([]string{filepath.Join(captures, file)}, capture.Options{})
	require.NoError(t, err)
	defer src.Close()
	var all []segment
	var p capture.Packet
	var s packet.Segment
	var d packet.Decoder
	for {
		err := src.Next(&p)
		if errors.Is(err, io.EOF) {
			return all
		}
		require.NoError(t, err)
		if d.Decode(&p, &s) != packet.TCP {
			continue
		}
		require.Equal(t, s.PayloadLen, len(s.Payload), "the capture is not whole")
		all = append(all, segment{p.Time, s.Src, s.Dst, s.Seq, s.Ack, s.Flags, bytes.Clone(s.Payload)})
	}
}

// recut cuts segments to a maximum segment size.
func recut(all []segment, mss int) []segment {
	var out []segment
	for _, s := range all {
		for len(s.payload) > mss {
			first := s
			first.payload = s.payload[:mss]
			first.flags &^= packet.FIN | packet.PSH
			out = append(out, first)
			s.seq = first.end()
			s.payload = s.payload[mss:]
			s.flags &^= packet.SYN
		}
		out = append(out, s)
	}
	return out
}

// spread gives each segment a time of its own, step nanoseconds apart.
func spread(all []segment, step int64) []segment {
	for i := range all {
		all[i].at = all[0].at + int64(i)*step
	}
	return all
}

// reorder moves each segment back by up to window places; the handshakes (and what precedes them) stay. causal: never
// after a segment that acknowledges it, as on any wire.
func reorder(all []segment, window int, causal bool, r *rand.Rand) []segment {
	type place struct {
		at float64
		s  segment
	}
	places := make([]place, len(all))
	hands := 0
	for i, s := range all {
		places[i] = place{float64(i), s}
		if s.flags&packet.SYN != 0 {
			hands = i + 2
		}
	}
	for i := len(places) - 1; i >= hands; i-- {
		p := &places[i]
		p.at += r.Float64() * float64(window)
		for j := i + 1; causal && j < len(places) && float64(j) < p.at; j++ {
			a := &places[j]
			if a.s.src == p.s.dst && a.s.dst == p.s.src && int32(a.s.ack-p.s.seq) > 0 {
				p.at = float64(j) - 0.5 // a itself moves back only
			}
		}
	}
	slices.SortStableFunc(places, func(a, b place) int { return cmp.Compare(a.at, b.at) })
	out := make([]segment, len(all))
	for i, p := range places {
		out[i] = p.s
		out[i].at = all[i].at
	}
	return out
}

// repeat sends some segments again a little later: as they were, or cut again out of the stream around them.
func repeat(all []segment, share float64, anew bool, r *rand.Rand) []segment {
	streams := streamsOf(all)
	var out []segment
	var due []segment
	for _, s := range all {
		out = append(out, s)
		for len(due) > 0 && r.IntN(3) == 0 {
			d := due[0]
			d.at = s.at
			out = append(out, d)
			due = due[1:]
		}
		if len(s.payload) == 0 || r.Float64() >= share {
			continue
		}
		again := s
		again.flags &^= packet.FIN
		if anew {
			st := streams[s.way()]
			from := int(s.seq - st.first)
			to := from + len(s.payload)
			from = max(0, from-r.IntN(300))
			to = min(max(from+1, to-300+r.IntN(600)), from+1400, st.sentBy(to))
			to = max(to, from+1)
			again.seq = st.first + uint32(from)
			again.payload = st.bytes[from:to]
		}
		due = append(due, again)
	}
	for _, d := range due {
		d.at = all[len(all)-1].at
		out = append(out, d)
	}
	return out
}

// stream is what one direction sent, from the sequence number of its first byte.
type stream struct {
	first uint32
	bytes []byte
}

// sentBy bounds the end of what may be sent again when the bytes before at were sent.
func (s *stream) sentBy(at int) int { return min(at, len(s.bytes)) }

// streamsOf puts the streams of all directions together; their SYNs must be there.
func streamsOf(all []segment) map[way]*stream {
	streams := map[way]*stream{}
	for _, s := range all {
		if s.flags&packet.SYN != 0 {
			streams[s.way()] = &stream{first: s.seq + 1}
		}
	}
	for _, s := range all {
		st := streams[s.way()]
		if st == nil || len(s.payload) == 0 {
			continue
		}
		at := int(s.seq - st.first)
		if need := at + len(s.payload); need > len(st.bytes) {
			st.bytes = append(st.bytes, make([]byte, need-len(st.bytes))...)
		}
		copy(st.bytes[at:], s.payload)
	}
	return streams
}

// shape is the link layer and file format of a capture that is written.
type shape struct {
	link     capture.LinkType
	tags     []uint16 // Ethernet types of VLAN tags, outermost first
	v6       bool     // IPv4 becomes IPv6 …
	extended bool     // … with extension headers
	padding  bool     // short Ethernet frames are padded to 60 bytes
	snap     int
	big      bool // big-endian file
	nanos    bool
}

func (f *shape) order() binary.AppendByteOrder {
	if f.big {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// packet prints a segment as a packet of the shape.
func (f *shape) packet(s *segment) []byte {
	v6 := f.v6 || !s.src.Is4()
	var b []byte
	kind := uint16(0x0800)
	if v6 {
		kind = 0x86dd
	}
	switch f.link {
	case capture.LinkEthernet:
		b = append(b, "\x02\x00\x00\x00\x00\x01\x02\x00\x00\x00\x00\x02"...)
		for _, tag := range f.tags {
			b = binary.BigEndian.AppendUint16(b, tag)
			b = binary.BigEndian.AppendUint16(b, 42)
		}
		b = binary.BigEndian.AppendUint16(b, kind)
	case capture.LinkLinuxSLL:
		b = append(b, 0, 0, 3, 4, 0, 6, 0, 0, 0, 0, 0, 0, 0, 0)
		b = binary.BigEndian.AppendUint16(b, kind)
	case capture.LinkLinuxSLL2:
		b = binary.BigEndian.AppendUint16(b, kind)
		b = append(b, 0, 0, 0, 0, 0, 1, 3, 4, 0, 6, 0, 0, 0, 0, 0, 0, 0, 0)
	case capture.LinkNull, capture.LinkLoop:
		family := uint32(2)
		if v6 {
			family = 30
		}
		if f.link == capture.LinkLoop {
			b = binary.BigEndian.AppendUint32(b, family)
		} else {
			b = f.order().AppendUint32(b, family)
		}
	}
	tcp := binary.BigEndian.AppendUint16(nil, s.src.Port)
	tcp = binary.BigEndian.AppendUint16(tcp, s.dst.Port)
	tcp = binary.BigEndian.AppendUint32(tcp, s.seq)
	tcp = binary.BigEndian.AppendUint32(tcp, s.ack)
	tcp = append(tcp, 0x80, s.flags, 0xff, 0xff, 0, 0, 0, 0, 1, 1, 8, 10, 0, 0, 0, 0, 0, 0, 0, 0) // with timestamps
	tcp = append(tcp, s.payload...)
	if v6 {
		b = f.ipv6(b, s, tcp)
	} else {
		b = append(b, 0x45, 0)
		b = binary.BigEndian.AppendUint16(b, uint16(20+len(tcp)))
		b = append(b, 0, 1, 0x40, 0, 64, 6, 0, 0)
		b = append(b, s.src.IP[12:]...)
		b = append(b, s.dst.IP[12:]...)
		b = append(b, tcp...)
	}
	if f.padding {
		for len(b) < 60 {
			b = append(b, 0xda)
		}
	}
	return b
}

func (f *shape) ipv6(b []byte, s *segment, tcp []byte) []byte {
	next := byte(6)
	var ext []byte
	if f.extended {
		next = 0
		ext = append(ext, 60, 0, 1, 4, 0, 0, 0, 0)                          // hop by hop
		ext = append(ext, 43, 1, 1, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0) // destination
		ext = append(ext, 44, 2, 4, 0, 0, 0, 0, 0)                          // routing …
		ext = append(ext, bytes.Repeat([]byte{0x20}, 16)...)                // … by one segment
		ext = append(ext, 51, 0, 0, 0, 0, 0, 0, 7)                          // fragment, the only one
		ext = append(ext, 6, 4, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1)               // authentication …
		ext = append(ext, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9)               // … by 12 bytes
	}
	b = append(b, 0x60, 0, 0, 0)
	b = binary.BigEndian.AppendUint16(b, uint16(len(ext)+len(tcp)))
	b = append(b, next, 64)
	b = append(b, v6of(&s.src)...)
	b = append(b, v6of(&s.dst)...)
	b = append(b, ext...)
	return append(b, tcp...)
}

// v6of is an endpoint's address, or an IPv6 address made of its IPv4 address.
func v6of(e *packet.Endpoint) []byte {
	if !e.Is4() {
		return e.IP[:]
	}
	return append([]byte{0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0}, e.IP[12:]...)
}

// pcap prints segments as a file.
func (f *shape) pcap(all []segment) []byte {
	o := f.order()
	magic, unit := uint32(0xa1b2c3d4), int64(1000)
	if f.nanos {
		magic, unit = 0xa1b23c4d, 1
	}
	snap := 262144
	if f.snap > 0 {
		snap = f.snap
	}
	b := o.AppendUint32(nil, magic)
	b = o.AppendUint16(b, 2)
	b = o.AppendUint16(b, 4)
	b = append(b, make([]byte, 8)...)
	b = o.AppendUint32(b, uint32(snap))
	b = o.AppendUint32(b, uint32(f.link))
	for i := range all {
		p := f.packet(&all[i])
		b = o.AppendUint32(b, uint32(all[i].at/1e9))
		b = o.AppendUint32(b, uint32(all[i].at%1e9/unit))
		b = o.AppendUint32(b, uint32(min(snap, len(p))))
		b = o.AppendUint32(b, uint32(len(p)))
		b = append(b, p[:min(snap, len(p))]...)
	}
	return b
}

// pcapng prints segments as a file of two interfaces, each with its link type, in turn.
func pcapng(all []segment, shapes [2]shape) []byte {
	o := shapes[0].order()
	block := func(b []byte, kind uint32, body []byte) []byte {
		for len(body)%4 != 0 {
			body = append(body, 0)
		}
		b = o.AppendUint32(b, kind)
		b = o.AppendUint32(b, uint32(12+len(body)))
		b = append(b, body...)
		return o.AppendUint32(b, uint32(12+len(body)))
	}
	section := o.AppendUint32(nil, 0x1a2b3c4d)
	section = o.AppendUint16(section, 1)
	section = append(o.AppendUint16(section, 0), 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff)
	b := block(nil, 0x0a0d0d0a, section)
	for i := range shapes {
		body := o.AppendUint16(nil, uint16(shapes[i].link))
		body = append(body, 0, 0, 0, 0, 0, 0)
		body = o.AppendUint16(body, 9) // if_tsresol
		body = o.AppendUint16(body, 1)
		body = append(body, 9, 0, 0, 0)
		b = block(b, 1, body)
	}
	for i := range all {
		p := shapes[i%2].packet(&all[i])
		body := o.AppendUint32(nil, uint32(i%2))
		body = o.AppendUint32(body, uint32(uint64(all[i].at)>>32))
		body = o.AppendUint32(body, uint32(all[i].at))
		body = o.AppendUint32(body, uint32(len(p)))
		body = o.AppendUint32(body, uint32(len(p)))
		b = block(b, 6, append(body, p...))
	}
	return b
}

// saved writes captures to files and returns their names.
func saved(t *testing.T, name string, all ...[]byte) []string {
	dir := t.TempDir()
	var files []string
	for i, b := range all {
		file := filepath.Join(dir, string(rune('a'+i))+name)
		require.NoError(t, os.WriteFile(file, b, 0o600))
		files = append(files, file)
	}
	return files
}
