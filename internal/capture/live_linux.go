package capture

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// sll2Len is the size in bytes of a LINKTYPE_LINUX_SLL2 header.
const sll2Len = 20

// headroom is what is kept free before a packet, for the header of cooked packets or
// a VLAN tag that the kernel has taken out.
const headroom = sll2Len + 4

// Live captures from a network interface by a packet socket (packet(7)), which needs
// CAP_NET_RAW. It implements Source; Next never returns io.EOF. Close may be called
// from any goroutine, the other methods belong to one.
//
// A loopback interface shows each packet twice, going out and coming in: the copy
// going out is left out. A VLAN tag that the network card has taken out is put
// back. Packets of all interfaces together, and of interfaces with a link layer of
// their own, are "cooked": LINKTYPE_LINUX_SLL2, as tcpdump -i any writes them.
type Live struct {
	fd     int
	in     Input
	link   LinkType
	cooked bool
	loop   bool
	buf    []byte
	number int64
	stats  LiveStats

	mu     sync.Mutex // held while the socket is used
	closed atomic.Bool

	// The arguments of recvmsg(2), kept to allocate nothing per packet.
	msg     unix.Msghdr
	iov     unix.Iovec
	from    unix.RawSockaddrLinklayer
	control [128]byte
}

// OpenLive starts capturing from an interface, or from all with AnyInterface. It
// fails with an *Error of cause NoInterface, Permission or Unreadable.
func OpenLive(iface string, opt LiveOptions) (*Live, error) {
	opt = opt.withDefaults()
	l := &Live{fd: -1, cooked: iface == AnyInterface, in: Input{File: iface, Format: "live", Dropped: -1}}
	index := 0
	if !l.cooked {
		i, err := net.InterfaceByName(iface)
		if err != nil {
			return nil, noInterface(iface)
		}
		if i.Flags&net.FlagUp == 0 {
			return nil, &Error{Cause: NoInterface, File: iface, Text: fmt.Sprintf("%s is down; bring it up: ip link set %s up", iface, iface)}
		}
		index, l.loop = i.Index, i.Flags&net.FlagLoopback != 0
	}
	if err := l.open(index, opt); err != nil {
		if l.fd >= 0 {
			_ = unix.Close(l.fd)
		}
		if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) {
			return nil, &Error{
				Cause: Permission, File: iface, Err: err,
				Text: "no permission to capture from " + iface + "; run with sudo, or allow it once: sudo setcap cap_net_raw+ep $(command -v dubbo-wire)",
			}
		}
		return nil, &Error{Cause: Unreadable, File: iface, Err: err, Text: fmt.Sprintf("%s: cannot capture: %v", iface, err)}
	}
	l.in.addLink(l.link, uint32(opt.SnapLen))
	l.buf = make([]byte, headroom+opt.SnapLen)
	l.iov.Base = &l.buf[headroom]
	l.iov.SetLen(opt.SnapLen)
	l.msg.Name = (*byte)(unsafe.Pointer(&l.from))
	l.msg.Iov = &l.iov
	l.msg.SetIovlen(1)
	return l, nil
}

// open makes the socket. It hears nothing (protocol 0) before it is bound, so no
// packet of another interface gets in.
func (l *Live) open(index int, opt LiveOptions) error {
	kind := unix.SOCK_RAW
	if l.cooked {
		kind = unix.SOCK_DGRAM
	}
	var err error
	if l.fd, err = unix.Socket(unix.AF_PACKET, kind|unix.SOCK_CLOEXEC, 0); err != nil {
		l.fd = -1
		return fmt.Errorf("packet socket: %w", err)
	}
	if !l.cooked {
		l.link, l.cooked = linkOf(l.fd, index)
		if l.cooked {
			_ = unix.Close(l.fd)
			return l.open(index, opt)
		}
	} else {
		l.link = LinkLinuxSLL2
	}
	// More than net.core.rmem_max needs CAP_NET_ADMIN.
	if unix.SetsockoptInt(l.fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, opt.Buffer) != nil {
		_ = unix.SetsockoptInt(l.fd, unix.SOL_SOCKET, unix.SO_RCVBUF, opt.Buffer)
	}
	if err := unix.SetsockoptInt(l.fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1); err != nil {
		return fmt.Errorf("SO_TIMESTAMPNS: %w", err)
	}
	if err := unix.SetsockoptInt(l.fd, unix.SOL_PACKET, unix.PACKET_AUXDATA, 1); err != nil {
		return fmt.Errorf("PACKET_AUXDATA: %w", err)
	}
	poll := unix.NsecToTimeval(int64(max(opt.Poll, time.Millisecond)))
	if err := unix.SetsockoptTimeval(l.fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &poll); err != nil {
		return fmt.Errorf("SO_RCVTIMEO: %w", err)
	}
	if l.loop { // spares half the work where the kernel knows it; Next checks as well
		_ = unix.SetsockoptInt(l.fd, unix.SOL_PACKET, unix.PACKET_IGNORE_OUTGOING, 1)
	}
	if err := attach(l.fd, opt.Filter); err != nil {
		return fmt.Errorf("the filter was refused: %w", err)
	}
	if err := unix.Bind(l.fd, &unix.SockaddrLinklayer{Protocol: networkOrder(unix.ETH_P_ALL), Ifindex: index}); err != nil {
		return fmt.Errorf("bind: %w", err)
	}
	if index != 0 && !l.loop && !opt.NoPromiscuous {
		member := unix.PacketMreq{Ifindex: int32(index), Type: unix.PACKET_MR_PROMISC}
		_ = unix.SetsockoptPacketMreq(l.fd, unix.SOL_PACKET, unix.PACKET_ADD_MEMBERSHIP, &member) // not every interface can
	}
	return nil
}

// networkOrder swaps a 16-bit value into network byte order as the machine sees it.
func networkOrder(v uint16) uint16 {
	return binary.NativeEndian.Uint16(binary.BigEndian.AppendUint16(nil, v))
}

// linkOf is the link type of an interface, by its ARP hardware type; cooked if
// packets should be read without their link header.
func linkOf(fd, index int) (link LinkType, cooked bool) {
	// Bound with protocol 0, a socket hears nothing and yet knows its interface.
	if err := unix.Bind(fd, &unix.SockaddrLinklayer{Ifindex: index}); err != nil {
		return LinkLinuxSLL2, true
	}
	name, err := unix.Getsockname(fd)
	ll, ok := name.(*unix.SockaddrLinklayer)
	if err != nil || !ok {
		return LinkLinuxSLL2, true
	}
	switch ll.Hatype {
	case unix.ARPHRD_ETHER, unix.ARPHRD_LOOPBACK:
		return LinkEthernet, false
	case unix.ARPHRD_NONE, unix.ARPHRD_RAWIP:
		return LinkRaw, false
	case unix.ARPHRD_IEEE80211_RADIOTAP:
		return LinkRadiotap, false
	}
	return LinkLinuxSLL2, true
}

// attach sets the socket's filter.
func attach(fd int, filter []bpf.RawInstruction) error {
	if len(filter) == 0 {
		return nil
	}
	code := make([]unix.SockFilter, len(filter))
	for i, ins := range filter {
		code[i] = unix.SockFilter{Code: ins.Op, Jt: ins.Jt, Jf: ins.Jf, K: ins.K}
	}
	return unix.SetsockoptSockFprog(fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &unix.SockFprog{Len: uint16(len(code)), Filter: &code[0]})
}

// Link is the link type of the packets, and what a filter must be made for.
func (l *Live) Link() LinkType { return l.link }

// Next waits for a packet, for no longer than the poll interval: then it returns
// ErrTimeout. Behind Close it returns ErrClosed; an interface that went away is an
// *Error.
func (l *Live) Next(p *Packet) error {
	for {
		n, err := l.receive()
		switch {
		case err != nil:
			return err
		case l.from.Pkttype == unix.PACKET_OUTGOING && l.from.Hatype == unix.ARPHRD_LOOPBACK:
			continue
		}
		l.packet(p, n)
		l.in.count(p)
		return nil
	}
}

// receive reads one packet behind the headroom and returns its length on the wire.
func (l *Live) receive() (int, error) {
	for {
		l.mu.Lock()
		if l.closed.Load() {
			l.mu.Unlock()
			return 0, ErrClosed
		}
		l.msg.Namelen = uint32(unsafe.Sizeof(l.from))
		l.msg.Control = &l.control[0]
		l.msg.SetControllen(len(l.control))
		// unix.Recvmsg would allocate the sender's address for every packet. With
		// MSG_TRUNC the result is the length of the packet, not of what fitted.
		n, _, errno := unix.Syscall(unix.SYS_RECVMSG, uintptr(l.fd), uintptr(unsafe.Pointer(&l.msg)), unix.MSG_TRUNC)
		l.mu.Unlock()
		switch errno {
		case 0:
			return int(n), nil
		case unix.EINTR:
			continue
		case unix.EAGAIN:
			return 0, ErrTimeout
		case unix.ENETDOWN, unix.ENODEV, unix.ENXIO:
			return 0, &Error{Cause: NoInterface, File: l.in.File, Err: errno, Text: l.in.File + " went down while capturing; what came before is kept"}
		}
		return 0, &Error{Cause: Unreadable, File: l.in.File, Err: errno, Text: fmt.Sprintf("%s: capturing failed: %v", l.in.File, errno)}
	}
}

// packet fills p from what receive has left: n bytes on the wire behind headroom,
// the sender in from, time and VLAN tag in control.
func (l *Live) packet(p *Packet, n int) {
	kept := min(n, len(l.buf)-headroom)
	start := headroom
	p.Time = 0
	var tag, tagType uint16
	for c := l.control[:l.msg.Controllen]; len(c) >= unix.SizeofCmsghdr; {
		h := (*unix.Cmsghdr)(unsafe.Pointer(&c[0]))
		size := int(h.Len)
		if size < unix.SizeofCmsghdr || size > len(c) {
			break
		}
		value := c[unix.CmsgLen(0):size]
		switch {
		case h.Level == unix.SOL_SOCKET && h.Type == unix.SCM_TIMESTAMPNS && len(value) >= int(unsafe.Sizeof(unix.Timespec{})):
			p.Time = (*unix.Timespec)(unsafe.Pointer(&value[0])).Nano()
		case h.Level == unix.SOL_PACKET && h.Type == unix.PACKET_AUXDATA && len(value) >= int(unsafe.Sizeof(unix.TpacketAuxdata{})):
			aux := (*unix.TpacketAuxdata)(unsafe.Pointer(&value[0]))
			n = max(n, int(aux.Len)) // a filter may cut before recvmsg counts
			if aux.Status&unix.TP_STATUS_VLAN_VALID != 0 {
				tag, tagType = aux.Vlan_tci, 0x8100
				if aux.Status&unix.TP_STATUS_VLAN_TPID_VALID != 0 {
					tagType = aux.Vlan_tpid
				}
			}
		}
		c = c[min(unix.CmsgSpace(size-unix.SizeofCmsghdr), len(c)):]
	}
	if p.Time == 0 {
		p.Time = time.Now().UnixNano()
	}
	switch {
	case l.cooked:
		start -= sll2Len
		kept, n = kept+sll2Len, n+sll2Len
		h := l.buf[start : start+sll2Len : start+sll2Len]
		clear(h)
		binary.NativeEndian.PutUint16(h, l.from.Protocol) // is in network order
		binary.BigEndian.PutUint32(h[4:], uint32(l.from.Ifindex))
		binary.BigEndian.PutUint16(h[8:], l.from.Hatype)
		h[10], h[11] = l.from.Pkttype, l.from.Halen
		copy(h[12:], l.from.Addr[:min(int(l.from.Halen), len(l.from.Addr))])
	case tagType != 0 && l.link == LinkEthernet && kept >= 12:
		start -= 4
		kept, n = kept+4, n+4
		copy(l.buf[start:], l.buf[headroom:headroom+12])
		binary.BigEndian.PutUint16(l.buf[start+12:], tagType)
		binary.BigEndian.PutUint16(l.buf[start+14:], tag)
	}
	l.number++
	p.Data = l.buf[start : start+kept : start+kept]
	p.WireLen = n
	p.Link = l.link
	p.File, p.Interface = 0, 0
	p.Number = l.number
}

// Stats asks the kernel what it has seen and dropped since OpenLive.
func (l *Live) Stats() (LiveStats, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed.Load() {
		if err := l.readStats(); err != nil {
			return l.stats, fmt.Errorf("%s: packet statistics: %w", l.in.File, err)
		}
	}
	return l.stats, nil
}

// readStats adds the kernel's counts, which start again at each reading.
func (l *Live) readStats() error {
	s, err := unix.GetsockoptTpacketStats(l.fd, unix.SOL_PACKET, unix.PACKET_STATISTICS)
	if err != nil {
		return err
	}
	l.stats.Received += int64(s.Packets)
	l.stats.Dropped += int64(s.Drops)
	return nil
}

// Inputs describes the interface as the one input.
func (l *Live) Inputs() []Input {
	in := l.in
	in.LinkTypes = slices.Clone(in.LinkTypes)
	if s, err := l.Stats(); err == nil {
		in.Dropped = s.Dropped
	}
	return []Input{in}
}

// Close ends the capture, also under a Next that is waiting, within its poll
// interval. Stats keep their last values.
func (l *Live) Close() error {
	if l.closed.Swap(true) {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = l.readStats()
	return unix.Close(l.fd)
}
