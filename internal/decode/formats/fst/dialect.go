package fst

import (
	"encoding/binary"
	"sync"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/registration"
)

// dialect is what differs between the lines of FST besides the layouts of classes. The name of a field says what FST 1 has.
type dialect struct {
	library registration.Library
	// own are the classes that FST itself knows, by id from firstKnown.
	own []*class
	// objectID is the id of java.lang.Object: in an array of arrays, the class of null.
	objectID byte
	// annotations is the package of the annotations that change how fields are written.
	annotations string
	// layouts has the classes of the JDK that are written in another way than FST 2 writes them.
	layouts map[string]*class
	// inherited are the classes whose serializers are used for subclasses, too. Fields of these are not written.
	inherited map[string]layout
	// one: FST 1. Numbers of two bytes have the high one first, and so have those of four bytes where a byte before them says that they
	// follow. Texts are objects of class String. There are no marks around fields and sections. Numbers that a writeObject or
	// a writeExternal writes have a fixed size; what the latter writes is in the form of java.io.DataOutput. A map writes 1 in place of
	// the class of a key or a value if the one before it had the same class. Named classes have the ids after the
	// registered ones.
	one bool
}

// The dialects. fst2 is that of fst 2.48 to 2.57, fst1 that of fst 1.55.
var (
	fst2 = newDialect(dialect{
		library: registration.FST2, objectID: 32, annotations: "org.nustaq.serialization.annotations.",
		inherited: map[string]layout{
			vector: collection, hashtable: mapping, "java.util.concurrent.ConcurrentHashMap": mapping,
			"java.math.BigInteger": bigInteger, "java.util.EnumSet": enumSet,
		},
	})
	fst1 = newDialect(dialect{
		library: registration.FST1, objectID: 37, annotations: "de.ruedigermoeller.serialization.annotations.", one: true,
		layouts: map[string]*class{
			stringClass.name:       stringClass,
			"java.util.Properties": {name: "java.util.Properties", layout: properties},
		},
		inherited: map[string]layout{"java.util.concurrent.ConcurrentHashMap": mapping, "java.util.EnumSet": enumSet},
	})
)

func newDialect(d dialect) *dialect {
	for _, name := range registration.Known(d.library) {
		d.own = append(d.own, d.classOf(name))
	}
	return &d
}

// firstNamed is the id of the first class that is named in a body where the application has registered none.
func (d *dialect) firstNamed() int {
	if d.one {
		return firstKnown + len(d.own) + 1
	}
	return firstNamed
}

// stringClass is the class of texts.
var stringClass = &class{name: "java.lang.String", layout: plainText}

// order is the order of bytes in a number of two bytes.
func (d *dialect) order() binary.ByteOrder {
	if d.one {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// u16 takes two bytes in the order of the dialect.
func (r *Reader) u16(what string) uint16 {
	if r.d.one {
		return r.U16(what)
	}
	return uint16(r.Little(2, what))
}

// mark takes a byte that FST 2 writes around fields and sections.
func (r *Reader) mark(want byte, what string) {
	if !r.d.one {
		r.expect(want, what)
	}
}

// startsRequest1 accepts a short text after its length in two bytes.
func startsRequest1(b []byte) bool {
	return len(b) > 1 && b[0] == 0 && b[1] > 0 && b[1] < 0x20 && decode.VersionAt(b, 2)
}

// tell returns the dialect that the start of a body shows, nil if it can be both.
func tell(b []byte, k decode.BodyKind) *dialect {
	switch {
	case len(b) < 2:
	case k == decode.BodyRequest && startsRequest1(b):
		return fst1
	case k == decode.BodyRequest && startsRequest(b):
		return fst2
	case k == decode.BodyText && b[0] == 0:
		return fst1 // the empty text of FST 2 is one byte
	case k == decode.BodyText && b[0] >= wide16:
		return fst2 // else it has 32,768 characters and more
	case k == decode.BodyResult:
		return tellValue(b[1:])
	case k == decode.BodyEvent:
		return tellValue(b)
	}
	return nil
}

// tellValue is tell for a tagged value: only FST 2 has a tag for texts, and only FST 1 has them as objects.
func tellValue(b []byte) *dialect {
	switch {
	case b[0] == tagString:
		return fst2
	case b[0] == tagObject && len(b) > 1 && b[1] == firstKnown:
		return fst1
	}
	return nil
}

// probe is readers of both dialects that try how bodies end; probes are kept for their memory.
type probe struct{ r1, r2 Reader }

var probes sync.Pool

// tellWhole returns the only dialect in which the body ends as it must, nil if none or both fit.
func tellWhole(b []byte, k decode.BodyKind) *dialect {
	if d := tell(b, k); d != nil {
		return d
	}
	p, _ := probes.Get().(*probe)
	if p == nil {
		p = &probe{Reader{application: application{d: fst1}}, Reader{application: application{d: fst2}}}
	}
	defer probes.Put(p)
	ends2, ends1 := p.r2.ends(b, k), p.r1.ends(b, k)
	switch {
	case ends2 && !ends1:
		return fst2
	case ends1 && !ends2:
		return fst1
	}
	return nil
}

// ends reports whether a body of this dialect would be a text, or end with its attachments or with a value that can be walked.
func (r *Reader) ends(b []byte, k decode.BodyKind) bool {
	r.Reset(b, decode.Malformed, nil)
	switch k {
	case decode.BodyText:
		r.SkipText()
		return r.OK() && r.Off == len(b)
	case decode.BodyResult:
		kind := r.ResultKind()
		if kind < 2 {
			r.Value(decode.ByField, "result", 0, "")
			return r.OK() && r.Off == len(b)
		}
		if kind < 3 || !r.OK() {
			return false
		}
		_, ok := r.FindAttachments(r.Off)
		return ok
	}
	return false
}
