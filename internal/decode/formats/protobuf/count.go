package protobuf

import (
	"google.golang.org/protobuf/encoding/protowire"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/protoschema"
)

// guessed is what countGuessed has counted: fields, other nodes than two for each of them, bytes of tags but the first ones, and those of
// lengths of messages.
type guessed struct{ fields, nodes, tags, lengths int }

// What countGuessed returns in place of an offset.
const (
	foreign = -1 // the bytes are not whole fields
	unusual = -2 // they have a value that is not counted there
)

// countUnknown counts the fields up to end, which fields has checked, as members would without a type, and reports whether it did. It does
// nothing with a tree.
func (r *Reader) countUnknown(end int) bool {
	if r.Tree != nil || r.Off <= r.unusualAt && r.unusualAt < end || !r.Counting() || r.Pending() > 0 {
		return false
	}
	r.guessed = guessed{}
	if r.countGuessed(r.Buf[:end], r.Off, 0) < 0 {
		return false
	}
	r.Off = end
	g := &r.guessed
	r.Tally(g.lengths, 2*g.fields+g.nodes)
	r.Recount(decode.ClassNames, g.fields+g.tags)
	return true
}

// countGuessed adds to guessed what members and element would make of the bytes of b from an offset on, if they are whole fields up to the end
// of b, or of a group, which is 0 where none is open. Messages and groups in them are checked and counted at once. It returns the offset of
// that end.
func (r *Reader) countGuessed(b []byte, at int, group protowire.Number) int {
	last := protowire.Number(0) // of the field before, which may be the first of a list
	var list, messages bool
	fields := 0
	for at < len(b) {
		wire, num := protowire.Type(b[at]&7), protowire.Number(b[at]>>3)
		start := at
		if b[at] >= 8 && b[at] < 0x80 {
			at++
		} else {
			var n int
			if num, _, n = protowire.ConsumeTag(b[at:]); n < 0 {
				return foreign
			}
			at += n
			r.guessed.tags += n - 1
		}
		if wire == protowire.EndGroupType {
			if num != group || num == 0 {
				return foreign
			}
			r.guessed.fields += fields
			r.guessed.nodes++
			r.guessed.tags++
			return at
		}
		fields++
		switch {
		case num != last:
			last, list, messages = num, false, false
		case !list:
			list = true
			r.guessed.nodes++
		}
		switch wire {
		case protowire.VarintType:
			size := decode.VarintSize(r.Buf, at) // if it goes beyond b, so does at
			if size > 8 {
				if _, size = protowire.ConsumeVarint(b[at:]); size < 0 {
					return foreign
				}
			}
			at += size
		case protowire.Fixed32Type:
			at += 4
		case protowire.Fixed64Type:
			at += 8
		case protowire.BytesType:
			size, n := varint(b[at:])
			if n < 0 || size > uint64(len(b)-at-n) {
				return foreign
			}
			at += n
			end := at + int(size)
			switch {
			case size == 0 && messages && r.nested >= maxNested:
				r.unusualAt = start
				return unusual
			case size == 0 && messages:
				r.guessed.lengths += n
			case size == 0, b[at] >= ' ' && r.plain.covers(r.Buf, at, end), r.nested >= maxNested:
			default:
				before := r.guessed
				r.nested++
				after := r.countGuessed(b[:end], at, 0)
				r.nested--
				if after == unusual {
					return unusual
				}
				if after >= 0 {
					messages = true
					r.guessed.lengths += n
				} else {
					r.guessed = before
				}
			}
			at = end
		case protowire.StartGroupType:
			if r.nested > maxNested {
				return foreign
			}
			r.nested++
			at = r.countGuessed(b, at, num)
			r.nested--
			if at < 0 {
				return at
			}
			messages = true
		default:
			return foreign
		}
	}
	if at > len(b) || group != 0 {
		return foreign
	}
	r.guessed.fields += fields
	return at
}

// countFields takes the next fields up to end that hold one value of a type that has all such bytes, and counts what members would make of
// them: most fields of most messages. It does nothing with a tree, and stops at the first other field.
func (r *Reader) countFields(m *protoschema.Message, end int) {
	if !r.Counting() || r.Pending() > 0 {
		return
	}
	b, at, n := r.Buf[:end], r.Off, 0
	for at < end {
		f := m.Field(protowire.Number(b[at] >> 3))
		if b[at] >= 0x80 || f == nil || f.List || f.Map || f.Class || protowire.Type(b[at]&7) != f.Kind.Wire() {
			break
		}
		next := r.afterValue(b, at+1, f.Kind)
		if next < 0 || !r.fill(m, f) {
			break
		}
		at = next
		n++
	}
	if n > 0 {
		r.Off = at
		r.Tally(0, 2*n)
		r.Recount(decode.ClassNames, n)
	}
}

// afterValue returns the offset after a value of a type in b, -1 if it may be one that the type cannot have.
func (r *Reader) afterValue(b []byte, at int, k protoschema.Kind) int {
	next := -1
	switch k {
	case protoschema.Fixed32, protoschema.Sfixed32, protoschema.Float:
		next = at + 4
	case protoschema.Fixed64, protoschema.Sfixed64, protoschema.Double:
		next = at + 8
	case protoschema.String, protoschema.Bytes:
		size, n := varint(b[at:])
		if n < 0 || size > uint64(len(b)-at-n) {
			return -1
		}
		at += n
		if next = at + int(size); k == protoschema.String && size > 0 && !r.lines.covers(r.Buf, at, next) {
			return -1
		}
	case protoschema.Bool, protoschema.Int32, protoschema.Uint32, protoschema.Sint32, protoschema.EnumValue, protoschema.Int64, protoschema.Uint64, protoschema.Sint64:
		most := 4 // bytes that any number of 32 bits may have
		switch k {
		case protoschema.Bool:
			most = 1
		case protoschema.Int64, protoschema.Uint64, protoschema.Sint64:
			most = 8
		}
		size := decode.VarintSize(r.Buf, at) // if it goes beyond b, so does next
		if size > most || k == protoschema.Bool && r.Buf[at] > 1 {
			return -1
		}
		next = at + size
	}
	if next > len(b) {
		return -1
	}
	return next
}

// countPacked takes the packed values of a repeated field up to end as far as all their bytes are of its type, and returns how many there
// are. It does nothing with a tree.
func (r *Reader) countPacked(k protoschema.Kind, end int) (n int) {
	if !r.Counting() {
		return 0
	}
	b, at := r.Buf[:end], r.Off
	for at < end {
		next := r.afterValue(b, at, k)
		if next < 0 {
			break
		}
		at = next
		n++
	}
	r.Off = at
	r.Run(decode.Int, n)
	return n
}
