package record

import (
	"encoding/binary"

	"dubbo-wire/internal/capture"
)

// Blocks of pcapng (draft-ietf-opsawg-pcapng), as far as a recording needs them. They are written here and not by pcapgo's
// NgWriter, which is right but for four things that matter here: it writes a block in pieces, so that a full buffer or
// disk leaves half of one; it goes through time.Time and options made anew for every packet; the times of its statistics
// have their halves in the order of the wrong end; and its statistics have no comment.

const (
	blockSection    = 0x0a0d0d0a
	blockInterface  = 1
	blockStatistics = 5
	blockPacket     = 6 // enhanced
)

// Options of blocks.
const (
	optEnd     = 0
	optComment = 1

	shbOS          = 3
	shbApplication = 4

	ifName       = 2
	ifResolution = 9
	ifFilter     = 11
	ifOS         = 12

	isbStart    = 2
	isbEnd      = 3
	isbReceived = 4
	isbDropped  = 5
)

// packetHead is the bytes of a packet block before the packet's, packetFrame all that are not its own but the padding.
const (
	packetHead  = 28
	packetFrame = packetHead + 4
)

// maxOption is the longest text that is put into an option.
const maxOption = 32 << 10

// begin starts a block, end closes it: with its length at both ends.
func begin(b []byte, kind uint32) (out []byte, at int) {
	at = len(b)
	b = binary.LittleEndian.AppendUint32(b, kind)
	return append(b, 0, 0, 0, 0), at
}

func end(b []byte, at int) []byte {
	n := uint32(len(b) - at + 4)
	binary.LittleEndian.PutUint32(b[at+4:], n)
	return binary.LittleEndian.AppendUint32(b, n)
}

// pad fills up to a multiple of four what began there.
func pad(b []byte, at int) []byte {
	for (len(b)-at)&3 != 0 {
		b = append(b, 0)
	}
	return b
}

func optionHead(b []byte, code uint16, n int) []byte {
	b = binary.LittleEndian.AppendUint16(b, code)
	return binary.LittleEndian.AppendUint16(b, uint16(n))
}

// text adds an option, if there is something in it.
func text(b []byte, code uint16, s string) []byte {
	if s == "" {
		return b
	}
	s = s[:min(len(s), maxOption)]
	b = optionHead(b, code, len(s))
	at := len(b)
	return pad(append(b, s...), at)
}

// number adds an option of 64 bits.
func number(b []byte, code uint16, n int64) []byte {
	return binary.LittleEndian.AppendUint64(optionHead(b, code, 8), uint64(n))
}

// when writes a time as blocks have it, the upper half first. pcapng knows none before 1970.
func when(b []byte, at int64) []byte {
	t := uint64(max(at, 0))
	b = binary.LittleEndian.AppendUint32(b, uint32(t>>32))
	return binary.LittleEndian.AppendUint32(b, uint32(t))
}

// appendSection adds a section header block.
func appendSection(b []byte, o *Options) []byte {
	b, at := begin(b, blockSection)
	b = binary.LittleEndian.AppendUint32(b, 0x1a2b3c4d)
	b = append(b, 1, 0, 0, 0)                                     // version 1.0
	b = append(b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff) // length of the section: not known yet
	options := len(b)
	b = text(b, optComment, o.Comment)
	b = text(b, shbOS, o.OS)
	b = text(b, shbApplication, o.Application)
	if len(b) > options {
		b = optionHead(b, optEnd, 0)
	}
	return end(b, at)
}

// appendInterface adds an interface description block, with times in nanoseconds.
func appendInterface(b []byte, o *Options, link capture.LinkType, snapLen int, name string) []byte {
	b, at := begin(b, blockInterface)
	b = binary.LittleEndian.AppendUint16(b, uint16(link))
	b = append(b, 0, 0)
	b = binary.LittleEndian.AppendUint32(b, uint32(snapLen))
	b = text(b, ifName, name)
	b = append(optionHead(b, ifResolution, 1), 9, 0, 0, 0) // 10^-9 s
	if o.Filter != "" {
		filter := o.Filter[:min(len(o.Filter), maxOption)]
		b = optionHead(b, ifFilter, 1+len(filter))
		value := len(b)
		b = append(b, 0) // it is a text
		b = pad(append(b, filter...), value)
	}
	b = text(b, ifOS, o.OS)
	b = optionHead(b, optEnd, 0)
	return end(b, at)
}

// appendPacket adds an enhanced packet block.
func appendPacket(b []byte, id uint32, at int64, data []byte, wireLen int) []byte {
	n := len(data)
	size := uint32(packetFrame + (n+3)&^3)
	t := uint64(max(at, 0))
	var h [packetHead]byte
	binary.LittleEndian.PutUint32(h[:], blockPacket)
	binary.LittleEndian.PutUint32(h[4:], size)
	binary.LittleEndian.PutUint32(h[8:], id)
	binary.LittleEndian.PutUint32(h[12:], uint32(t>>32))
	binary.LittleEndian.PutUint32(h[16:], uint32(t))
	binary.LittleEndian.PutUint32(h[20:], uint32(n))
	binary.LittleEndian.PutUint32(h[24:], uint32(max(wireLen, n)))
	b = append(b, h[:]...)
	b = append(b, data...)
	b = append(b, "\x00\x00\x00"[:-n&3]...)
	return binary.LittleEndian.AppendUint32(b, size)
}

// statistics is what is said of an interface at the end of a file.
type statistics struct {
	at, start, end    int64
	counted           bool // received and dropped are known
	received, dropped int64
	comment           string
}

// appendStatistics adds an interface statistics block.
func appendStatistics(b []byte, id uint32, s statistics) []byte {
	b, at := begin(b, blockStatistics)
	b = binary.LittleEndian.AppendUint32(b, id)
	b = when(b, s.at)
	b = text(b, optComment, s.comment)
	b = when(optionHead(b, isbStart, 8), s.start)
	b = when(optionHead(b, isbEnd, 8), s.end)
	if s.counted {
		b = number(b, isbReceived, s.received)
		b = number(b, isbDropped, s.dropped)
	}
	b = optionHead(b, optEnd, 0)
	return end(b, at)
}

// wholeBlocks says how many of the first n bytes of b, which begins with a block, are whole blocks, and how many packets
// are not in those.
func wholeBlocks(b []byte, n int) (whole int, lost int64) {
	for at := 0; len(b)-at >= 8; {
		size := int(binary.LittleEndian.Uint32(b[at+4:]))
		isPacket := binary.LittleEndian.Uint32(b[at:]) == blockPacket
		at += size
		switch {
		case at <= n:
			whole = at
		case isPacket:
			lost++
		}
	}
	return whole, lost
}
