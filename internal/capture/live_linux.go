package capture

import (
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// Live captures from network interfaces with a packet socket (packet(7)) and a ring of memory that it shares with the
// kernel (TPACKET_V3): the Data of a packet points into the ring. It implements Source; Next never returns io.EOF. Next
// and Inputs must be called from one goroutine; Stats, States and Close may be called from any. Only OpenLive needs
// CAP_NET_RAW.
//
// Several interfaces share one socket, so packets come in the order in which the kernel saw them: the socket is not
// bound, and its filter starts with the numbers of the interfaces. (Sockets and rings of their own would have to be
// merged by time, which either waits for the slowest or reorders.) Packets are "cooked" (LINKTYPE_LINUX_SLL2, as
// tcpdump -i any writes them) if the interfaces have different link types, if all interfaces are captured, or if an
// interface has a link layer of its own.
//
// A loopback interface shows each packet twice, as outgoing and as incoming; the outgoing copy is left out. A VLAN tag
// that the network card has removed is restored.
type Live struct {
	opt    LiveOptions
	names  string
	link   LinkType
	single bool // the socket is bound to one interface
	filter []bpf.RawInstruction

	// Used by Next only, without the lock.
	number int64
	in     Input
	walk   walker // valid while held is set
	frame  frame

	mu      sync.Mutex
	ring    *ring // Next uses its memory while it holds a block; others hold mu
	watch   *watch
	stats   LiveStats
	held    bool // Next uses the current block of the ring
	polling bool // Next waits
	freed   bool

	notices []string // for opt.Notice, which is called without the lock because it may call States

	closed               atomic.Bool
	inPackets, inBytes   atomic.Int64 // written by Next only
	outPackets, outBytes atomic.Int64
	received, sent       tally // of the batch that is read
	ahead                lookahead
}

// OpenLive starts to capture from interfaces, or from all with AnyInterface alone. It fails with an *Error of cause
// NoInterface, Permission or Unreadable, or with the error of opt.Filter.
func OpenLive(ifaces []string, opt LiveOptions) (*Live, error) {
	l := &Live{opt: opt.withDefaults(), names: strings.Join(ifaces, ",")}
	l.in = Input{File: l.names, Format: "live", Dropped: -1}
	if err := l.find(ifaces); err != nil {
		return nil, err
	}
	if opt.Filter != nil {
		var err error
		if l.filter, err = opt.Filter(l.link); err != nil {
			l.watch.close()
			return nil, err
		}
	}
	raiseNetRaw()
	if err := l.start(); err != nil {
		l.watch.close()
		if l.ring != nil {
			_ = l.ring.free()
		}
		if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) {
			return nil, &Error{Cause: Permission, File: l.names, Err: err, Text: permissionText(l.names)}
		}
		return nil, failure(Unreadable, l.names, err, "%s: cannot capture: %v", l.names, err)
	}
	l.in.addLink(l.link, uint32(l.opt.SnapLen))
	l.in.Machine = machineOf(ifaces)
	return l, nil
}

// find looks up the interfaces and chooses the link type.
func (l *Live) find(names []string) error {
	fail := func(format string, args ...any) error {
		return failure(NoInterface, l.names, nil, format, args...)
	}
	switch {
	case len(names) == 0:
		return fail("no interface to capture from")
	case len(names) > maxAtOnce:
		return fail("%d interfaces are too many; give at most %d, or %s", len(names), maxAtOnce, AnyInterface)
	case len(names) > 1 && slices.Contains(names, AnyInterface):
		return fail("%s means all interfaces; give it alone", AnyInterface)
	}
	l.watch = newWatch(names[0] == AnyInterface)
	if l.watch.any {
		l.link = LinkLinuxSLL2
		return nil
	}
	links, err := listLinks()
	if err != nil {
		l.watch.close()
		return failure(Unreadable, l.names, err, "the network interfaces cannot be listed: %v", err)
	}
	for i, name := range names {
		k := slices.IndexFunc(links, func(n netLink) bool { return n.name == name })
		switch {
		case k < 0:
			err = noInterface(name)
		case slices.Contains(names[:i], name):
			err = fail("%s is given twice", name)
		case !links[k].up:
			err = fail("%s is down; bring it up: ip link set %s up", name, name)
		default:
			l.watch.add(&links[k])
			if link := links[k].link(); i == 0 || link == l.link {
				l.link = link
			} else {
				l.link = LinkLinuxSLL2
			}
			continue
		}
		l.watch.close()
		return err
	}
	l.single = len(names) == 1
	return nil
}

// start opens the socket and binds it when everything else is set.
func (l *Live) start() error {
	kind := unix.SOCK_RAW
	if l.link == LinkLinuxSLL2 {
		kind = unix.SOCK_DGRAM
	}
	var err error
	if l.ring, err = openRing(kind, l.opt.Buffer, l.opt.SnapLen, l.opt.Sockets); err != nil {
		return err
	}
	l.watch.listen(l.ring.wake)
	if l.single && l.watch.slots[0].loop { // newer kernels then skip half of the work; the filter checks it too
		_ = unix.SetsockoptInt(l.ring.fd, unix.SOL_PACKET, unix.PACKET_IGNORE_OUTGOING, 1)
	}
	if err := l.attach(); err != nil {
		return err
	}
	index := 0
	if l.single {
		index = l.watch.slots[0].Index
	}
	if err := l.ring.bind(index); err != nil {
		return fmt.Errorf("bind: %w", err)
	}
	for i := range l.watch.slots {
		l.promiscuous(i)
	}
	return nil
}

// attach sets the filter for the interfaces that exist now.
func (l *Live) attach() error {
	var indexes []int
	showsTwice := l.watch.any
	for i := range l.watch.slots {
		s := &l.watch.slots[i]
		showsTwice = showsTwice || s.loop
		if !l.single && !l.watch.any {
			// An interface that is gone keeps its place with the number -1, which matches none.
			index := s.Index
			if s.Gone {
				index = -1
			}
			indexes = append(indexes, index)
		}
	}
	return l.ring.attach(program(l.filter, l.opt.SnapLen, indexes, showsTwice))
}

// promiscuous asks the interface of a slot for packets to other hosts as well. Not every interface supports that.
func (l *Live) promiscuous(place int) {
	s := &l.watch.slots[place]
	if l.opt.NoPromiscuous || s.loop {
		return
	}
	member := unix.PacketMreq{Ifindex: int32(s.Index), Type: unix.PACKET_MR_PROMISC}
	_ = unix.SetsockoptPacketMreq(l.ring.fd, unix.SOL_PACKET, unix.PACKET_ADD_MEMBERSHIP, &member)
}

// networkOrder converts between the machine's byte order and network byte order.
func networkOrder(v uint16) uint16 {
	var b [2]byte
	binary.BigEndian.PutUint16(b[:], v)
	return binary.NativeEndian.Uint16(b[:])
}

// Link returns the link type of the packets, for which a filter must be made.
func (l *Live) Link() LinkType { return l.link }

// Next waits for a packet. It returns ErrTimeout after the poll interval, and ErrClosed after Close. An interface that
// is away yields ErrTimeout only. The packet's Data is valid until the next call, even if Close is called in between.
func (l *Live) Next(p *Packet) error {
	_, err := l.NextBatch(unsafe.Slice(p, 1))
	return err
}

// NextBatch is Next for as many packets as the kernel has handed over together, at most as many as ps has room for. It returns their
// number, which is 0 only with an error.
func (l *Live) NextBatch(ps []Packet) (int, error) {
	for {
		n := 0
		for n < len(ps) && !l.closed.Load() && l.walk.next(&l.frame) {
			if l.packet(&ps[n]) {
				n++
			}
		}
		l.received.flush(&l.inPackets, &l.inBytes)
		l.sent.flush(&l.outPackets, &l.outBytes)
		if n > 0 {
			l.in.count(ps[:n])
			return n, nil
		}
		err := l.nextBlock()
		for _, text := range l.notices {
			l.opt.Notice(text)
		}
		l.notices = l.notices[:0]
		if err != nil {
			return 0, err
		}
	}
}

// Preload is as that of [Files]. The bytes were written by another processor.
func (l *Live) Preload(whole bool) {
	if len(l.walk.block) > 0 {
		l.ahead.preload(l.walk.block, l.walk.at, whole, &ringLengths)
	}
}

// ringLengths are those of packets in a block: tp_next_offset is the first member of a header.
var ringLengths = lengths{big: binary.NativeEndian.Uint16([]byte{0, 1}) == 1}

// tally is packets of a direction and their link bytes that other goroutines do not see yet.
type tally struct{ packets, bytes int64 }

// flush adds the tally to counters that other goroutines read, once for many packets: each addition costs as much as 20 others.
func (t *tally) flush(packets, bytes *atomic.Int64) {
	if t.packets > 0 {
		packets.Add(t.packets)
		bytes.Add(t.bytes)
		*t = tally{}
	}
}

// packet fills p from the frame. It returns false if the frame must not be delivered.
func (l *Live) packet(p *Packet) bool {
	f := &l.frame
	kind := f.head.Pkttype
	loop := f.head.Hatype == unix.ARPHRD_LOOPBACK
	if loop && kind == unix.PACKET_OUTGOING {
		return false
	}
	data, wire := addLinkHeader(l.walk.block, f, l.link)
	if data == nil {
		l.walk.broken = true
		return false
	}
	if len(data) > l.opt.SnapLen {
		data = data[:l.opt.SnapLen]
	}
	l.number++
	p.Data = data
	p.WireLen = wire
	p.Time = int64(f.head.Sec)*1e9 + int64(f.head.Nsec)
	p.Link = l.link
	p.File = 0
	p.Number = l.number
	p.Interface = 0
	if !l.single {
		p.Interface = l.place(f.head.Ifindex)
	}
	t := &l.received
	if kind == unix.PACKET_OUTGOING {
		t = &l.sent
	}
	t.packets++
	t.bytes += int64(wire)
	return true
}

// place returns the slot of the interface with that number.
func (l *Live) place(index int32) int {
	w := l.watch
	if index == w.lastIndex {
		return w.lastPlace
	}
	place, ok := w.places[index]
	if !ok {
		l.mu.Lock()
		place = w.addUnknown(index)
		l.mu.Unlock()
	}
	w.lastIndex, w.lastPlace = index, place
	return place
}

// nextBlock gives the current block back to the kernel and takes the next one, waiting for it if necessary.
func (l *Live) nextBlock() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held {
		l.ring.giveBack()
		l.held = false
		if l.walk.broken {
			l.in.note(l.number, 0, "a block of the kernel's ring buffer is inconsistent; its remaining packets were skipped")
		}
		l.walk, l.ahead = walker{}, lookahead{}
	}
	if l.closed.Load() {
		return l.finish()
	}
	now := time.Now()
	for end := now.Add(l.opt.Poll); ; now = time.Now() {
		l.watch.readEvents()
		l.checkInterfaces(now)
		wait := end.Sub(now)
		switch {
		case l.takeBlock():
			return nil
		case wait <= 0 || len(l.notices) > 0:
			return ErrTimeout
		}
		if err := l.wait(l.watch.waitAtMost(now, wait)); err != nil {
			return err
		}
	}
}

// wait waits without the lock until the socket, Close or the routing socket needs attention, at most d.
func (l *Live) wait(d time.Duration) error {
	l.polling = true
	l.mu.Unlock()
	err := l.ring.wait(d, func() bool { return l.closed.Load() || l.watch.told.Load() })
	l.mu.Lock()
	l.polling = false
	switch {
	case l.closed.Load():
		return l.finish()
	case err != nil:
		return l.failed(err)
	case !l.ring.ready():
		return l.socketError()
	}
	return nil
}

func (l *Live) failed(err error) error {
	return failure(Unreadable, l.names, err, "%s: capturing failed: %v", l.names, err)
}

// takeBlock takes the next block if the kernel has filled it.
func (l *Live) takeBlock() bool {
	if !l.ring.ready() {
		return false
	}
	l.held = true
	l.walk.begin(l.ring.current())
	return true
}

// socketError returns the error of the socket. That an interface went down is not an error.
func (l *Live) socketError() error {
	code, err := unix.GetsockoptInt(l.ring.fd, unix.SOL_SOCKET, unix.SO_ERROR)
	if err == nil && code != 0 {
		err = unix.Errno(code)
	}
	switch err {
	case nil:
		return nil
	case unix.ENETDOWN, unix.ENODEV, unix.ENXIO:
		l.watch.stale = true
		return nil
	}
	return l.failed(err)
}

// checkInterfaces handles interfaces that went away or came back.
func (l *Live) checkInterfaces(now time.Time) {
	if !l.watch.due(now) {
		return
	}
	changes := l.watch.refresh(now)
	if l.watch.any || len(changes) == 0 {
		return
	}
	fresh := false
	for i := range changes {
		if l.interfaceChanged(&changes[i]) {
			fresh = true
		}
	}
	if fresh && !l.single {
		if err := l.attach(); err != nil {
			l.notice(fmt.Sprintf("%s: %v", l.names, err))
		}
	}
}

// interfaceChanged handles a change of an interface, and reports whether the slot now stands for another interface.
func (l *Live) interfaceChanged(c *change) (fresh bool) {
	name := c.was.Name
	switch s := &l.watch.slots[c.place]; {
	case c.now.Gone:
		l.notice(name + " disappeared; waiting until it is back (Ctrl-C ends the capture)")
		return true
	case c.now.Index != c.was.Index && l.link != LinkLinuxSLL2 && c.link != l.link:
		l.notice(name + " is back with another link type, which cannot be mixed with the earlier one; start a new capture")
		s.InterfaceState, s.refused = InterfaceState{Name: name, Gone: true}, c.now.Index
		return true
	case c.now.Index != c.was.Index:
		if l.single {
			if err := l.ring.bind(c.now.Index); err != nil {
				l.watch.stale = true
				s.InterfaceState = c.was // try again later
				return false
			}
		}
		l.promiscuous(c.place)
		if c.now.Up {
			l.notice(name + " is back")
		} else {
			l.notice(name + " is back, but down; waiting until it is up (Ctrl-C ends the capture)")
		}
		return true
	case c.now.Up:
		l.notice(name + " is up again")
	default:
		l.notice(name + " went down; waiting until it is back (Ctrl-C ends the capture)")
	}
	return false
}

// notice stores a line for opt.Notice.
func (l *Live) notice(text string) {
	if l.opt.Notice != nil {
		l.notices = append(l.notices, text)
	}
}

// Stats returns what was captured and dropped since OpenLive.
func (l *Live) Stats() (LiveStats, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	err := l.readStats()
	if err != nil {
		err = fmt.Errorf("%s: packet statistics: %w", l.names, err)
	}
	s := l.stats
	s.In = Traffic{Packets: l.inPackets.Load(), Bytes: l.inBytes.Load()}
	s.Out = Traffic{Packets: l.outPackets.Load(), Bytes: l.outBytes.Load()}
	return s, err
}

// readStats adds the kernel's counts, which restart at each reading.
func (l *Live) readStats() error {
	if l.freed {
		return nil
	}
	s, err := unix.GetsockoptTpacketStatsV3(l.ring.fd, unix.SOL_PACKET, unix.PACKET_STATISTICS)
	if err != nil {
		return err
	}
	l.stats.Received += int64(s.Packets)
	l.stats.Dropped += int64(s.Drops)
	l.stats.Freezes += int64(s.Freeze_q_cnt)
	l.stats.Fill = l.ring.fill()
	return nil
}

// States returns the interfaces, by Packet.Interface. With AnyInterface these are the ones that packets came from so
// far.
func (l *Live) States() []InterfaceState {
	l.mu.Lock()
	defer l.mu.Unlock()
	states := make([]InterfaceState, len(l.watch.slots))
	for i := range states {
		states[i] = l.watch.slots[i].InterfaceState
	}
	return states
}

// Inputs describes the capture as one input.
func (l *Live) Inputs() []Input {
	s, err := l.Stats()
	in := l.in
	in.LinkTypes = slices.Clone(in.LinkTypes)
	in.Damage = slices.Clone(in.Damage)
	if err == nil {
		in.Dropped = s.Dropped
	}
	return []Input{in}
}

// Close ends the capture, and wakes a Next that is waiting. Stats keep their last values. A packet that Next has
// delivered stays valid; its memory is released by the next call of Next, or when l is no longer reachable.
func (l *Live) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed.Swap(true) {
		return nil
	}
	_ = l.readStats()
	switch {
	case l.polling:
		l.ring.wake()
		return nil
	case l.held:
		l.ring.unbind()
		l.watch.close()
		runtime.AddCleanup(l, func(r *ring) { _ = r.free() }, l.ring)
		return nil
	}
	return l.free()
}

// finish releases the ring; Next calls it after Close.
func (l *Live) finish() error {
	_ = l.free()
	return ErrClosed
}

func (l *Live) free() error {
	if l.freed {
		return nil
	}
	l.freed = true
	l.stats.Fill = 0
	l.watch.close()
	return l.ring.free()
}
