package assemble

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/capture/packet"
)

// model is a conversation as it was, and what of it a capture has.
type model struct {
	rng     *rand.Rand
	isn     [2]uint32
	bytes   [2][]byte // what was sent
	has     [2][]bool // what was captured of it
	packets []modelPacket
	copies  int64 // payload of packets captured twice
	apart   int   // how many packets a copy came after its original, at most
	id      uint16
	cut     bool // many packets are cut, and none has an acknowledgement
}

type modelPacket struct {
	seg   packet.Segment
	iface int
}

func (m *model) segment(side int, flags uint8, from, to int) packet.Segment {
	s := packet.Segment{Src: client, Dst: server, Flags: flags, Payload: m.bytes[side][from:to], PayloadLen: to - from}
	s.Seq, s.Ack = m.isn[side]+1+uint32(from), m.isn[1-side]+1+uint32(len(m.bytes[1-side]))
	if side == 1 {
		s.Src, s.Dst = server, client
	}
	m.id = max(1, m.id+1)
	s.IPID = m.id
	return s
}

// run makes a conversation of n packets. loss is in percent; twice says how packets are captured a second time.
func (m *model) run(n, loss int, twice func() (extra bool, iface int)) {
	for range n {
		side := m.rng.IntN(2)
		if m.rng.IntN(3) == 0 {
			side = 0
		}
		at := len(m.bytes[side])
		from, to := at, at+m.rng.IntN(30)
		switch k := m.rng.IntN(10); {
		case k == 0:
			to = from // only an acknowledgement
		case k == 1 && at > 0: // sent again, in other segments, with new bytes after or without
			from = max(0, at-1-m.rng.IntN(100))
			to = from + 1 + m.rng.IntN(120)
		case k == 2 && at > 0:
			from, to = at-1, at // a keep-alive with the right byte
		}
		for len(m.bytes[side]) < to {
			m.bytes[side] = append(m.bytes[side], 'a'+byte(m.rng.IntN(26)))
			m.has[side] = append(m.has[side], false)
		}
		s := m.segment(side, ack, from, to)
		if m.rng.IntN(100) < loss {
			continue
		}
		capture := func(iface int) {
			s := s
			if m.cut {
				s.Flags = 0
				s.Payload = s.Payload[:min(len(s.Payload), m.rng.IntN(80))]
			}
			for i := range s.Payload {
				m.has[side][from+i] = true
			}
			m.packets = append(m.packets, modelPacket{seg: s, iface: iface})
		}
		capture(0)
		if extra, iface := twice(); extra {
			capture(iface)
			m.copies += int64(to - from)
		}
	}
}

// shuffle lets packets overtake others by up to n places, but no copy its original.
func (m *model) shuffle(n int) {
	for i := range m.packets {
		k := i + m.rng.IntN(n+1)
		if k < len(m.packets) && m.packets[i].seg.IPID != m.packets[k].seg.IPID {
			m.packets[i], m.packets[k] = m.packets[k], m.packets[i]
		}
	}
	seen := map[uint16]int{} // where a copy came first, the two change places
	for i, p := range m.packets {
		k, ok := seen[p.seg.IPID]
		if ok {
			m.apart = max(m.apart, i-k)
		}
		if ok && m.packets[k].iface > p.iface {
			m.packets[i], m.packets[k] = m.packets[k], m.packets[i]
		}
		seen[p.seg.IPID] = i
	}
}

// want is a stream as it must be delivered.
func (m *model) want(side int) string {
	var b strings.Builder
	for i := 0; i < len(m.has[side]); {
		k := i
		for k < len(m.has[side]) && m.has[side][k] == m.has[side][i] {
			k++
		}
		if m.has[side][i] {
			b.Write(m.bytes[side][i:k])
		} else {
			fmt.Fprintf(&b, "<gap %d>", k-i)
		}
		i = k
	}
	return b.String()
}

// merged joins gaps that touch, and drops repeats and the end.
func merged(s string) string {
	var b strings.Builder
	gap := 0
	flush := func() {
		if gap > 0 {
			fmt.Fprintf(&b, "<gap %d>", gap)
		}
		gap = 0
	}
	for s != "" {
		if s[0] != '<' {
			flush()
			b.WriteByte(s[0])
			s = s[1:]
			continue
		}
		i := strings.IndexByte(s, '>')
		var n int
		if k, _ := fmt.Sscanf(s[:i], "<gap %d", &n); k == 1 {
			gap += n
		}
		s = s[i+1:]
	}
	flush()
	return b.String()
}

// Every byte is handed on once, in order, whatever became of its packets; gaps are what was lost; what was captured
// twice is told from what was sent twice. Bytes that the snap length cut are a gap only if no copy has them.
func FuzzModel(f *testing.F) {
	for seed := range uint64(40) {
		f.Add(seed, uint32(seed*0x0fffffff), uint16(50*seed), uint8(seed%4*10), uint8(seed%5), uint8(seed%7*6))
		f.Add(seed, uint32(seed*0x0fffffff), uint16(50*seed), uint8(seed%4*10), uint8(5+seed%5), uint8(seed%7*6))
	}
	f.Add(uint64(31), uint32(4026531809), uint16(1550), uint8(12), uint8(1), uint8(43)) // copies far after their originals
	f.Fuzz(func(t *testing.T, seed uint64, isn uint32, n uint16, loss, twice, overtake uint8) {
		rng := rand.New(rand.NewPCG(seed, 2))
		m := &model{rng: rng, isn: [2]uint32{isn, isn ^ 0xf0000000}, cut: twice/5%2 == 1}
		m.run(int(n%3000), int(loss%60), func() (bool, int) {
			if twice%5 == 0 {
				return false, 0
			}
			return rng.IntN(3) == 0, int(twice%5) / 3 // on the same interface, or another
		})
		m.shuffle(int(overtake % 50))
		w := newWire(Config{GapPackets: 1000, GapTime: time.Hour})
		w.send("c", packet.SYN, m.isn[0], 0, "")
		w.send("s", packet.SYN|ack, m.isn[1], m.isn[0]+1, "")
		for _, p := range m.packets {
			w.last = p.seg
			w.again(0, p.iface)
			require.NoError(t, w.a.Ledger.Balance())
		}
		for side := range 2 {
			n := len(m.bytes[side])
			w.last = m.segment(side, ack|packet.FIN, n, n)
			w.again(0, 0)
		}
		w.a.End()
		balance(t, w)
		assert.Equal(t, int64(1), w.a.Ledger.Connections)
		if len(w.h.streams) == 0 {
			require.Zero(t, w.a.Ledger.Data)
			return
		}
		for side := range 2 {
			require.Equal(t, m.want(side), merged(w.h.streams[fmt.Sprintf("1.%d", side)].b.String()), "side %d", side)
		}
		if assert.LessOrEqual(t, w.a.Ledger.Duplicate, m.copies); m.apart < recentLen {
			assert.Equal(t, m.copies, w.a.Ledger.Duplicate)
		}
		assert.Zero(t, w.a.Ledger.Stray)
		assert.Zero(t, w.a.Ledger.Differing)
	})
}

// Both ends captured, in other segments, with clocks that are apart: the streams are those of one, and all that the
// other one has is duplicate, but for what the first one lost.
func TestBothEnds(t *testing.T) {
	for _, c := range []struct {
		behind int // packets
		skew   time.Duration
		loss   int  // of the first capture, in percent
		apart  bool // the one ends before the other begins
	}{
		{1, 0, 0, false},
		{20, 0, 0, false},
		{300, time.Second, 0, false},
		{2500, time.Minute, 0, false},
		{2500, time.Minute, 0, true},
		{20, 0, 10, false},
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(3, 4))
			m := &model{rng: rng, isn: [2]uint32{77, 1 << 31}}
			for range 300 { // without anything sent again
				side := rng.IntN(2)
				n := len(m.bytes[side])
				m.bytes[side] = append(m.bytes[side], strings.Repeat(string(rune('a'+rng.IntN(26))), 1+rng.IntN(50))...)
				m.packets = append(m.packets, modelPacket{seg: m.segment(side, ack, n, len(m.bytes[side]))})
			}
			w := newWire(Config{GapPackets: 1 << 20, GapTime: time.Hour})
			give := func(s *packet.Segment, file int) {
				w.last = *s
				w.again(file, 0)
			}
			var start []packet.Segment
			for side, flags := range []uint8{packet.SYN, packet.SYN | ack} {
				s := m.segment(side, flags, 0, 0)
				s.Seq, s.Ack = m.isn[side], m.isn[1-side]+1
				start = append(start, s)
			}
			var end []packet.Segment
			for side := range 2 {
				n := len(m.bytes[side])
				end = append(end, m.segment(side, ack|packet.FIN, n, n))
			}
			var first, second []packet.Segment
			first, second = append(first, start...), append(second, start...)
			lost := int64(0)
			for i, p := range m.packets {
				if rng.IntN(100) >= c.loss || i == 0 {
					first = append(first, p.seg)
				} else {
					lost += int64(p.seg.PayloadLen)
				}
				a, b := p.seg, p.seg // the other end gets it in two pieces
				k := a.PayloadLen / 2
				a.Payload, a.PayloadLen = a.Payload[:k], k
				b.Payload, b.PayloadLen, b.Seq = b.Payload[k:], b.PayloadLen-k, b.Seq+uint32(k)
				second = append(second, a, b)
			}
			first, second = append(first, end...), append(second, end...)
			for i := 0; i < len(first) || len(second) > 0; i++ {
				if i < len(first) {
					give(&first[i], 0)
				}
				if i == len(first) {
					w.sleep(c.skew)
				}
				if i == min(c.behind, len(first)-1) && !c.apart {
					w.both() // the files overlap
				}
				for k := 0; k < 2 && i >= c.behind && len(second) > 0; k++ {
					give(&second[0], 1)
					second = second[1:]
				}
			}
			w.a.End()
			balance(t, w)
			for side := range 2 {
				assert.Equal(t, string(m.bytes[side]), merged(w.h.streams[fmt.Sprintf("1.%d", side)].b.String()))
			}
			l := &w.a.Ledger
			if c.apart {
				assert.Equal(t, int64(1), l.Connections)
			} else {
				assert.Equal(t, int64(2), l.Connections, "one, and the one that shows the files to overlap")
			}
			sent := int64(len(m.bytes[0]) + len(m.bytes[1]))
			assert.Equal(t, sent, l.Stream)
			if c.loss == 0 {
				assert.Equal(t, sent, l.Duplicate)
			}
			assert.Equal(t, sent-lost, l.Duplicate+l.Repeated)
		})
	}
}
