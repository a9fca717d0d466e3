package fst

import (
	"bytes"

	"dubbo-wire/internal/decode"
)

// The attachments are a HashMap with string keys: "00 0f", a count, the entries. They are found without the classes of
// what stands before them as the one place where a parse of such a map ends exactly at the end of the body and one of
// the keys is Dubbo's own: each request has "path", each response with attachments
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

// mapHead is how a HashMap begins: its tag and class id.
var mapHead = []byte{tagObject, 0x0f}

// dubboKeys are keys that Dubbo itself sets.
var dubboKeys = map[string]bool{"path": true, "interface": true, "version": true, "dubbo": true}

// FindAttachments implements decode.AttachmentFinder.
func (r *Reader) FindAttachments(from int) (at int, ok bool) {
	if r.Short != decode.Malformed || from < 0 {
		return 0, false // the end of the body is missing
	}
	at, ok = r.find(from)
	if !ok {
		return 0, false
	}
	r.skipped = r.skipped || at > r.Off
	r.Resume(at)
	return at, true
}

// find returns the one place at or behind from.
func (r *Reader) find(from int) (at int, ok bool) {
	body := r.Buf
	budget := workPerByte*len(body) + 1<<12
	found := 0
	for off := from; off < len(body); off++ {
		k := bytes.Index(body[off:], mapHead)
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

// try parses attachments from off to the end of the body; known tells that Dubbo's own keys are in them.
func (r *Reader) try(off int) (known, ok bool) {
	if r.probe == nil {
		r.probe = new(Reader)
	}
	x := r.probe
	x.Reset(r.Buf, decode.Malformed, nil)
	x.Off = off + len(mapHead)
	x.skipped = true
	known = x.keyed()
	x.work += x.Off - off
	return known, x.OK() && x.Off == len(x.Buf)
}

// keyed walks the entries of a HashMap with string keys.
func (r *Reader) keyed() (known bool) {
	for n := r.size(); n > 0 && r.OK(); n-- {
		off := r.Off
		switch tag := r.Byte("a key"); {
		case tag == tagHandle:
			r.Off = off
			r.object(r.at(decode.ByKey, "", 0))
		case tag == tagString:
			x := r.text()
			known = known || len(x.raw) <= 16 && dubboKeys[string(x.raw)]
		default:
			r.FailAt(off, decode.Malformed, "a string as key", decode.HexByte(tag))
		}
		r.object(r.at(decode.ByEntry, "", 0))
	}
	return known
}
