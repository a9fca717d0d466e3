package capture

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/assert"
	"golang.org/x/sys/unix"
)

// Offsets of tpacket3_hdr and sockaddr_ll in the header of a packet.
const (
	frameNext    = 0
	frameSec     = 4
	frameNsec    = 8
	frameSnapLen = 12
	frameLen     = 16
	frameStatus  = 20
	frameMac     = 24
	frameTCI     = 32
	frameTPID    = 36
	frameProto   = 50
	frameIndex   = 52
	frameHatype  = 56
	frameType    = 58
	frameHalen   = 59
	frameAddr    = 60
)

// ringPacket is a packet as the kernel lays it into a block.
type ringPacket struct {
	bytes    string
	wire     int
	status   uint32
	tci      uint32
	tpid     uint16
	protocol uint16
	kind     uint8
	halen    uint8
}

// blockOf lays packets into a block.
func blockOf(packets ...ringPacket) []byte {
	const mac = 120
	b := make([]byte, blockHeader)
	binary.NativeEndian.PutUint32(b[blockStatus:], unix.TP_STATUS_USER)
	binary.NativeEndian.PutUint32(b[blockPackets:], uint32(len(packets)))
	binary.NativeEndian.PutUint32(b[blockFirst:], blockHeader)
	for i, p := range packets {
		size := (mac + len(p.bytes) + 7) &^ 7
		f := make([]byte, size)
		if i < len(packets)-1 {
			binary.NativeEndian.PutUint32(f[frameNext:], uint32(size))
		}
		binary.NativeEndian.PutUint32(f[frameSec:], 1700000000)
		binary.NativeEndian.PutUint32(f[frameNsec:], uint32(i))
		binary.NativeEndian.PutUint32(f[frameSnapLen:], uint32(len(p.bytes)))
		binary.NativeEndian.PutUint32(f[frameLen:], uint32(max(p.wire, len(p.bytes))))
		binary.NativeEndian.PutUint32(f[frameStatus:], p.status)
		binary.NativeEndian.PutUint16(f[frameMac:], mac)
		binary.NativeEndian.PutUint32(f[frameTCI:], p.tci)
		binary.NativeEndian.PutUint16(f[frameTPID:], p.tpid)
		binary.BigEndian.PutUint16(f[frameProto:], p.protocol)
		binary.NativeEndian.PutUint32(f[frameIndex:], 7)
		binary.NativeEndian.PutUint16(f[frameHatype:], unix.ARPHRD_ETHER)
		f[frameType], f[frameHalen] = p.kind, p.halen
		copy(f[frameAddr:], "\x11\x12\x13\x14\x15\x16\x17\x18")
		copy(f[mac:], p.bytes)
		b = append(b, f...)
	}
	return b
}

// shaped are the packets of a block, as bytes and lengths.
func shaped(block []byte, link LinkType) (all []string, wires []int) {
	var w walker
	var f frame
	for w.begin(block); w.next(&f); {
		data, wire := addLinkHeader(block, &f, link)
		all, wires = append(all, string(data)), append(wires, wire)
	}
	return all, wires
}

const (
	hasTag  = unix.TP_STATUS_VLAN_VALID
	hasTPID = unix.TP_STATUS_VLAN_VALID | unix.TP_STATUS_VLAN_TPID_VALID
	ether   = "dstdstsrcsrc\x08\x00payload"
)

func TestShapeEthernet(t *testing.T) {
	all, wires := shaped(blockOf(
		ringPacket{bytes: ether},
		ringPacket{bytes: ether, status: hasTPID, tci: 0x2064, tpid: 0x88a8, wire: 100},
		ringPacket{bytes: ether, status: hasTag, tci: 0x0001, tpid: 0x1234}, // a kernel before 3.14
		ringPacket{bytes: ether[:12], status: hasTPID, tci: 1, tpid: 0x8100, wire: 50},
		ringPacket{bytes: ether[:11], status: hasTPID, tci: 1, tpid: 0x8100, wire: 50}, // cut before the tag
		ringPacket{},
	), LinkEthernet)
	assert.Equal(t, []string{
		ether,
		"dstdstsrcsrc\x88\xa8\x20\x64\x08\x00payload",
		"dstdstsrcsrc\x81\x00\x00\x01\x08\x00payload",
		"dstdstsrcsrc\x81\x00\x00\x01",
		ether[:11],
		"",
	}, all)
	assert.Equal(t, []int{21, 104, 25, 54, 50, 0}, wires)
}

func TestShapeCooked(t *testing.T) {
	ip4, ip6 := string(testFrame(1, 20)[14:]), "\x60\x00\x86\xdd\x60\x00\x3b\x40"+string(make([]byte, 32))
	inner := "\x40\x64\x08\x00"
	head := func(protocol string) string {
		return protocol + "\x00\x00\x00\x00\x00\x07\x00\x01\x00\x06" + "\x11\x12\x13\x14\x15\x16\x00\x00"
	}
	p := func(bytes string, status uint32, protocol uint16) ringPacket {
		return ringPacket{bytes: bytes, status: status, tci: 0x2001, tpid: 0x88a8, protocol: protocol, halen: 6}
	}
	long := p(ip6, hasTPID, 0x86dd) // its flow label and length look like a tag and a version
	long.wire = 40 + 0x6000
	all, wires := shaped(blockOf(
		p(ip4, 0, 0x0800),
		p(ip4, hasTPID, 0x0800),
		long,
		p(inner+ip4, hasTPID, 0x0800),
		p(inner+ip4, hasTPID, 0x8100), // before Linux 6.10
		p("\x40\x64\x81\x00"+inner+ip4, hasTPID, 0x0800),
		p("\x40\x64\x08\x06\x00\x01", hasTPID, 0x0806),
		p("\x00", hasTPID, 0x0800),
	), LinkLinuxSLL2)
	assert.Equal(t, []string{
		head("\x08\x00") + ip4,
		head("\x88\xa8") + "\x20\x01\x08\x00" + ip4,
		head("\x88\xa8") + "\x20\x01\x86\xdd" + ip6,
		head("\x88\xa8") + "\x20\x01\x81\x00" + inner + ip4,
		head("\x88\xa8") + "\x20\x01\x81\x00" + inner + ip4,
		head("\x88\xa8") + "\x20\x01\x81\x00\x40\x64\x81\x00" + inner + ip4,
		head("\x88\xa8") + "\x20\x01\x81\x00\x40\x64\x08\x06\x00\x01",
		head("\x88\xa8") + "\x20\x01\x08\x00\x00",
	}, all)
	assert.Equal(t, len(ip4)+20, wires[0])
	assert.Equal(t, len(ip4)+24, wires[1])
}

// A block that contradicts itself gives what is before that place.
func TestWalkerBroken(t *testing.T) {
	packets := []ringPacket{{bytes: ether}, {bytes: ether}, {bytes: ether}}
	second := blockHeader + (120+len(ether)+7)&^7
	for name, c := range map[string]struct {
		damage func(b []byte) []byte
		want   int
	}{
		"more packets than there are": {func(b []byte) []byte { b[blockPackets] = 200; return b }, 3},
		"first beyond the block":      {func(b []byte) []byte { b[blockFirst+2] = 0xff; return b }, 0},
		"first in the header":         {func(b []byte) []byte { b[blockFirst] = 8; return b }, 0},
		"steps back": {func(b []byte) []byte {
			b[second], b[second+1], b[second+2], b[second+3] = 0x80, 0xff, 0xff, 0xff
			return b
		}, 2},
		"does not step":         {func(b []byte) []byte { b[second], b[second+1] = 0, 0; return b }, 2},
		"data beyond the block": {func(b []byte) []byte { b[second+frameSnapLen+3] = 0x7f; return b }, 1},
		"data in the header":    {func(b []byte) []byte { b[second+frameMac] = 67; return b }, 1},
		"cut":                   {func(b []byte) []byte { return b[:second+30] }, 1},
		"no header":             {func(b []byte) []byte { return b[:20] }, 0},
	} {
		var w walker
		var f frame
		n := 0
		for w.begin(c.damage(blockOf(packets...))); w.next(&f); {
			n++
		}
		assert.Equal(t, c.want, n, name)
		assert.True(t, w.broken, name)
		assert.False(t, w.next(&f), name)
	}
}

// FuzzRingBlock: whatever a block contains, packets lie inside it, come to an end, and get a header without touching
// anything outside.
func FuzzRingBlock(f *testing.F) {
	f.Add(blockOf(ringPacket{bytes: ether}, ringPacket{bytes: ether, status: hasTPID, tci: 5, tpid: 0x8100}, ringPacket{bytes: "x", wire: 1500}), uint8(0))
	f.Add(blockOf(ringPacket{bytes: string(testFrame(1, 30)[14:]), status: hasTPID, protocol: 0x0800, halen: 255}), uint8(1))
	f.Add([]byte{}, uint8(2))
	f.Fuzz(func(t *testing.T, b []byte, l uint8) {
		link := []LinkType{LinkEthernet, LinkLinuxSLL2, LinkRaw}[l%3]
		block := append([]byte(nil), b...)
		var w walker
		var fr frame
		steps := 0
		for w.begin(block); w.next(&fr); {
			steps++
			if fr.start < 0 || fr.kept < 0 || fr.start+fr.kept > len(block) || fr.wire < fr.kept {
				t.Fatalf("%+v of %d bytes", fr, len(block))
			}
			data, wire := addLinkHeader(block, &fr, link)
			if len(data) > fr.kept+headroom || wire < len(data) {
				t.Fatalf("%d bytes of %d on the wire from %+v", len(data), wire, fr)
			}
		}
		if steps > len(b)/frameHeader+1 {
			t.Fatalf("%d packets in %d bytes", steps, len(b))
		}
	})
}
