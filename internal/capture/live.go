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

// LiveOptions are how to capture from an interface. The zero value is tcpdump's
// habit: whole packets, promiscuous.
type LiveOptions struct {
	SnapLen       int                  // bytes kept of a packet; 262144 if 0
	Buffer        int                  // bytes the kernel may hold for us; 32 MiB if 0, less where it grants less
	NoPromiscuous bool                 // see only what this host sends and receives
	Filter        []bpf.RawInstruction // what the kernel lets through, of the link type that Link says; all if empty
	Poll          time.Duration        // how long Next waits before ErrTimeout; 100 ms if 0
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

// LiveStats are the kernel's counts since OpenLive, in packets.
type LiveStats struct {
	Received int64 // passed the filter, dropped ones included
	Dropped  int64 // did not fit into the kernel's buffer
}

// Interface is a place where one can capture.
type Interface struct {
	Name     string
	Up       bool
	Loopback bool
	MTU      int      // bytes; 0 for any
	Addrs    []string // addresses without prefix length
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
		text += "; there are: " + strings.Join(names, ", ")
	}
	return &Error{Cause: NoInterface, File: name, Text: text}
}
