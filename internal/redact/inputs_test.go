package redact

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/capture/packet"
	"dubbo-wire/internal/capture/rewrite"
	"dubbo-wire/internal/dev/testkit"
)

// split writes the packets of a capture to files of so many, each as far as keep says; without keep, all of them.
func split(t testing.TB, path string, every int, keep func(n int, b []byte) []byte) (paths []string) {
	src, err := capture.Open([]string{path}, capture.Options{})
	require.NoError(t, err)
	defer src.Close()
	var p capture.Packet
	var out *output
	var file *os.File
	for n := 0; ; n++ {
		if err := src.Next(&p); errors.Is(err, io.EOF) {
			break
		}
		if n%every == 0 {
			if out != nil {
				out.sync()
				require.NoError(t, file.Close())
			}
			file, err = os.Create(filepath.Join(t.TempDir(), "part.pcapng"))
			require.NoError(t, err)
			paths, out = append(paths, file.Name()), newOutput(file, new(rewrite.Interfaces), nil)
		}
		if keep != nil {
			p.Data = keep(n, p.Data)
		}
		if len(p.Data) > 0 {
			one := capture.Packet{Link: p.Link} // the files have one interface
			out.packet(&record{data: bytes.Clone(p.Data), n: len(p.Data), time: p.Time, wireLen: p.WireLen, iface: out.ifaces.Of(&one)}, nil)
		}
	}
	out.sync()
	require.NoError(t, out.err)
	require.NoError(t, file.Close())
	return paths
}

// interfaces are the numbers of the interfaces of a file's packets.
func interfaces(t testing.TB, path string) map[int]bool {
	src, err := capture.Open([]string{path}, capture.Options{})
	require.NoError(t, err)
	defer src.Close()
	all := map[int]bool{}
	var p capture.Packet
	for {
		if err := src.Next(&p); errors.Is(err, io.EOF) {
			return all
		}
		all[p.Interface] = true
	}
}

// A rotated set has one interface, so that what was sent again is not taken for captured again; two places keep theirs.
func TestInputs(t *testing.T) {
	loss := filepath.Join(captures, "loss.pcap.zst")
	parts := split(t, loss, 100, nil)
	require.Greater(t, len(parts), 3)
	x := redactFile(t, Options{}, parts...)
	assert.Len(t, interfaces(t, x.path), 1)
	was, is := factsOf(t, parts...), factsOf(t, x.path)
	assert.Equal(t, was.Totals, is.Totals)
	assert.Equal(t, was.Rows, is.Rows)

	ends := []string{filepath.Join(captures, "both-ends.consumer.pcap.zst"), filepath.Join(captures, "both-ends.provider.pcap.zst")}
	if _, err := os.Stat(ends[1]); err != nil {
		ends[1] = filepath.Join(captures, "both-ends.pcap.zst")
	}
	x = redactFile(t, Options{}, ends...)
	assert.Len(t, interfaces(t, x.path), 2)
	was, is = factsOf(t, ends...), factsOf(t, x.path)
	assert.Equal(t, was.Totals, is.Totals)
	assert.Equal(t, was.Rows, is.Rows)

	// Packets that were cut in one file and complete in the other.
	ends[0] = split(t, ends[0], 1<<30, func(_ int, b []byte) []byte { return b[:min(len(b), 128)] })[0]
	x = redactFile(t, Options{}, ends...)
	cut, is := factsOf(t, ends...), factsOf(t, x.path)
	assert.Equal(t, was.Rows, cut.Rows)
	assert.Equal(t, cut.Totals, is.Totals)
	assert.Equal(t, cut.Rows, is.Rows)
}

// Captures with holes, that begin in the middle of connections, are told the same.
func TestHoles(t *testing.T) {
	for _, name := range []string{"hessian2", "mtu1500", "loss", "mixed-2.5.3", "edge-hessian2", "fragments-v4"} {
		paths, err := filepath.Glob(filepath.Join(captures, name+".pcap*"))
		require.NoError(t, err)
		require.Len(t, paths, 1)
		for _, every := range []int{3, 11, 40} {
			file := split(t, paths[0], 1<<30, func(n int, b []byte) []byte {
				if n < 20*(every%4) || n*7919%every == 1 {
					return nil
				}
				return b
			})[0]
			x := redactFile(t, Options{}, file)
			was, is := factsOf(t, file), factsOf(t, x.path)
			assert.Equal(t, was.Totals, is.Totals, "%s, every %d", name, every)
			assert.Equal(t, was.Rows, is.Rows, "%s, every %d", name, every)
			if testing.Short() {
				break
			}
		}
	}
}

// Captures whose packets were cut here and there, within headers of frames as well, are told the same.
func TestCutPackets(t *testing.T) {
	for _, name := range []string{"edge-fastjson", "edge-msgpack", "edge-kryo-2.6.12", "mixed", "triple-hessian2-3.2.16", "libthrift-binary", "libthrift-compact", "native-thrift-2.7.23"} {
		for _, seed := range []uint64{4, 7} {
			r := rand.New(rand.NewPCG(seed, 0))
			file := split(t, testkit.Get(t, name).Path(), 1<<30, func(_ int, b []byte) []byte {
				if r.IntN(20) == 0 {
					return b[:min(len(b), 54+r.IntN(60))]
				}
				return b
			})[0]
			x := redactFile(t, Options{}, file)
			was, is := factsOf(t, file), factsOf(t, x.path)
			assert.Equal(t, was.Totals, is.Totals, "%s, seed %d", name, seed)
			assert.Equal(t, was.Rows, is.Rows, "%s, seed %d", name, seed)
			if testing.Short() {
				break
			}
		}
	}
}

// Captures that begin within connections are told the same, wherever they begin.
func TestBegunMidway(t *testing.T) {
	for _, name := range []string{"triple-protobuf-3.3.6", "triple-stubs-3.3.6", "triple-gzip-3.2.16", "triple-snappy-3.2.16", "hessian2-3.3.6", "rest-3.3.6"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := testkit.Get(t, name).Path()
			packets := 0
			split(t, path, 1<<30, func(_ int, b []byte) []byte {
				packets++
				return b
			})
			begins := 16
			if testing.Short() {
				begins = 4
			}
			for k := range begins {
				first := 3 + k*(packets-4)/begins
				file := split(t, path, 1<<30, func(n int, b []byte) []byte {
					if n < first {
						return nil
					}
					return b
				})[0]
				x := redactFile(t, Options{}, file)
				was, is := factsOf(t, file), factsOf(t, x.path)
				assert.Empty(t, x.sum.Refused, "from packet %d", first)
				assert.Equal(t, was.Totals, is.Totals, "from packet %d", first)
				assert.Equal(t, was.Rows, is.Rows, "from packet %d", first)
			}
		})
	}
}

// Whatever is in the packets, all that is TCP is in the output, and it can be read.
func FuzzPackets(f *testing.F) {
	for _, name := range []string{"hessian2", "fragments-v4", "tunnel-geneve", "tags-mpls", "nflog"} {
		paths, err := filepath.Glob(filepath.Join(captures, name+".pcap*"))
		require.NoError(f, err)
		src, err := capture.Open(paths[:1], capture.Options{})
		require.NoError(f, err)
		var p capture.Packet
		for n := 0; n < 12; n++ {
			if err := src.Next(&p); err != nil {
				break
			}
			f.Add(p.Data, uint16(p.Link), uint16(p.WireLen-len(p.Data)), uint16(40))
		}
		require.NoError(f, src.Close())
	}
	f.Fuzz(func(t *testing.T, data []byte, link, missing, cut uint16) {
		if len(data) > 1<<16 {
			return
		}
		var file bytes.Buffer
		out := newOutput(nowhere{&file}, new(rewrite.Interfaces), nil)
		iface := out.ifaces.Of(&capture.Packet{Link: capture.LinkType(link)})
		for i, b := range [][]byte{data, data[:min(int(cut), len(data))], data[min(int(cut), len(data)):], data} {
			out.packet(&record{data: b, n: len(b), time: int64(i), wireLen: len(b) + int(missing), iface: iface}, nil)
		}
		out.sync()
		open := func(b []byte) *capture.Files {
			src, err := capture.Open([]string{"-"}, capture.Options{Stdin: bytes.NewReader(b)})
			require.NoError(t, err)
			return src
		}
		count := func(src *capture.Files) (n int) {
			var dec packet.Decoder
			var p capture.Packet
			var s packet.Segment
			for src.Next(&p) == nil {
				if dec.Decode(&p, &s) == packet.TCP {
					n++
				}
			}
			require.Empty(t, src.Problems())
			require.NoError(t, src.Close())
			return n
		}
		want := count(open(file.Bytes()))
		x := redactSource(t, Options{Window: 1 + int(cut)}, open(file.Bytes()))
		b, err := os.ReadFile(x.path)
		require.NoError(t, err)
		if len(b) > 0 {
			require.Equal(t, want, count(open(b)))
		}
	})
}

// nowhere is a File that is only written.
type nowhere struct{ io.Writer }

func (nowhere) ReadAt([]byte, int64) (int, error)        { return 0, io.EOF }
func (n nowhere) WriteAt(b []byte, _ int64) (int, error) { return n.Write(b) }
