package capture

import (
	"encoding/binary"
	"io"
	"iter"
	"math"
	"math/bits"

	"dubbo-wire/internal/capture/pcapng"
	"dubbo-wire/internal/term"
)

// partOfBlock is what a file may end in.
const partOfBlock = "a block with or before "

const (
	ngBlockMin = 12 // bytes of a block without a body: type, length, length again
	ngMajor    = 1  // version
)

// smallestBody returns the least number of bytes in the body of a block; ok is false if its type is not known.
func smallestBody(kind uint32) (n int, ok bool) {
	switch kind {
	case pcapng.EnhancedPacket, pcapng.ObsoletePacket:
		return 20, true
	case pcapng.Section:
		return 16, true
	case pcapng.Statistics:
		return 12, true
	case pcapng.Interface:
		return 8, true
	case pcapng.SimplePacket:
		return 4, true
	}
	return 0, false
}

// maxInterfaces bounds the interfaces of a section. Files that Wireshark merged have a few.
const maxInterfaces = 4096

// maxForeignBlock is the size in bytes of the largest block of unknown type that is skipped. A larger one is damage.
const maxForeignBlock = 64 << 20

// ngInterface is the part of an interface description block that packets need.
type ngInterface struct {
	link    LinkType
	snapLen uint32
	limit   uint32
	units   uint64 // timestamp units per second; 0: too many to count, so its packets have no time
	scale   int64  // nanoseconds per unit if that is a whole number, else 0
	offset  int64  // seconds to add to timestamps
	dropped uint64 // packets lost, from the last statistics block
}

// pcapngReader reads the blocks of a pcapng file: several sections in either byte order, each with its own interfaces.
// A block has its length at both ends. A block with wrong contents and correct lengths is noted and skipped. After a
// block with wrong lengths the next correct block is searched.
//
// pcapgo's NgReader, which the tests compare with, is not used because packets here are slices of the read buffer,
// damage has an offset, and damage costs no more than its block.
type pcapngReader struct {
	reader
	big     bool
	ifaces  []ngInterface
	last    int64 // time of the previous packet; simple packet blocks have no time
	dropped uint64
	foreign bool // the section has an unknown version, so its blocks are skipped
}

// isPcapng recognizes a pcapng file by its first twelve bytes.
func isPcapng(b []byte) bool {
	return len(b) >= 12 && binary.LittleEndian.Uint32(b) == pcapng.Section && new(pcapngReader).byteOrder(b)
}

// newPcapngReader reads from the window's first byte, where isPcapng is true.
func newPcapngReader(win window, in *Input) *pcapngReader {
	in.Format = "pcapng"
	return &pcapngReader{reader: reader{win: win, in: in}}
}

// order returns the byte order of the section. u32 needs no call through an interface.
func (r *pcapngReader) order() binary.ByteOrder {
	if r.big {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

func (r *pcapngReader) u32(b []byte) uint32 {
	if r.big {
		return binary.BigEndian.Uint32(b)
	}
	return binary.LittleEndian.Uint32(b)
}

// next fills all fields of p but File. It returns nil or io.EOF; damage is noted.
func (r *pcapngReader) next(p *Packet) error {
	for !r.done {
		if r.win.end-r.win.pos < ngBlockMin && !r.win.fill(ngBlockMin) {
			return r.finish(ngBlockMin, partOfBlock)
		}
		h := r.win.rest()
		kind := r.u32(h)
		if kind == pcapng.Section && !r.byteOrder(h) {
			r.skipDamage(r.startsBlock, "a section header block without its byte-order magic")
			continue
		}
		size := r.u32(h[4:])
		if size < ngBlockMin || size%4 != 0 {
			r.skipDamage(r.startsBlock, "a block length of %d instead of a multiple of 4 from 12 on", size)
			continue
		}
		most := uint32(MaxPacket + 4096)
		if _, ok := smallestBody(kind); !ok {
			if most = maxForeignBlock; size <= most && size > minBufferSize {
				r.skipForeign(size)
				continue
			}
		}
		if size > most {
			r.skipDamage(r.startsBlock, "a block of type %d claims %d bytes, more than the %d that are believed", kind, size, most)
			continue
		}
		if r.win.end-r.win.pos < int(size) && !r.win.fill(int(size)) {
			return r.finish(int64(size), partOfBlock)
		}
		block := r.win.buf[r.win.pos : r.win.pos+int(size) : r.win.pos+int(size)]
		if trailer := r.u32(block[size-4:]); trailer != size {
			r.skipDamage(r.startsBlock, "a block of type %d whose two lengths differ (%d and %d)", kind, size, trailer)
			continue
		}
		at := r.win.offset()
		r.win.pos += int(size)
		body := block[8 : size-4]
		if r.foreign && kind != pcapng.Section {
			continue
		}
		delivered := false
		switch kind {
		case pcapng.EnhancedPacket, pcapng.ObsoletePacket:
			delivered = r.packet(p, kind, body, at)
		case pcapng.SimplePacket:
			delivered = r.simple(p, body, at)
		case pcapng.Interface:
			r.describe(body, at)
		case pcapng.Statistics:
			r.statistics(body)
		case pcapng.Section:
			r.section(body, at)
		}
		if delivered {
			return nil
		}
	}
	return io.EOF
}

// ready implements packetReader for enhanced packet blocks.
func (r *pcapngReader) ready(ps []Packet) int {
	n := 0
	for n < len(ps) && r.win.end-r.win.pos >= ngBlockMin {
		h := r.win.rest()
		size := r.u32(h[4:])
		if r.u32(h) != pcapng.EnhancedPacket || r.foreign || r.done || size < ngBlockMin+20 || int64(size) > int64(len(h)) || size%4 != 0 || size > MaxPacket || r.u32(h[size-4:]) != size {
			break
		}
		at := r.win.offset()
		r.win.pos += int(size)
		if r.packet(&ps[n], pcapng.EnhancedPacket, h[8:size-4:size-4], at) {
			n++
		}
	}
	return n
}

// byteOrder sets the byte order of the section that starts with h, which has at least 12 bytes. It returns false if h
// has no byte-order magic.
func (r *pcapngReader) byteOrder(h []byte) bool {
	r.big = binary.LittleEndian.Uint32(h[8:]) != pcapng.ByteOrderMagic
	r.win.lengths = lengths{at: 4, big: r.big}
	return r.u32(h[8:]) == pcapng.ByteOrderMagic
}

// skipForeign skips a block of unknown type without buffering it, and checks its second length.
func (r *pcapngReader) skipForeign(size uint32) {
	at, kind := r.win.offset(), r.u32(r.win.rest())
	if !r.win.skip(int64(size)-4) || !r.win.fill(4) {
		if r.win.err == io.EOF {
			r.done = true
			r.in.note(r.number+1, at, "the file ends inside a block of type %d (%s); every packet before it was read; copy the file again, or let the recorder finish", kind, term.Counted(int64(size), "byte"))
		} else {
			_ = r.finish(int64(size), "")
		}
		return
	}
	if trailer := r.u32(r.win.rest()); trailer != size {
		r.skipDamage(r.startsBlock, "a block of type %d whose two lengths differ (%d and %d)", kind, size, trailer)
		return
	}
	r.win.pos += 4
}

// section starts a new section. The body is magic u32, major version u16, minor version u16, length u64.
func (r *pcapngReader) section(body []byte, at int64) {
	r.ifaces = r.ifaces[:0]
	r.foreign = true
	switch {
	case len(body) < 16:
		r.in.note(r.number+1, at, "a section header of %d bytes is too short; the section was skipped", len(body)+ngBlockMin)
	case r.order().Uint16(body[4:]) != ngMajor:
		r.in.note(r.number+1, at, "pcapng version %d is not supported, only version 1; the section was skipped", r.order().Uint16(body[4:]))
	default:
		r.foreign = false
	}
}

// describe adds an interface. The body is link type u16, reserved u16, snap length u32, options.
func (r *pcapngReader) describe(body []byte, at int64) {
	if len(r.ifaces) == maxInterfaces {
		r.in.note(r.number+1, at, "a section has more than %s interfaces; packets of the others were skipped", term.Count(maxInterfaces))
		return
	}
	if len(body) < 8 {
		// It is counted, because the following interfaces are numbered.
		r.in.note(r.number+1, at, "an interface description of %d bytes is too short; packets of the interface were skipped", len(body)+ngBlockMin)
		r.ifaces = append(r.ifaces, ngInterface{})
		return
	}
	i := ngInterface{link: LinkType(r.order().Uint16(body)), snapLen: r.u32(body[4:]), units: 1_000_000}
	i.limit = packetLimit(i.snapLen)
	for code, value := range r.options(body[8:]) {
		switch {
		case code == pcapng.InterfaceResolution && len(value) >= 1:
			units, ok := unitsPerSecond(value[0])
			if !ok {
				r.in.note(r.number+1, at, "the timestamp resolution of interface %d (%#02x) is too fine for 64 bits; its packets were skipped", len(r.ifaces), value[0])
				units = 0
			}
			i.units = units
		case code == pcapng.InterfaceIPv4 && len(value) >= 8:
			mask := binary.BigEndian.Uint32(value[4:])
			r.in.addAddress(value[:4], bits.LeadingZeros32(^mask))
		case code == pcapng.InterfaceIPv6 && len(value) >= 17:
			r.in.addAddress(value[:16], int(value[16]))
		case code == pcapng.InterfaceFilter && len(value) > 1 && value[0] == 0: // as a text
			r.in.Filter = string(value[1:min(len(value), 1+maxFilter)])
		case code == pcapng.InterfaceTimeOffset && len(value) >= 8:
			i.offset = int64(r.order().Uint64(value))
		}
	}
	if i.units > 0 && nanosPerSecond%i.units == 0 {
		i.scale = int64(nanosPerSecond / i.units)
	}
	r.ifaces = append(r.ifaces, i)
	r.in.addLink(i.link, i.snapLen)
}

// maxFilter is the number of bytes that are kept of a filter expression.
const maxFilter = 4096

// unitsPerSecond decodes if_tsresol: a power of ten, or of two if the high bit is set. It returns false if 64 bits
// cannot count the units.
func unitsPerSecond(resol byte) (uint64, bool) {
	if n := resol & 0x7f; resol >= 0x80 {
		return 1 << n, n < 64
	}
	if resol > 19 {
		return 0, false
	}
	units := uint64(1)
	for range resol {
		units *= 10
	}
	return units, true
}

// options iterates over the options of a block: code and value.
func (r *pcapngReader) options(opts []byte) iter.Seq2[uint16, []byte] {
	return func(yield func(uint16, []byte) bool) {
		for len(opts) >= 4 {
			code, n := r.order().Uint16(opts), int(r.order().Uint16(opts[2:]))
			if code == 0 || n > len(opts)-4 || !yield(code, opts[4:4+n]) {
				return
			}
			opts = opts[4+min((n+3)&^3, len(opts)-4):]
		}
	}
}

// statistics reads the drop counts of an interface. The body is interface u32, time u64, options. The counts start with
// the capture, so the last block is valid.
func (r *pcapngReader) statistics(body []byte) {
	if len(body) < 12 {
		return
	}
	id := r.u32(body)
	if int64(id) >= int64(len(r.ifaces)) {
		return
	}
	var dropped uint64
	known := false
	for code, value := range r.options(body[12:]) {
		if (code == pcapng.StatisticsDropped || code == pcapng.StatisticsOSDrop) && len(value) >= 8 {
			known = true
			dropped += r.order().Uint64(value)
		}
	}
	if !known {
		return
	}
	r.dropped += dropped - r.ifaces[id].dropped
	r.ifaces[id].dropped = dropped
	r.in.Dropped = int64(min(r.dropped, math.MaxInt64))
}

// packet delivers the packet of an enhanced packet block: interface u32, time high u32, time low u32, captured length
// u32, original length u32, bytes, options. In the obsolete packet block the interface is a u16, followed by a drop
// count.
func (r *pcapngReader) packet(p *Packet, kind uint32, body []byte, at int64) bool {
	if len(body) < 20 {
		return r.reject(at, "a packet block of %d bytes, too short for its header", len(body)+ngBlockMin)
	}
	id := r.u32(body)
	if kind == pcapng.ObsoletePacket {
		id = uint32(r.order().Uint16(body))
	}
	ticks := uint64(r.u32(body[4:]))<<32 | uint64(r.u32(body[8:]))
	return r.fill(p, body[20:], id, ticks, r.u32(body[12:]), r.u32(body[16:]), at)
}

// simple delivers the packet of a simple packet block: original length u32, bytes. It belongs to interface 0 and has no
// time; it gets the time of the previous packet.
func (r *pcapngReader) simple(p *Packet, body []byte, at int64) bool {
	if len(body) < 4 || len(r.ifaces) == 0 {
		return r.reject(at, "a simple packet block of %d bytes, with %d interfaces described", len(body)+ngBlockMin, len(r.ifaces))
	}
	wireLen := r.u32(body)
	capLen := min(wireLen, uint32(len(body)-4))
	if snap := r.ifaces[0].snapLen; snap > 0 {
		capLen = min(capLen, snap)
	}
	last := r.last
	if !r.fill(p, body[4:], 0, 0, capLen, wireLen, at) {
		return false
	}
	p.Time, r.last = last, last
	return true
}

// fill checks a packet against its interface and its block, and delivers it.
func (r *pcapngReader) fill(p *Packet, data []byte, id uint32, ticks uint64, capLen, wireLen uint32, at int64) bool {
	if int64(id) >= int64(len(r.ifaces)) {
		return r.reject(at, "it names interface %d, and %d are described", id, len(r.ifaces))
	}
	i := &r.ifaces[id]
	if i.units == 0 {
		return r.reject(at, "its interface %d is not described in a way that can be read", id)
	}
	if wireLen > MaxPacket {
		return r.reject(at, "it claims a packet of %d bytes, and no more than %d are believed", wireLen, MaxPacket)
	}
	if int64(capLen) > int64(len(data)) || capLen > i.limit {
		return r.reject(at, "it claims %d captured bytes in a block with room for %d", capLen, min(len(data), int(i.limit)))
	}
	r.number++
	p.Data = data[:capLen:capLen]
	p.WireLen = max(int(wireLen), int(capLen))
	p.Time = i.nanos(ticks)
	p.Link = i.link
	p.Number = r.number
	p.Interface = int(id)
	r.last = p.Time
	return true
}

// reject notes a packet that cannot be delivered. The lengths of its block are correct, so reading goes on with the
// next block. The packet is counted, as in Wireshark.
func (r *pcapngReader) reject(at int64, format string, args ...any) bool {
	r.number++
	r.in.note(r.number, at, "this packet was skipped: "+format, args...)
	return false
}

// nanos converts a timestamp of the interface to nanoseconds since the Unix epoch, limited to the range of int64 (years
// 1678 to 2262).
func (i *ngInterface) nanos(ticks uint64) int64 {
	if i.scale != 0 && i.offset == 0 {
		hi, lo := bits.Mul64(ticks, uint64(i.scale))
		if hi != 0 || lo > math.MaxInt64 {
			return math.MaxInt64
		}
		return int64(lo)
	}
	sec, frac := ticks/i.units, ticks%i.units
	hi, lo := bits.Mul64(frac, nanosPerSecond)
	ns, _ := bits.Div64(hi, lo, i.units) // frac < units, so the quotient is below 1e9
	const limit = math.MaxInt64/nanosPerSecond - 1
	if sec > limit || i.offset > limit || i.offset < -limit {
		return math.MaxInt64
	}
	total := int64(sec) + i.offset
	if total > limit || total < -limit {
		return math.MaxInt64
	}
	return total*nanosPerSecond + int64(ns)
}
