package capture

import "strconv"

// LinkType is a LINKTYPE_ value of https://www.tcpdump.org/linktypes.html: what
// the first bytes of a packet are.
type LinkType uint16

// The link types that are read, by their registered numbers.
const (
	LinkNull          LinkType = 0 // BSD loopback, family in the byte order of the capturing machine
	LinkEthernet      LinkType = 1
	LinkPPP           LinkType = 9
	LinkFDDI          LinkType = 10
	LinkDLTRaw        LinkType = 12 // DLT_RAW as most systems number it
	LinkDLTRawOpenBSD LinkType = 14 // DLT_RAW as OpenBSD numbers it
	LinkRaw           LinkType = 101
	LinkIEEE80211     LinkType = 105
	LinkLoop          LinkType = 108 // OpenBSD loopback, family in network byte order
	LinkLinuxSLL      LinkType = 113
	LinkPFLog         LinkType = 117
	LinkPrism         LinkType = 119
	LinkRadiotap      LinkType = 127
	LinkIPv4          LinkType = 228
	LinkIPv6          LinkType = 229
	LinkNFLog         LinkType = 239
	LinkPKTAP         LinkType = 258
	LinkLinuxSLL2     LinkType = 276
)

// String is the registered name without LINKTYPE_, or the number where the name
// is not one that a capture of IP traffic is likely to have.
func (l LinkType) String() string {
	switch l {
	case LinkNull:
		return "NULL"
	case LinkEthernet:
		return "ETHERNET"
	case LinkPPP:
		return "PPP"
	case LinkFDDI:
		return "FDDI"
	case LinkDLTRaw, LinkDLTRawOpenBSD, LinkRaw:
		return "RAW"
	case LinkIEEE80211:
		return "IEEE802_11"
	case LinkLoop:
		return "LOOP"
	case LinkLinuxSLL:
		return "LINUX_SLL"
	case LinkPFLog:
		return "PFLOG"
	case LinkPrism:
		return "IEEE802_11_PRISM"
	case LinkRadiotap:
		return "IEEE802_11_RADIOTAP"
	case LinkIPv4:
		return "IPV4"
	case LinkIPv6:
		return "IPV6"
	case LinkNFLog:
		return "NFLOG"
	case LinkPKTAP:
		return "PKTAP"
	case LinkLinuxSLL2:
		return "LINUX_SLL2"
	case 50:
		return "PPP_HDLC"
	case 51:
		return "PPP_ETHER"
	case 104:
		return "C_HDLC"
	case 100:
		return "ATM_RFC1483"
	case 107:
		return "FRELAY"
	case 109:
		return "ENC"
	case 147:
		return "USER0"
	case 166:
		return "PPP_PPPD"
	case 187:
		return "BLUETOOTH_HCI_H4"
	case 189:
		return "USB_LINUX"
	case 192:
		return "PPI"
	case 204:
		return "PPP_WITH_DIR"
	case 205:
		return "C_HDLC_WITH_DIR"
	case 219:
		return "MPLS"
	case 220:
		return "USB_LINUX_MMAPPED"
	case 240:
		return "NETANALYZER"
	case 252:
		return "WIRESHARK_UPPER_PDU"
	case 253:
		return "NETLINK"
	}
	return strconv.Itoa(int(l))
}
