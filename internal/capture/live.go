package capture

import (
	"cmp"
	"fmt"
	"net"
	"net/netip"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/bpf"

	"dubbo-wire/internal/term"
)

// AnyInterface is the name for all interfaces together, on Linux.
const AnyInterface = "any"

// LiveOptions configures OpenLive. The zero value captures complete packets in promiscuous mode, as tcpdump does.
type LiveOptions struct {
	SnapLen       int           // bytes kept per packet; 0: 262144
	Buffer        int           // bytes of the ring that the kernel fills; 0: 32 MiB; less if the kernel grants less
	NoPromiscuous bool          // capture only what this host sends and receives
	Poll          time.Duration // time after which Next returns ErrTimeout; 0: 100 ms
	Sockets       Sockets       // open sockets to use instead of new ones; see RestartUnprivileged
	// Filter, if set, is called once, before the first packet, with the link type of the packets. It returns the
	// program that the kernel runs on each packet; the program returns the snap length, or 0 to reject the packet. No
	// instructions accept all packets. With LinkLinuxSLL2 the program sees packets as the kernel has them: without a
	// link header, whose fields are at the kernel's own offsets (SKF_AD_OFF of linux/filter.h).
	Filter func(LinkType) ([]bpf.RawInstruction, error)
	// Notice, if set, is called from within Next with one line when an interface goes down or comes back.
	Notice func(string)
}

func (o LiveOptions) withDefaults() LiveOptions {
	o.SnapLen = min(cmp.Or(max(o.SnapLen, 0), minPacketLimit), MaxPacket)
	o.Buffer = cmp.Or(max(o.Buffer, 0), 32<<20)
	o.Poll = cmp.Or(max(o.Poll, 0), 100*time.Millisecond)
	return o
}

// LiveStats are counts since OpenLive.
type LiveStats struct {
	Received int64   // packets that passed the filter, including dropped ones
	Dropped  int64   // packets for which the ring had no room
	Freezes  int64   // number of times the ring was full
	Fill     float64 // share of the ring that is being read or waits to be read, 0 to 1
	In, Out  Traffic // packets that Next delivered; all traffic of a loopback interface is In
}

// Traffic counts packets and their bytes on the wire.
type Traffic struct{ Packets, Bytes int64 }

// InterfaceState is the state of an interface that is captured.
type InterfaceState struct {
	Name  string
	Up    bool
	Gone  bool // no interface has that name now
	Index int  // the system's number of the interface; 0 if it is gone
}

// Interface is an interface that can be captured.
type Interface struct {
	Name     string
	Up       bool
	Loopback bool
	MTU      int            // bytes; 0: unlimited
	Addrs    []string       // addresses without prefix length
	Prefixes []netip.Prefix // the same with it
	Speed    int64          // bits per second in one direction; 0 if unknown
}

// Interfaces returns the interfaces in the system's order, followed by AnyInterface on Linux.
func Interfaces() ([]Interface, error) {
	found, err := net.Interfaces()
	if err != nil {
		return nil, &Error{Cause: Unreadable, Text: "the network interfaces cannot be listed: " + err.Error(), Err: err}
	}
	var all []Interface
	for _, i := range found {
		one := Interface{
			Name: i.Name, MTU: i.MTU,
			Up:       i.Flags&net.FlagUp != 0,
			Loopback: i.Flags&net.FlagLoopback != 0,
			Speed:    LinkSpeed(i.Name),
		}
		addrs, _ := i.Addrs() // an interface whose addresses cannot be read is listed too
		for _, a := range addrs {
			if ipNet, ok := a.(*net.IPNet); ok {
				one.Addrs = append(one.Addrs, ipNet.IP.String())
				ip, _ := netip.AddrFromSlice(ipNet.IP)
				bits, _ := ipNet.Mask.Size()
				one.Prefixes = append(one.Prefixes, netip.PrefixFrom(ip.Unmap(), bits))
			}
		}
		all = append(all, one)
	}
	if runtime.GOOS == "linux" {
		all = append(all, Interface{Name: AnyInterface, Up: true})
	}
	return all, nil
}

// machineOf returns the addresses of interfaces, which may be AnyInterface; nil if they cannot be listed. A loopback interface has the packets
// of the machine to all of its addresses.
func machineOf(names []string) (list []netip.Prefix) {
	all, _ := Interfaces()
	every := slices.ContainsFunc(all, func(one Interface) bool {
		return (one.Loopback || one.Name == AnyInterface) && slices.Contains(names, one.Name)
	})
	for _, one := range all {
		if every || slices.Contains(names, one.Name) {
			list = append(list, one.Prefixes...)
		}
	}
	return list[:min(len(list), maxAddresses)]
}

// noInterface returns the error for an unknown interface. Its text lists the existing ones.
func noInterface(name string) *Error {
	text := fmt.Sprintf("%s: no such network interface", name)
	if all, err := Interfaces(); err == nil {
		names := make([]string, len(all))
		for i, one := range all {
			names[i] = one.Name
		}
		if near := nearest(name, names); near != "" {
			text += "; did you mean " + near + "?"
		}
		text += "; available: " + strings.Join(names, ", ")
	}
	return &Error{Cause: NoInterface, File: name, Text: text}
}

// nearest returns the name in names that differs from name by a typing error, or "".
func nearest(name string, names []string) string {
	best, least := "", 3
	for _, n := range names {
		d := term.EditDistance(strings.ToLower(name), strings.ToLower(n))
		if d < least && d < max(len(n), len(name))-1 {
			best, least = n, d
		}
	}
	return best
}
