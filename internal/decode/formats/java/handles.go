package java

import (
	"fmt"
	"strings"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/jdk"
)

// baseHandle is the first handle that a stream assigns (baseWireHandle).
const baseHandle = 0x7e0000

// noNode stands for no node, also without a tree.
const noNode = -2

// maxHandles bounds the memory of one body's table; smaller than any tree that a body with so many objects would need.
const maxHandles = 1 << 21

// table has the handles and the classes of a body.
type table struct {
	handles []handle
	classes []class
	fields  []fieldDesc      // of all classes
	texts   map[int32]string // of strings that were referred to, by handle
	// repeated counts the bytes that references have copied.
	repeated int
}

// kept is the largest capacity, in entries, that a table keeps for the next body.
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

// isJDK reports whether a class is one of the JDK's, by its name.
func isJDK(class string) bool {
	return strings.HasPrefix(class, "java.") || strings.HasPrefix(class, "javax.") || strings.HasPrefix(class, "sun.")
}

// handle is an object, string or class that later bytes may refer to.
type handle struct {
	kind   handleKind
	hidden bool // it lies in a hidden item, which is node
	a, b   int32
	node   int32 // in the tree, -1 for none
}

type handleKind uint8

const (
	toString      handleKind = iota // a: offset, b: length of its characters in the body
	toObject                        // a: index of its class, -1 if unknown; b: offset of its data
	toInteger                       // a BigInteger; its node may be that of the BigDecimal around it
	toClass                         // a: index
	toClassObject                   // a Class: a: index, -1 for none
	toEnum                          // a: index of its class, b: handle of its name, -1 for none
)

// assign assigns the next handle, unless handles are unknown.
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

// refer takes a handle. ok is false without an error if handles are unknown and it refers to skipped bytes.
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

// chars returns the characters of a string, as encoded in the body.
func (r *Reader) chars(s handle) []byte { return r.Buf[s.a : s.a+s.b] }

// maxRepeated bounds, in bytes, the texts and byte arrays of one body that are copied for references: the printed values of
// a body must not grow without bound.
const maxRepeated = 64 << 20

// repeats reports whether n bytes more may be repeated.
func (r *Reader) repeats(n int) bool {
	if r.repeated > maxRepeated-n {
		return false
	}
	r.repeated += n
	return true
}

// utf is jdk.UTF for names, which are kept for later bodies.
func (r *Reader) utf(b []byte) string {
	if decode.IsASCII(b) {
		return r.Name(b)
	}
	return jdk.UTF(b)
}
