package capture

import (
	"bytes"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzOpen reads any bytes as a capture: no panic, an end, packets within bounds,
// numbers that count, damage for what was left out, and memory that
// follows the input and not what it claims.
func FuzzOpen(f *testing.F) {
	b := plain(rec{data: "one"}, rec{data: "two", wire: 1500})
	f.Add(b)
	f.Add(pcapForm{bothOrders[1], magicKuznetzov, 2, 100, 276}.build(rec{data: "swapped lengths"}))
	f.Add(mixed(bothOrders[0], bothOrders[1]))
	f.Add(mixed(bothOrders[1], bothOrders[0]))
	f.Add(compressGzip(f, b))
	f.Add(compressZstd(f, mixed(bothOrders[0], bothOrders[0])))
	f.Add(append(bytes.Clone(b), 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0)) // a packet that claims 16 MiB
	f.Fuzz(func(t *testing.T, b []byte) {
		files, err := Open([]string{"-"}, Options{Stdin: bytes.NewReader(b)})
		if err != nil {
			require.NotZero(t, CauseOf(err))
			return
		}
		var p Packet
		last := int64(0)
		for {
			err := files.Next(&p)
			if err == io.EOF {
				break
			}
			require.NoError(t, err)
			require.GreaterOrEqual(t, p.WireLen, len(p.Data))
			require.LessOrEqual(t, len(p.Data), MaxPacket)
			require.Greater(t, p.Number, last)
			last = p.Number
		}
		in := files.Inputs()[0]
		require.GreaterOrEqual(t, last, in.Packets)
		require.LessOrEqual(t, last, in.Packets+int64(len(in.Damage))+in.DamageLeftOut, "what was left out is damage")
		for _, d := range in.Damage {
			require.NotEmpty(t, d.Text)
			require.Positive(t, d.Packet)
			require.GreaterOrEqual(t, d.Offset, int64(0))
		}
		require.NoError(t, files.Close())
		read(t, b) // in batches, too
	})
}
