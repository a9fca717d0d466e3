// Package capture turns capture files, standard input and network interfaces
// into packets: link-layer units with their bytes, length on the wire and time.
// It knows files, blocks and sockets; of the packets' contents it knows nothing
// but the link type.
//
// The formats follow draft-ietf-opsawg-pcap and draft-ietf-opsawg-pcapng (IETF),
// the link types https://www.tcpdump.org/linktypes.html, live capture packet(7).
//
// Memory: a packet's bytes are a slice of the read buffer of its file, or of a block of the ring, and are
// valid until the next call to Next. Nothing is allocated per packet, and a
// buffer grows only as bytes arrive, never to what a length field claims.
//
// What is wrong inside a file is data, not an error: it is noted as Damage of its
// Input, everything before it is delivered, and the other files are read on.
package capture

import "io"

// Packet is one captured link-layer unit. Data is borrowed: valid until the next
// call to Next.
type Packet struct {
	Data    []byte
	WireLen int      // bytes on the wire; at least len(Data)
	Time    int64    // nanoseconds since the Unix epoch
	Link    LinkType // of the interface it came from
	File    int      // index of its input, as given by Inputs
	Number  int64    // position in its file, from 1: Wireshark's frame.number
	// Interface is which of its input's interfaces captured it: the interface id of pcapng, else 0.
	Interface int
}

// Truncated reports whether the capture kept less of the packet than was on the
// wire (a snap length).
func (p *Packet) Truncated() bool { return p.WireLen > len(p.Data) }

// Missing is the number of bytes on the wire that the capture did not keep.
func (p *Packet) Missing() int { return p.WireLen - len(p.Data) }

// Source delivers packets one by one.
type Source interface {
	// Next fills p, whose Data is valid until the next call. The end is io.EOF.
	Next(p *Packet) error
	io.Closer
}

// MaxPacket is the largest captured packet in bytes that is believed. libpcap
// stops at 256 KiB, or at the file's snap length where that is larger; a record
// that claims more than this is damage.
const MaxPacket = 16 << 20

// minPacketLimit is what every file may hold in one packet, whatever snap length
// its header has: libpcap's MAXIMUM_SNAPLEN.
const minPacketLimit = 256 << 10

// packetLimit is the largest packet that a file or interface with that snap
// length (0 for none) may hold.
func packetLimit(snapLen uint32) uint32 {
	return min(max(snapLen, minPacketLimit), MaxPacket)
}
