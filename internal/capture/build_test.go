package capture

import (
	"bytes"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/capture/pcapng"
)

// Builders of captures for the tests, byte by byte, so that what is tested is the
// format and not another library's reading of it.

// rec is a packet of a test capture; wire 0 means len(data).
type rec struct {
	ns   int64
	data string
	wire int
}

type pcapForm struct {
	order binary.AppendByteOrder
	magic uint32
	minor uint16
	snap  uint32
	link  uint32
}

func (f pcapForm) build(recs ...rec) []byte {
	o := f.order
	b := o.AppendUint32(nil, f.magic)
	b = o.AppendUint16(b, 2)
	b = o.AppendUint16(b, f.minor)
	b = append(b, make([]byte, 8)...)
	b = o.AppendUint32(b, f.snap)
	b = o.AppendUint32(b, f.link)
	for _, r := range recs {
		frac := r.ns % 1e9
		if f.magic != magicNanos {
			frac /= 1000
		}
		wire := r.wire
		if wire == 0 {
			wire = len(r.data)
		}
		capLen := len(r.data)
		if f.minor < 3 {
			capLen, wire = wire, capLen
		}
		b = o.AppendUint32(b, uint32(r.ns/1e9))
		b = o.AppendUint32(b, uint32(frac))
		b = o.AppendUint32(b, uint32(capLen))
		b = o.AppendUint32(b, uint32(wire))
		if f.magic == magicKuznetzov {
			b = append(b, 1, 2, 3, 4, 5, 6, 7, 8)
		}
		b = append(b, r.data...)
	}
	return b
}

// plain is the pcap that tcpdump writes.
func plain(recs ...rec) []byte {
	return pcapForm{binary.LittleEndian, magicMicros, 4, 262144, 1}.build(recs...)
}

// ng appends pcapng blocks.
type ng struct {
	o binary.AppendByteOrder
	b []byte
}

func (n *ng) block(kind uint32, body []byte) *ng {
	for len(body)%4 != 0 {
		body = append(body, 0)
	}
	size := uint32(len(body) + 12)
	n.b = n.o.AppendUint32(n.b, kind)
	n.b = n.o.AppendUint32(n.b, size)
	n.b = append(n.b, body...)
	n.b = n.o.AppendUint32(n.b, size)
	return n
}

func (n *ng) section(o binary.AppendByteOrder) *ng {
	n.o = o
	b := o.AppendUint32(nil, pcapng.ByteOrderMagic)
	b = o.AppendUint16(b, 1)
	b = o.AppendUint16(b, 0)
	b = o.AppendUint64(b, 1<<64-1)
	return n.block(pcapng.Section, b)
}

// opt appends an option.
func (n *ng) opt(b []byte, code uint16, value []byte) []byte {
	b = n.o.AppendUint16(b, code)
	b = n.o.AppendUint16(b, uint16(len(value)))
	b = append(b, value...)
	for len(b)%4 != 0 {
		b = append(b, 0)
	}
	return b
}

func (n *ng) iface(link uint16, snap uint32, options ...func([]byte) []byte) *ng {
	b := n.o.AppendUint16(nil, link)
	b = n.o.AppendUint16(b, 0)
	b = n.o.AppendUint32(b, snap)
	for _, o := range options {
		b = o(b)
	}
	return n.block(pcapng.Interface, b)
}

func (n *ng) resol(r byte) func([]byte) []byte {
	return func(b []byte) []byte { return n.opt(b, 9, []byte{r}) }
}

func (n *ng) tsOffset(seconds int64) func([]byte) []byte {
	return func(b []byte) []byte { return n.opt(b, 14, n.o.AppendUint64(nil, uint64(seconds))) }
}

func (n *ng) packet(iface uint32, ticks uint64, data string, wire int) *ng {
	b := n.o.AppendUint32(nil, iface)
	b = n.o.AppendUint32(b, uint32(ticks>>32))
	b = n.o.AppendUint32(b, uint32(ticks))
	b = n.o.AppendUint32(b, uint32(len(data)))
	b = n.o.AppendUint32(b, uint32(wire))
	b = append(b, data...)
	for len(b)%4 != 0 {
		b = append(b, 0)
	}
	b = n.opt(b, 1, []byte("a comment")) // options after the data are not data
	return n.block(pcapng.EnhancedPacket, b)
}

func (n *ng) obsolete(iface uint16, ticks uint64, data string, wire int) *ng {
	b := n.o.AppendUint16(nil, iface)
	b = n.o.AppendUint16(b, 7)
	b = n.o.AppendUint32(b, uint32(ticks>>32))
	b = n.o.AppendUint32(b, uint32(ticks))
	b = n.o.AppendUint32(b, uint32(len(data)))
	b = n.o.AppendUint32(b, uint32(wire))
	return n.block(pcapng.ObsoletePacket, append(b, data...))
}

func (n *ng) simple(data string, wire int) *ng {
	return n.block(pcapng.SimplePacket, append(n.o.AppendUint32(nil, uint32(wire)), data...))
}

func (n *ng) stats(iface uint32, dropped uint64) *ng {
	b := n.o.AppendUint32(nil, iface)
	b = n.o.AppendUint64(b, 1)
	b = n.opt(b, 4, n.o.AppendUint64(nil, 1000)) // received
	b = n.opt(b, 5, n.o.AppendUint64(nil, dropped))
	return n.block(pcapng.Statistics, b)
}

func compressGzip(t testing.TB, b []byte) []byte {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	_, err := z.Write(b)
	require.NoError(t, err)
	require.NoError(t, z.Close())
	return out.Bytes()
}

func compressZstd(t testing.TB, b []byte, opts ...zstd.EOption) []byte {
	z, err := zstd.NewWriter(nil, opts...)
	require.NoError(t, err)
	return z.EncodeAll(b, nil)
}

// write puts a file into a new folder of the test.
func write(t testing.TB, name string, b []byte) string {
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, b, 0o644))
	return path
}

// got is a packet as a test compares it.
type got struct {
	file   int
	number int64
	time   int64
	link   LinkType
	wire   int
	data   string
}

// drain reads a source to its end.
func drain(t testing.TB, s Source) []got {
	all := []got{}
	var p Packet
	for {
		err := s.Next(&p)
		if err == io.EOF {
			return all
		}
		require.NoError(t, err)
		all = append(all, got{p.File, p.Number, p.Time, p.Link, p.WireLen, string(p.Data)})
	}
}

// drainBatches is drain for packets that are read together.
func drainBatches(t testing.TB, f *Files) []got {
	all := []got{}
	var ps [7]Packet
	for {
		n, err := f.NextBatch(ps[:])
		if err == io.EOF {
			require.Zero(t, n)
			return all
		}
		require.NoError(t, err)
		require.Positive(t, n)
		for i := range n {
			p := &ps[i]
			all = append(all, got{p.File, p.Number, p.Time, p.Link, p.WireLen, string(p.Data)})
		}
	}
}

// read opens bytes as standard input and reads all packets, one by one and in batches.
func read(t testing.TB, b []byte) ([]got, Input) {
	all, in := readBy(t, b, func(f *Files) []got { return drain(t, f) })
	batches, inBatches := readBy(t, b, func(f *Files) []got { return drainBatches(t, f) })
	require.Equal(t, all, batches)
	require.Equal(t, in, inBatches)
	return all, in
}

func readBy(t testing.TB, b []byte, drain func(*Files) []got) ([]got, Input) {
	f, err := Open([]string{"-"}, Options{Stdin: bytes.NewReader(b)})
	require.NoError(t, err)
	defer func() { require.NoError(t, f.Close()) }()
	return drain(f), f.Inputs()[0]
}
