package capture

import (
	"encoding/binary"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// netLink is an interface as the kernel's routing socket describes it (rtnetlink(7)). /sys is not used because it may
// belong to another network namespace than the process.
type netLink struct {
	name    string
	index   int
	up      bool
	hatype  uint16
	in, out Traffic
}

// listLinks returns all interfaces.
func listLinks() ([]netLink, error) {
	answer, err := syscall.NetlinkRIB(syscall.RTM_GETLINK, syscall.AF_UNSPEC)
	if err != nil {
		return nil, err
	}
	messages, err := syscall.ParseNetlinkMessage(answer)
	if err != nil {
		return nil, err
	}
	var links []netLink
	for i := range messages {
		m := &messages[i]
		if m.Header.Type != syscall.RTM_NEWLINK || len(m.Data) < syscall.SizeofIfInfomsg {
			continue
		}
		// struct ifinfomsg: family, padding, type (2 bytes), index (4), flags (4), change.
		one := netLink{
			hatype: binary.NativeEndian.Uint16(m.Data[2:]),
			index:  int(int32(binary.NativeEndian.Uint32(m.Data[4:]))),
			up:     binary.NativeEndian.Uint32(m.Data[8:])&unix.IFF_UP != 0,
		}
		attrs, err := syscall.ParseNetlinkRouteAttr(m)
		if err != nil {
			return nil, err
		}
		for _, a := range attrs {
			switch a.Attr.Type {
			case unix.IFLA_IFNAME:
				one.name = strings.TrimRight(string(a.Value), "\x00")
			case unix.IFLA_STATS64:
				// struct rtnl_link_stats64: packets received, sent, bytes received, sent, …
				if v := a.Value; len(v) >= 32 {
					one.in = Traffic{Packets: int64(binary.NativeEndian.Uint64(v)), Bytes: int64(binary.NativeEndian.Uint64(v[16:]))}
					one.out = Traffic{Packets: int64(binary.NativeEndian.Uint64(v[8:])), Bytes: int64(binary.NativeEndian.Uint64(v[24:]))}
				}
			}
		}
		links = append(links, one)
	}
	return links, nil
}

// link returns the link type of the interface's packets, by its ARP hardware type. Packets are cooked if their link
// header is unknown or not the same for all.
func (n *netLink) link() LinkType {
	switch n.hatype {
	case unix.ARPHRD_ETHER, unix.ARPHRD_LOOPBACK:
		return LinkEthernet
	case unix.ARPHRD_NONE, unix.ARPHRD_RAWIP:
		return LinkRaw
	case unix.ARPHRD_IEEE80211_RADIOTAP:
		return LinkRadiotap
	}
	return LinkLinuxSLL2
}

// Counters returns what an interface itself has counted since it exists. ok is false if there is no such interface.
func Counters(name string) (in, out Traffic, ok bool) {
	links, err := listLinks()
	if err != nil {
		return Traffic{}, Traffic{}, false
	}
	for i := range links {
		if links[i].name == name {
			return links[i].in, links[i].out, true
		}
	}
	return Traffic{}, Traffic{}, false
}

// LinkSpeed returns how many bits per second an interface carries in one direction; 0 if unknown, as for a loopback
// interface.
func LinkSpeed(name string) int64 {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0
	}
	defer unix.Close(fd)
	// struct ethtool_cmd (linux/ethtool.h) and struct ifreq, which points to it.
	cmd := [44]byte{}
	binary.NativeEndian.PutUint32(cmd[:], unix.ETHTOOL_GSET)
	var req struct {
		name [unix.IFNAMSIZ]byte
		data unsafe.Pointer
		_    [16]byte
	}
	if len(name) >= len(req.name) {
		return 0
	}
	copy(req.name[:], name)
	req.data = unsafe.Pointer(&cmd)
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SIOCETHTOOL, uintptr(unsafe.Pointer(&req))); errno != 0 {
		return 0
	}
	// Megabits per second: the lower 16 bits at 12, the upper 16 bits at 28. All ones is unknown.
	mega := uint32(binary.NativeEndian.Uint16(cmd[12:])) | uint32(binary.NativeEndian.Uint16(cmd[28:]))<<16
	if mega == 0 || mega > 1<<31-1 || mega == 0xffff {
		return 0
	}
	return int64(mega) * 1e6
}
