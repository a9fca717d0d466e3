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
	syn    bool
}

// stream is one direction of a connection.
type stream struct {
	key    key
	isn    uint32
	bytes  []byte
	frames []frame
	other  *stream
	// messages are those of HTTP/2, which has no frames here.
	messages []*traffic.Message
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

// newScene makes a capture of about size bytes with the dubbo protocol.
func newScene(size int64, connections int) (*scene, error) {
	s, err := load(traffic.Config{Size: size, Connections: connections}, nil)
	if err != nil {
		return nil, err
	}
	for _, st := range s.streams {
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

// load makes a capture and reads its packets and streams.
func load(cfg traffic.Config, record func(*traffic.Message)) (*scene, error) {
	var b bytes.Buffer
	b.Grow(int(cfg.Size + cfg.Size/8))
	if _, err := traffic.Record(&b, cfg, record); err != nil {
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
	p := packet{data: data, at: at, stream: -1, syn: tcp[13]&flagSYN != 0}
	if p.syn {
		st.isn = seq
	}
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

// lossy is a scene of which packets are missing, or their ends.
type lossy struct {
	*scene
	removed []bool
	snap    int      // bytes that are left of a packet; 0: all
	missing [][]span // by stream: the bytes that no packet brings, in order
	at      int
}

type span struct{ from, to int }

// remove removes a share of the packets with payload.
func (s *scene) remove(share float64, random func() float64) *lossy {
	removed := make([]bool, len(s.packets))
	for i, p := range s.packets {
		removed[i] = p.stream >= 0 && random() < share
	}
	return s.without(removed, 0)
}

// without removes packets, and cuts the others to a snap length.
func (s *scene) without(removed []bool, snap int) *lossy {
	l := &lossy{scene: s, removed: removed, snap: snap, missing: make([][]span, len(s.streams))}
	there := make([][]span, len(s.streams))
	for i, p := range s.packets {
		if n := len(l.data(i)) - p.pay; p.stream >= 0 && !removed[i] && n > 0 {
			there[p.stream] = append(there[p.stream], span{p.off, p.off + n})
		}
	}
	for i, list := range there {
		slices.SortFunc(list, func(a, b span) int { return cmp.Compare(a.from, b.from) })
		at := 0
		for _, t := range append(list, span{len(s.streams[i].bytes), len(s.streams[i].bytes)}) {
			if t.from > at {
				l.missing[i] = append(l.missing[i], span{at, t.from})
			}
			at = max(at, t.to)
		}
	}
	return l
}

// data is what the capture has of a packet.
func (l *lossy) data(i int) []byte {
	b := l.packets[i].data
	if l.snap > 0 {
		b = b[:min(len(b), l.snap)]
	}
	return b
}

// Next returns the packets that were not removed.
func (l *lossy) Next(p *capture.Packet) error {
	for l.at < len(l.packets) && l.removed[l.at] {
		l.at++
	}
	if l.at == len(l.packets) {
		return io.EOF
	}
	k, data := &l.packets[l.at], l.data(l.at)
	l.at++
	*p = capture.Packet{Data: data, WireLen: len(k.data), Time: k.at, Link: capture.LinkEthernet, Number: int64(l.at)}
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
