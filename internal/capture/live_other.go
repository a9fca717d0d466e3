//go:build !linux

package capture

import (
	"runtime"
)

// Live captures from an interface; on this system there is none.
type Live struct{}

// OpenLive fails with cause NotSupported: live capture needs Linux.
func OpenLive(iface string, _ LiveOptions) (*Live, error) {
	return nil, &Error{
		Cause: NotSupported, File: iface,
		Text: "capturing from " + iface + " is not possible on " + runtime.GOOS + ", only on Linux; record with tcpdump -i " + iface + " -w trace.pcap and analyze the file",
	}
}

// Next returns ErrClosed.
func (l *Live) Next(*Packet) error { return ErrClosed }

// Close does nothing.
func (l *Live) Close() error { return nil }

// Stats is zero.
func (l *Live) Stats() (LiveStats, error) { return LiveStats{}, nil }

// Inputs is empty.
func (l *Live) Inputs() []Input { return nil }

// Link is the link type of the packets.
func (l *Live) Link() LinkType { return LinkEthernet }
