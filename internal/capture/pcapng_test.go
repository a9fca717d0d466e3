package capture

import (
	"bytes"
	"encoding/binary"
	"io"
	"math"
	"net/netip"
	"os"
	"path/filepath"
	"testing"

	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/capture/pcapng"
)

var bothOrders = []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian}

// mixed has two sections of different byte order, several interfaces, link types
// and resolutions, every kind of packet block, and blocks of no interest.
func mixed(first, second binary.AppendByteOrder) []byte {
	n := &ng{}
	n.section(first)
	n.iface(1, 14)
	n.iface(113, 96, n.resol(9))
	n.block(4, make([]byte, 4))
	n.packet(0, 1_700_000_000_000_001, "eth", 3)
	n.packet(1, 1_700_000_000_000_000_002, "cooked", 600)
	n.block(0x80000bad, bytes.Repeat([]byte("unknown "), 300))
	n.obsolete(1, 1_700_000_000_000_000_003, "old", 3)
	n.simple("simp", 4)
	n.simple("simple, padded", 1400)
	n.stats(0, 5).stats(1, 7).stats(0, 11)
	n.section(second)
	n.iface(101, 64, n.resol(0x80|10), n.tsOffset(1_700_000_000))
	n.packet(0, 1<<10|512, "raw", 3)
	return n.b
}

func TestPcapngMixed(t *testing.T) {
	for _, first := range bothOrders {
		for _, second := range bothOrders {
			packets, in := read(t, mixed(first, second))
			assert.Equal(t, []got{
				{0, 1, 1_700_000_000_000_001_000, LinkEthernet, 3, "eth"},
				{0, 2, 1_700_000_000_000_000_002, LinkLinuxSLL, 600, "cooked"},
				{0, 3, 1_700_000_000_000_000_003, LinkLinuxSLL, 3, "old"},
				{0, 4, 1_700_000_000_000_000_003, LinkEthernet, 4, "simp"},
				{0, 5, 1_700_000_000_000_000_003, LinkEthernet, 1400, "simple, padded"},
				{0, 6, 1_700_000_001_500_000_000, LinkRaw, 3, "raw"},
			}, packets)
			assert.Equal(t, Input{
				File: "-", Format: "pcapng", LinkTypes: []LinkType{LinkEthernet, LinkLinuxSLL, LinkRaw}, SnapLen: 96,
				Packets: 6, Bytes: 2013, CapturedBytes: 33, TruncatedPackets: 2, TruncatedTo: 14, Dropped: 18,
				FirstTime: 1_700_000_000_000_000_002, LastTime: 1_700_000_001_500_000_000,
			}, in)
		}
	}
}

// The addresses of interfaces are those before the first packet, in both byte orders.
func TestPcapngAddresses(t *testing.T) {
	for _, order := range bothOrders {
		n := &ng{}
		n.section(order)
		v4 := func(b ...byte) func([]byte) []byte {
			return func(o []byte) []byte { return n.opt(o, pcapng.InterfaceIPv4, b) }
		}
		v6 := func(bits byte) func([]byte) []byte {
			a := netip.MustParseAddr("2001:db8::7").As16()
			return func(o []byte) []byte { return n.opt(o, pcapng.InterfaceIPv6, append(a[:], bits)) }
		}
		n.iface(1, 0, v4(192, 0, 2, 1, 255, 255, 255, 0), v6(64), v4(0, 0, 0, 0, 0, 0, 0, 0), v4(10, 0, 0, 1, 255))
		n.iface(1, 0, v4(198, 51, 100, 2, 255, 0, 255, 0), v6(200))
		n.packet(0, 1, "one", 3)
		n.packet(0, 2, "two", 3)
		n.iface(1, 0, v4(203, 0, 113, 9, 255, 255, 255, 255))
		n.packet(2, 3, "late", 4)
		_, in := read(t, n.b)
		want := []netip.Prefix{
			netip.MustParsePrefix("192.0.2.1/24"), netip.MustParsePrefix("2001:db8::7/64"), netip.MustParsePrefix("198.51.100.2/8"),
			netip.MustParsePrefix("2001:db8::7/128"),
		}
		assert.Equal(t, want, in.Machine)
		assert.Empty(t, in.Damage)
	}
}

// However many addresses a file states, the memory for them is bounded.
func TestPcapngManyAddresses(t *testing.T) {
	n := &ng{}
	n.section(binary.LittleEndian)
	n.iface(1, 0, func(b []byte) []byte {
		for i := range 2 * maxAddresses {
			b = n.opt(b, pcapng.InterfaceIPv4, []byte{10, 0, byte(i >> 8), byte(i), 255, 0, 0, 0})
		}
		return b
	})
	n.packet(0, 1, "one", 3)
	_, in := read(t, n.b)
	assert.Len(t, in.Machine, maxAddresses)
}

func TestPcapngTimes(t *testing.T) {
	for _, c := range []struct {
		resol  byte
		offset int64
		ticks  uint64
		want   int64
	}{
		{6, 0, 1_700_000_000_123_456, 1_700_000_000_123_456_000},
		{0, 0, 1_700_000_000, 1_700_000_000_000_000_000},
		{3, 0, 1_700_000_000_123, 1_700_000_000_123_000_000},
		{9, 0, 1_700_000_000_123_456_789, 1_700_000_000_123_456_789},
		{12, 0, 1_700_000_123_456_789, 1_700_000_123_456}, // picoseconds
		{19, 0, 1 << 63, 922_337_203},
		{0x80, 0, 1_700_000_000, 1_700_000_000_000_000_000},
		{0x80 | 30, 0, 3 << 29, 1_500_000_000},
		{0x80 | 63, 0, 3 << 62, 1_500_000_000},
		{9, 100, 1, 100_000_000_001},
		{6, -1, 1_500_000, 500_000_000},
		// What does not fit is clamped.
		{0, 0, math.MaxUint64, math.MaxInt64},
		{6, 0, math.MaxUint64, math.MaxInt64},
		{9, math.MaxInt64, 1, math.MaxInt64},
		{9, math.MinInt64, 1, math.MaxInt64},
	} {
		n := &ng{}
		n.section(binary.BigEndian)
		n.iface(1, 0, n.resol(c.resol), n.tsOffset(c.offset))
		n.packet(0, c.ticks, "x", 1)
		packets, in := read(t, n.b)
		require.Len(t, packets, 1, "%+v %v", c, in.Damage)
		assert.Equal(t, c.want, packets[0].time, "%+v", c)
	}
}

// A packet that is wrong inside a sound block costs that packet only.
func TestPcapngBadPackets(t *testing.T) {
	for _, order := range bothOrders {
		n := &ng{}
		n.section(order)
		n.simple("before any interface", 20)
		n.iface(1, 100)
		n.packet(0, 1, "good", 4)
		n.packet(3, 2, "no such interface", 17)
		claims := func(capLen uint32) {
			b := append(make([]byte, 12), n.o.AppendUint32(nil, capLen)...)
			n.block(pcapng.EnhancedPacket, append(n.o.AppendUint32(b, 9), "data"...))
		}
		claims(5)
		claims(math.MaxUint32)
		n.block(pcapng.EnhancedPacket, make([]byte, 16))
		n.block(pcapng.ObsoletePacket, make([]byte, 16))
		n.block(pcapng.SimplePacket, nil)
		n.packet(0, 3, "good again", 10)
		packets, in := read(t, n.b)
		require.Len(t, packets, 2)
		assert.EqualValues(t, 2, packets[0].number)
		assert.EqualValues(t, 9, packets[1].number)
		var numbers []int64
		for _, d := range in.Damage {
			numbers = append(numbers, d.Packet)
			assert.Contains(t, d.Text, "this packet was skipped")
		}
		assert.Equal(t, []int64{1, 3, 4, 5, 6, 7, 8}, numbers)
	}
}

// After a block with wrong lengths, and after a block that cannot be read, the next ones are.
func TestPcapngBrokenFrames(t *testing.T) {
	start := func() *ng {
		n := &ng{}
		return n.section(binary.LittleEndian).iface(1, 0).packet(0, 1, "good", 4)
	}
	good := start().b
	at := int64(len(good))
	end := start().packet(0, 2, "more", 4).b
	set := func(b []byte, off int, v uint32) []byte {
		b = bytes.Clone(b)
		binary.LittleEndian.PutUint32(b[off:], v)
		return b
	}
	tooMany := start()
	for range maxInterfaces {
		tooMany.iface(1, 0)
	}
	version := start()
	version.block(pcapng.Section, append(binary.LittleEndian.AppendUint32(nil, pcapng.ByteOrderMagic), 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
	for name, b := range map[string][]byte{
		"length 0":            set(end, int(at)+4, 0),
		"length 11":           set(end, int(at)+4, 11),
		"length 33":           set(end, int(at)+4, 33),
		"length 3 GiB":        set(end, int(at)+4, 3<<30),
		"length of two":       set(end, len(end)-4, 12),
		"no byte order magic": append(bytes.Clone(good), "\x0a\x0d\x0d\x0a\x1c\x00\x00\x00abcdabcdabcdabcd\x1c\x00\x00\x00"...),
		"version 9":           version.b,
		"short interface":     start().block(pcapng.Interface, make([]byte, 4)).b,
		"resolution":          start().iface(1, 0, start().resol(20)).b,
		"resolution 2^-64":    start().iface(1, 0, start().resol(0x80|64)).b,
	} {
		packets, in := read(t, append(b, end...))
		var data []string
		for _, p := range packets {
			data = append(data, p.data)
		}
		assert.Equal(t, []string{"good", "good", "more"}, data, name)
		require.Len(t, in.Damage, 1, name)
		assert.EqualValues(t, 2, in.Damage[0].Packet, name)
		assert.Equal(t, at, in.Damage[0].Offset, name)
	}
	// An interface that cannot be read has its number, and its packets are left out.
	packets, in := read(t, start().iface(1, 0, start().resol(20)).packet(1, 2, "none", 4).packet(0, 3, "same", 4).b)
	assert.Len(t, packets, 2)
	assert.Len(t, in.Damage, 2)
	packets, in = read(t, tooMany.packet(maxInterfaces-1, 2, "last", 4).packet(maxInterfaces, 3, "beyond", 6).packet(0, 4, "first", 5).b)
	assert.Len(t, packets, 3)
	assert.Len(t, in.Damage, 2)
	assert.Len(t, in.LinkTypes, 1)
}

func TestPcapngCutAnywhere(t *testing.T) {
	whole := mixed(binary.LittleEndian, binary.BigEndian)
	all, _ := read(t, whole)
	clean := 0
	for n := 12; n < len(whole); n++ {
		packets, in := read(t, whole[:n])
		assert.Equal(t, all[:len(packets)], packets, n)
		require.LessOrEqual(t, len(in.Damage), 1, n)
		if len(in.Damage) == 0 {
			clean++
			continue
		}
		assert.EqualValues(t, len(packets)+1, in.Damage[0].Packet, n)
		assert.Less(t, in.Damage[0].Offset, int64(n))
	}
	assert.Equal(t, 15, clean, "borders between the 16 blocks")
}

func TestDamageIsBounded(t *testing.T) {
	n := &ng{}
	n.section(binary.LittleEndian).iface(1, 0)
	for range 100 {
		n.packet(1, 0, "x", 1)
	}
	packets, in := read(t, n.b)
	assert.Empty(t, packets)
	assert.Len(t, in.Damage, maxDamage)
	assert.EqualValues(t, 100-maxDamage, in.DamageLeftOut)
}

// pcapgo reads the same packets from what it and we hold to be sound.
func TestPcapngAgreesWithPcapgo(t *testing.T) {
	files := map[string][]byte{}
	for _, first := range bothOrders {
		for _, second := range bothOrders {
			files["mixed "+first.String()+second.String()] = mixed(first, second)
		}
	}
	paths, err := filepath.Glob("../../testdata/captures/*.pcapng")
	require.NoError(t, err)
	for _, path := range paths {
		files[path], err = os.ReadFile(path)
		require.NoError(t, err)
	}
	for name, b := range files {
		r, err := pcapgo.NewNgReader(bytes.NewReader(b), pcapgo.NgReaderOptions{WantMixedLinkType: true})
		require.NoError(t, err, name)
		packets, _ := read(t, b)
		for _, p := range packets {
			data, ci, err := r.ReadPacketData()
			require.NoError(t, err, name)
			if !ci.Timestamp.IsZero() { // simple packets have no time
				// pcapgo's units of powers of two are inexact below a microsecond.
				assert.InDelta(t, 0, ci.Timestamp.UnixNano()-p.time, 999, name)
			}
			assert.Equal(t, ci.Length, p.wire, name)
			assert.Equal(t, string(data), p.data, name)
			assert.EqualValues(t, ci.AncillaryData[0].(layers.LinkType), p.link, name)
		}
		_, _, err = r.ReadPacketData()
		assert.Equal(t, io.EOF, err, name)
	}
}
