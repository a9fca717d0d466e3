package capture

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"dubbo-wire/internal/term"
)

// Sizes of the ring in bytes. A block holds the largest packet that the default snap length keeps. The kernel hands it
// over when it is full, or after retireMillis if it is not empty. So a reader may pause for (number of blocks ×
// retireMillis) however few packets come, with 64 MiB for 30 s; small blocks make that longer. Reading more packets at
// once costs less for each, because other programs use the caches between two readings.
const (
	ringBlock      = 256 << 10
	ringLargeBlock = 1 << 20 // for larger snap lengths
	ringLeast      = 1 << 20
	ringMost       = 1 << 30
	retireMillis   = 120

	// headroom is the free space in front of a packet: for a header of LINKTYPE_LINUX_SLL2 and a VLAN tag.
	headroom = sll2Len + 4
)

// ring is a packet socket and the memory that it shares with the kernel: blocks that change hands in turn (packet(7),
// Documentation/networking/packet_mmap.rst).
type ring struct {
	fd    int
	file  *os.File // owns fd
	conn  syscall.RawConn
	mem   []byte
	block int // bytes of a block
	count int
	now   int // the block that is read or waited for
}

// openRing opens the socket, or uses a given one, with a ring of up to size bytes. It receives nothing (protocol 0)
// before it is bound, so no unwanted packet is in the ring.
func openRing(kind, size int, snapLen int, given Sockets) (*ring, error) {
	fd, other := given.Raw, given.Cooked
	if kind == unix.SOCK_DGRAM {
		fd, other = other, fd
	}
	if fd == 0 {
		var err error
		if fd, err = unix.Socket(unix.AF_PACKET, kind|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0); err != nil {
			return nil, fmt.Errorf("packet socket: %w", err)
		}
	} else {
		unix.CloseOnExec(fd)
		_ = unix.SetNonblock(fd, true)
		_ = unix.Close(other)
	}
	r := &ring{fd: fd, block: ringBlock}
	if snapLen > minPacketLimit {
		r.block = ringLargeBlock
	}
	if err := r.allocate(size); err != nil {
		_ = unix.Close(fd)
		return nil, err
	}
	r.file = os.NewFile(uintptr(fd), "packet socket")
	var err error
	if r.conn, err = r.file.SyscallConn(); err == nil {
		err = r.file.SetReadDeadline(time.Time{})
	}
	if err != nil {
		_ = r.free()
		return nil, fmt.Errorf("waiting for the packet socket: %w", err)
	}
	return r, nil
}

func (r *ring) allocate(size int) error {
	if err := unix.SetsockoptInt(r.fd, unix.SOL_PACKET, unix.PACKET_VERSION, unix.TPACKET_V3); err != nil {
		return fmt.Errorf("TPACKET_V3 (needs Linux 3.2 or later): %w", err)
	}
	if err := unix.SetsockoptInt(r.fd, unix.SOL_PACKET, unix.PACKET_RESERVE, headroom); err != nil {
		return fmt.Errorf("PACKET_RESERVE: %w", err)
	}
	var err error
	for size = min(max(size, ringLeast), ringMost); size >= ringLeast; size /= 2 {
		if err = r.try(size); err == nil || !errors.Is(err, unix.ENOMEM) && !errors.Is(err, unix.EAGAIN) {
			return err
		}
	}
	return err
}

func (r *ring) try(size int) error {
	r.count = max(1, size/r.block)
	// With TPACKET_V3 frames have no fixed size; the numbers only have to be consistent.
	req := unix.TpacketReq3{
		Block_size: uint32(r.block), Block_nr: uint32(r.count),
		Frame_size: uint32(r.block), Frame_nr: uint32(r.count),
		Retire_blk_tov: retireMillis,
	}
	if err := unix.SetsockoptTpacketReq3(r.fd, unix.SOL_PACKET, unix.PACKET_RX_RING, &req); err != nil {
		return fmt.Errorf("ring buffer of %s: %w", term.Counted(int64(size), "byte"), err)
	}
	mem, err := unix.Mmap(r.fd, 0, r.block*r.count, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		_ = unix.SetsockoptTpacketReq3(r.fd, unix.SOL_PACKET, unix.PACKET_RX_RING, &unix.TpacketReq3{})
		return fmt.Errorf("mapping a ring buffer of %s: %w", term.Counted(int64(size), "byte"), err)
	}
	r.mem = mem
	return nil
}

// bind starts receiving from one interface, or from all if index is 0.
func (r *ring) bind(index int) error {
	return unix.Bind(r.fd, &unix.SockaddrLinklayer{Protocol: networkOrder(unix.ETH_P_ALL), Ifindex: index})
}

// unbind stops receiving.
func (r *ring) unbind() {
	_ = unix.Bind(r.fd, &unix.SockaddrLinklayer{})
}

func (r *ring) status(i int) *uint32 {
	return (*uint32)(unsafe.Pointer(&r.mem[i*r.block+blockStatus]))
}

// ready reports whether the kernel has handed over the current block.
func (r *ring) ready() bool {
	return atomic.LoadUint32(r.status(r.now))&unix.TP_STATUS_USER != 0
}

// wait waits until the kernel has handed over a block, the socket has an error, or another goroutine has made stop true and called wake; at
// most for d. The goroutine waits in the runtime's poller: after a system call that waits, the runtime's monitor runs every 20 µs or so for a
// while, which was a fifth of the CPU time.
func (r *ring) wait(d time.Duration, stop func() bool) error {
	_ = r.file.SetReadDeadline(time.Now().Add(d))
	woken := false
	err := r.conn.Read(func(uintptr) bool {
		done := woken || r.ready() || stop()
		woken = true
		return done
	})
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return nil
	}
	return err
}

// wake ends a wait. It may be called by any goroutine.
func (r *ring) wake() { _ = r.file.SetReadDeadline(time.Unix(0, 1)) }

// current returns the current block.
func (r *ring) current() []byte {
	return r.mem[r.now*r.block : (r.now+1)*r.block : (r.now+1)*r.block]
}

// giveBack hands the current block to the kernel and moves to the next one.
func (r *ring) giveBack() {
	atomic.StoreUint32(r.status(r.now), unix.TP_STATUS_KERNEL)
	r.now = (r.now + 1) % r.count
}

// fill returns the share of blocks that the kernel has handed over.
func (r *ring) fill() float64 {
	full := 0
	for i := range r.count {
		if atomic.LoadUint32(r.status(i))&unix.TP_STATUS_USER != 0 {
			full++
		}
	}
	return float64(full) / float64(r.count)
}

// free releases the memory and closes the socket. The ring must not be used afterwards.
func (r *ring) free() error {
	if r.mem == nil {
		return nil
	}
	err := unix.Munmap(r.mem) // the mapping also keeps the socket open
	r.mem = nil
	return errors.Join(err, r.file.Close())
}
