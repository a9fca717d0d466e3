package filter

import "strings"

// proto is a keyword that names a protocol. It may stand alone, before an address and before an index. Keywords of the
// link layer are one protocol.
type proto string

const (
	protoNone    proto = ""
	protoLink    proto = "ether"
	protoIP      proto = "ip"
	protoARP     proto = "arp"
	protoRARP    proto = "rarp"
	protoIP6     proto = "ip6"
	protoSCTP    proto = "sctp"
	protoTCP     proto = "tcp"
	protoUDP     proto = "udp"
	protoICMP6   proto = "icmp6"
	protoAH      proto = "ah"
	protoESP     proto = "esp"
	protoAARP    proto = "aarp"
	protoDECnet  proto = "decnet"
	protoISO     proto = "iso"
	protoSTP     proto = "stp"
	protoIPX     proto = "ipx"
	protoNetBEUI proto = "netbeui"
)

// protoOf returns the protocol of a keyword, or protoNone.
func protoOf(word string) proto {
	switch word {
	case "ether", "link", "ppp", "slip", "fddi", "tr", "wlan":
		return protoLink
	}
	if p := proto(word); linkTypes[p] != 0 || ipProtos[p].number != 0 {
		return p
	}
	return protoNone
}

// Ethernet types and, below 1501, service access points of IEEE 802.2.
const (
	etherIPv4     = 0x0800
	etherARP      = 0x0806
	etherRARP     = 0x8035
	etherVLAN     = 0x8100
	etherIPv6     = 0x86dd
	etherMPLS     = 0x8847
	etherPPPoED   = 0x8863
	etherPPPoES   = 0x8864
	etherQinQ     = 0x88a8
	etherOldQinQ  = 0x9100
	etherIPX      = 0x8137
	etherAppleARP = 0x80f3
	etherApple    = 0x809b
	etherDECnet   = 0x6003
	etherLAT      = 0x6004
	etherSCA      = 0x6007
	etherMOPDL    = 0x6001
	etherMOPRC    = 0x6002
	etherXNS      = 0x0600
	etherLengths  = 1500 // up to this value it is a length

	sapIP      = 0x06
	sapBridge  = 0x42
	sapSNAP    = 0xaa
	sapIPX     = 0xe0
	sapNetBEUI = 0xf0
	sapISO     = 0xfe
)

// linkTypes are the protocols that the type of a link layer states.
var linkTypes = map[proto]uint32{
	protoIP: etherIPv4, protoARP: etherARP, protoRARP: etherRARP, protoIP6: etherIPv6, "atalk": etherApple,
	protoAARP: etherAppleARP, protoDECnet: etherDECnet, "lat": etherLAT, "sca": etherSCA, "mopdl": etherMOPDL,
	"moprc": etherMOPRC, protoISO: sapISO, protoSTP: sapBridge, protoIPX: sapIPX, protoNetBEUI: sapNetBEUI,
}

const (
	ipICMP     = 1
	ipIGMP     = 2
	ipTCP      = 6
	ipUDP      = 17
	ipFragment = 44
	ipICMP6    = 58
	ipSCTP     = 132
)

// ipProtos are the protocols that an IP header states, and the IP version that each implies.
var ipProtos = map[proto]struct {
	number uint32
	over   proto // protoNone: both
}{
	protoTCP: {ipTCP, protoNone}, protoUDP: {ipUDP, protoNone}, protoSCTP: {ipSCTP, protoNone},
	"icmp": {ipICMP, protoIP}, "igmp": {ipIGMP, protoIP}, "igrp": {9, protoIP}, "pim": {103, protoNone},
	"vrrp": {112, protoIP}, "carp": {112, protoIP}, protoICMP6: {ipICMP6, protoIP6},
	protoAH: {51, protoNone}, protoESP: {50, protoNone},
}

// numbers are the keywords for numbers.
var numbers = map[string]uint32{
	"icmptype": 0, "icmpcode": 1, "icmp-echoreply": 0, "icmp-unreach": 3, "icmp-sourcequench": 4, "icmp-redirect": 5,
	"icmp-echo": 8, "icmp-routeradvert": 9, "icmp-routersolicit": 10, "icmp-timxceed": 11, "icmp-paramprob": 12,
	"icmp-tstamp": 13, "icmp-tstampreply": 14, "icmp-ireq": 15, "icmp-ireqreply": 16, "icmp-maskreq": 17, "icmp-maskreply": 18,

	"icmp6type": 0, "icmp6code": 1, "icmp6-destinationunreach": 1, "icmp6-packettoobig": 2, "icmp6-timeexceeded": 3,
	"icmp6-parameterproblem": 4, "icmp6-echo": 128, "icmp6-echoreply": 129, "icmp6-multicastlistenerquery": 130,
	"icmp6-multicastlistenerreportv1": 131, "icmp6-multicastlistenerdone": 132, "icmp6-routersolicit": 133,
	"icmp6-routeradvert": 134, "icmp6-neighborsolicit": 135, "icmp6-neighboradvert": 136, "icmp6-redirect": 137,
	"icmp6-routerrenum": 138, "icmp6-nodeinformationquery": 139, "icmp6-nodeinformationresponse": 140,
	"icmp6-ineighbordiscoverysolicit": 141, "icmp6-ineighbordiscoveryadvert": 142, "icmp6-multicastlistenerreportv2": 143,
	"icmp6-homeagentdiscoveryrequest": 144, "icmp6-homeagentdiscoveryreply": 145, "icmp6-mobileprefixsolicit": 146,
	"icmp6-mobileprefixadvert": 147, "icmp6-certpathsolicit": 148, "icmp6-certpathadvert": 149,
	"icmp6-multicastrouteradvert": 151, "icmp6-multicastroutersolicit": 152, "icmp6-multicastrouterterm": 153,

	"tcpflags": 13, "tcp-fin": 0x01, "tcp-syn": 0x02, "tcp-rst": 0x04, "tcp-push": 0x08, "tcp-ack": 0x10, "tcp-urg": 0x20,
	"tcp-ece": 0x40, "tcp-cwr": 0x80,
}

// keywords are the other supported keywords.
var keywords = map[string]string{
	"dst": "dst", "src": "src", "host": "host", "net": "net", "mask": "mask", "port": "port", "portrange": "portrange",
	"proto": "proto", "less": "less", "greater": "greater", "byte": "byte", "broadcast": "broadcast", "multicast": "multicast",
	"len": "len", "length": "len", "inbound": "inbound", "outbound": "outbound", "ifindex": "ifindex", "vlan": "vlan",
	"mpls": "mpls", "pppoed": "pppoed", "pppoes": "pppoes",
	"and": "&&", "or": "||", "not": "!",
}

// unsupportedWords are the keywords of the language that are not supported.
var unsupportedWords = strings.Fields(`
	protochain gateway type subtype direction dir address1 addr1 address2 addr2 address3 addr3 address4 addr4 ra ta radio
	esis es-is isis is-is clnp l1 l2 iih lsp snp csnp psnp geneve lane llc metac bcc oam oamf4 oamf4ec oamf4sc sc ilmic
	vpi vci connectmsg metaconnect on ifname rset ruleset rnr rulenum srnr subrulenum reason action fisu lssu lsu msu
	hfisu hlssu hmsu sio opc dpc sls hsio hopc hdpc hsls
`)

// ipProtoNames may follow "proto" after a backslash, as pcap-filter(7) lists them; after "ether proto" the keywords of
// linkTypes may.
var ipProtoNames = map[string]uint32{
	"icmp": ipICMP, "igmp": ipIGMP, "tcp": ipTCP, "udp": ipUDP, "gre": 47, "esp": 50, "ah": 51, "pim": 103, "vrrp": 112,
	"sctp": ipSCTP,
}
