// Package pcapng knows the blocks of pcapng files: the numbers of their types and options, and how a block is written.
// Values come in, and bytes of blocks go out: each function appends to a slice of the caller, which owns all memory.
// Blocks are written in little-endian byte order. The source is draft-ietf-opsawg-pcapng (IETF).
//
// pcapgo's NgWriter is not used, for four reasons: it writes a block in pieces, so a full disk leaves half a block; it
// goes through time.Time and allocates options for every packet; it writes the two halves of times in statistics in the
// wrong order; and its statistics have no comment.
package pcapng

import (
	"encoding/binary"
	"math"
	"net"
	"net/netip"
)

// Types of blocks (section 11.1).
const (
	Section        = 0x0a0d0d0a // the same in both byte orders
	Interface      = 1
	ObsoletePacket = 2
	SimplePacket   = 3
	Statistics     = 5
	EnhancedPacket = 6
)

// ByteOrderMagic is the first field of a section header block.
const ByteOrderMagic = 0x1a2b3c4d

// Options of all blocks, of section headers, interface descriptions and statistics.
const (
	endOfOptions = 0
	comment      = 1

	sectionOS          = 3
	sectionApplication = 4

	interfaceName       = 2
	InterfaceIPv4       = 4 // address and mask
	InterfaceIPv6       = 5 // address and length of the prefix
	InterfaceResolution = 9
	InterfaceFilter     = 11
	interfaceOS         = 12
	InterfaceTimeOffset = 14

	statisticsStart    = 2
	statisticsEnd      = 3
	statisticsReceived = 4
	StatisticsDropped  = 5 // by the interface
	StatisticsOSDrop   = 7 // by the operating system
)

const (
	// PacketHeaderLen is the number of bytes of an enhanced packet block before the packet, PacketOverhead is the number
	// of all bytes that are neither the packet nor padding; both without options.
	PacketHeaderLen = 28
	PacketOverhead  = PacketHeaderLen + 4

	// maxOption is the length in bytes at which values of options are cut: an expression of 32 KiB and the byte before it.
	maxOption = 32<<10 + 1
)

// begin starts a block; end writes its length at both of its ends.
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

// option appends an option and its padding, or nothing if the value is empty.
func option(b []byte, code uint16, value string) []byte {
	if value == "" {
		return b
	}
	value = value[:min(len(value), maxOption)]
	b = binary.LittleEndian.AppendUint16(b, code)
	b = binary.LittleEndian.AppendUint16(b, uint16(len(value)))
	return padded(b, value)
}

func padded[T string | []byte](b []byte, value T) []byte {
	return append(append(b, value...), "\x00\x00\x00"[:-len(value)&3]...)
}

// words64 appends an option of two words of 32 bits. Counts have the lower one first, times the upper one.
func words64(b []byte, code uint16, first, second uint64) []byte {
	b = binary.LittleEndian.AppendUint16(b, code)
	b = append(b, 8, 0)
	b = binary.LittleEndian.AppendUint32(b, uint32(first))
	return binary.LittleEndian.AppendUint32(b, uint32(second))
}

func appendTime(b []byte, code uint16, ns int64) []byte {
	t := uint64(max(ns, 0))
	return words64(b, code, t>>32, t)
}

// AppendSection appends a section header block. Empty texts are left out.
func AppendSection(b []byte, note, os, application string) []byte {
	b, at := begin(b, Section)
	b = binary.LittleEndian.AppendUint32(b, ByteOrderMagic)
	b = append(b, 1, 0, 0, 0)                               // version 1.0
	b = binary.LittleEndian.AppendUint64(b, math.MaxUint64) // the length of the section is not known yet
	options := len(b)
	b = option(b, comment, note)
	b = option(b, sectionOS, os)
	b = option(b, sectionApplication, application)
	if len(b) > options {
		b = append(b, endOfOptions, 0, 0, 0)
	}
	return end(b, at)
}

// Application returns the application that a section header block names, which AppendSection wrote at the beginning of b; "" if
// there is none.
func Application(b []byte) string {
	const fixed = 24 // bytes before the options
	if len(b) < fixed || binary.LittleEndian.Uint32(b) != Section || binary.LittleEndian.Uint32(b[8:]) != ByteOrderMagic {
		return ""
	}
	b = b[fixed:min(len(b), int(max(binary.LittleEndian.Uint32(b[4:]), fixed)))]
	for len(b) >= 4 {
		code, n := binary.LittleEndian.Uint16(b), int(binary.LittleEndian.Uint16(b[2:]))
		if code == endOfOptions || n > len(b)-4 {
			break
		}
		if code == sectionApplication {
			return string(b[4 : 4+n])
		}
		b = b[min(4+(n+3)&^3, len(b)):]
	}
	return ""
}

// Description is what an interface description block says. Empty texts are left out.
type Description struct {
	Link             uint16
	SnapLen          uint32
	Digits           uint8 // decimal digits of the fractions of seconds in the times of its packets
	Name, Filter, OS string
	Addresses        []netip.Prefix // with the length of the prefix of their networks
}

// AppendInterface appends an interface description block.
func AppendInterface(b []byte, d Description) []byte {
	b, at := begin(b, Interface)
	b = binary.LittleEndian.AppendUint16(b, d.Link)
	b = append(b, 0, 0)
	b = binary.LittleEndian.AppendUint32(b, d.SnapLen)
	b = option(b, interfaceName, d.Name)
	for _, p := range d.Addresses {
		if a := p.Addr().Unmap(); a.Is4() {
			b = option(b, InterfaceIPv4, string(append(a.AsSlice(), net.CIDRMask(p.Bits(), 32)...)))
		} else {
			b = option(b, InterfaceIPv6, string(append(a.AsSlice(), byte(p.Bits()))))
		}
	}
	b = append(b, InterfaceResolution, 0, 1, 0, d.Digits, 0, 0, 0)
	if d.Filter != "" {
		b = option(b, InterfaceFilter, "\x00"+d.Filter) // 0: the filter is a text
	}
	b = option(b, interfaceOS, d.OS)
	b = append(b, endOfOptions, 0, 0, 0)
	return end(b, at)
}

// AppendPacket appends an enhanced packet block. ticks is the time in the units of its interface, wireLen the length on
// the wire.
func AppendPacket(b []byte, iface uint32, ticks uint64, data []byte, wireLen int, comments ...string) []byte {
	at := len(b)
	var h [PacketHeaderLen]byte
	binary.LittleEndian.PutUint32(h[:], EnhancedPacket)
	binary.LittleEndian.PutUint32(h[8:], iface)
	binary.LittleEndian.PutUint32(h[12:], uint32(ticks>>32))
	binary.LittleEndian.PutUint32(h[16:], uint32(ticks))
	binary.LittleEndian.PutUint32(h[20:], uint32(len(data)))
	binary.LittleEndian.PutUint32(h[24:], uint32(max(wireLen, len(data))))
	b = padded(append(b, h[:]...), data)
	for _, c := range comments {
		b = option(b, comment, c)
	}
	if len(comments) > 0 {
		b = append(b, endOfOptions, 0, 0, 0)
	}
	return end(b, at)
}

// Counts is what an interface statistics block says. Times are nanoseconds since the Unix epoch.
type Counts struct {
	Time, Start, End  int64
	Known             bool // Received and Dropped are known
	Received, Dropped int64
	Comment           string
}

// AppendStatistics appends an interface statistics block.
func AppendStatistics(b []byte, iface uint32, c Counts) []byte {
	b, at := begin(b, Statistics)
	b = binary.LittleEndian.AppendUint32(b, iface)
	t := uint64(max(c.Time, 0))
	b = binary.LittleEndian.AppendUint32(b, uint32(t>>32))
	b = binary.LittleEndian.AppendUint32(b, uint32(t))
	b = option(b, comment, c.Comment)
	b = appendTime(b, statisticsStart, c.Start)
	b = appendTime(b, statisticsEnd, c.End)
	if c.Known {
		b = words64(b, statisticsReceived, uint64(c.Received), uint64(c.Received)>>32)
		b = words64(b, StatisticsDropped, uint64(c.Dropped), uint64(c.Dropped)>>32)
	}
	b = append(b, endOfOptions, 0, 0, 0)
	return end(b, at)
}

// Complete returns how many of the first n bytes of b, which consists of blocks, are complete blocks, and how many
// packets the other blocks have.
func Complete(b []byte, n int) (complete int, lost int64) {
	for at := 0; len(b)-at >= 8; {
		isPacket := binary.LittleEndian.Uint32(b[at:]) == EnhancedPacket
		at += int(binary.LittleEndian.Uint32(b[at+4:]))
		switch {
		case at <= n:
			complete = at
		case isPacket:
			lost++
		}
	}
	return complete, lost
}
