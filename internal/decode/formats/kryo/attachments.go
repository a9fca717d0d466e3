package kryo

import (
	"bytes"

	"dubbo-wire/internal/decode"
)

// The attachments are a HashMap with string keys, written as a top-level object: "23 01" ("22 01" in Kryo 5), a count,
// the entries. They are the one place where a parse of such a map ends exactly at the end of the body and one of the keys
// is Dubbo's own; the classes of the values before them are not needed.
//
// Two other places can look the same: a map that ends the attachments and has such a key itself, and bytes of a value
// that begin like a map by chance and lead a parse to the last byte. The latter happens in less than one body in 2^24 of
// random bytes.

// The search is bounded: bytes looked at per byte of the body.
const (
	workPerByte = 32
	// workPerObject is the cost of an object besides its bytes: nested objects need stack.
	workPerObject = 64
)

// FindAttachments implements decode.AttachmentFinder.
func (r *Reader) FindAttachments(from int) (at int, ok bool) {
	if at, ok = r.find(from); ok {
		r.Resume(at)
	}
	return at, ok
}

// find returns the one place at or after from.
func (r *Reader) find(from int) (at int, ok bool) {
	next := r.nextKeyed
	if !r.untagged {
		next = r.Next(r.d.mapHead)
	}
	return r.SearchAttachments(from, workPerByte*len(r.Buf)+1<<12, next, r.tryAttachments)
}

// nextKeyed returns the offset of the next bytes that look like a map, -1 if there are none. Without class id (kryo2) only a map that is not
// empty can be recognised: by a reference byte, a count of up to five bytes and a key, which is the rarest of them.
func (r *Reader) nextKeyed(off int) int {
	b := r.Buf
	for key := off + 2; key < len(b); key++ {
		k := bytes.Index(b[key:], firstKey)
		if k < 0 {
			break
		}
		key += k
		head := key - 2
		for head > max(off, key-6) && b[head] >= 0x80 {
			head--
		}
		if b[head] == refNew && (b[key-1] < 0x80 || head == key-6) {
			return head
		}
	}
	return -1
}

// firstKey is how a key begins: class id and reference byte of a string.
var firstKey = []byte{0x03, 0x01}

// tryAttachments parses attachments from off to the end of the body.
func (r *Reader) tryAttachments(off int) (cost int, ok bool) {
	if r.probe == nil {
		r.probe = &Reader{d: r.d, untagged: r.untagged}
	}
	x := r.probe
	x.Reset(r.Buf, decode.Malformed, nil)
	x.Off = off
	known := x.attachmentMap()
	return x.work + x.Off - off + x.objects*workPerObject, known && x.OK() && x.Off == len(x.Buf)
}

// attachmentMap walks a HashMap with string keys and reports whether one of them is Dubbo's own.
func (r *Reader) attachmentMap() (known bool) {
	if !r.untagged {
		r.class(&decode.Place{})
	}
	if r.varint("a reference byte") != refNew {
		r.Fail(decode.Malformed, "a map", "null or a reference")
	}
	r.number()
	for n := r.size(r.d.sizeOffset); n > 0 && r.OK(); n-- {
		if b, ok := r.Peek(); !ok || b != firstKey[0] {
			r.Need(1, "a key")
			r.Fail(decode.Malformed, "a string as key", decode.HexByte(b))
			break
		}
		r.Off++
		switch ref := r.varint("a reference byte"); {
		case ref == refNew:
			r.number()
			x := r.text()
			known = known || r.OK() && len(x.raw) <= 16 && decode.DubboKey(x.decode())
		case ref < refFirst || int64(ref-refFirst) >= int64(r.objects):
			r.Fail(decode.Malformed, "a reference", "another number")
		}
		r.object(r.At(decode.ByEntry, "", 0))
	}
	return known
}
