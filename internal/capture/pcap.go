package capture

import (
	"encoding/binary"
	"fmt"
	"io"

	"dubbo-wire/internal/term"
)

// Magic numbers of pcap, read as little-endian.
const (
	magicMicros    = 0xa1b2c3d4
	magicNanos     = 0xa1b23c4d
	magicKuznetzov = 0xa1b2cd34 // "modified" pcap of old Red Hat kernels: record headers are 8 bytes longer
)

const (
	pcapHeaderLen  = 24
	pcapRecordLen  = 16
	kuznetzovExtra = 8
	nanosPerMicro  = 1000
	nanosPerSecond = 1_000_000_000
	pcapMajor      = 2
	swappedMinor   = 3 // before version 2.3 the two lengths were swapped, in 2.3 in either order
)

// pcapReader reads the records of a pcap file:
//
//	seconds u32, fraction u32, captured length u32, original length u32, bytes
type pcapReader struct {
	reader
	big     bool  // byte order of the file
	perTick int64 // nanoseconds per unit of the fraction
	header  int   // bytes of a record header
	link    LinkType
	limit   uint32 // largest captured length that is accepted
	minor   uint16 // minor version, which determines the order of the lengths
	second  uint32 // time of the last delivered packet, valid if known is set
	known   bool
}

// pcapMagic recognizes a pcap file by its first four bytes.
func pcapMagic(b []byte) (magic uint32, big, ok bool) {
	if len(b) < 4 {
		return 0, false, false
	}
	for _, order := range [...]binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		switch magic = order.Uint32(b); magic {
		case magicMicros, magicNanos, magicKuznetzov:
			return magic, order == binary.BigEndian, true
		}
	}
	return 0, false, false
}

// newPcapReader reads the file header from the window, which starts with a pcap magic number.
func newPcapReader(win window, in *Input) (*pcapReader, error) {
	if !win.fill(pcapHeaderLen) {
		return nil, failure(CutHeader, in.File, win.err, "%s ends inside its pcap header (24 bytes); copy or record it again", in.File)
	}
	h := win.rest()
	magic, big, _ := pcapMagic(h)
	var order binary.ByteOrder = binary.LittleEndian
	if big {
		order = binary.BigEndian
	}
	r := &pcapReader{reader: reader{win: win, in: in}, big: big, perTick: nanosPerMicro, header: pcapRecordLen}
	switch magic {
	case magicNanos:
		r.perTick = 1
	case magicKuznetzov:
		r.header += kuznetzovExtra
	}
	major, minor := order.Uint16(h[4:]), order.Uint16(h[6:])
	if major != pcapMajor {
		return nil, failure(NotCapture, in.File, nil, "%s has a pcap magic but not version 2: it is damaged, or older than tcpdump 3; record it again", in.File)
	}
	r.minor = minor
	snapLen := order.Uint32(h[16:])
	r.limit = packetLimit(snapLen)
	// The upper half contains the length of the frame check sequence and flags.
	r.link = LinkType(order.Uint32(h[20:]))
	in.Format = "pcap"
	in.addLink(r.link, snapLen)
	r.win.pos += pcapHeaderLen
	r.win.lengths = lengths{at: 8, extra: r.header, big: big}
	return r, nil
}

// next fills all fields of p but File. It returns nil or io.EOF; damage is noted.
func (r *pcapReader) next(p *Packet) error {
	for !r.done {
		if r.win.end-r.win.pos < r.header && !r.win.fill(r.header) {
			return r.finish(int64(r.header), "the header of ")
		}
		sec, frac, capLen, wireLen := r.fields(r.win.buf[r.win.pos : r.win.pos+pcapRecordLen])
		if !r.plausible(capLen, wireLen) {
			if what := r.implausible(sec, frac, capLen, wireLen); what != "" {
				r.skipDamage(r.startsRecords, "%s", what)
				continue
			}
		}
		size := r.header + int(capLen)
		if r.win.end-r.win.pos < size && !r.win.fill(size) {
			return r.finish(int64(size), "")
		}
		start := r.win.pos + r.header
		r.win.pos += size
		r.number++
		r.second, r.known = sec, true
		p.Data = r.win.buf[start:r.win.pos:r.win.pos]
		p.WireLen = max(int(wireLen), int(capLen))
		p.Time = int64(sec)*nanosPerSecond + int64(frac)*r.perTick
		p.Link = r.link
		p.Number = r.number
		return nil
	}
	return io.EOF
}

// ready implements packetReader for files in the byte order of most machines.
func (r *pcapReader) ready(ps []Packet) int {
	if r.big || r.minor <= swappedMinor || r.done {
		return 0
	}
	buf, pos, n := r.win.buf[:r.win.end], r.win.pos, 0
	for n < len(ps) && len(buf)-pos >= r.header {
		h := buf[pos : pos+pcapRecordLen]
		capLen, wireLen := binary.LittleEndian.Uint32(h[8:]), binary.LittleEndian.Uint32(h[12:])
		start := pos + r.header
		end := start + int(capLen)
		if !r.plausible(capLen, wireLen) || end > len(buf) {
			break
		}
		r.second = binary.LittleEndian.Uint32(h)
		p := &ps[n]
		p.Data = buf[start:end:end]
		p.WireLen = int(wireLen)
		p.Time = int64(r.second)*nanosPerSecond + int64(binary.LittleEndian.Uint32(h[4:]))*r.perTick
		p.Link, p.Interface = r.link, 0 // an earlier file may have had interfaces
		n++
		p.Number = r.number + int64(n)
		pos = end
	}
	r.win.pos = pos
	r.number += int64(n)
	r.known = r.known || n > 0
	return n
}

// plausible reports whether a usual record can have these lengths. Records for which it returns false may still be unusual ones.
func (r *pcapReader) plausible(capLen, wireLen uint32) bool {
	return capLen <= r.limit && wireLen <= MaxPacket && wireLen >= max(capLen, 1)
}

// fields decodes the header of a record.
func (r *pcapReader) fields(h []byte) (sec, frac, capLen, wireLen uint32) {
	_ = h[15]
	if r.big {
		sec, frac = binary.BigEndian.Uint32(h), binary.BigEndian.Uint32(h[4:])
		capLen, wireLen = binary.BigEndian.Uint32(h[8:]), binary.BigEndian.Uint32(h[12:])
	} else {
		sec, frac = binary.LittleEndian.Uint32(h), binary.LittleEndian.Uint32(h[4:])
		capLen, wireLen = binary.LittleEndian.Uint32(h[8:]), binary.LittleEndian.Uint32(h[12:])
	}
	if r.minor <= swappedMinor && (r.minor < swappedMinor || capLen > wireLen) {
		capLen, wireLen = wireLen, capLen
	}
	return sec, frac, capLen, wireLen
}

// implausible returns why a record cannot have these fields, or "" if it can.
func (r *pcapReader) implausible(sec, frac, capLen, wireLen uint32) string {
	switch {
	case capLen > r.limit:
		return fmt.Sprintf("a record claims %s, but packets of this file have at most %s", term.Counted(int64(capLen), "captured byte"), term.Count(int64(r.limit)))
	case wireLen > MaxPacket:
		return fmt.Sprintf("a record claims a packet of %s bytes, but the maximum is %s", term.Count(int64(wireLen)), term.Count(MaxPacket))
	case sec|frac|capLen|wireLen == 0:
		return "expected a record, found zeros"
	case capLen > wireLen && !r.follows(r.header+int(capLen)):
		return fmt.Sprintf("a record claims %s of a packet of %s, and no record follows it", term.Counted(int64(capLen), "captured byte"), term.Count(int64(wireLen)))
	}
	return ""
}
