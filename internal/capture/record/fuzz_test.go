package record

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/capture/packet"
)

// FuzzRecord drives a recorder with any order of packets, verdicts, ends and times: what was recorded can always be read,
// and is what a model without bounds expects. Inputs are too short to reach the bounds of what is held.
func FuzzRecord(f *testing.F) {
	f.Add([]byte{0}, uint8(0))
	f.Add([]byte("\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10\x11\x12\x13"), uint8(1))
	f.Add(bytes.Repeat([]byte{0x10, 0x02, 0x81, 0x40, 0x33, 0x07}, 60), uint8(3))
	f.Add(bytes.Repeat([]byte{0xf0, 0x12, 0x01, 0x80, 0x00, 0x05, 0x21}, 60), uint8(7))
	f.Add(bytes.Repeat([]byte{0x00, 0x02, 0x01, 0x06, 0x0b, 0x0c}, 80), uint8(9)) // SYN, and a mark at once
	f.Fuzz(func(t *testing.T, in []byte, how uint8) {
		if len(in) > 900 {
			return
		}
		dir := t.TempDir()
		o := Options{File: filepath.Join(dir, "f"), OnlyRPC: how&1 != 0, Now: clockAt(0), SnapLen: 40}
		if how&2 != 0 {
			o.MaxBytes = 1500
		}
		if how&4 != 0 {
			o.Every = 3 * time.Second
		}
		r := open(t, o)
		m := model{only: o.OnlyRPC, marked: map[pair]bool{}, state: map[pair]*modelConn{}}
		at := int64(5 * time.Second)
		n := 0
		for len(in) >= 3 {
			a, b, c := in[0], in[1], in[2]
			in = in[3:]
			at = min(max(at+(int64(int8(a&0xf0))<<24), 0), keepClosed-1)
			src, dst := endAt(b&3, 1+uint16(b>>2&1)), endAt(b>>3&3, 1)
			switch c & 15 {
			case 11:
				r.Carries(src, dst)
				m.carries(src, dst)
			case 12:
				r.Tick(at)
			case 13:
				r.Dropped(int64(n), int64(a))
			default:
				v := packet.TCP
				if c&15 > 8 {
					v = packet.Verdict(c & 7)
				}
				n++
				p := pkt(at, fmt.Sprintf("%d %s", n, bytes.Repeat([]byte{'x'}, int(a&7)*10)))
				p.WireLen += int(c >> 4)
				p.Interface = int(b >> 6)
				p.Link = capture.LinkType(b >> 7)
				s := seg(src, dst, uint8(c&7), uint32(a&1), int(a&7))
				if v != packet.TCP {
					s = nil
				}
				r.Packet(p, v, s)
				m.packet(p, v, s)
			}
		}
		require.NoError(t, r.Close())
		entries, err := os.ReadDir(dir)
		require.NoError(t, err)
		require.Len(t, entries, r.Stats().Files)
		var got []string
		for i := range entries {
			name := filepath.Join(dir, "f")
			if i > 0 {
				name += fmt.Sprint(i)
			}
			all, _ := back(t, name)
			for _, p := range all {
				got = append(got, what(&p))
			}
		}
		require.Equal(t, m.written, got)
		s := r.Stats()
		require.Equal(t, int64(len(got)), s.Packets)
		require.Equal(t, int64(n), s.Packets+s.LeftOut)
		require.Zero(t, s.Undecided)
	})
}

// what says all of a packet that a file keeps; the number of its interface is the file's own.
func what(p *capture.Packet) string {
	return fmt.Sprintf("%s|%d|%d|%d", p.Data[:min(len(p.Data), 40)], p.WireLen, p.Time, p.Link)
}

// model is a recorder without bounds.
type model struct {
	only    bool
	marked  map[pair]bool
	state   map[pair]*modelConn
	written []string
}

// modelConn is what the model knows of a connection that is undecided.
type modelConn struct {
	seq           uint32
	syn           bool
	first, behind []string
}

func (m *model) carries(a, b packet.Endpoint) {
	if !m.only {
		return
	}
	ends, _ := pairOf(a, b)
	m.marked[ends] = true
	if c := m.state[ends]; c != nil {
		m.written = append(append(m.written, c.first...), c.behind...)
		delete(m.state, ends)
	}
}

func (m *model) packet(p *capture.Packet, v packet.Verdict, s *packet.Segment) {
	if !m.only || v == packet.Held || v == packet.Fragment {
		m.written = append(m.written, what(p))
		return
	}
	if v != packet.TCP {
		return
	}
	ends, _ := pairOf(s.Src, s.Dst)
	if m.marked[ends] {
		m.written = append(m.written, what(p))
		return
	}
	c := m.state[ends]
	if c == nil {
		c = &modelConn{}
		m.state[ends] = c
	}
	if s.Flags&(packet.SYN|packet.ACK) == packet.SYN {
		if c.syn && c.seq != s.Seq || len(c.behind) > 0 {
			*c = modelConn{}
		}
		c.syn, c.seq = true, s.Seq
	}
	if s.PayloadLen == 0 && len(c.behind) == 0 && len(c.first) < maxHandshake {
		c.first = append(c.first, what(p))
	} else {
		c.behind = append(c.behind, what(p))
	}
}
