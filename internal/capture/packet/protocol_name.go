package packet

import "fmt"

// protocolNames and etherNames are the names of IP protocols and Ethernet types in reports.
var (
	protocolNames = map[int16]string{
		protoTCP: "TCP", protoUDP: "UDP", protoICMP: "ICMP", protoICMPv6: "ICMPv6", protoSCTP: "SCTP", protoGRE: "GRE", protoESP: "ESP",
	}
	etherNames = map[uint16]string{etherARP: "ARP", etherLLDP: "LLDP", etherIPv4: "IPv4", etherIPv6: "IPv6"}
)

// Protocol returns the name of what the last packet was, for reports: "TCP", "UDP", "ICMP", "ARP", "IP protocol 47",
// "Ethernet type 0x88cc", "LLC", or "" if it is not known.
func (d *Decoder) Protocol() string {
	if d.ipProto >= 0 {
		if name, ok := protocolNames[d.ipProto]; ok {
			return name
		}
		return fmt.Sprintf("IP protocol %d", d.ipProto)
	}
	if name, ok := etherNames[d.etherType]; ok {
		return name
	}
	switch {
	case d.etherType == 0:
		return ""
	case d.etherType <= etherLengthMax:
		return "LLC"
	}
	return fmt.Sprintf("Ethernet type %#04x", d.etherType)
}
