package java

import (
	"bytes"
	"maps"

	"dubbo-wire/internal/decode"
)

// A class with a writeObject should write its fields first, by defaultWriteObject or writeFields, but it need not, and the
// stream does not say whether it did (specification, 3.2). The data are read with fields first; if that does not end at the
// end mark of the class, they are read without.

// retries bounds the bytes of one body that are read again, in lengths of the body.
const retries = 4

// state is a state of the reader that restore returns to.
type state struct {
	mark                                                                  decode.Mark
	block, handles, classes, fields, texts, repeated, copied, hiddenDepth int
}

func (r *Reader) save() state {
	return state{r.Mark(), r.block, len(r.handles), len(r.classes), len(r.fields), len(r.texts), r.repeated, r.copied, r.hiddenDepth}
}

// restore returns to offset at and state p, and forgets the error.
func (r *Reader) restore(at int, p state) {
	r.retried += r.Off - at + len(r.texts)
	r.Resume(at)
	r.Rewind(p.mark)
	r.block, r.viewOf, r.hiddenDepth = p.block, noNode, p.hiddenDepth
	r.handles, r.classes, r.fields = r.handles[:p.handles], r.classes[:p.classes], r.fields[:p.fields]
	r.repeated, r.copied = p.repeated, p.copied
	if len(r.texts) > p.texts {
		maps.DeleteFunc(r.texts, func(h int32, _ string) bool { return h >= int32(p.handles) })
	}
}

// optionalFields takes the data of class number at, which has fields and a writeObject, of the object that is node i.
func (r *Reader) optionalFields(i int, at int32, c *class) {
	from, before := r.Off, r.save()
	if c.unwritten && !r.noRetry && startsAnnotation(r.Buf[from:]) {
		r.annotation(i, c)
		if r.OK() || r.Err().Cause != decode.Malformed || r.retried > retries*len(r.Buf) {
			return
		}
		r.restore(from, before)
	}
	r.own(i, c)
	err := r.Err()
	if err == nil || err.Cause != decode.Malformed || r.noRetry || r.retried > retries*len(r.Buf) || !startsAnnotation(r.Buf[from:]) {
		return
	}
	r.restore(from, before)
	r.annotation(i, c)
	if r.OK() || r.Err().Cause != decode.Malformed {
		r.classes[at].unwritten = r.OK()
		return
	}
	// Both fail: report the error of the usual way.
	r.restore(from, before)
	r.noRetry = true
	r.own(i, c)
	r.noRetry = false
}

// startsAnnotation reports whether b can start with an annotation and its end.
func startsAnnotation(b []byte) bool {
	return len(b) > 0 && bytes.IndexByte([]byte{
		tcNull, tcReference, tcObject, tcString, tcArray, tcClass, tcBlockData, tcEndBlockData, tcBlockDataLong, tcLongString, tcEnum,
	}, b[0]) >= 0
}
