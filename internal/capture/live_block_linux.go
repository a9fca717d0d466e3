package capture

import "encoding/binary"

// A block of the ring is a struct tpacket_block_desc (linux/if_packet.h) followed by packets. Each packet is a struct
// tpacket3_hdr, a struct sockaddr_ll, free space, and the bytes. All numbers but sll_protocol are in the machine's byte
// order.
const (
	blockStatus  = 8
	blockPackets = 12
	blockFirst   = 16
	blockHeader  = 48

	frameNext    = 0
	frameSec     = 4
	frameNsec    = 8
	frameSnapLen = 12
	frameLen     = 16
	frameStatus  = 20
	frameMac     = 24
	frameTCI     = 32
	frameTPID    = 36
	frameProto   = 50 // the first field of sockaddr_ll that is used
	frameIndex   = 52
	frameHatype  = 56
	frameType    = 58
	frameHalen   = 59
	frameAddr    = 60
	frameHeader  = 68
)

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
	head  []byte // tpacket3_hdr and sockaddr_ll
	start int    // offset of the first byte in the block
	room  int    // free bytes in front of it
	kept  int    // bytes in the block
	wire  int    // bytes on the wire; at least kept
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
		step := uint64(binary.NativeEndian.Uint32(w.block[w.at+frameNext:]))
		if step < frameHeader || uint64(w.at)+step > size {
			return w.fail()
		}
		w.at += int(step)
	}
	w.first = false
	w.left--
	if uint64(w.at)+frameHeader > size {
		return w.fail()
	}
	f.head = w.block[w.at : w.at+frameHeader : w.at+frameHeader]
	mac := uint64(binary.NativeEndian.Uint16(f.head[frameMac:]))
	kept := uint64(binary.NativeEndian.Uint32(f.head[frameSnapLen:]))
	if mac < frameHeader || uint64(w.at)+mac+kept > size {
		return w.fail()
	}
	f.start, f.room, f.kept = w.at+int(mac), int(mac)-frameHeader, int(kept)
	// The kernel does not write lengths of more than 31 bits.
	f.wire = max(f.kept, int(binary.NativeEndian.Uint32(f.head[frameLen:])&0x7fffffff))
	return true
}

func (w *walker) fail() bool {
	w.broken, w.left = true, 0
	return false
}
