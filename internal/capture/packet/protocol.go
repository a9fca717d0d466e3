package packet

import "fmt"

// Protocol names what the last packet was, for reports: "TCP", "UDP", "ICMP",
// "ARP", "IP protocol 47", "Ethernet type 0x88cc", "LLC", or "" if it is not known.
func (d *Decoder) Protocol() string {
	switch d.ipProto {
	case -1:
	case protoTCP:
		return "TCP"
	case protoUDP:
		return "UDP"
	case protoICMP:
		return "ICMP"
	case protoICMPv6:
		return "ICMPv6"
	case 132:
		return "SCTP"
	case 47:
		return "GRE"
	case 50:
		return "ESP"
	default:
		return fmt.Sprintf("IP protocol %d", d.ipProto)
	}
	switch {
	case d.etherType == 0:
		return ""
	case d.etherType == etherARP:
		return "ARP"
	case d.etherType == 0x88cc:
		return "LLDP"
	case d.etherType == etherIPv4:
		return "IPv4"
	case d.etherType == etherIPv6:
		return "IPv6"
	case d.etherType <= etherLengthMax:
		return "LLC"
	}
	return fmt.Sprintf("Ethernet type %#04x", d.etherType)
}
