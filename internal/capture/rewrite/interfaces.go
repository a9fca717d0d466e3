// Package rewrite describes the interfaces of a pcapng file with copies of packets of other captures. Packets come in as
// they were read; blocks go out, appended to memory of the caller.
package rewrite

import (
	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/capture/pcapng"
)

// Interfaces are the interfaces of a pcapng file with copies of packets of other captures: one for each interface of
// each input, with its link type, snap length and resolution of times.
type Interfaces struct {
	// Origin returns what is known of the interface of the packet that was read last; nil if nothing is.
	Origin func(p *capture.Packet) capture.Origin
	// Ended reports whether no more packets come from the input with that index; nil if that is not known.
	Ended func(file int) bool

	list    []iface
	last    int // index of the one that was used last
	written uint32
}

// iface is an interface of the file.
type iface struct {
	link     capture.LinkType
	snapLen  uint32
	digits   uint8
	file, id int // of the input
	number   uint32
	written  bool
	tick     int64 // nanoseconds per unit of its times
}

// maxInterfaces is the largest number of interfaces. Packets of further ones go to the last.
const maxInterfaces = 1 << 12

// Of returns the index of the interface for p. Files that follow each other, as those of a rotated set do, share
// interfaces.
func (t *Interfaces) Of(p *capture.Packet) int {
	own := func(d *iface) bool { return d.file == p.File && d.id == p.Interface && d.link == p.Link }
	if t.last < len(t.list) && own(&t.list[t.last]) {
		return t.last
	}
	for i := range t.list {
		if own(&t.list[i]) {
			t.last = i
			return i
		}
	}
	d := iface{link: p.Link, file: p.File, id: p.Interface, digits: 9}
	if t.Origin != nil {
		o := t.Origin(p)
		d.snapLen, d.digits = o.SnapLen, o.Digits
	}
	for i := range t.list {
		o := &t.list[i]
		if o.file != p.File && o.id == d.id && o.link == d.link && o.snapLen == d.snapLen && o.digits == d.digits &&
			t.Ended != nil && t.Ended(o.file) {
			o.file, t.last = p.File, i
			return i
		}
	}
	if len(t.list) >= maxInterfaces {
		return len(t.list) - 1
	}
	t.list = append(t.list, d)
	t.last = len(t.list) - 1
	return t.last
}

// Link returns the link type of an interface.
func (t *Interfaces) Link(i int) capture.LinkType { return t.list[i].link }

// AppendDescription appends the description of an interface unless the file has it.
func (t *Interfaces) AppendDescription(b []byte, i int) []byte {
	d := &t.list[i]
	if d.written {
		return b
	}
	d.number, d.written = t.written, true
	t.written++
	d.tick = 1
	for i := d.digits; i < 9; i++ {
		d.tick *= 10
	}
	return pcapng.AppendInterface(b, pcapng.Description{Link: uint16(d.link), SnapLen: d.snapLen, Digits: d.digits})
}

// AppendPacket appends a packet of an interface that the file has; at is its time in nanoseconds since the Unix epoch.
func (t *Interfaces) AppendPacket(b []byte, i int, at int64, data []byte, wireLen int, comments ...string) []byte {
	d := &t.list[i]
	return pcapng.AppendPacket(b, d.number, uint64(max(at, 0)/d.tick), data, wireLen, comments...)
}
