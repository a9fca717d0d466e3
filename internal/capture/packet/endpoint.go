package packet

import (
	"encoding/binary"
	"math/bits"
	"net/netip"
)

// Endpoint is one end of a TCP connection. It is comparable, and 18 bytes without gaps, so it can be hashed as memory.
// IPv4 addresses are IPv4-mapped (::ffff:a.b.c.d).
type Endpoint struct {
	IP   [16]byte
	Port uint16
}

// v4Prefix is the start of IPv4-mapped addresses (RFC 4291, section 2.5.5.2).
const v4Prefix = "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff"

// setIPv4 stores eight bytes at once, in the way in which they are loaded for hashing.
func (e *Endpoint) setIPv4(b []byte) {
	binary.LittleEndian.PutUint64(e.IP[:8], 0)
	binary.LittleEndian.PutUint64(e.IP[8:], uint64(binary.LittleEndian.Uint32(b))<<32|0xffff0000)
}

// Same reports whether two endpoints are equal. It takes a third of the instructions of ==, which compares 18 bytes in a
// call.
func (e *Endpoint) Same(o *Endpoint) bool {
	le := binary.LittleEndian
	return e.Port == o.Port && le.Uint64(e.IP[8:]) == le.Uint64(o.IP[8:]) && le.Uint64(e.IP[:8]) == le.Uint64(o.IP[:8])
}

// NewEndpoint returns the endpoint of an address and port.
func NewEndpoint(a netip.AddrPort) Endpoint {
	return Endpoint{IP: a.Addr().As16(), Port: a.Port()}
}

// Is4 reports whether the address is IPv4.
func (e Endpoint) Is4() bool { return string(e.IP[:12]) == v4Prefix }

// Addr returns the address; IPv4-mapped ones as IPv4.
func (e Endpoint) Addr() netip.Addr { return netip.AddrFrom16(e.IP).Unmap() }

// String formats the endpoint as a.b.c.d:port or [v6]:port.
func (e Endpoint) String() string { return netip.AddrPortFrom(e.Addr(), e.Port).String() }

// Lane returns which of n lanes a segment belongs to: the same for both directions of a connection, and in every run.
// Only the ports count, so the limits of a lane have the same effect on a capture whose addresses were replaced.
func (s *Segment) Lane(n int) int {
	h := (mixPort(s.Src.Port) + mixPort(s.Dst.Port)) * 0x9e3779b97f4a7c15
	return int((h >> 32) * uint64(uint32(n)) >> 32)
}

// mixPort folds a port into 64 bits (one round of wyhash, with its constants).
func mixPort(p uint16) uint64 {
	hi, lo := bits.Mul64(uint64(p)*0x9e3779b97f4a7c15^0xa0761d6478bd642f, 0xe7037ed1a0b428db)
	return hi ^ lo
}
