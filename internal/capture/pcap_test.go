package capture

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/term"
)

func TestPcapForms(t *testing.T) {
	for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
		for _, magic := range []uint32{magicMicros, magicNanos, magicKuznetzov} {
			for _, minor := range []uint16{2, 3, 4} {
				t.Run(fmt.Sprintf("%v %x 2.%d", order, magic, minor), func(t *testing.T) {
					// The link type's upper half says that a frame check sequence follows.
					form := pcapForm{order, magic, minor, 96, 4<<28 | 113}
					packets, in := read(t, form.build(
						rec{ns: 1_700_000_000_123_456_000, data: "first"},
						rec{ns: 1_700_000_001_000_001_000, data: "second, cut", wire: 1500},
						rec{ns: 1_700_000_000_999_999_000, data: ""},
					))
					assert.Equal(t, []got{
						{0, 1, 1_700_000_000_123_456_000, LinkLinuxSLL, 5, "first"},
						{0, 2, 1_700_000_001_000_001_000, LinkLinuxSLL, 1500, "second, cut"},
						{0, 3, 1_700_000_000_999_999_000, LinkLinuxSLL, 0, ""},
					}, packets)
					assert.Equal(t, Input{
						File: "-", Format: "pcap", LinkTypes: []LinkType{LinkLinuxSLL}, SnapLen: 96,
						Packets: 3, Bytes: 1505, CapturedBytes: 16, TruncatedPackets: 1, TruncatedTo: 11, Dropped: -1,
						FirstTime: 1_700_000_000_123_456_000, LastTime: 1_700_000_001_000_001_000,
					}, in)
				})
			}
		}
	}
}

func TestPcapNanoseconds(t *testing.T) {
	packets, _ := read(t, pcapForm{binary.BigEndian, magicNanos, 4, 0, 1}.build(rec{ns: 1_000_000_000_123_456_789, data: "x"}))
	assert.EqualValues(t, 1_000_000_000_123_456_789, packets[0].time)
}

// A capture may hold packets larger than every buffer: the buffer grows.
func TestPcapLargePackets(t *testing.T) {
	form := pcapForm{binary.LittleEndian, magicMicros, 4, 8 << 20, 1}
	big := strings.Repeat("0123456789abcdef", 5<<20/16)
	packets, in := read(t, form.build(rec{data: "a"}, rec{data: big}, rec{data: "b"}, rec{data: big}))
	require.Len(t, packets, 4)
	assert.Equal(t, big, packets[1].data)
	assert.Equal(t, big, packets[3].data)
	assert.Empty(t, in.Damage)
}

func TestPcapOriginalLengthBelowCaptured(t *testing.T) {
	packets, in := read(t, plain(rec{data: "twelve bytes", wire: 3}))
	assert.Equal(t, 12, packets[0].wire)
	assert.Zero(t, in.TruncatedPackets)
}

// Cut at every byte: what was whole is delivered, and the damage says where.
func TestPcapCutAnywhere(t *testing.T) {
	whole := plain(rec{data: "one"}, rec{data: "two two"}, rec{data: "three"})
	ends := []int{24, 24 + 16 + 3, 24 + 2*16 + 10, 24 + 3*16 + 15}
	require.Equal(t, ends[3], len(whole))
	for n := pcapHeaderLen; n <= len(whole); n++ {
		packets, in := read(t, whole[:n])
		complete := 0
		for complete < 3 && ends[complete+1] <= n {
			complete++
		}
		assert.Len(t, packets, complete, n)
		if n == ends[complete] {
			assert.Empty(t, in.Damage, n)
			continue
		}
		require.Len(t, in.Damage, 1, n)
		assert.EqualValues(t, complete+1, in.Damage[0].Packet, n)
		assert.EqualValues(t, ends[complete], in.Damage[0].Offset, n)
	}
}

// A record that cannot be one costs that record: reading goes on at the next one.
func TestPcapDamage(t *testing.T) {
	form := pcapForm{binary.LittleEndian, magicMicros, 4, 65535, 1}
	b := form.build(rec{data: "one"}, rec{data: "two"}, rec{data: "three"})
	second := 24 + 16 + 3
	for _, claim := range []uint32{262145, 1 << 31, 1<<32 - 1} {
		binary.LittleEndian.PutUint32(b[second+8:], claim)
		packets, in := read(t, b)
		assert.Equal(t, []got{{0, 1, 0, LinkEthernet, 3, "one"}, {0, 3, 0, LinkEthernet, 5, "three"}}, packets)
		require.Len(t, in.Damage, 1)
		assert.Equal(t, Damage{2, int64(second), fmt.Sprintf("a record claims %s captured bytes, but packets of this file have at most 262,144; skipped 19 bytes; copy or record the file again", term.Count(int64(claim)))}, in.Damage[0])
	}
	packets, in := read(t, b[:len(b)-1]) // and no whole record follows
	assert.Len(t, packets, 1)
	require.Len(t, in.Damage, 1)
	assert.Equal(t, Damage{2, int64(second), "a record claims 4,294,967,295 captured bytes, but packets of this file have at most 262,144; the rest of the file is damaged and was not read; copy or record it again"}, in.Damage[0])
	binary.LittleEndian.PutUint32(b[second+8:], 200_000) // possible, and not there
	packets, in = read(t, b)
	assert.Len(t, packets, 1)
	require.Len(t, in.Damage, 1)
	assert.Equal(t, "packet 2, byte offset 43: the file ends inside this packet (40 of 200,016 bytes); everything before it was read; copy the file again, or let the recorder finish", in.Damage[0].String())
}
