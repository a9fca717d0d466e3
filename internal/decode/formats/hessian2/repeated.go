package hessian2

import (
	"bytes"
	"encoding/binary"

	"dubbo-wire/internal/decode"
)

// Peers write the same definitions of classes and mostly the same attachments in each body of a method. What their bytes count is
// remembered by these bytes, and depends on nothing else.

// Bounds of what is remembered: of the slots, in powers of 2, and of the bytes in a slot.
const (
	repeatedBits = 6
	maxRepeated  = 1 << 10
)

// repeated is a definition or attachments.
type repeated struct {
	raw   []byte
	nodes int
	// Of a definition:
	n       int // fields
	length  int // bytes of their number
	counted counted
	compact string
}

type repeats [1 << repeatedBits]repeated

// slot returns where bytes that have b at the place that tells them apart are remembered, nil if that has less than 16 bytes.
func (s *repeats) slot(b []byte) *repeated {
	if len(b) < 16 {
		return nil
	}
	x, y := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
	return &s[(x*0x9e3779b97f4a7c15^y*0xc2b2ae3d27d4eb4f)>>(64-repeatedBits)]
}

// at reports whether b starts with what is remembered.
func (s *repeated) at(b []byte) bool {
	return s != nil && len(s.raw) > 0 && bytes.HasPrefix(b, s.raw)
}

// keep remembers raw, if it is not too long.
func (s *repeated) keep(raw []byte) bool {
	if s == nil || len(raw) > maxRepeated {
		return false
	}
	s.raw = append(s.raw[:0], raw...)
	return true
}

// definitionSlot returns the slot of the definition at the cursor: the end of the class's name and the first field tell it from others.
func (r *Reader) definitionSlot() *repeated {
	b := r.Buf[r.Off:]
	if len(b) < 4 {
		return nil
	}
	head, more, ok := asText(b[1])
	if !ok || more || 1+head > len(b) {
		return nil
	}
	return r.definitions.slot(b[min(len(b), max(0, 1+head+chunkLen(b[1:1+head])-8)):])
}

// countAttachments counts attachments that are texts alone and end with the body, and reports whether they are.
func (r *Reader) countAttachments() bool {
	b := r.Buf[r.Off:]
	if r.Tree != nil || r.observer != nil || r.printing.to != nil || r.first || len(b) == 0 || b[0] != 'H' || r.Level() > 0 {
		return false
	}
	s := r.attachments.slot(b[len(b)/2:])
	nodes := 0
	if s.at(b) && len(s.raw) == len(b) {
		nodes = s.nodes
	} else {
		at := 1
		for ; at < len(b) && b[at] != 'Z'; nodes++ {
			if at = textStop(b, at); at < 0 {
				return false
			}
		}
		if at != len(b)-1 || nodes%2 != 0 {
			return false
		}
		if s.keep(b) {
			s.nodes = nodes
		}
	}
	r.Open(decode.Map, decode.ByField, "attachments", 0)
	r.Off = len(r.Buf)
	r.Tally(0, nodes+2) // and the first byte and the last
	r.Close()
	r.dirty = true
	r.table.n++
	return true
}
