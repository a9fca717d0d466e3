package packet

import (
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
	var d Decoder
	f.Fuzz(func(t *testing.T, link uint16, b []byte, missing uint16) {
		p := &capture.Packet{Data: b, WireLen: len(b) + int(missing), Link: capture.LinkType(link)}
		var s Segment
		v := d.Decode(p, &s)
		require.LessOrEqual(t, v, Held)
		_ = d.Protocol()
		if v == UnknownLink && p.Link != capture.LinkPKTAP {
			require.False(t, Supported(p.Link))
		}
		if v != TCP {
			return
		}
		require.True(t, Supported(p.Link))
		require.LessOrEqual(t, len(s.Payload), s.PayloadLen)
		require.GreaterOrEqual(t, s.Padding, 0)
		require.LessOrEqual(t, s.PayloadLen+s.Padding, p.WireLen-40, "headers are link bytes, too")
		require.NotEmpty(t, s.Src.String())
	})
}
