package packet_test

import (
	"errors"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/capture/packet"
	"dubbo-wire/internal/dev/testkit"
)

// Layers say where the TCP header lies of every segment of every capture, and what else they say holds: the ports are
// there, the payload is after it, and the parts of packets that were put together are the bytes of the fragments.
func TestLayersOfCaptures(t *testing.T) {
	joined := 0
	for _, path := range testkit.Paths(5, "fragments-v4", "fragments-v6", "fragments-vxlan") {
		src, err := capture.Open([]string{path}, capture.Options{})
		require.NoError(t, err)
		plain, d := packet.Decoder{}, packet.Decoder{Layers: &packet.Layers{}}
		var p capture.Packet
		var s, other packet.Segment
		held := map[int64][]byte{}
		for n := int64(1); ; n++ {
			if err := src.Next(&p); errors.Is(err, io.EOF) {
				break
			}
			v := d.Decode(&p, &s)
			require.Equal(t, plain.Decode(&p, &other), v)
			if v == packet.Held || v == packet.TCP {
				held[n] = append([]byte(nil), p.Data...)
			}
			if v != packet.TCP {
				continue
			}
			require.Equal(t, other, s)
			l := d.Layers
			last := l.All[len(l.All)-1]
			require.Equal(t, packet.LayerTCP, last.Kind, "%s packet %d", path, n)
			require.Equal(t, len(l.Joined), last.In)
			b := p.Data
			if last.In > 0 {
				joined++
				b = l.Joined[last.In-1]
				at := 20
				for k := len(l.All) - 1; l.All[k].In == last.In; k-- {
					if l.All[k].From == 0 && l.All[k].Kind == packet.LayerIPv6 {
						at = 40
					}
				}
				for _, part := range l.Parts[last.In-1] {
					require.Equal(t, at, part.At)
					require.Equal(t, b[part.At:part.At+part.N], held[part.Number][part.From:part.From+part.N])
					at += part.N
				}
				require.Equal(t, len(b), at)
			}
			assert.Equal(t, s.Src.Port, uint16(b[last.From])<<8|uint16(b[last.From+1]))
			assert.Equal(t, s.Payload, b[last.To:last.To+len(s.Payload)])
			assert.Equal(t, s.PayloadLen, last.End-last.To)
			for k, layer := range l.All {
				require.LessOrEqual(t, layer.From, layer.To)
				if k > 0 && l.All[k-1].In == layer.In {
					require.LessOrEqual(t, l.All[k-1].To, layer.From, "%s packet %d: %v", path, n, l.All)
				}
			}
		}
		require.NoError(t, src.Close())
	}
	assert.Positive(t, joined)
}
