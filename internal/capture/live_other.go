//go:build !linux

package capture

import (
	"runtime"
	"strings"
)

// Live captures from interfaces; this system does not support that.
type Live struct{}

// OpenLive fails with cause NotSupported: live capture needs Linux.
func OpenLive(ifaces []string, _ LiveOptions) (*Live, error) {
	name := strings.Join(ifaces, ",")
	return nil, failure(NotSupported, name, nil, "capturing from %s is not possible on %s, only on Linux; record with tcpdump -i %[1]s -w trace.pcap and analyze the file", name, runtime.GOOS)
}

// Next returns ErrClosed.
func (l *Live) Next(*Packet) error { return ErrClosed }

// Close does nothing.
func (l *Live) Close() error { return nil }

// Stats is zero.
func (l *Live) Stats() (LiveStats, error) { return LiveStats{}, nil }

// States is empty.
func (l *Live) States() []InterfaceState { return nil }

// Inputs is empty.
func (l *Live) Inputs() []Input { return nil }

// Link returns the link type of the packets.
func (l *Live) Link() LinkType { return LinkEthernet }

// Counters does not know any interface on this system.
func Counters(string) (in, out Traffic, ok bool) { return Traffic{}, Traffic{}, false }

// LinkSpeed does not know any speed on this system.
func LinkSpeed(string) int64 { return 0 }
