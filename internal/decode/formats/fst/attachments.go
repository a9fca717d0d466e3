package fst

import (
	"bytes"

	"dubbo-wire/internal/decode"
)

// The attachments are a HashMap with string keys: "00 0f", a count, the entries. They are the one place where a
// parse of such a map ends exactly at the end of the body and one of the keys is Dubbo's own; the classes of the values
// before them are not needed.
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

// mapHead is how a HashMap begins: its tag and class id.
var mapHead = []byte{tagObject, 0x0f}

// FindAttachments implements decode.AttachmentFinder.
func (r *Reader) FindAttachments(from int) (at int, ok bool) {
	if at, ok = r.SearchAttachments(from, workPerByte*len(r.Buf)+1<<12, r.Next(mapHead), r.tryAttachments); ok {
		r.skipped = r.skipped || at > r.Off
		r.Resume(at)
	}
	return at, ok
}

// tryAttachments parses attachments from off to the end of the body.
func (r *Reader) tryAttachments(off int) (cost int, ok bool) {
	if r.probe == nil {
		r.probe = &Reader{application: application{d: r.d}}
	}
	x := r.probe
	x.Reset(r.Buf, decode.Malformed, nil)
	x.Off = off + len(mapHead)
	x.skipped = true
	known := x.attachmentEntries()
	return x.work + x.Off - off, known && x.OK() && x.Off == len(x.Buf)
}

// atAttachments reports whether attachments may follow: a map whose first key is a text, an empty one at the end of the body, or bytes
// that are missing.
func (r *Reader) atAttachments() bool {
	b := r.Buf[r.Off:]
	if len(b) < 5 {
		return r.Short != decode.Malformed || len(b) == 3 && bytes.Equal(b[:2], mapHead) && b[2] == 0
	}
	return bytes.Equal(b[:2], mapHead) && (b[2] > 0 && b[2] < wide16 && b[3] == tagObject && b[4] == firstKnown || b[2] == wide16)
}

// attachmentEntries walks the entries of a HashMap with string keys and reports whether one of them is Dubbo's own.
func (r *Reader) attachmentEntries() (known bool) {
	e := r.startEntries()
	for n := r.size(); n > 0 && r.OK(); n-- {
		off := r.Off
		r.predicted = e.keys
		tag, _ := r.Peek()
		switch {
		case tag == tagHandle:
			r.object(r.At(decode.ByKey, "", 0))
		case r.atText():
			x := r.text()
			known = known || len(x.raw) <= 16 && decode.DubboKey(string(x.raw))
			r.note(off, stringClass)
			r.last = stringClass
		default:
			r.Fail(decode.Malformed, "a string as key", decode.HexByte(tag))
		}
		e.key(r)
		r.object(r.At(decode.ByEntry, "", 0))
		e.value(r)
	}
	return known
}

// atText takes the tag of a text, and its class if that is written; it returns false if there is none.
func (r *Reader) atText() bool {
	b := r.Buf[r.Off:]
	switch {
	case len(b) == 0:
		return false
	case !r.d.one && b[0] == tagString, r.d.one && r.predicted.class(r, b[0]) == stringClass:
		r.Off++
	case r.d.one && len(b) > 1 && b[0] == tagObject && b[1] == firstKnown:
		r.Off += 2
	default:
		return false
	}
	return true
}
