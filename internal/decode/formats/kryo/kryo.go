// Package kryo reads bodies of Dubbo's serialization "kryo" (id 8) and, for package kryo2, "kryo2" (id 25), as Kryo 4
// writes them (Dubbo 2.6 and 2.7) and as Kryo 5 does (the extensions for Dubbo 3): numbers of fixed width in the other
// byte order, other class ids, other collections. dialect.go tells the two apart. Kryo 2.24 (Dubbox) differs from Kryo 4 in few objects (kryo224.go).
//
// Sources: Dubbo 2.6.12 and 2.7.8 (KryoObjectOutput, KryoObjectOutput2, AbstractKryoFactory, CompatibleKryo), kryo
// 4.0.1 and 4.0.2 (Output, DefaultClassResolver, MapReferenceResolver, DefaultSerializers, CollectionSerializer,
// MapSerializer), kryo-serializers 0.42; dubbo-serialization-kryo 1.0.1 and 3.2.0, which bring kryo 5.3.0 and 5.4.0 with
// kryo-serializers 0.45, and kryo 5.6.2, measured: they write the same.
//
// A body comes in; a tree of its values goes out, as far as they can be read. The bytes carry classes but no field names,
// counts or types: an object of an application class ends where its class says. Exceptions, and objects of classes that Kryo
// cannot create, are Java serialization streams, which package java reads (java_stream.go). So the reader walks forward
// through strings, boxes, arrays, JDK collections and the other JDK classes of the tables in classes.go; the first class
// outside them stops it with cause Unsupported, after the class name. The attachments are then found from the end of the body
// (attachments.go).
//
// With the application's classes objects are read by their fields: library.go chooses the serializer of a class as Dubbo and
// Kryo do, plan.go has the fields in Kryo's order, generics.go the type arguments for which Kryo 5 leaves class ids out. What
// Annotations of the application's classes choose other serializers (bind.go, annotated.go), some of which write chunks (chunks.go). What
// is read is checked more strictly than by Kryo, so that classes that are not the writer's are noticed (misfit.go).
//
// Memory: the body is borrowed until the next Reset; the tree gets copies of texts where it wants values.
package kryo

import (
	"bytes"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/classpath"
	"dubbo-wire/internal/decode/formats/java"
)

// Format is Dubbo's serialization "kryo", as Kryo 4 writes it.
var Format = decode.Format{
	ID:         8,
	Name:       "kryo",
	Depth:      decode.DepthEnvelope,
	Classes:    decode.DepthFull,
	Releases:   "2.6.0 to 2.7.23",
	Capture:    "kryo.pcap.zst",
	Heartbeats: [][]byte{{0x00}},
	Scrub:      Scrub,
	Optimized:  true,
	Starts:     Starts,
	New:        New4,
	Tell:       Tell4,
	TellWhole:  tellsWhole(kryo4, false),
}

// Format5 is the same as Kryo 5 writes it.
var Format5 = func() decode.Format {
	f := Format
	f.Dialect, f.Releases, f.Capture = "Kryo 5", "3.x, by extension", "kryo-3.2.16.pcap.zst"
	f.New, f.Tell, f.TellWhole = New5, Tell5, tellsWhole(kryo5, false)
	return f
}()

// With returns f, a format of this package or of kryo2, with readers that know the classes of p.
func With(f decode.Format, p *classpath.Path) decode.Format {
	if p == nil {
		return f
	}
	plain := f.New
	d := plain().(*Reader).d
	libraries, older := newLibraries(p, d), [2]*library{}
	if d.older != nil {
		older = newLibraries(p, d.older)
	}
	f.Counts = true
	f.TypedResults = plain().(*Reader).untagged || len(p.Lists()) > 0
	f.New = func() decode.Reader {
		r := plain().(*Reader)
		r.library = libraries[0]
		return &classReader{Reader: r, libraries: libraries, older: older}
	}
	return f
}

// newLibraries returns the classes of each side.
func newLibraries(p *classpath.Path, d *dialect) (libraries [2]*library) {
	for _, side := range []decode.Side{decode.Consumer, decode.Provider} {
		libraries[side] = newLibrary(p, side, d)
		if !p.Sided() {
			libraries[side] = libraries[0]
		}
	}
	return libraries
}

// Starts accepts an ASCII text; its length is not written.
var Starts = decode.Starts{
	Request: func(b []byte) bool { return decode.VersionAt(b, 0) },
	Result:  decode.IsKindByte,
}

// Reader reads one body.
type Reader struct {
	decode.Recorder
	d *dialect
	// untagged: serialization kryo2, where the runtime class of a top-level object is not on the wire.
	untagged bool
	library  *library // may be nil

	// State of one top-level object.
	names   []*class // classes by the order in which their names appeared
	objects int      // objects numbered so far
	seen    []seen   // the same, where a tree is filled

	// Chunks: see chunks.go.
	whole    []byte           // the body; Buf is what is being read of it
	buffer   int              // the number of Buf
	buffers  int              // that there were in this body, besides the body itself
	level    int              // pieces that are being read
	pieces   []*decode.Pieces // by level
	gathered int              // their bytes
	fault    *decode.Error    // why data were skipped first
	// otherVersion: an object that tells something of the writer's class is of another version of the class than the class path's.
	otherVersion bool

	copied int     // bytes of texts copied for references
	nulls  int     // null elements that took no byte
	probe  *Reader // tries places where attachments may start
	work   int     // bytes looked at in vain, for that search

	quick  bool // values may be counted: see count.go
	tally  tally
	frames []frame // around the one that is being counted

	schemas []schema       // that the current top-level object has had
	lost    lost           // by data that were skipped in the current top-level object
	streams []stream       // of the current top-level object
	idle    []*java.Reader // that streams before it had
	scratch decode.Tree    // their nodes where none are wanted

	// With a library:
	named     map[string]*class // by the bytes of their names
	allowed   map[[2]*class]bool
	declares  map[string]*class // by descriptor, of top-level objects
	generics  generics          // Kryo 5
	kept      kept              // Kryo 2.24
	variables bindings          // Kryo 2.24: those that the fields of the object see that is entered
	used      []*class          // whose fields were read, in this body
	within    place             // the innermost object of the application, and its field
	misread   bool              // an object is not of the kind that its class is
	listed    bool              // a class is the one that a list of registered classes has for its number
	refuted   bool              // the list is not that of the peers of the connection
	garbage   bool              // what was taken for a number of a class may be something else
	distrust  *decode.Error

	variation    *decode.Variation
	variedFields []field // of varied
	varies       *plan   // the plan that varied is made of
	pattern      bool    // the body has a Pattern, whose flags Kryo 2.24 does not write
	varied       plan

	// Numbers of the application's classes: see search.
	assigned    assignment
	told        decode.Numbers // by this body and earlier ones of the connection
	searched    bool
	top         int    // where the top-level object starts
	topType     string // its declared type
	trial       *Reader
	probing     bool     // this is the trial of another reader
	choice      []*class // what may be the class, and of these what tells of no other version, for kryo2
	exact       []*class
	likely      map[string]*class // the class that the last object of a type had, for kryo2
	before      *Reader           // this reader before take
	taken       bool              // by take, which may be undone
	undecided   []*class          // what a number may stand for at which it stopped
	undecidedAt uint32
	tried       int // bytes that were read for kryo2, to find out the classes of values
}

// New4 returns a reader of what Kryo 4 writes.
func New4() decode.Reader { return &Reader{d: kryo4} }

// New5 returns a reader of what Kryo 5 writes.
func New5() decode.Reader { return &Reader{d: kryo5} }

// NewUntagged4 is New4 for serialization "kryo2", which leaves the class ids of top-level objects out.
func NewUntagged4() decode.Reader { return &Reader{d: kryo4, untagged: true} }

// NewUntagged5 is New5 for kryo2.
func NewUntagged5() decode.Reader { return &Reader{d: kryo5, untagged: true} }

// Reset implements decode.Reader.
func (r *Reader) Reset(body []byte, short decode.Cause, t *decode.Tree) {
	r.Recorder.Reset(body, short, t)
	r.copied, r.nulls, r.work = 0, 0, 0
	r.whole, r.buffer, r.buffers, r.level, r.gathered, r.fault = body, 0, 0, 0, 0, nil
	if len(r.used) > 0 {
		clear(r.used)
		r.used = r.used[:0]
	}
	r.within, r.misread, r.garbage, r.listed = place{}, false, false, false
	r.pattern, r.variables = false, nil
	r.kept.reset()
	r.otherVersion = false
	r.assigned, r.searched, r.topType, r.tried = nil, false, "", 0
	r.begin()
}

// begin starts a top-level object: the numbers of class names and references start at 0 again.
func (r *Reader) begin() {
	clear(r.names)
	r.names = r.names[:0]
	if cap(r.seen) > 1<<16 {
		r.seen = nil
	}
	clear(r.seen)
	r.seen = r.seen[:0]
	r.objects = 0
	r.generics.reset()
	r.endStreams()
	r.scratch.Reset()
	r.schemas, r.lost = r.schemas[:0], lost{}
	r.startCounting()
}

// Int implements decode.IntReader.
func (r *Reader) Int(name string) int32 {
	return r.IntField(name, int32(r.fixed(4, "an int")))
}

// SkipText implements decode.Reader.
func (r *Reader) SkipText() {
	r.text()
	r.EndText()
}

// Text implements decode.Reader.
func (r *Reader) Text(name string) (s string, null bool) {
	x := r.text()
	return r.TextField(name, x.decode(), x.null)
}

// Value implements decode.Reader. The declared type only tells classes that are not the writer's, except in kryo2: there it
// must say which class the object has.
func (r *Reader) Value(l decode.Label, name string, index int, typ string) {
	if !r.OK() {
		return
	}
	defer r.Settle(r.Tree.Depth())
	r.begin()
	r.top, r.topType, r.searched = r.Off, typ, false
	p := r.At(l, name, index)
	if r.untagged {
		r.untaggedValue(p, typ)
	} else {
		r.argument(r.declaredAs(typ), p)
	}
}

// untaggedValue takes a top-level object of kryo2. Its runtime class is known only if the declared class is final.
func (r *Reader) untaggedValue(p decode.Place, typ string) {
	if p.Label == decode.ByField && p.Name == "event" && typ == "" {
		typ = "Ljava/lang/String;" // event data other than null is a string
	}
	cl := r.library.descriptorClass(typ)
	if cl != nil && cl.final {
		r.nullable(cl, p)
		return
	}
	runtime, choice, taken := r.runtimeClass(p, typ)
	if runtime != nil {
		if !taken {
			r.nullable(runtime, p)
		}
		return
	}
	found := decode.NoType
	if typ != "" {
		found = decode.JavaName(typ)
	}
	if len(choice) > 0 {
		found += ", and objects that may be of class " + namesOf(choice)
	}
	r.Fail(decode.Unsupported, "a declared type that is the runtime class (kryo2 writes no class)", found)
	if cl != nil && cl.model != nil && cl.model.file == nil {
		r.ask(cl)
		r.Err().Class = cl.name
	}
}

// Throwable implements decode.Reader.
func (r *Reader) Throwable() {
	if !r.OK() {
		return
	}
	defer r.Settle(r.Tree.Depth())
	r.begin()
	r.top, r.topType, r.searched = r.Off, "", false
	p := r.At(decode.ByField, "exception", 0)
	if r.untagged && bytes.HasPrefix(r.Buf[r.Off:], newJavaStream) {
		r.nullable(throwable, p) // dubbo-serialization-kryo 1.0.1, whose readers expect a class
		return
	}
	r.object(p)
}

// Attachments implements decode.Reader.
func (r *Reader) Attachments() {
	if !r.OK() {
		return
	}
	defer r.Settle(r.Tree.Depth())
	r.begin()
	r.top, r.topType, r.searched = r.Off, "", false
	p := r.At(decode.ByField, "attachments", 0)
	if r.untagged {
		r.nullable(hashMap, p)
	} else {
		r.argument(r.declaredAs("Ljava/util/Map;"), p)
	}
}
