package capture

import (
	"fmt"
	"net"
	"runtime"
	"strings"
	"time"

	"golang.org/x/net/bpf"
)

// AnyInterface is the name that stands for all interfaces together, on Linux.
const AnyInterface = "any"

// LiveOptions are how to capture. The zero value is tcpdump's habit: whole packets, promiscuous.
type LiveOptions struct {
	SnapLen       int           // bytes kept of a packet; 262144 if 0
	Buffer        int           // bytes of the ring that the kernel fills for us; 32 MiB if 0, less where it grants less
	NoPromiscuous bool          // see only what this host sends and receives
	Poll          time.Duration // how long Next waits before ErrTimeout; 100 ms if 0
	Sockets       Sockets       // to capture with, instead of new ones; see RestartUnprivileged
	// Filter, if set, is asked once for what the kernel shall let through, when the link type of the packets is known and
	// before the first packet. Its instructions return the snap length; none let everything through. With LinkLinuxSLL2
	// they meet packets as the kernel has them: no link header in front, its fields by the kernel's own offsets (SKF_AD_OFF
	// of linux/filter.h).
	Filter func(LinkType) ([]bpf.RawInstruction, error)
	// Notice, if set, is told in one line when an interface goes down or comes back, from within Next.
	Notice func(string)
}

func (o LiveOptions) withDefaults() LiveOptions {
	if o.SnapLen <= 0 {
		o.SnapLen = minPacketLimit
	}
	o.SnapLen = min(o.SnapLen, MaxPacket)
	if o.Buffer <= 0 {
		o.Buffer = 32 << 20
	}
	if o.Poll <= 0 {
		o.Poll = 100 * time.Millisecond
	}
	return o
}

// LiveStats are counts since OpenLive.
type LiveStats struct {
	Received int64   // packets that passed the filter, dropped ones included
	Dropped  int64   // packets that found the ring full
	Freezes  int64   // how often the ring was full
	Fill     float64 // share of the ring that waits to be read or is being read, 0 to 1
	In, Out  Traffic // what Next delivered, as their WireLen says; all of a loopback interface is In
}

// Traffic is packets and their bytes.
type Traffic struct{ Packets, Bytes int64 }

// InterfaceState is how an interface that is captured is doing.
type InterfaceState struct {
	Name  string
	Up    bool
	Gone  bool // there is no interface of that name any more
	Index int  // the system's number of it; 0 if it is gone
}

// Interface is a place where one can capture.
type Interface struct {
	Name     string
	Up       bool
	Loopback bool
	MTU      int      // bytes; 0 for any
	Addrs    []string // addresses without prefix length
	Speed    int64    // bits per second one way; 0 if unknown
}

// Interfaces lists the interfaces in the system's order, and any behind them where
// that exists.
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
		addrs, _ := i.Addrs() // an interface without readable addresses is still one
		for _, a := range addrs {
			if ipNet, ok := a.(*net.IPNet); ok {
				one.Addrs = append(one.Addrs, ipNet.IP.String())
			}
		}
		all = append(all, one)
	}
	if runtime.GOOS == "linux" {
		all = append(all, Interface{Name: AnyInterface, Up: true})
	}
	return all, nil
}

// noInterface words that there is no such interface, and which there are.
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
		text += "; there are: " + strings.Join(names, ", ")
	}
	return &Error{Cause: NoInterface, File: name, Text: text}
}

// nearest is the one of names that a typing error away is name, or "".
func nearest(name string, names []string) string {
	best, least := "", 3
	for _, n := range names {
		d := distance(strings.ToLower(name), strings.ToLower(n))
		if d < least && d < max(len(n), len(name))-1 {
			best, least = n, d
		}
	}
	return best
}

// distance is how many letters must be changed, added or left out to turn a into b (Levenshtein). Names of interfaces
// have at most 15 letters; of longer ones only the beginning is looked at.
func distance(a, b string) int {
	a, b = a[:min(len(a), 32)], b[:min(len(b), 32)]
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		corner := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := corner
			if a[i] != b[j] {
				cost++
			}
			corner = row[j+1]
			row[j+1] = min(cost, row[j]+1, corner+1)
		}
	}
	return row[len(b)]
}
