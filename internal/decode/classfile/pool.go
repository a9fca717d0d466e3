package classfile

import (
	"encoding/binary"
	"fmt"
	"strings"

	"dubbo-wire/internal/decode/jdk"
)

// reader takes numbers from bytes; all are big-endian. It keeps its first error, and returns zeros from then on.
type reader struct {
	b   []byte // offsets in messages are those in b
	at  int
	err *Error
}

func (r *reader) fail(at int, format string, args ...any) {
	if r.err == nil {
		r.err = damaged("offset %d: %s", at, fmt.Sprintf(format, args...))
	}
}

// take returns the next n bytes, nil if there are not as many.
func (r *reader) take(n int) []byte {
	if r.err != nil {
		return nil
	}
	if n < 0 || n > len(r.b)-r.at {
		r.fail(r.at, "the file ends, %d more bytes were expected", n-(len(r.b)-r.at))
		return nil
	}
	r.at += n
	return r.b[r.at-n : r.at]
}

func (r *reader) u1() int {
	if b := r.take(1); b != nil {
		return int(b[0])
	}
	return 0
}

func (r *reader) u2() int {
	if b := r.take(2); b != nil {
		return int(binary.BigEndian.Uint16(b))
	}
	return 0
}

func (r *reader) u4() uint32 {
	if b := r.take(4); b != nil {
		return binary.BigEndian.Uint32(b)
	}
	return 0
}

// within returns a reader of the next n bytes, which are passed over.
func (r *reader) within(n uint32) *reader {
	start := r.at
	r.take(int(n))
	return &reader{b: r.b[:r.at], at: min(start, r.at), err: r.err}
}

// Tags of the constant pool (JVMS table 4.4-A) that are read.
const (
	tagUtf8      = 1
	tagInteger   = 3
	tagLong      = 5
	tagDouble    = 6
	tagClass     = 7
	tagString    = 8
	tagField     = 9
	tagMethod    = 10
	tagInterface = 11
	tagName      = 12

	tagInvokeDynamic = 18
)

// tagSizes are the bytes of an entry by its tag, with the tag; 0 where there is no such tag.
var tagSizes = [...]int{0, 3, 0, 5, 5, 9, 9, 3, 3, 5, 5, 5, 5, 0, 0, 4, 3, 5, 5, 3, 3}

// pool is a constant pool. Texts are made once for each entry, so that entries that are used often cost no memory.
type pool struct {
	b     []byte
	at    []uint32 // offset of each entry's tag; 0: there is none
	texts map[int]string
	types map[int]*Type
}

func readPool(r *reader) *pool {
	p := &pool{b: r.b, texts: map[int]string{}, types: map[int]*Type{}}
	start := r.at
	count := r.u2()
	if count == 0 || (count-1)*3 > len(r.b)-r.at {
		r.fail(start, "a constant pool of %d entries does not fit into the file", count)
		return p
	}
	p.at = make([]uint32, count)
	for i := 1; i < count && r.err == nil; i++ {
		at := r.at
		tag := r.u1()
		if r.err == nil && (tag >= len(tagSizes) || tagSizes[tag] == 0) {
			r.fail(at, "constant pool entry %d has the unknown tag %d", i, tag)
			return p
		}
		n := tagSizes[tag] - 1
		if tag == tagUtf8 {
			n = r.u2()
		}
		r.take(n)
		p.at[i] = uint32(at)
		if tag == tagLong || tag == tagDouble {
			i++ // takes two entries
			if i == count {
				r.fail(at, "constant pool entry %d needs another one after it", i-1)
			}
		}
	}
	return p
}

// entry returns what follows the tag of entry i; nil if that has another tag or there is none.
func (p *pool) entry(i, tag int) []byte {
	if i <= 0 || i >= len(p.at) || p.at[i] == 0 || int(p.b[p.at[i]]) != tag {
		return nil
	}
	return p.b[p.at[i]+1:]
}

// tag returns the tag of entry i, 0 if there is no such entry.
func (p *pool) tag(i int) int {
	if i <= 0 || i >= len(p.at) || p.at[i] == 0 {
		return 0
	}
	return int(p.b[p.at[i]])
}

// ref returns the k-th number of two bytes of entry i.
func (p *pool) ref(i, tag, k int) int {
	if b := p.entry(i, tag); b != nil {
		return int(binary.BigEndian.Uint16(b[2*k:]))
	}
	return 0
}

// raw returns a text in Java's modified UTF-8; nil if entry i is not a text.
func (p *pool) raw(i int) []byte {
	b := p.entry(i, tagUtf8)
	if b == nil {
		return nil
	}
	n := int(binary.BigEndian.Uint16(b))
	return b[2 : 2+n : 2+n]
}

// text returns a text; r fails if entry i is not one.
func (p *pool) text(r *reader, i int, what string) string {
	if s, ok := p.texts[i]; ok {
		return s
	}
	b := p.raw(i)
	if b == nil {
		r.fail(max(r.at-2, 0), "constant pool entry %d should be %s and is not a text", i, what)
		return ""
	}
	s := jdk.UTF(b)
	p.texts[i] = s
	return s
}

// class returns a class's name with dots; r fails if entry i is not a class.
func (p *pool) class(r *reader, i int, what string) string {
	name := p.ref(i, tagClass, 0)
	if name == 0 {
		r.fail(max(r.at-2, 0), "constant pool entry %d should be %s and is not a class", i, what)
		return ""
	}
	const dotted = 1 << 16 // names with dots are kept apart from those without
	if s, ok := p.texts[dotted+name]; ok {
		return s
	}
	s := strings.ReplaceAll(p.text(r, name, what), "/", ".")
	p.texts[dotted+name] = s
	return s
}

// optionalClass is class, where 0 stands for none.
func (p *pool) optionalClass(r *reader, i int, what string) string {
	if i == 0 {
		return ""
	}
	return p.class(r, i, what)
}

// member returns class, name and descriptor of a field or method reference.
func (p *pool) member(i int) (class, name, descriptor string, ok bool) {
	tag := p.tag(i)
	if tag != tagField && tag != tagMethod && tag != tagInterface {
		return "", "", "", false
	}
	var r reader
	nt := p.ref(i, tag, 1)
	class = p.class(&r, p.ref(i, tag, 0), "a class")
	name = p.text(&r, p.ref(nt, tagName, 0), "a name")
	descriptor = p.text(&r, p.ref(nt, tagName, 1), "a descriptor")
	return class, name, descriptor, r.err == nil
}
