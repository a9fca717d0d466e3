package packet

import "net/netip"

// Endpoint is one end of a TCP connection: comparable, and 18 bytes without gaps,
// so that it can be hashed and compared as memory. IPv4 addresses are IPv4-mapped
// (::ffff:a.b.c.d).
type Endpoint struct {
	IP   [16]byte
	Port uint16
}

// v4Prefix is what an IPv4-mapped address begins with (RFC 4291, section 2.5.5.2).
const v4Prefix = "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff"

func (e *Endpoint) setIPv4(b []byte) {
	e.IP = [16]byte{10: 0xff, 11: 0xff, 12: b[0], 13: b[1], 14: b[2], 15: b[3]}
}

// NewEndpoint is the endpoint of an address and port.
func NewEndpoint(a netip.AddrPort) Endpoint {
	return Endpoint{IP: a.Addr().As16(), Port: a.Port()}
}

// Is4 reports whether the address is an IPv4 address.
func (e Endpoint) Is4() bool { return string(e.IP[:12]) == v4Prefix }

// Addr is the address, IPv4 ones as such.
func (e Endpoint) Addr() netip.Addr { return netip.AddrFrom16(e.IP).Unmap() }

// String is a.b.c.d:port or [v6]:port.
func (e Endpoint) String() string { return netip.AddrPortFrom(e.Addr(), e.Port).String() }

// AppendTo appends what String returns.
func (e Endpoint) AppendTo(b []byte) []byte {
	return netip.AddrPortFrom(e.Addr(), e.Port).AppendTo(b)
}
