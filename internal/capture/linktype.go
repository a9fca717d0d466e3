package capture

import "strconv"

// LinkType is a LINKTYPE_ value of https://www.tcpdump.org/linktypes.html. It tells what the first bytes of a packet are.
type LinkType uint16

// The link types that package packet reads, by their registered numbers.
const (
	LinkNull          LinkType = 0 // BSD loopback, family in the byte order of the capturing machine
	LinkEthernet      LinkType = 1
	LinkPPP           LinkType = 9
	LinkFDDI          LinkType = 10
	LinkDLTRaw        LinkType = 12 // DLT_RAW as most systems number it
	LinkDLTRawOpenBSD LinkType = 14 // DLT_RAW as OpenBSD numbers it
	LinkPPPHDLC       LinkType = 50
	LinkPPPEther      LinkType = 51
	LinkATM1483       LinkType = 100
	LinkRaw           LinkType = 101
	LinkCHDLC         LinkType = 104
	LinkIEEE80211     LinkType = 105
	LinkFrameRelay    LinkType = 107
	LinkLoop          LinkType = 108 // OpenBSD loopback, family in network byte order
	LinkEnc           LinkType = 109
	LinkLinuxSLL      LinkType = 113
	LinkPFLog         LinkType = 117
	LinkPrism         LinkType = 119
	LinkRadiotap      LinkType = 127
	LinkPPPLinux      LinkType = 166
	LinkPPI           LinkType = 192
	LinkPPPWithDir    LinkType = 204
	LinkCHDLCWithDir  LinkType = 205
	LinkMPLS          LinkType = 219
	LinkIPv4          LinkType = 228
	LinkIPv6          LinkType = 229
	LinkNFLog         LinkType = 239
	LinkNetAnalyzer   LinkType = 240
	LinkPKTAP         LinkType = 258
	LinkLinuxSLL2     LinkType = 276
)

var linkNames = map[LinkType]string{
	LinkNull: "NULL", LinkEthernet: "ETHERNET", LinkPPP: "PPP", LinkFDDI: "FDDI", LinkDLTRaw: "RAW", LinkDLTRawOpenBSD: "RAW",
	LinkPPPHDLC: "PPP_HDLC", LinkPPPEther: "PPP_ETHER", LinkATM1483: "ATM_RFC1483", LinkRaw: "RAW", LinkCHDLC: "C_HDLC",
	LinkIEEE80211: "IEEE802_11", LinkFrameRelay: "FRELAY", LinkLoop: "LOOP", LinkEnc: "ENC", LinkLinuxSLL: "LINUX_SLL",
	LinkPFLog: "PFLOG", LinkPrism: "IEEE802_11_PRISM", LinkRadiotap: "IEEE802_11_RADIOTAP", 147: "USER0", LinkPPPLinux: "PPP_PPPD",
	187: "BLUETOOTH_HCI_H4", 189: "USB_LINUX", LinkPPI: "PPI", LinkPPPWithDir: "PPP_WITH_DIR", LinkCHDLCWithDir: "C_HDLC_WITH_DIR",
	LinkMPLS: "MPLS", 220: "USB_LINUX_MMAPPED", LinkIPv4: "IPV4", LinkIPv6: "IPV6", LinkNFLog: "NFLOG", LinkNetAnalyzer: "NETANALYZER",
	252: "WIRESHARK_UPPER_PDU", 253: "NETLINK", LinkPKTAP: "PKTAP", LinkLinuxSLL2: "LINUX_SLL2",
}

// String returns the registered name without LINKTYPE_. A capture of IP traffic is unlikely to have other link types than
// the named ones; they are returned as numbers.
func (l LinkType) String() string {
	if name, ok := linkNames[l]; ok {
		return name
	}
	return strconv.Itoa(int(l))
}
