package packet

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/capture"
)

// FuzzDecode parses any bytes as a packet of any link type: no panic, payload only
// within the packet, and books that balance.
func FuzzDecode(f *testing.F) {
	for _, c := range append(append(common(f), rareSamples(f)...), tunnelSamples(f)...) {
		f.Add(uint16(c.p.Link), c.p.Data, uint16(0))
		f.Add(uint16(c.p.Link), c.p.Data[:len(c.p.Data)/2], uint16(len(c.p.Data)))
	}
	paths, err := filepath.Glob("../../../testdata/captures/*.pcap*")
	require.NoError(f, err)
	for _, path := range paths { // a SYN, and data
		if !beyond.MatchString(filepath.Base(path)) && !strings.HasPrefix(filepath.Base(path), "bid") {
			continue
		}
		source, err := capture.Open([]string{path}, capture.Options{})
		require.NoError(f, err)
		var p capture.Packet
		for n := 0; n < 8 && source.Next(&p) == nil; n++ {
			if n == 0 || n > 4 {
				f.Add(uint16(p.Link), bytes.Clone(p.Data), uint16(p.Missing()))
			}
		}
		require.NoError(f, source.Close())
	}
	f.Fuzz(func(t *testing.T, link uint16, b []byte, missing uint16) {
		p := &capture.Packet{Data: b, WireLen: len(b) + int(missing), Link: capture.LinkType(link)}
		var d Decoder
		var k books
		for range 2 {
			var s Segment
			v := k.feed(&d, p, &s)
			require.LessOrEqual(t, v, Held)
			_ = d.Protocol()
			k.balanced(t, &d)
			if v == TCP {
				sound(t, p, &s)
			}
		}
	})
}

// sound checks what holds for every segment.
func sound(t testing.TB, p *capture.Packet, s *Segment) {
	require.LessOrEqual(t, len(s.Payload), s.PayloadLen)
	require.GreaterOrEqual(t, s.Padding, 0)
	require.LessOrEqual(t, s.PayloadLen+s.Padding, p.WireLen+s.Extra-40, "headers are link bytes, too")
	require.NotEmpty(t, s.Src.String())
	require.Less(t, s.Lane(4), 4)
}

// FuzzFragments cuts any bytes, taken for an IP packet in some tunnel, into fragments, and those again, and decodes
// them in any order, some twice, some not at all: what comes out whole is what it is uncut, and books balance.
func FuzzFragments(f *testing.F) {
	for _, c := range append(common(f), tunnelSamples(f)...) {
		if c.p.Link == capture.LinkEthernet {
			f.Add(c.p.Data[14:], uint64(c.payload), uint8(3))
		} else if c.p.Link == capture.LinkRaw {
			f.Add(c.p.Data, uint64(c.payload), uint8(9))
		}
	}
	f.Fuzz(func(t *testing.T, ip []byte, seed uint64, size uint8) {
		if len(ip) < 41 || len(ip) > 3000 || ip[0]>>4 != 6 && ip[0] != 0x45 {
			return
		}
		random := rand.New(rand.NewPCG(seed, 0))
		var plain, s Segment
		var uncut Decoder
		want := uncut.Decode(behind(101, "", ip), &plain)
		total := int(binary.BigEndian.Uint16(ip[2:]))
		exact := total == len(ip)
		if ip[0]>>4 == 6 {
			exact = int(binary.BigEndian.Uint16(ip[4:]))+40 == len(ip)
		}
		if exact && ip[0]>>4 == 4 {
			exact = binary.BigEndian.Uint16(ip[6:])&0x3fff == 0
		}
		fragments := split(ip, 8*(1+int(size)%64), 1)
		for i := range len(fragments) {
			if random.IntN(4) == 0 && size%2 == 1 {
				fragments[i] = fragments[random.IntN(len(fragments))]
			}
		}
		if size%4 > 1 {
			random.Shuffle(len(fragments), func(i, j int) { fragments[i], fragments[j] = fragments[j], fragments[i] })
		}
		var d Decoder
		var k books
		for _, b := range fragments {
			p := behind(101, "", b)
			v := k.feed(&d, p, &s)
			k.balanced(t, &d)
			if v == TCP {
				sound(t, p, &s)
			}
			if exact && v == TCP && d.Earlier().Packets == int64(len(fragments)-1) && len(fragments) > 1 {
				require.Equal(t, want, v)
				require.True(t, bytes.Equal(plain.Payload, s.Payload))
				require.Equal(t, plain.PayloadLen, s.PayloadLen)
				require.Equal(t, plain.Padding, s.Padding)
			}
		}
		d.Flush()
		k.balanced(t, &d)
		require.Zero(t, d.Waiting())
	})
}
