package filter

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// expressions makes random text of the language.
type expressions struct {
	r      *rand.Rand
	arith  bool // with calculations
	layers bool // with "vlan", "mpls", "pppoes"
	ether  bool // with Ethernet's addresses
	kernel bool // with metadata

	noPPPoE bool
	before  string
}

func (e *expressions) one(depth int) string {
	r := e.r
	if depth > 0 {
		switch r.IntN(8) {
		case 0, 1, 2:
			return e.one(depth-1) + pick(r, []string{" and ", " && "}) + e.one(depth-1)
		case 3, 4:
			return e.one(depth-1) + pick(r, []string{" or ", " || "}) + e.one(depth-1)
		case 5:
			return pick(r, []string{"not ", "! ", "!"}) + "(" + e.one(depth-1) + ")"
		case 6:
			return "(" + e.one(depth-1) + ")"
		}
	}
	if r.IntN(8) == 0 {
		return "not " + e.term()
	}
	return e.term()
}

func (e *expressions) term() string {
	r := e.r
	for {
		switch r.IntN(26) {
		case 0, 1, 2:
			p := pick(r, []string{"", "", "tcp ", "udp ", "sctp "}) + e.dir() + "port "
			return p + e.list(func() string { return fmt.Sprint(pick(r, somePorts)) })
		case 3:
			a, b := pick(r, somePorts), pick(r, somePorts)
			return pick(r, []string{"", "tcp ", "udp ", "sctp "}) + e.dir() + fmt.Sprintf("portrange %d-%d", a, b)
		case 4, 5, 6:
			p := pick(r, []string{"", "ip ", "arp ", "rarp "}) + e.dir()
			if p = p + pick(r, []string{"", "host ", "host "}); !strings.Contains(p, "host") && !strings.Contains(p, "src") && !strings.Contains(p, "dst") {
				p += "host "
			}
			return p + e.list(func() string { return pick(r, someIPv4) })
		case 7:
			return pick(r, []string{"", "ip6 "}) + e.dir() + "host " + e.list(func() string { return pick(r, someIPv6) })
		case 8:
			return pick(r, []string{"", "ip ", "arp "}) + e.dir() + "net " + e.list(func() string {
				return pick(r, []string{"10", "10.1", "192.168.1", "10.0.0.0/8", "10.1.2.0/24", "192.168.0.0/16", "0.0.0.0/0", "10.0.0.0 mask 255.0.0.0", "10.1 mask 255.255.0.0", "127.0.0.1/32", "10.0.0.6/31"})
			})
		case 9:
			return pick(r, []string{"", "ip6 "}) + e.dir() + "net " + pick(r, []string{"2001:db8::/32", "fe80::/10", "::/0", "2001:db8:0:1::/64", "::1/128", "ff00::/8", "2001:db8::1"})
		case 10, 11, 12:
			return pick(r, []string{"tcp", "udp", "sctp", "icmp", "icmp6", "igmp", "igrp", "pim", "vrrp", "carp", "ah", "esp", "ip", "ip6", "arp", "rarp"})
		case 13:
			if e.ether {
				return pick(r, []string{"atalk", "aarp", "decnet", "lat", "sca", "mopdl", "moprc", "iso", "stp", "ipx", "netbeui", "pppoed"})
			}
		case 14:
			return pick(r, []string{"proto ", "ip proto ", "ip6 proto "}) + e.list(func() string { return pick(r, []string{"6", "17", "47", "44", "\\tcp", "\\udp", "0x3a"}) })
		case 15:
			return pick(r, []string{"ether proto ", "link proto "}) + pick(r, []string{"0x800", "2048", "0x86dd", "0x806", "0x88cc", "\\ip", "\\arp", "0x8100", "34984"})
		case 16:
			if e.ether {
				return "ether proto " + pick(r, []string{"6", "66", "224", "240", "254", "5", "170", "1500", "1501", "\\stp", "\\ipx"})
			}
		case 17:
			return pick(r, []string{"less ", "greater "}) + fmt.Sprint(20+r.IntN(80))
		case 18:
			if e.ether {
				return pick(r, []string{"ether ", "link "}) + pick(r, []string{"host ", "src ", "dst ", "src or dst ", "src and dst ", "dst host "}) +
					e.list(func() string {
						return pick(r, []string{"02:00:00:00:00:01", "2:0:0:0:0:2", "02-00-00-00-00-01", "0200.0000.0002", "ff:ff:ff:ff:ff:ff", "01005e000005"})
					})
			}
		case 19:
			if e.ether {
				return pick(r, []string{"broadcast", "multicast", "ether broadcast", "ether multicast"})
			}
			return pick(r, []string{"ip multicast", "ip6 multicast"})
		case 20:
			return pick(r, []string{"ip multicast", "ip6 multicast"})
		case 21:
			if e.noPPPoE {
				return pick(r, []string{"vlan", "vlan 5", "vlan 6", "mpls", "mpls 16", "vlan", "vlan 100", "vlan 5"})
			}
			if e.layers {
				return pick(r, []string{"vlan", "vlan 5", "vlan 6", "vlan", "vlan 5", "vlan 100", "mpls", "mpls 16", "pppoes", "pppoes 1", "vlan (5)"})
			}
		case 22:
			if e.kernel {
				return pick(r, []string{"inbound", "outbound", "ifindex 1", "ifindex 2"})
			}
		case 23:
			if e.ether {
				return fmt.Sprintf("byte %d %s %d", r.IntN(40), pick(r, []string{"=", "<", ">"}), r.IntN(256))
			}
		default:
			if e.arith {
				return e.relation()
			}
		}
	}
}

func (e *expressions) dir() string {
	return pick(e.r, []string{"", "", "src ", "dst ", "src or dst ", "dst or src ", "src and dst ", "dst and src "})
}

// list is an address, several, or several in parentheses.
func (e *expressions) list(one func() string) string {
	switch e.r.IntN(9) {
	case 0:
		return one() + " or " + one()
	case 1:
		return "(" + one() + " or " + one() + " or " + one() + ")"
	case 2:
		return one() + " and not " + one()
	case 3:
		return "(" + one() + ")"
	case 4:
		return "not " + one()
	}
	return one()
}

func (e *expressions) relation() string {
	return e.calc(2) + pick(e.r, []string{" = ", " == ", " != ", " > ", " < ", " >= ", " <= "}) + e.calc(1)
}

func (e *expressions) calc(depth int) string {
	r := e.r
	if depth > 0 && r.IntN(2) == 0 {
		op := pick(r, []string{"+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", "&", "&"})
		right := e.calc(depth - 1)
		if op == "<<" || op == ">>" || op == "/" || op == "%" {
			right = fmt.Sprint(1 + r.IntN(9))
		}
		s := e.calc(depth-1) + " " + op + " " + right
		if r.IntN(3) == 0 {
			return "(" + s + ")"
		}
		return s
	}
	switch r.IntN(8) {
	case 0, 1, 2:
		return fmt.Sprint(pick(r, []int{0, 1, 2, 4, 5, 6, 15, 16, 53, 80, 255, 256, 443, 2048, 20880, 65535}))
	case 3:
		return pick(r, []string{"len", "tcpflags", "tcp-syn", "tcp-ack", "icmptype", "icmp-echo", "icmp6-echo", "tcp-ece", "0x10"})
	case 4:
		if depth > 0 && r.IntN(4) == 0 {
			return "-" + e.calc(0)
		}
	}
	return e.load(depth)
}

func (e *expressions) load(depth int) string {
	r := e.r
	protos := []string{"ip", "ip", "tcp", "tcp", "tcp", "udp", "icmp", "icmp6", "ip6", "arp", "sctp", "igmp"}
	if e.ether {
		protos = append(protos, "ether", "ether", "rarp", "pim", "vrrp", "lat", "link")
	}
	index := fmt.Sprint(pick(r, []int{0, 1, 2, 3, 4, 6, 8, 9, 12, 13, 16, 20, 33}))
	switch r.IntN(8) {
	case 0:
		index = pick(r, []string{"tcpflags", "icmptype", "icmpcode", "icmp6type", "icmp6code"})
	case 1:
		if depth > 0 {
			index = e.calc(depth - 1)
		}
	}
	size := pick(r, []string{"", "", "", ":1", ":2", ":4"})
	return pick(r, protos) + "[" + index + size + "]"
}
