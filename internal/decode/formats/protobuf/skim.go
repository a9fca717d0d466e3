package protobuf

import (
	"google.golang.org/protobuf/encoding/protowire"

	"dubbo-wire/internal/decode"
)

// Without a tree all that is asked of a message is what its bytes are for. skim finds that in one pass over its fields, for
// messages without groups and without a schema; a tree is made for a body with a group.

// skim is a walk: it adds up tags, lengths before messages, and the nodes that a tree would have.
type skim struct {
	*Reader
	names, overhead, nodes int
}

// skim takes the fields up to end, which fields has checked, and counts them, if it can.
func (r *Reader) skim(end int) bool {
	if r.grouped || !r.Counting() {
		return false
	}
	w := skim{Reader: r}
	if !w.members(r.Off, end) {
		r.grouped = true
		r.NeedTree()
		return false
	}
	r.Off = end
	r.Tally(w.overhead, w.nodes)
	r.Recount(decode.ClassNames, w.names)
	return true
}

// members passes fields up to end.
func (w *skim) members(off, end int) bool {
	var last uint64
	objects := false // among the elements of a list so far: then one without bytes is one, too
	for off < end {
		tag, at := uint64(w.Buf[off]), off+1
		if tag >= 0x80 {
			n := 0
			if tag, n = protowire.ConsumeVarint(w.Buf[off:end]); n < 0 {
				return false
			}
			at = off + n
		}
		w.names += at - off
		w.nodes += 2
		if tag>>3 != last {
			last, objects = tag>>3, false
		}
		switch protowire.Type(tag & 7) {
		case protowire.VarintType:
			for ; w.Buf[at] >= 0x80; at++ {
			}
			off = at + 1
		case protowire.Fixed64Type:
			off = at + 8
		case protowire.Fixed32Type:
			off = at + 4
		case protowire.BytesType:
			size, n := uint64(w.Buf[at]), 1
			if size >= 0x80 {
				size, n = protowire.ConsumeVarint(w.Buf[at:end])
			}
			from := at + n
			off = from + int(size)
			switch {
			case size == 0 && objects:
				w.overhead += n
			case w.message(from, off):
				objects = true
				w.overhead += n
				w.nested++
				ok := w.members(from, off)
				w.nested--
				if !ok {
					return false
				}
			}
		default:
			return false
		}
	}
	return true
}

// message reports whether bytes are a message, as delimited does.
func (w *skim) message(from, to int) bool {
	if from == to || w.plain.covers(w.Buf, from, to) {
		return false
	}
	return w.nested < maxNested && w.whole(from, to)
}

// whole is fields for what has no groups.
func (w *skim) whole(off, end int) bool {
	b := w.Buf[:end]
	for at := off; at < end; {
		tag := b[at]
		if tag >= 0x80 || tag < 8 {
			return w.fieldsAt(off, end)
		}
		at++
		switch protowire.Type(tag & 7) {
		case protowire.VarintType:
			if at < end && b[at] < 0x80 {
				at++
				continue
			}
			_, n := protowire.ConsumeVarint(b[at:])
			if n < 0 {
				return false
			}
			at += n
		case protowire.Fixed64Type:
			at += 8
		case protowire.Fixed32Type:
			at += 4
		case protowire.BytesType:
			if at < end && b[at] < 0x80 {
				at += 1 + int(b[at])
				break
			}
			size, n := protowire.ConsumeVarint(b[at:])
			if n < 0 || size > uint64(end-at-n) {
				return false
			}
			at += n + int(size)
		default:
			return w.fieldsAt(off, end)
		}
		if at > end {
			return false
		}
	}
	return true
}

// fieldsAt is fields from off on.
func (w *skim) fieldsAt(off, end int) bool {
	at := w.Off
	w.Off = off
	ok := w.fields(end)
	w.Off = at
	return ok
}
