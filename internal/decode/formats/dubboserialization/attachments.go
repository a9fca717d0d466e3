package dubboserialization

import (
	"bytes"

	"dubbo-wire/internal/decode"
)

// The attachments are a HashMap with string keys: "8b 93 86", a count, the entries. They are the one place where a
// parse of such a map ends exactly at the end of the body and one of the keys is Dubbo's own; the classes of the values
// before them are not needed.

// mapHead is how a HashMap begins: the number of its descriptor and its tag.
var mapHead = []byte{tagDescID, 0x93, tagMap}

// keyHead is how a string begins.
var keyHead = []byte{tagDescID, 0x90}

// FindAttachments implements decode.AttachmentFinder.
func (r *Reader) FindAttachments(from int) (at int, ok bool) {
	if at, ok = r.SearchAttachments(from, budget(r.Buf), r.Next(mapHead), r.tryAttachments); ok {
		r.unknownObjects = r.unknownObjects || at > r.Off
		r.plan.reset()
		r.Resume(at)
	}
	return at, ok
}

// tryAttachments parses attachments from off to the end of the body.
func (r *Reader) tryAttachments(off int) (cost int, ok bool) {
	if r.probe == nil {
		r.probe = new(Reader)
	}
	x := r.probe
	x.source = nil
	x.Reset(r.Buf, decode.Malformed, nil)
	x.unknownObjects = true
	x.Off = off + len(mapHead)
	known, n := false, x.elements("the number of entries")
	for ; n > 0 && x.OK(); n-- {
		if !bytes.HasPrefix(x.Buf[x.Off:], keyHead) {
			x.Fail(decode.Malformed, "a string as key", "another object")
			break
		}
		x.Off += len(keyHead)
		key := x.text()
		known = known || x.OK() && len(key.raw) <= 16 && decode.DubboKey(string(key.raw))
		x.object(place{})
	}
	return x.Off - off + x.work, known && x.OK() && x.Off == len(x.Buf)
}
