// Package fst reads bodies of Dubbo's serialization "fst" (id 9).
//
// Sources: Dubbo 2.6.12 and 2.7.8 FstObjectOutput and FstFactory, fst 2.48-jdk-6 (FSTObjectOutput, FSTStreamEncoder,
// FSTClazzNameRegistry, FSTClazzInfo, FSTConfiguration and its serializers), whose bytes fst 2.57 repeats.
//
// A body comes in; a tree of its values goes out, as far as they can be read. It is one FST stream: class ids and handles
// live from its first byte to its last. Every value starts with a tag, but an object's fields have neither names nor types:
// an object of an application's class ends where only its class knows. So the reader walks strings, boxes, enums, arrays, JDK
// collections and the other JDK classes of the table in classes.go, and stops with cause Unsupported after the name of the
// first class outside it. The attachments are then found from the end of the body (attachments.go).
//
// With a class path the reader knows the fields of other classes, too. A plan (plan.go) is made of a class once and says in which
// order FST writes its fields; object.go follows it. Classes with methods that java.io.ObjectOutputStream calls are written in
// sections, a class each, and written.go follows what such a method writes. What the bytes of another version of a class
// would be is looked for while they are read: tags, ordinals, declared classes, unused bits.
//
// Memory: the body is borrowed until the next Reset; the tree gets copies of texts where it wants values.
package fst

import (
	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/classpath"
	"dubbo-wire/internal/decode/jdk"
)

// Format is Dubbo's serialization "fst".
var Format = decode.Format{
	ID:         9,
	Name:       "fst",
	Depth:      decode.DepthEnvelope,
	Classes:    decode.DepthFull,
	Releases:   "2.6.0 to 2.7.23, later by extension",
	Capture:    "fst.pcap.zst",
	Heartbeats: [][]byte{{0xff}},
	Scrub:      fst2.scrub,
	Optimized:  true,
	Starts:     decode.Starts{Request: startsRequest, Result: decode.IsKindByte},
	New:        func() decode.Reader { return &Reader{application: application{d: fst2}} },
	Tell:       func(b []byte, k decode.BodyKind) decode.Verdict { return decode.Judge(tell(b, k), fst2) },
	TellWhole:  func(b []byte, k decode.BodyKind) decode.Verdict { return decode.Judge(tellWhole(b, k), fst2) },
}

// Format1 is the same as FST 1 writes it.
var Format1 = func() decode.Format {
	f := Format
	f.Dialect, f.Releases, f.Capture = "FST 1", "Dubbox 2.8", "dubbox-fst-1.55.pcap.zst"
	f.Scrub, f.Starts.Request = fst1.scrub, startsRequest1
	f.New = func() decode.Reader { return &Reader{application: application{d: fst1}} }
	f.Tell = func(b []byte, k decode.BodyKind) decode.Verdict { return decode.Judge(tell(b, k), fst1) }
	f.TellWhole = func(b []byte, k decode.BodyKind) decode.Verdict { return decode.Judge(tellWhole(b, k), fst1) }
	return f
}()

// With returns f, a format of this package, with readers that know the classes of p.
func With(f decode.Format, p *classpath.Path) decode.Format {
	if p != nil {
		d := f.New().(*Reader).d
		f.New = func() decode.Reader { return &Reader{application: application{d: d, classes: p}} }
		f.Counts = true
		f.TypedResults = len(p.Lists()) > 0
	}
	return f
}

// startsRequest accepts a short text.
func startsRequest(b []byte) bool { return b[0] > 0 && b[0] < 0x20 && decode.VersionAt(b, 1) }

// Reader reads one body.
type Reader struct {
	decode.Recorder
	names []*class // classes by the order in which their names appeared, from id 1000
	// skipped: part of the body was not read, so that names of classes may be missing.
	skipped bool
	nodes   map[int]int32  // the nodes of objects by the offset of their tags, where a tree is filled
	texts   map[int]string // texts that handles refer to, by the offset of their tags
	// referred are 1 + the last of places that a handle meant, by their last bits.
	referred [64]int32
	places   []int32 // the offsets of the tags of objects, in order, where no tree is filled
	copied   int     // bytes of texts copied for handles and elements without bytes
	// repeated counts elements without bytes.
	repeated int
	// Of FST 1: the classes that have a number in the value that is read, the class of the value read last (nil for null), and the
	// classes of objects by the offset of their tags.
	predicted prediction
	last      *class
	objects   []objectAt
	// flushed is where FST 1 emptied its buffer last. The ends of conditional fields are counted from there.
	flushed int
	quick   bool // values may be counted: see count.go
	tally   tally
	probe   *Reader // tries places where attachments may start
	work    int     // the cost of that search, in bytes read

	application
}

// Reset implements decode.Reader.
func (r *Reader) Reset(body []byte, short decode.Cause, t *decode.Tree) {
	r.Recorder.Reset(body, short, t)
	clear(r.names)
	r.names = r.names[:0]
	r.skipped = false
	if len(r.nodes) > 1<<12 || len(r.texts) > 1<<12 {
		r.nodes, r.texts = nil, nil
	}
	clear(r.nodes)
	clear(r.texts)
	r.copied, r.repeated, r.work = 0, 0, 0
	r.predicted, r.last, r.flushed, r.quick = prediction{}, nil, 0, false
	if cap(r.objects) > 1<<12 {
		r.objects = nil
	}
	if cap(r.places) > 1<<12 {
		r.places = nil
	}
	r.objects, r.places = r.objects[:0], r.places[:0]
	clear(r.referred[:])
	r.startBody()
}

// Int implements decode.IntReader.
func (r *Reader) Int(name string) int32 {
	if r.d.one {
		return r.IntField(name, int32(r.U32("an int")))
	}
	return r.IntField(name, r.int32("an int"))
}

// SkipText implements decode.Reader.
func (r *Reader) SkipText() {
	if r.d.one {
		r.utf()
	} else {
		r.text()
	}
	r.EndText()
}

// Text implements decode.Reader. The format has no null here.
func (r *Reader) Text(name string) (s string, null bool) {
	if r.d.one {
		at, raw := r.Off, r.utf()
		if name == "parameterTypes" && len(raw) == 0 && !r.atAttachments() {
			r.FailAt(at, decode.Malformed, "parameter types", "the high bytes of a number") // of arguments, as Dubbox writes it
		}
		if !decode.IsASCII(raw) {
			return r.TextField(name, jdk.UTF(raw), false)
		}
		return r.TextField(name, r.Name(raw), false)
	}
	x := r.text()
	if x.wide {
		return r.TextField(name, x.decode(), false)
	}
	return r.TextField(name, r.Name(x.raw), false)
}

// Value implements decode.Reader. The declared type is needed only where the number of a class is not certain.
func (r *Reader) Value(l decode.Label, name string, index int, typ string) {
	r.top(r.At(l, name, index), typ)
}

// Throwable implements decode.Reader.
func (r *Reader) Throwable() {
	p := r.At(decode.ByField, "exception", 0)
	p.Throwable = true
	r.top(p, "")
}

// Attachments implements decode.Reader.
func (r *Reader) Attachments() {
	r.top(r.At(decode.ByField, "attachments", 0), "Ljava/util/Map;")
}

// top takes a value for which a descriptor is declared, or "".
func (r *Reader) top(p decode.Place, typ string) {
	if !r.OK() {
		return
	}
	defer r.Settle(r.Tree.Depth())
	r.topStart, r.topNames = r.Off, len(r.names)
	r.startCounting()
	r.declared = r.declaredAs(typ)
	r.value(p, r.declared)
	r.flushed = r.Off
}
