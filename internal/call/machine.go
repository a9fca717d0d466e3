package call

import "net/netip"

// Sides of calls that --side selects, and further values of [Call.MachineSide].
const (
	ClientSide = "client"
	ServerSide = "server"
	BothSides  = "both"
	NeitherEnd = "none"
)

// MachineSides are the sides that a filter can select.
var MachineSides = []string{ClientSide, ServerSide}

// Machine is the addresses of a capturing machine. The zero value and nil have none.
type Machine struct {
	addresses map[netip.Addr]bool
	networks  []netip.Prefix
}

// Add adds an address, or all addresses of a network. An IPv4-mapped address is that of IPv4.
func (m *Machine) Add(p netip.Prefix) {
	a := p.Addr().WithZone("")
	switch bits := p.Bits(); {
	case p.IsSingleIP():
		if m.addresses == nil {
			m.addresses = make(map[netip.Addr]bool)
		}
		m.addresses[a.Unmap()] = true
		return
	case a.Is4In6() && bits >= 96:
		p = netip.PrefixFrom(a.Unmap(), bits-96)
	default:
		p = netip.PrefixFrom(a, bits)
	}
	m.networks = append(m.networks, p.Masked())
}

// Known reports whether the machine has any address.
func (m *Machine) Known() bool { return m != nil && len(m.addresses)+len(m.networks) > 0 }

// Has reports whether an address is one of the machine.
func (m *Machine) Has(a netip.Addr) bool {
	if m == nil {
		return false
	}
	if m.addresses[a] {
		return true
	}
	for _, p := range m.networks {
		if p.Contains(a) {
			return true
		}
	}
	return false
}

// OfSide reports whether a call with that MachineSide is one of the side that a filter selects.
func OfSide(machineSide, side string) bool { return machineSide == side || machineSide == BothSides }

// MachineSide returns what the capturing machine was in the call: ClientSide, ServerSide, BothSides or NeitherEnd; [Unknown] if its
// addresses are not known.
func (c *Call) MachineSide() string {
	client, server := c.Conn.Machine[c.Side], c.Conn.Machine[1-c.Side]
	switch {
	case !c.Conn.MachineKnown:
		return Unknown
	case client && server:
		return BothSides
	case client:
		return ClientSide
	case server:
		return ServerSide
	}
	return NeitherEnd
}
