package redact

import (
	"encoding/binary"

	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/capture/checksum"
	"dubbo-wire/internal/capture/packet"
)

// headers writes the headers in src to dst with other addresses. Only layers of the packet with the number in are written;
// dst is zero, and as long as src.
func (a *addresses) headers(dst, src []byte, link capture.LinkType, layers []packet.Layer, in int) {
	for i := range layers {
		l := &layers[i]
		if l.In != in || l.From >= l.To || l.To > len(src) {
			continue
		}
		to, from := dst[l.From:l.To], src[l.From:l.To]
		switch l.Kind {
		case packet.LayerPlain, packet.LayerGRE, packet.LayerUDP:
			copy(to, from)
		case packet.LayerAddresses:
			copy(to, from)
			for ; len(to) >= 6; to = to[6:] {
				a.mac(to)
			}
		case packet.LayerCooked:
			a.cooked(to, from)
		case packet.LayerWiFi:
			a.wifi(to, from, link)
		case packet.LayerIPv4:
			copy(to, from[:20])
			a.ipv4(to[12:])
			a.ipv4(to[16:])
		case packet.LayerIPv6:
			copy(to, from)
			to[1] &= 0xf0 // the flow label may be made of addresses
			to[2], to[3] = 0, 0
			a.ipv6(to[8:])
			a.ipv6(to[24:])
		case packet.LayerExtension:
			copy(to, from[:min(2, len(from))])
		case packet.LayerJumbo:
			jumbo(to, from)
		case packet.LayerTCP:
			tcpHeader(to, from)
		}
	}
}

// cooked writes the header of Linux cooked captures v1 or v2, which has one address.
func (a *addresses) cooked(to, from []byte) {
	copy(to, from)
	n, at := int(binary.BigEndian.Uint16(from[4:])), 6
	if len(from) == 20 {
		n, at = int(from[11]), 12
	}
	if n == 6 {
		a.mac(to[at:])
		n = 6
	} else {
		n = 0
	}
	clear(to[at+n : at+8])
}

// wifi writes radio headers and the header of IEEE 802.11, which has up to four addresses.
func (a *addresses) wifi(to, from []byte, link capture.LinkType) {
	copy(to, from)
	head := 0
	switch {
	case link == capture.LinkRadiotap && len(from) >= 4:
		head = int(binary.LittleEndian.Uint16(from[2:]))
	case link == capture.LinkPrism && len(from) >= 24:
		head = int(binary.LittleEndian.Uint32(from[4:]))
		clear(to[8:24]) // the name of the device
	}
	if head < 0 || head > len(to) {
		clear(to)
		return
	}
	to = to[head:]
	places := []int{4, 10, 16}
	if len(to) > 2 && to[1]&3 == 3 {
		places = append(places, 24)
	}
	for _, at := range places {
		if len(to) >= at+6 {
			a.mac(to[at:])
		}
	}
}

// jumbo writes a hop-by-hop header; of its options only the length of a jumbo payload stays.
func jumbo(to, from []byte) {
	copy(to, from[:2])
	for at := 2; at+1 < len(from); {
		if from[at] == 0 {
			at++
			continue
		}
		n := int(from[at+1]) + 2
		if at+n > len(from) {
			return
		}
		to[at], to[at+1] = from[at], from[at+1]
		if from[at] == 0xc2 {
			copy(to[at:at+n], from[at:])
		}
		at += n
	}
}

// tcpOptions calls yield with the place of each option of a TCP header and its length; the last one may be longer than what
// was captured of it.
func tcpOptions(tcp []byte) func(yield func(at, n int) bool) {
	return func(yield func(at, n int) bool) {
		for at := 20; at < len(tcp) && tcp[at] != 0; {
			n := 1
			if tcp[at] != 1 {
				if at+1 == len(tcp) {
					return // the snap length cut it
				}
				n = int(tcp[at+1])
			}
			if !yield(at, n) || n < 1 || n == 1 && tcp[at] != 1 || at+n > len(tcp) {
				return
			}
			at += n
		}
	}
}

// tcpHeader writes a TCP header with the options that every stack has; of others, and of timestamps, kind and length.
func tcpHeader(to, from []byte) {
	copy(to, from[:20])
	for at, n := range tcpOptions(from) {
		to[at] = from[at]
		switch kind := from[at]; {
		case kind == 1:
		case kind >= 2 && kind <= 5 && n >= 2 && at+n <= len(from): // largest segment, window scale, selective acknowledgement
			copy(to[at:at+n], from[at:])
		default:
			to[at+1] = from[at+1]
		}
	}
}

// timestamp returns the offset of the 16 bits of a TCP header's timestamp that are set to get the wanted checksum, 0 if it has
// no timestamp.
func timestamp(tcp []byte) int {
	for at, n := range tcpOptions(tcp) {
		if tcp[at] == 8 && n == 10 && at+n <= len(tcp) {
			return (at + 5) &^ 1 // the value is at at+2; the last even place but one, with two bytes
		}
	}
	return 0
}

// checksums sets the checksums of the packet's headers, the innermost first; again says that they were set before.
//
// Checksums distinguish duplicate captures of a packet from retransmissions when only timestamps differ, which are not
// written. So bits of the timestamp are chosen such that two segments get equal TCP checksums if they had equal ones.
// Where bytes are missing no checksum can be right; it is then only the same for the same.
func (a *addresses) checksums(b []byte, layers []packet.Layer, in int, again bool) {
	for i := len(layers) - 1; i >= 0; i-- {
		l := &layers[i]
		if l.In != in {
			continue
		}
		whole := l.End <= len(b)
		switch l.Kind {
		case packet.LayerIPv4:
			h := b[l.From:l.To]
			h[10], h[11] = 0, 0
			binary.BigEndian.PutUint16(h[10:], ^checksum.Fold(checksum.Sum(0, h)))
		case packet.LayerTCP:
			ip := network(b, layers[:i], in)
			if l.To-l.From < 20 || ip == nil {
				continue
			}
			h := b[l.From:l.To]
			wanted := binary.BigEndian.Uint16(h[16:])
			if !again {
				wanted = a.sums[wanted]
			}
			if !whole {
				binary.BigEndian.PutUint16(h[16:], wanted)
				continue
			}
			h[16], h[17] = 0, 0
			n := l.End - l.From
			at := timestamp(h)
			if at > 0 {
				h[at], h[at+1] = 0, 0
			}
			s := checksum.Fold(checksum.Sum(checksum.Pseudo(ip, 6, n), b[l.From:l.End]))
			if at > 0 {
				w := checksum.Fold(uint64(^wanted) + uint64(^s))
				binary.BigEndian.PutUint16(h[at:], w)
				s = checksum.Fold(uint64(s) + uint64(w))
			}
			binary.BigEndian.PutUint16(h[16:], ^s)
		case packet.LayerUDP:
			ip := network(b, layers[:i], in)
			if l.To-l.From < 8 || ip == nil {
				continue
			}
			h := b[l.From:l.To]
			was := binary.BigEndian.Uint16(h[6:])
			switch {
			case was == 0:
			case !whole && again:
			case !whole:
				binary.BigEndian.PutUint16(h[6:], max(1, a.sums[was]))
			default:
				h[6], h[7] = 0, 0
				s := ^checksum.Fold(checksum.Sum(checksum.Pseudo(ip, 17, l.End-l.From), b[l.From:l.End]))
				if s == 0 {
					s = 0xffff // 0 says that there is none
				}
				binary.BigEndian.PutUint16(h[6:], s)
			}
		case packet.LayerGRE:
			h := b[l.From:l.To]
			if len(h) < 8 || !whole {
				continue
			}
			h[4], h[5] = 0, 0
			binary.BigEndian.PutUint16(h[4:], ^checksum.Fold(checksum.Sum(0, b[l.From:l.End])))
		}
	}
}

// network returns the header of the IP packet that has the next layer in it.
func network(b []byte, layers []packet.Layer, in int) []byte {
	for i := len(layers) - 1; i >= 0; i-- {
		l := &layers[i]
		if l.In == in && (l.Kind == packet.LayerIPv4 || l.Kind == packet.LayerIPv6) {
			return b[l.From:l.To]
		}
	}
	return nil
}
