package java

import "dubbo-wire/internal/decode"

// A compacted stream has only the name of an application's class, so the end of its objects is unknown. One assumption can
// be checked: that the class has no fields, as most exceptions and most classes that extend a collection. Each field takes
// a byte at least, so a wrong assumption leaves bytes that are read as something else: collections get too many elements,
// or the body does not end with a value.

// beginElements begins to count the elements of a collection. It returns the announced number of elements and whether there
// were objects of assumed classes before it.
func (r *Reader) beginElements() (size int, before bool, k int) {
	if !r.assumeNoFields {
		return 0, false, 0
	}
	before, r.assumed, r.announced = r.assumed, false, -1
	r.more()
	return r.announced, before, 0
}

// endElements ends what beginElements began: a collection with objects of assumed classes must have the announced number of
// elements.
func (r *Reader) endElements(size, k int, before bool) {
	if !r.assumeNoFields || !r.OK() {
		return
	}
	if r.assumed && k != size {
		r.Fail(decode.Unsupported, "as many elements as the collection says, if its classes have no fields", "more")
		return
	}
	r.assumed = r.assumed || before
}

// Value takes one object. If a class of the application stops it, the class is assumed to have no fields, provided that the
// rest of the body then consists of values.
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
