package capture

import (
	"encoding/binary"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Offsets in the header of a block of the ring, a struct tpacket_block_desc (linux/if_packet.h). Packets follow it. All
// numbers of both headers but Protocol are in the machine's byte order.
const (
	blockStatus  = 8
	blockPackets = 12
	blockFirst   = 16
	blockHeader  = 48
)

// frameHead is the header of a packet in a block. Free space and the bytes of the packet follow it.
type frameHead struct {
	unix.Tpacket3Hdr
	unix.RawSockaddrLinklayer
}

const frameHeader = int(unsafe.Sizeof(frameHead{}))

// walker iterates over the packets of a block. Whatever the block contains, the walker stays inside the block and ends,
// because each packet must start after the previous one.
type walker struct {
	block []byte
	at    int    // offset of the packet's header
	left  uint32 // packets that remain
	first bool   // at is the header of the first packet, which was not delivered yet
	// broken is set if the block contradicts itself. The packets from there on are lost.
	broken bool
}

// frame is a packet in its block.
type frame struct {
	head  *frameHead
	start int // offset of the first byte in the block
	room  int // free bytes in front of it
	kept  int // bytes in the block
	wire  int // bytes on the wire; at least kept
}

// begin starts a block.
func (w *walker) begin(block []byte) {
	w.block, w.first, w.broken, w.left, w.at = block, true, false, 0, 0
	if len(block) < blockHeader {
		w.broken = true
		return
	}
	w.left = binary.NativeEndian.Uint32(block[blockPackets:])
	if at := uint64(binary.NativeEndian.Uint32(block[blockFirst:])); at < blockHeader || at > uint64(len(block)) {
		w.broken = w.left > 0
		w.left = 0
	} else {
		w.at = int(at)
	}
}

// next finds the next packet, and reports whether there is one.
func (w *walker) next(f *frame) bool {
	if w.left == 0 {
		return false
	}
	size := uint64(len(w.block))
	if !w.first {
		// The header of the previous packet was checked before.
		step := uint64(w.head().Next_offset)
		if step < uint64(frameHeader) || uint64(w.at)+step > size {
			return w.fail()
		}
		w.at += int(step)
	}
	w.first = false
	w.left--
	if uint64(w.at+frameHeader) > size {
		return w.fail()
	}
	f.head = w.head()
	mac, kept := uint64(f.head.Mac), uint64(f.head.Snaplen)
	if mac < uint64(frameHeader) || uint64(w.at)+mac+kept > size {
		return w.fail()
	}
	f.start, f.room, f.kept = w.at+int(mac), int(mac)-frameHeader, int(kept)
	// The kernel does not write lengths of more than 31 bits.
	f.wire = max(f.kept, int(f.head.Len&0x7fffffff))
	return true
}

// head returns the header at w.at, which must be inside the block.
func (w *walker) head() *frameHead { return (*frameHead)(unsafe.Pointer(&w.block[w.at])) }

func (w *walker) fail() bool {
	w.broken, w.left = true, 0
	return false
}
