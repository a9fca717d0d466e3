package main

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"io"
	"net/netip"
	"slices"

	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/dev/bench/traffic"
)

// scene is a capture in memory, with the truth about every frame in it.
type scene struct {
	packets []packet
	streams []*stream
	bytes   int64 // of payload, each once
	frames  int
}

// packet is a packet of the capture; stream is -1 where it carries no payload.
type packet struct {
	data   []byte // from its link header on
	at     int64
	stream int
	off    int // of its payload in the stream
	pay    int // of its payload in data
}

// stream is one direction of a connection.
type stream struct {
	key    key
	isn    uint32
	bytes  []byte
	frames []frame
	other  *stream
}

// key names a stream by sender and receiver.
type key struct{ src, dst netip.AddrPort }

// frame is a frame as it was sent.
type frame struct {
	start, end int
	id         int64
	request    bool
}

const (
	fileHeader, recordHeader = 24, 16
	ethernet                 = 14
	headerLen                = 16 // of a frame
	flagSYN                  = 2
)

// newScene makes a capture of about size bytes.
func newScene(size int64, connections int) (*scene, error) {
	var b bytes.Buffer
	b.Grow(int(size + size/8))
	if _, err := traffic.Write(&b, traffic.Config{Size: size, Connections: connections}); err != nil {
		return nil, err
	}
	s := &scene{}
	byKey := map[key]int{}
	for file := b.Bytes()[fileHeader:]; len(file) > 0; {
		n := int(binary.LittleEndian.Uint32(file[8:]))
		data := file[recordHeader : recordHeader+n]
		at := int64(binary.LittleEndian.Uint32(file))*1e9 + int64(binary.LittleEndian.Uint32(file[4:]))*1e3
		file = file[recordHeader+n:]
		s.add(data, at, byKey)
	}
	for i, st := range s.streams {
		st.other = s.streams[byKey[key{st.key.dst, st.key.src}]]
		s.bytes += int64(len(st.bytes))
		for _, p := range s.packets {
			if p.stream == i {
				copy(st.bytes[p.off:], p.data[p.pay:])
			}
		}
		for at := 0; at < len(st.bytes); {
			h := st.bytes[at:]
			f := frame{start: at, id: int64(binary.BigEndian.Uint64(h[4:])), request: h[2]&0x80 != 0}
			f.end = at + headerLen + int(binary.BigEndian.Uint32(h[12:]))
			st.frames = append(st.frames, f)
			at = f.end
		}
		s.frames += len(st.frames)
	}
	return s, nil
}

// add takes a packet.
func (s *scene) add(data []byte, at int64, byKey map[key]int) {
	ip := data[ethernet:]
	tcp := ip[int(ip[0]&15)*4:]
	end := func(address, port []byte) netip.AddrPort {
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte(address)), binary.BigEndian.Uint16(port))
	}
	k := key{end(ip[12:16], tcp), end(ip[16:20], tcp[2:])}
	i, ok := byKey[k]
	if !ok {
		i = len(s.streams)
		byKey[k] = i
		s.streams = append(s.streams, &stream{key: k})
	}
	st, seq := s.streams[i], binary.BigEndian.Uint32(tcp[4:])
	if tcp[13]&flagSYN != 0 {
		st.isn = seq
	}
	p := packet{data: data, at: at, stream: -1}
	p.pay = len(data) - len(tcp) + int(tcp[12]>>4)*4
	if n := len(data) - p.pay; n > 0 {
		p.stream, p.off = i, int(seq-st.isn-1)
		if end := p.off + n; end > len(st.bytes) {
			st.bytes = append(st.bytes, make([]byte, end-len(st.bytes))...)
		}
	}
	s.packets = append(s.packets, p)
}

// rewrite puts what is in the streams into the packets.
func (s *scene) rewrite() {
	for _, p := range s.packets {
		if p.stream >= 0 {
			copy(p.data[p.pay:], s.streams[p.stream].bytes[p.off:])
		}
	}
}

// lossy is a scene of which packets are missing.
type lossy struct {
	*scene
	removed []bool
	missing [][]span // by stream: the bytes that no packet brings, in order
	at      int
}

type span struct{ from, to int }

// remove removes a share of the packets with payload.
func (s *scene) remove(share float64, random func() float64) *lossy {
	l := &lossy{scene: s, removed: make([]bool, len(s.packets)), missing: make([][]span, len(s.streams))}
	type place struct{ stream, off int }
	gone := map[place]int{}
	for i, p := range s.packets {
		if p.stream >= 0 && random() < share {
			l.removed[i] = true
			gone[place{p.stream, p.off}] = len(p.data) - p.pay
		}
	}
	for i, p := range s.packets {
		if p.stream >= 0 && !l.removed[i] {
			delete(gone, place{p.stream, p.off}) // it was sent twice
		}
	}
	for p, n := range gone {
		l.missing[p.stream] = append(l.missing[p.stream], span{p.off, p.off + n})
	}
	for _, m := range l.missing {
		slices.SortFunc(m, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	}
	return l
}

// Next returns the packets that were not removed.
func (l *lossy) Next(p *capture.Packet) error {
	for l.at < len(l.packets) && l.removed[l.at] {
		l.at++
	}
	if l.at == len(l.packets) {
		return io.EOF
	}
	k := &l.packets[l.at]
	l.at++
	*p = capture.Packet{Data: k.data, WireLen: len(k.data), Time: k.at, Link: capture.LinkEthernet, Number: int64(l.at)}
	return nil
}

func (l *lossy) Close() error { return nil }

// whole returns, for one stream, what tells whether bytes are all there; it is asked in the order of places.
func (l *lossy) whole(stream int) func(from, to int) bool {
	m := l.missing[stream]
	return func(from, to int) bool {
		for len(m) > 0 && m[0].to <= from {
			m = m[1:]
		}
		return len(m) == 0 || m[0].from >= to
	}
}
