// Package kryo reads bodies of Dubbo's serialization "kryo" (id 8) and, for package kryo2, "kryo2" (id 25).
//
// Sources: Dubbo 2.6.12 and 2.7.8 (KryoObjectOutput, KryoObjectOutput2, AbstractKryoFactory, CompatibleKryo), kryo
// 4.0.1 and 4.0.2 (Output, DefaultClassResolver, MapReferenceResolver, DefaultSerializers, CollectionSerializer,
// MapSerializer), kryo-serializers 0.42.
//
// The bytes carry classes but no field names, counts or types: an object of an application class ends where its class
// says. So a body is walked forward through strings, boxes, arrays, JDK collections and the other JDK classes of the
// tables in classes.go; the first class outside them stops the reader with cause Unsupported, behind the class name.
// The attachments are then found from the end of the body (find.go).
//
// Memory: the body is borrowed until the next Reset; the tree gets copies of texts where it wants values.
package kryo

import "dubbo-wire/internal/decode"

// Format is Dubbo's serialization "kryo".
var Format = decode.Format{
	ID:         8,
	Name:       "kryo",
	Depth:      decode.DepthEnvelope,
	Releases:   "2.6.0 to 2.7.23, later by extension",
	Capture:    "kryo.pcap.zst",
	Heartbeats: [][]byte{{0x00}},
	New:        func() decode.Reader { return new(Reader) },
}

// Reader reads one body. The zero value is ready for Reset.
type Reader struct {
	decode.Recorder
	// untagged is serialization kryo2: the runtime class of a top-level object is not on the wire.
	untagged bool
	d        *dialect

	// State of one top-level object.
	names   []*class // classes by the order in which their names appeared
	objects int      // objects numbered so far
	seen    []seen   // the same, where a tree is filled

	copied int     // bytes of texts repeated for references
	probe  *Reader // tries places where attachments may start
	work   int     // bytes looked at in vain, for that search
}

// NewUntagged returns a reader for serialization "kryo2", which leaves the class ids of top-level objects out.
func NewUntagged() decode.Reader { return &Reader{untagged: true} }

// Reset implements decode.Reader.
func (r *Reader) Reset(body []byte, short decode.Cause, t *decode.Tree) {
	r.Recorder.Reset(body, short, t)
	r.d = nil
	r.copied, r.work = 0, 0
	r.begin()
}

// begin starts a top-level object: class names and references are counted anew.
func (r *Reader) begin() {
	clear(r.names)
	r.names = r.names[:0]
	if cap(r.seen) > 1<<16 {
		r.seen = nil
	}
	clear(r.seen)
	r.seen = r.seen[:0]
	r.objects = 0
}

// SkipText implements decode.Reader.
func (r *Reader) SkipText() {
	if !r.OK() {
		return
	}
	r.text()
	r.Pass()
	r.Settle(r.Tree.Depth())
}

// Text implements decode.Reader.
func (r *Reader) Text(name string) (s string, null bool) {
	if !r.OK() {
		return "", false
	}
	defer r.Settle(r.Tree.Depth())
	x := r.text()
	switch {
	case !r.OK():
		return "", false
	case x.null:
		r.Leaf(decode.Null, decode.ByField, name, 0)
		return "", true
	}
	s = x.decode()
	if n := r.Leaf(decode.String, decode.ByField, name, 0); n != nil && r.Values() {
		n.Text = s
	}
	return s, false
}

// ResultKind implements decode.Reader.
func (r *Reader) ResultKind() byte {
	if !r.OK() {
		return 0
	}
	defer r.Settle(r.Tree.Depth())
	kind := r.Byte("a result kind")
	if kind > 5 {
		r.Fail(decode.Malformed, "a result kind, 0 to 5", hexByte(kind))
		return 0
	}
	if n := r.Leaf(decode.Int, decode.ByField, "flag", 0); n != nil {
		n.Num = int64(kind)
	}
	return kind
}

// Value implements decode.Reader. The declared type is not needed, except by kryo2: there it must say which
// class the object has.
func (r *Reader) Value(l decode.Label, name string, index int, typ string) {
	if !r.OK() {
		return
	}
	defer r.Settle(r.Tree.Depth())
	r.detect()
	r.begin()
	p := r.at(l, name, index)
	if r.untagged {
		r.untaggedValue(p, typ)
	} else {
		r.object(p)
	}
}

// untaggedValue takes a top-level object of kryo2. Only a declared class without subclasses tells its runtime class.
func (r *Reader) untaggedValue(p place, typ string) {
	if p.label == decode.ByField && p.name == "event" && typ == "" {
		typ = "Ljava/lang/String;" // event data other than null is a string
	}
	cl := descriptorClass(typ)
	if cl == nil || !cl.final {
		found := "no type"
		if typ != "" {
			found = decode.JavaName(typ)
		}
		r.Fail(decode.Unsupported, "a declared type that is the runtime class (kryo2 writes no class)", found)
		return
	}
	r.orNull(cl, p)
}

// Throwable implements decode.Reader.
func (r *Reader) Throwable() {
	if !r.OK() {
		return
	}
	defer r.Settle(r.Tree.Depth())
	r.detect()
	r.begin()
	r.object(r.at(decode.ByField, "exception", 0))
}

// Attachments implements decode.Reader.
func (r *Reader) Attachments() {
	if !r.OK() {
		return
	}
	defer r.Settle(r.Tree.Depth())
	r.detect()
	r.begin()
	p := r.at(decode.ByField, "attachments", 0)
	if r.untagged {
		r.orNull(hashMap, p)
	} else {
		r.object(p)
	}
}
