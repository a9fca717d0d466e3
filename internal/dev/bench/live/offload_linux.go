package main

import "encoding/binary"

const (
	segment = 256    // bytes of payload that the kernel gives a packet
	largest = 60_000 // bytes of payload in a unit
	held    = 16384  // packets of others that payload waits for more of its connection
)

// unit is what the sender gives to the kernel at once: a packet, or the payloads of several packets of equal size in one, which the kernel cuts.
type unit struct {
	offload [10]byte // the kernel's struct virtio_net_hdr
	packet  []byte
	packets int
}

// Values of struct virtio_net_hdr (linux/virtio_net.h).
const (
	needsChecksum = 1
	tcp4          = 1
)

// Offsets in the packets of package traffic: Ethernet, IPv4 without options, TCP.
const (
	ipAt  = 14
	tcpAt = ipAt + 20
)

// stretch is payload of one direction of a connection, without a hole.
type stretch struct {
	head    []byte // of the first packet
	payload []byte
	next    uint32
}

// talk is what was not sent yet of a connection: its client's payload, which is sent first, its server's, and acknowledgements.
type talk struct {
	data  [2]stretch
	acks  [][]byte
	since int
}

// merge makes units of packets. All packets are in them, with the payload they had; those of a connection may come later than those of
// others, and acknowledge less than they did.
func merge(packets [][]byte) (units []unit) {
	talks := map[[12]byte]*talk{}
	var order []*talk
	flush := func(t *talk) {
		for i := range t.data {
			if r := &t.data[i]; len(r.payload) > 0 {
				units = append(units, r.unit())
				*r = stretch{}
			}
		}
		for _, a := range t.acks {
			units = append(units, unit{packet: a, packets: 1})
		}
		t.acks = nil
	}
	for i, p := range packets {
		if i%(held/16) == 0 {
			for _, t := range order {
				if i-t.since >= held {
					flush(t)
					t.since = i
				}
			}
		}
		key, side := flow(p)
		t := talks[key]
		if t == nil {
			t = &talk{since: i}
			talks[key], order = t, append(order, t)
		}
		head := tcpAt + int(p[tcpAt+12]>>4)*4
		data := p[head : ipAt+int(binary.BigEndian.Uint16(p[ipAt+2:]))]
		const ack, push = 0x10, 0x08
		switch flags, r := p[tcpAt+13], &t.data[side]; {
		case flags&^push != ack:
			flush(t)
			units = append(units, unit{packet: p, packets: 1})
		case len(data) == 0:
			t.acks = append(t.acks, p)
		default:
			if !r.takes(p, data) {
				flush(t)
				t.since = i
			}
			r.add(p[:head], p, data)
		}
	}
	for _, t := range order {
		flush(t)
	}
	return units
}

// flow returns the addresses and ports of a packet, in the same order for both directions, and its direction: 0 if it goes to the lower port.
func flow(p []byte) (key [12]byte, side int) {
	copy(key[:4], p[ipAt+12:])
	copy(key[4:8], p[ipAt+16:])
	copy(key[8:], p[tcpAt:tcpAt+4])
	if binary.BigEndian.Uint16(p[tcpAt:]) < binary.BigEndian.Uint16(p[tcpAt+2:]) {
		side = 1
		copy(key[:4], p[ipAt+16:])
		copy(key[4:8], p[ipAt+12:])
		copy(key[8:10], p[tcpAt+2:])
		copy(key[10:], p[tcpAt:])
	}
	return key, side
}

func (r *stretch) takes(p, data []byte) bool {
	return len(r.payload) == 0 || len(r.payload)+len(data) <= largest && binary.BigEndian.Uint32(p[tcpAt+4:]) == r.next && p[tcpAt+12] == r.head[tcpAt+12]
}

func (r *stretch) add(head, p, data []byte) {
	if len(r.payload) == 0 {
		r.head, r.next = head, binary.BigEndian.Uint32(p[tcpAt+4:])
	}
	r.payload = append(r.payload, data...)
	r.next += uint32(len(data))
}

func (r *stretch) unit() unit {
	p := append(append(make([]byte, 0, len(r.head)+len(r.payload)), r.head...), r.payload...)
	u := unit{packet: p, packets: (len(r.payload) + segment - 1) / segment}
	binary.BigEndian.PutUint16(p[ipAt+2:], uint16(len(p)-ipAt))
	if u.packets == 1 {
		return u
	}
	u.offload[0], u.offload[1] = needsChecksum, tcp4
	for i, v := range []int{len(r.head), segment, tcpAt, 16} {
		binary.LittleEndian.PutUint16(u.offload[2+2*i:], uint16(v))
	}
	sum := uint32(6 + len(p) - tcpAt) // the pseudo header, as the kernel expects it
	for i := ipAt + 12; i < tcpAt; i += 2 {
		sum += uint32(binary.BigEndian.Uint16(p[i:]))
	}
	for sum>>16 > 0 {
		sum = sum>>16 + sum&0xffff
	}
	binary.BigEndian.PutUint16(p[tcpAt+16:], uint16(sum))
	return u
}

// single makes a unit of each packet.
func single(packets [][]byte) []unit {
	units := make([]unit, len(packets))
	for i, p := range packets {
		units[i] = unit{packet: p, packets: 1}
	}
	return units
}

// total returns the packets that units become, and the bytes of the units.
func total(units []unit) (packets, bytes int) {
	for i := range units {
		packets += units[i].packets
		bytes += len(units[i].packet)
		if n := units[i].packets; n > 1 { // each packet gets the headers
			bytes += (n - 1) * int(binary.LittleEndian.Uint16(units[i].offload[2:]))
		}
	}
	return packets, bytes
}
