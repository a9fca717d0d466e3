package main

import (
	"net"

	"golang.org/x/sys/unix"
)

// vanish closes a connection without telling its peer: a socket under repair (TCP_REPAIR of tcp(7), for checkpoints) sends nothing.
func vanish(c *net.TCPConn) {
	if raw, err := c.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { _ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_REPAIR, 1) })
	}
	_ = c.Close()
}
