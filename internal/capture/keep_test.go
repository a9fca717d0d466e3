package capture

import (
	"bytes"
	"io"
	"os"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

// Packets that are kept do not change while the file is read on, whatever its format and however its bytes arrive.
func TestKeptPacketsStay(t *testing.T) {
	const folder = "../../testdata/captures/"
	var recs []rec // of very different sizes, to make buffers grow and shrink
	for i := range 3000 {
		recs = append(recs, rec{ns: int64(i) * 1000, data: string(bytes.Repeat([]byte{byte(i)}, i*i%(1+i%7*30_000)+1))})
	}
	for name, read := range map[string]func(io.Reader) io.Reader{
		"whole": func(r io.Reader) io.Reader { return r },
		"half":  iotest.HalfReader,
		"small": func(r io.Reader) io.Reader { return &smallReads{r} },
	} {
		t.Run(name, func(t *testing.T) {
			for _, paths := range [][]string{
				{folder + "mixed.pcap.zst"},
				{folder + "fleet.pcap.zst", folder + "mixed.pcap.zst"},
				{"-"},
			} {
				var stdin []byte
				if paths[0] == "-" {
					stdin = plain(recs...)
				}
				var want [][]byte
				src, err := Open(paths, Options{Stdin: read(bytes.NewReader(stdin))})
				require.NoError(t, err)
				var p Packet
				for src.Next(&p) == nil {
					want = append(want, bytes.Clone(p.Data))
				}
				require.NotEmpty(t, want)

				kept, err := Open(paths, Options{Stdin: read(bytes.NewReader(stdin))})
				require.NoError(t, err)
				kept.Keep()
				var got [][]byte
				retired := 0
				for i := 0; kept.Next(&p) == nil; i++ {
					got = append(got, p.Data)
					retired += len(kept.Retired())
				}
				require.Equal(t, len(want), len(got))
				for i := range want {
					require.True(t, bytes.Equal(want[i], got[i]), "packet %d", i+1)
				}
				require.Positive(t, retired+len(kept.Retired()))
				require.Equal(t, src.Inputs(), kept.Inputs())
			}
		})
	}
}

// Buffers that came back are used again, and nothing piles up where a part of a file is passed over.
func TestKeptBuffersAreUsedAgain(t *testing.T) {
	file, err := os.CreateTemp(t.TempDir(), "")
	require.NoError(t, err)
	var recs []rec
	for i := range 20_000 {
		recs = append(recs, rec{ns: int64(i) * 1000, data: string(bytes.Repeat([]byte{byte(i)}, 1400))})
	}
	_, err = file.Write(plain(recs...))
	require.NoError(t, err)
	src, err := Open([]string{file.Name()}, Options{})
	require.NoError(t, err)
	src.Keep()
	seen := make(map[*byte]bool)
	var p Packet
	for i := 0; src.Next(&p) == nil; i++ {
		require.Equal(t, byte(i), p.Data[0])
		for _, b := range src.Retired() {
			seen[&b.buf[0]] = true
			src.Recycle([]Space{b})
		}
	}
	require.LessOrEqual(t, len(seen), 6, "of 28: what is parsed, what is read ahead, what waits")
}

// smallReads gives a few bytes a time.
type smallReads struct{ r io.Reader }

func (s *smallReads) Read(b []byte) (int, error) { return s.r.Read(b[:min(len(b), 1500)]) }
