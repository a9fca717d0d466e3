package dubboserialization

import (
	"bytes"

	"dubbo-wire/internal/decode"
)

// The attachments are a HashMap with string keys: "8b 93 86", a count, the entries. They are found without the classes of
// what stands before them as the one place where a parse of such a map ends exactly at the end of the body and one of
// the keys is Dubbo's own: each request has "path", each response with attachments "dubbo". Where two places are found
// none is taken.

// mapHead is how a HashMap begins: the number of its descriptor and its tag.
var mapHead = []byte{tagDescID, 0x93, tagMap}

// keyHead is how a string begins.
var keyHead = []byte{tagDescID, 0x90}

// dubboKeys are keys that Dubbo itself sets.
var dubboKeys = map[string]bool{"path": true, "interface": true, "version": true, "dubbo": true}

// workPerPlace is what a place costs beside its bytes.
const workPerPlace = 256

// FindAttachments implements decode.AttachmentFinder.
func (r *Reader) FindAttachments(from int) (at int, ok bool) {
	if r.Short != decode.Malformed || from < 0 {
		return 0, false // the end of the body is missing
	}
	body := r.Buf
	budget := budget(body)
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
		budget -= r.probe.Off - off + r.probe.work + workPerPlace
		if ok && dubbo {
			found++
			at = off
		}
	}
	if found != 1 {
		return 0, false
	}
	r.loose = r.loose || at > r.Off
	r.plan.reset()
	r.Resume(at)
	return at, true
}

// try parses attachments from off to the end of the body; known tells that one of Dubbo's own keys is in them.
func (r *Reader) try(off int) (known, ok bool) {
	if r.probe == nil {
		r.probe = new(Reader)
	}
	x := r.probe
	x.Reset(r.Buf, decode.Malformed, nil)
	x.loose = true
	x.Off = off + len(mapHead)
	n := x.elements("the number of entries")
	for ; n > 0 && x.OK(); n-- {
		if !bytes.HasPrefix(x.Buf[x.Off:], keyHead) {
			x.Fail(decode.Malformed, "a string as key", "another object")
			break
		}
		x.Off += len(keyHead)
		key := x.text()
		known = known || x.OK() && len(key.raw) <= 16 && dubboKeys[string(key.raw)]
		x.object(place{})
	}
	return known, x.OK() && x.Off == len(x.Buf)
}
