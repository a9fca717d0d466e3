package fst

import (
	"slices"

	"dubbo-wire/internal/decode"
)

// In FST 1 a value may have a number in place of its tag and class, from 1 on: its class is one of those that the value around
// it has predicted. The annotation Predict of a field does that for the field, for elements of collections in it, and for what a
// writeObject writes. A map predicts for a key the class of the key before it, and likewise for a value; if anything was
// predicted for the map itself, that holds for its keys and values instead. A value hands on to its elements what was predicted for it.

// prediction is what is predicted for a value. If it is set, there may still be no class.
type prediction struct {
	set   bool
	one   *class
	names []string
}

// class returns the class with a number, nil if no class has it.
func (p *prediction) class(r *Reader, number byte) *class {
	switch {
	case number == 1 && p.one == otherClass:
		return nil
	case number == 1 && p.one != nil:
		return p.one
	case number >= 1 && int(number) <= len(p.names):
		return r.named(p.names[number-1])
	}
	return nil
}

var (
	// unreadClass is a class that is not known, as the body was not read where it is.
	unreadClass = &class{name: "named where the body was not read"}
	// otherClass is that of a value whose class is never written as a number.
	otherClass = &class{}
	hashMap    = known["java.util.HashMap"]
)

// entryPrediction is what is predicted for the entries of a map.
type entryPrediction struct {
	keys, values prediction
	learns       bool
	outer        prediction
}

// startEntries returns what is predicted for the first entry of a map.
func (r *Reader) startEntries() entryPrediction {
	p := r.predicted
	return entryPrediction{prediction{true, p.one, p.names}, prediction{true, p.one, p.names}, !p.set, p}
}

// key notes that a key was read: a value follows.
func (e *entryPrediction) key(r *Reader) {
	if e.learns && r.last != nil {
		e.keys.one = r.last
	}
	r.predicted = e.values
}

// value notes that the value of an entry was read.
func (e *entryPrediction) value(r *Reader) {
	if e.learns && r.last != nil {
		e.values.one = r.last
	}
	r.predicted = e.outer
}

// objectAt is an object that a handle may refer to.
type objectAt struct {
	off int // of its tag
	cl  *class
}

// note keeps the class of the object whose tag is at off.
func (r *Reader) note(off int, cl *class) {
	if n := len(r.objects); r.d.one && cl != nil && (n == 0 || r.objects[n-1].off < off) {
		r.objects = append(r.objects, objectAt{off, cl})
	}
}

// objectAt returns the class of the object whose tag is at off.
func (r *Reader) objectAt(off int) (cl *class, ok bool) {
	i, ok := slices.BinarySearchFunc(r.objects, off, func(o objectAt, off int) int { return o.off - off })
	switch {
	case ok:
		return r.objects[i].cl, true
	case r.d.one && off >= 0 && off+1 < len(r.Buf) && r.Buf[off] == tagObject && r.Buf[off+1] == firstKnown:
		return stringClass, r.skipped
	}
	return unreadClass, false
}

// Members of objects of the JDK whose declared class decides how they are written.
var (
	objectMember = &field{declared: object, class: known[object]}
	textMember   = &field{declared: object, class: stringClass}
)

// member takes a field of an object of the JDK.
func (r *Reader) member(p decode.Place, f *field) {
	if !r.d.one {
		f = nil
	}
	r.value(p, f)
}

// plainText takes the characters of an object of class String; f is the field, or nil.
func (r *Reader) plainText(p decode.Place, f *field) {
	if f == nil || !f.compressed {
		x := r.text()
		r.Words(p, decode.String, x.decode)
		return
	}
	x := r.compressedText()
	if r.Tree != nil && r.Values() {
		if r.texts == nil {
			r.texts = make(map[int]string)
		}
		r.texts[p.Start] = x.decode()
	}
	r.Words(p, decode.String, x.decode)
}
