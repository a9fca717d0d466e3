package kryo

import (
	"bytes"

	"dubbo-wire/internal/decode"
)

// The attachments are a HashMap with string keys, written as a top-level object: "23 01" ("22 01" in Kryo 5), a count,
// the entries. They
// are found without the classes of what stands before them as the place where a parse of such a map ends exactly at
// the end of the body and one of the keys is Dubbo's own: each request has "path", each response with attachments
// "dubbo". Without that a map that ends the attachments, empty or not, would be taken for them where an object before it
// keeps the outer one from being parsed.
//
// What can still be mistaken for them is a map that ends the attachments and has such a key itself, or bytes of a value
// that by chance begin like a map and lead a parse to the last byte, through those attachments or past them: less than
// one body in 2^24 of random bytes; where two places are found none is taken.

// The search is bounded: bytes looked at per byte of the body, and what a place costs beside its bytes.
const (
	workPerByte  = 32
	workPerPlace = 256
	// workPerObject is more than the bytes of small objects: nested ones cost stack.
	workPerObject = 64
)

// FindAttachments implements decode.AttachmentFinder.
func (r *Reader) FindAttachments(from int) (at int, ok bool) {
	if r.Short != decode.Malformed || from < 0 {
		return 0, false // the end of the body is missing
	}
	at, ok = r.find(from)
	if !ok {
		return 0, false
	}
	r.Resume(at)
	return at, true
}

// find returns the one place at or behind from.
func (r *Reader) find(from int) (at int, ok bool) {
	body := r.Buf
	budget := workPerByte*len(body) + 1<<12
	found := 0
	for off := from; off < len(body); off++ {
		k := r.next(body[off:])
		if k < 0 {
			break
		}
		off += k
		if budget < 0 {
			return 0, false
		}
		dubbo, ok := r.try(off)
		budget -= r.probe.work + workPerPlace
		if ok && dubbo {
			found++
			at = off
		}
	}
	return at, found == 1
}

// next returns the offset of the next bytes that look like a map, -1 if there are none. Without class id (kryo2) only
// a map that is not empty has something to be recognised by: the key behind its count.
func (r *Reader) next(b []byte) int {
	if !r.untagged {
		return bytes.Index(b, r.d.mapHead)
	}
	for off := 0; ; off++ {
		k := bytes.IndexByte(b[off:], refNew)
		if k < 0 {
			return -1
		}
		off += k
		key := off + 2
		for key < len(b) && key < off+6 && b[key-1] >= 0x80 {
			key++
		}
		if key < len(b) && bytes.HasPrefix(b[key:], firstKey) {
			return off
		}
	}
}

// firstKey is how a key begins: class id and reference byte of a string.
var firstKey = []byte{0x03, 0x01}

// dubboKeys are keys that Dubbo itself sets.
var dubboKeys = map[string]bool{"path": true, "interface": true, "version": true, "dubbo": true}

// try parses attachments from off to the end of the body; known tells that Dubbo's own keys are in them.
func (r *Reader) try(off int) (known, ok bool) {
	if r.probe == nil {
		r.probe = &Reader{d: r.d, untagged: r.untagged}
	}
	x := r.probe
	x.Reset(r.Buf, decode.Malformed, nil)
	x.Off = off
	known = x.keyed()
	x.work += x.Off - off + x.objects*workPerObject
	return known, x.OK() && x.Off == len(x.Buf)
}

// keyed walks a HashMap with string keys.
func (r *Reader) keyed() (known bool) {
	if !r.untagged {
		r.class(&place{})
	}
	if r.varint("a reference byte") != refNew {
		r.Fail(decode.Malformed, "a map", "null or a reference")
	}
	r.number()
	for n := r.size(r.d.less); n > 0 && r.OK(); n-- {
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
			known = known || r.OK() && len(x.raw) <= 16 && dubboKeys[x.decode()]
		case ref < refFirst || int64(ref-refFirst) >= int64(r.objects):
			r.Fail(decode.Malformed, "a reference", "another number")
		}
		r.object(r.at(decode.ByEntry, "", 0))
	}
	return known
}
