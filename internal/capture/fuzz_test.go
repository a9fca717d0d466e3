package capture

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
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

// FuzzSeveral reads any bytes as two captures: each has the packets that it has alone, in their order, whether they are read one by one or in batches.
func FuzzSeveral(f *testing.F) {
	early, late := plain(rec{ns: 1000, data: "one"}, rec{ns: 5000, data: "five"}), plain(rec{ns: 3000, data: "three"}, rec{ns: 1000, data: "again one"})
	f.Add(early, late)
	f.Add(late, early[:len(early)-2])
	f.Add(mixed(bothOrders[0], bothOrders[1]), late)
	f.Add(compressGzip(f, early), mixed(bothOrders[1], bothOrders[0]))
	f.Add([]byte("no capture"), early)
	f.Fuzz(func(t *testing.T, a, b []byte) {
		path := filepath.Join(t.TempDir(), "a")
		require.NoError(t, os.WriteFile(path, a, 0o600))
		var all [2][]got
		var inputs [2][]Input
		one := func(t testing.TB, f *Files) []got { return drain(t, f) }
		for i, packets := range []func(testing.TB, *Files) []got{one, drainBatches} {
			files, err := Open([]string{path, "-"}, Options{Stdin: bytes.NewReader(b)})
			if err != nil {
				return
			}
			all[i], inputs[i] = packets(t, files), files.Inputs()
			require.NoError(t, files.Close())
		}
		require.Equal(t, all[0], all[1])
		require.Equal(t, inputs[0], inputs[1])
		for i, content := range [][]byte{a, b} {
			var own []got
			for _, g := range all[0] {
				if g.file == i {
					g.file = 0
					own = append(own, g)
				}
			}
			if inputs[0][i].Err != nil {
				require.Empty(t, own)
			} else if alone, _ := readBy(t, content, func(f *Files) []got { return one(t, f) }); len(alone) > 0 {
				require.Equal(t, alone, own)
			}
		}
	})
}
