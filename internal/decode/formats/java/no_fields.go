package java

import "dubbo-wire/internal/decode"

// Of a class of the application a compacted stream tells the name. An object of it ends somewhere in what follows. There is
// one guess that proves itself: that the class has no fields, as most exceptions and most classes that extend a collection
// do not. Each field takes a byte at least, so a wrong guess leaves bytes that are to be read as something else: collections
// get too many elements, or the body does not end with a value.

// beginElements begins to count the elements of a collection: how many it has by its own word, and whether there were objects of such
// classes before it.
func (r *Reader) beginElements() (size int, bare bool, k int) {
	if !r.assumeNoFields {
		return 0, false, 0
	}
	bare, r.assumed, r.announced = r.assumed, false, -1
	r.more()
	return r.announced, bare, 0
}

// endElements ends what beginElements began: a collection that has such objects must have as many elements as it says.
func (r *Reader) endElements(size, k int, bare bool) {
	if !r.assumeNoFields || !r.OK() {
		return
	}
	if r.assumed && k != size {
		r.Fail(decode.Unsupported, "as many elements as the collection says, if its classes have no fields", "more")
		return
	}
	r.assumed = r.assumed || bare
}

// Value takes one object. Where a class of the application stops it, it is taken to have no fields if then the rest of the
// body is values to its end.
func (r *CompactReader) Value(l decode.Label, name string, index int, typ string) {
	r.start()
	at, before, open := r.Off, r.save(), r.Tree.Depth()
	r.unknown = false
	r.Reader.Value(l, name, index, typ)
	if r.OK() || !r.unknown || r.tried || r.unknownHandles || r.Short != decode.Malformed {
		return
	}
	r.tried = true
	t := r.Tree
	r.Tree, r.assumeNoFields = nil, true
	r.restore(at, before)
	for r.OK() && r.Off < len(r.Buf) {
		r.Reader.Value(decode.ByIndex, "", 0, "")
	}
	r.assumeNoFields = r.OK()
	r.Tree = t
	r.restore(at, before)
	t.CloseTo(open)
	r.Reader.Value(l, name, index, typ)
}

// Throwable takes the exception, an object like others.
func (r *CompactReader) Throwable() { r.Value(decode.ByField, "exception", 0, "") }
