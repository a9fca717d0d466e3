package capture

import (
	"encoding/binary"

	"golang.org/x/sys/unix"

	"dubbo-wire/internal/capture/checksum"
)

// sll2Len is the size in bytes of a LINKTYPE_LINUX_SLL2 header.
const sll2Len = 20

// addLinkHeader writes the link header that the link type requires, and restores a VLAN tag that the network card or
// the kernel has removed. Both are written into the free space in front of the packet; the bytes after the link header
// stay where they are. It returns the packet and its length on the wire, or nil if the block has no space, which the
// kernel never does.
func addLinkHeader(block []byte, f *frame, link LinkType) (data []byte, wire int) {
	start, end, wire := f.start, f.start+f.kept, f.wire
	status := f.head.Status
	var tci, tpid uint16
	tagged := status&unix.TP_STATUS_VLAN_VALID != 0
	if tagged {
		tci, tpid = uint16(f.head.Hv1.Vlan_tci), 0x8100
		if status&unix.TP_STATUS_VLAN_TPID_VALID != 0 {
			tpid = f.head.Hv1.Vlan_tpid
		}
	}
	switch {
	case link == LinkLinuxSLL2:
		if f.room < headroom {
			return nil, 0
		}
		protocol := networkOrder(f.head.Protocol)
		if tagged {
			start -= 4
			wire += 4
			if tagInside(block[f.start:end], protocol, f.wire) {
				protocol = 0x8100
			}
			binary.BigEndian.PutUint16(block[start:], tci)
			binary.BigEndian.PutUint16(block[start+2:], protocol)
			protocol = tpid
		}
		start -= sll2Len
		wire += sll2Len
		h := block[start : start+sll2Len : start+sll2Len]
		binary.BigEndian.PutUint16(h, protocol)
		h[2], h[3] = 0, 0
		binary.BigEndian.PutUint32(h[4:], uint32(f.head.Ifindex))
		binary.BigEndian.PutUint16(h[8:], f.head.Hatype)
		h[10], h[11] = f.head.Pkttype, f.head.Halen
		copy(h[12:], f.head.Addr[:])
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

// tagInside reports whether a cooked packet, whose outer VLAN tag the kernel has removed, starts with another tag.
// Since Linux 6.10 the kernel states the protocol after all tags (vlan_get_protocol_dgram) and leaves the second tag in
// received packets, so only the bytes can tell.
func tagInside(b []byte, protocol uint16, wire int) bool {
	for off := 0; off < 4*8 && len(b) >= off+5; off += 4 {
		switch kind := binary.BigEndian.Uint16(b[off+2:]); kind {
		case 0x8100, 0x88a8, 0x9100:
			continue
		case protocol:
			switch protocol {
			case 0x0800:
				return b[off+4]>>4 == 4 && !isIPv4(b, wire)
			case 0x86dd:
				return b[off+4]>>4 == 6 && !isIPv6(b, wire)
			}
			return true
		}
		return false
	}
	return false
}

// isIPv4 reports whether b starts with an IPv4 header with a correct checksum.
func isIPv4(b []byte, wire int) bool {
	if len(b) < 20 || b[0]>>4 != 4 || b[0]&15 < 5 || int(binary.BigEndian.Uint16(b[2:])) > wire {
		return false
	}
	size := int(b[0]&15) * 4
	if len(b) < size {
		return true // too few bytes to check
	}
	return checksum.Fold(checksum.Sum(0, b[:size])) == 0xffff
}

// isIPv6 reports whether b starts with an IPv6 header whose length fits.
func isIPv6(b []byte, wire int) bool {
	return len(b) >= 40 && b[0]>>4 == 6 && 40+int(binary.BigEndian.Uint16(b[4:])) <= wire
}
