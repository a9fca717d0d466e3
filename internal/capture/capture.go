// Package capture turns capture files, standard input and network interfaces into packets. Files (pcap and pcapng,
// plain or compressed, folders of them) and Linux packet sockets come in; packets go out, merged by time: link-layer
// units with their bytes, length on the wire and time. Of the contents of packets it knows only the link type.
//
// A packet's bytes are a slice of the read buffer of its file, or of a block of the ring, and are valid until the next
// call of Next. Nothing is allocated per packet. A buffer grows only as bytes arrive, never to what a length field
// claims.
//
// Damage inside a file is data, not an error: it is listed as Damage of its Input, all packets before it are delivered,
// and the other files are read on.
//
// The formats follow draft-ietf-opsawg-pcap and draft-ietf-opsawg-pcapng (IETF), the link types
// https://www.tcpdump.org/linktypes.html, live capture packet(7).
package capture

import "io"

// Packet is one captured link-layer unit. Data is borrowed: it is valid until the next call of Next.
type Packet struct {
	Data    []byte
	WireLen int      // bytes on the wire; at least len(Data)
	Time    int64    // nanoseconds since the Unix epoch
	Link    LinkType // of the interface that captured it
	File    int      // index of its input in Inputs
	Number  int64    // position in its file, from 1; Wireshark's frame.number
	// Interface is the number of the interface that captured it: the interface id in pcapng files, else 0.
	Interface int
}

// Truncated reports whether the capture kept fewer bytes of the packet than were on the wire (a snap length).
func (p *Packet) Truncated() bool { return p.WireLen > len(p.Data) }

// Missing returns the number of bytes on the wire that the capture did not keep.
func (p *Packet) Missing() int { return p.WireLen - len(p.Data) }

// Source delivers packets one by one.
type Source interface {
	// Next fills p, whose Data is valid until the next call. It returns io.EOF at the end.
	Next(p *Packet) error
	io.Closer
}

// MaxPacket is the size in bytes of the largest captured packet that is believed. libpcap stops at 256 KiB, or at the
// file's snap length where that is larger. A record that claims more than MaxPacket is damage.
const MaxPacket = 16 << 20

// minPacketLimit is the size in bytes that a packet may have whatever snap length its file header states: libpcap's
// MAXIMUM_SNAPLEN.
const minPacketLimit = 256 << 10

// packetLimit returns the size in bytes of the largest packet that is accepted from a file or interface with a snap
// length; 0 is none.
func packetLimit(snapLen uint32) uint32 {
	return min(max(snapLen, minPacketLimit), MaxPacket)
}
