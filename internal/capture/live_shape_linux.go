package capture

import (
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// sll2Len is the size in bytes of a LINKTYPE_LINUX_SLL2 header.
const sll2Len = 20

// shape gives a packet the link header that its link type says, and puts a VLAN tag back that the network card or the
// kernel has taken out. Both are written into the room in front of the packet; what is behind the link header stays
// where it is. It returns the packet and its length on the wire; nil if the block has no room, which is not the
// kernel's doing.
func shape(block []byte, f *frame, link LinkType) (data []byte, wire int) {
	start, end, wire := f.start, f.start+f.kept, f.wire
	status := binary.NativeEndian.Uint32(f.head[frameStatus:])
	var tci, tpid uint16
	tagged := status&unix.TP_STATUS_VLAN_VALID != 0
	if tagged {
		tci, tpid = uint16(binary.NativeEndian.Uint32(f.head[frameTCI:])), 0x8100
		if status&unix.TP_STATUS_VLAN_TPID_VALID != 0 {
			tpid = binary.NativeEndian.Uint16(f.head[frameTPID:])
		}
	}
	switch {
	case link == LinkLinuxSLL2:
		if f.room < headroom {
			return nil, 0
		}
		protocol := binary.BigEndian.Uint16(f.head[frameProto:])
		if tagged {
			start -= 4
			wire += 4
			binary.BigEndian.PutUint16(block[start:], tci)
			binary.BigEndian.PutUint16(block[start+2:], protocol)
			protocol = tpid
		}
		start -= sll2Len
		wire += sll2Len
		h := block[start : start+sll2Len : start+sll2Len]
		binary.BigEndian.PutUint16(h, protocol)
		h[2], h[3] = 0, 0
		binary.BigEndian.PutUint32(h[4:], binary.NativeEndian.Uint32(f.head[frameIndex:]))
		binary.BigEndian.PutUint16(h[8:], binary.NativeEndian.Uint16(f.head[frameHatype:]))
		h[10], h[11] = f.head[frameType], f.head[frameHalen]
		copy(h[12:], f.head[frameAddr:])
		clear(h[12+min(int(h[11]), 8):])
	case tagged && link == LinkEthernet && f.kept >= 12:
		if f.room < 4 {
			return nil, 0
		}
		start -= 4
		wire += 4
		copy(block[start:], block[start+4:start+16])
		binary.BigEndian.PutUint16(block[start+12:], tpid)
		binary.BigEndian.PutUint16(block[start+14:], tci)
	}
	return block[start:end:end], wire
}
