package java

import (
	"fmt"
	"strings"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/jdk"
)

// baseHandle is the first handle that a stream assigns (baseWireHandle).
const baseHandle = 0x7e0000

// noNode is no node, also where none is recorded.
const noNode = -2

// maxHandles bounds the memory of one body's table; smaller than any tree that a body with so many objects would need.
const maxHandles = 1 << 21

// table is what a body has named so far: everything with a handle, and its classes.
type table struct {
	handles []handle
	classes []class
	fields  []fieldDesc      // of all classes
	texts   map[int32]string // of strings that were referred to, by handle
	// repeated counts the bytes that references have copied.
	repeated int
}

// kept is how many entries a table keeps memory for from body to body.
const kept = 1 << 13

func (t *table) reset() {
	t.repeated = 0
	t.handles = reuse(t.handles)
	t.classes = reuse(t.classes)
	t.fields = reuse(t.fields)
	if len(t.texts) > kept {
		t.texts = nil
	}
	clear(t.texts)
}

func reuse[T any](s []T) []T {
	if cap(s) > kept {
		return nil
	}
	return s[:0]
}

// isJDK tells the JDK's classes by their names.
func isJDK(class string) bool {
	return strings.HasPrefix(class, "java.") || strings.HasPrefix(class, "javax.") || strings.HasPrefix(class, "sun.")
}

// handle is one thing that later bytes may refer to.
type handle struct {
	kind   handleKind
	hidden bool // in what is no value; node is that
	a, b   int32
	node   int32 // in the tree, -1 when it has none
}

type handleKind uint8

const (
	toString      handleKind = iota // a: offset, b: length of its characters in the body
	toObject                        // a: index of its class, -1 when not noted; b: offset of its data
	toInteger                       // a BigInteger; its node may be the BigDecimal's in which it lies
	toClass                         // a: index
	toClassObject                   // a Class: a: index, -1 for none
	toEnum                          // a: index of its class, b: handle of its name, -1 when it has none
)

// assign gives the next handle to something. Where handles are not known it has none.
func (r *Reader) assign(h handle) {
	if r.unknownHandles {
		return
	}
	if len(r.handles) >= maxHandles {
		r.Fail(decode.Limit, fmt.Sprintf("at most %d objects in a body", maxHandles), "more")
		return
	}
	r.handles = append(r.handles, h)
}

// refer takes a handle. ok is false, without an error, when it refers to what was not read and that is accepted.
func (r *Reader) refer() (h int32, ok bool) {
	v := int64(int32(r.U32("a handle"))) - baseHandle
	switch {
	case !r.OK():
	case v >= 0 && v < int64(len(r.handles)):
		return int32(v), true
	case v < 0 || !r.unknownHandles:
		r.FailAt(r.Off-4, decode.Malformed, fmt.Sprintf("a reference to one of the %d things before it", len(r.handles)), fmt.Sprintf("handle %08x", uint32(v+baseHandle)))
	}
	return 0, false
}

// text returns the string that handle h refers to. It is decoded once, however often it is referred to.
func (r *Reader) text(h int32) string {
	if s, ok := r.texts[h]; ok {
		return s
	}
	return r.keep(h, r.utf(r.chars(r.handles[h])))
}

func (r *Reader) keep(h int32, s string) string {
	if r.texts == nil {
		r.texts = make(map[int32]string)
	}
	r.texts[h] = s
	return s
}

// chars returns the characters of a string, as they lie in the body.
func (r *Reader) chars(s handle) []byte { return r.Buf[s.a : s.a+s.b] }

// maxRepeated bounds the texts and byte arrays of one body that are repeated where it has references, in bytes: what is
// printed of a body must not grow without bound.
const maxRepeated = 64 << 20

// repeats reports whether n bytes more may be repeated.
func (r *Reader) repeats(n int) bool {
	if r.repeated > maxRepeated-n {
		return false
	}
	r.repeated += n
	return true
}

// utf is jdk.UTF for names, which come again.
func (r *Reader) utf(b []byte) string {
	if jdk.IsASCII(b) {
		return r.Name(b)
	}
	return jdk.UTF(b)
}
