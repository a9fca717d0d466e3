package fst

import (
	"bytes"
	"fmt"
	"math"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/classfile"
	"dubbo-wire/internal/decode/jdk"
)

// step is one of the things that a writeObject or writeExternal writes.
type step struct {
	op    byte
	field string // whose value it is, "" if that is not known
	body  []step // of a loop
}

// Steps as they are written in a table.
const (
	ownFields     = 'D' // defaultWriteObject
	putFields     = 'p' // putFields and writeFields
	markedObject  = 'o' // writeObject in emulation: a mark, then a tagged value
	plainObject   = 'O' // writeObject of an Externalizable: a tagged value
	anInt         = 'i'
	aLong         = 'l'
	aByte         = 'b'
	aBoolean      = 'z'
	aShort        = 's'
	aChar         = 'c'
	aFloat        = 'f'
	aDouble       = 'd'
	aText         = 'u' // writeUTF
	countedLoop   = 'n' // an int, then the body as often as it says
	sizedLoop     = 'q' // the body as often as the field "size" says
	loopUntilNull = 't' // objects until one is null
	someBytes     = 'r' // an int, then as many bytes
)

// parseSteps reads steps as they stand in a table: "Din(oo)".
func parseSteps(s string) []step {
	all, _ := stepsOf(s)
	return all
}

func stepsOf(s string) (all []step, rest string) {
	for len(s) > 0 && s[0] != ')' {
		st := step{op: s[0]}
		if s = s[1:]; len(s) > 0 && s[0] == '(' {
			st.body, s = stepsOf(s[1:])
			s = s[1:]
		}
		all = append(all, st)
	}
	return all, s
}

// calls are the steps of methods of streams.
var calls = map[string]byte{
	"defaultWriteObject": ownFields, "writeFields": putFields, "writeInt": anInt, "writeLong": aLong, "writeByte": aByte, "writeBoolean": aBoolean,
	"writeShort": aShort, "writeChar": aChar, "writeFloat": aFloat, "writeDouble": aDouble, "writeUTF": aText,
}

// followed returns what the code of a method of the application writes, nil if that is not always the same.
func followed(types *classfile.Types, class, method string) []step {
	writes, err := types.Writes(class, method)
	if err != nil {
		return nil
	}
	if method == classfile.WriteExternal {
		return stepsOfCalls(writes, plainObject)
	}
	steps := stepsOfCalls(writes, markedObject)
	for i := range steps {
		steps[i].field = "" // a value beside the fields, even of a field that is transient
	}
	return steps
}

func stepsOfCalls(writes []classfile.Write, object byte) []step {
	all := []step{}
	for _, w := range writes {
		switch {
		case w.Call == "":
			all[len(all)-1] = step{op: countedLoop, body: stepsOfCalls(w.Body, object)}
		case w.Call == "write":
			all[len(all)-1] = step{op: someBytes, field: w.Field}
		case w.Call == "writeObject":
			all = append(all, step{op: object, field: w.Field})
		default:
			all = append(all, step{op: calls[w.Call], field: w.Field})
		}
	}
	return all
}

// written takes what a method of a class wrote; s is its section, nil for writeExternal.
func (r *Reader) written(cl *class, method string, steps []step, s *section) {
	by := cl.name
	if s != nil {
		by = s.class
	}
	if steps == nil {
		r.incomplete = true
		r.Fail(decode.Unsupported, "what "+method+" of class "+by+" wrote", decode.EndsByCode)
		return
	}
	w := writer{r: r, cl: cl, s: s, form: cl.plan.form, list: -1}
	w.run(steps)
	if w.list != -1 {
		r.Close()
	}
	if !r.OK() {
		r.stop(cl, nil)
	}
}

// writer follows the steps of one method.
type writer struct {
	r    *Reader
	cl   *class
	s    *section
	form form
	list int // the node of the values that are not fields, -1: none yet
	n    int // values in it
}

func (w *writer) run(steps []step) {
	r := w.r
	for i := range steps {
		if !r.OK() {
			return
		}
		switch st := &steps[i]; st.op {
		case ownFields:
			w.fields()
		case putFields:
			w.put()
		case countedLoop:
			n := w.count("the number of elements")
			if w.collection() {
				r.Role("length")
			} else {
				r.Integer(w.place(""), int64(n))
			}
			w.repeat(n, st.body)
		case someBytes:
			n := w.count("the number of bytes")
			r.Role("length")
			p := w.place(st.field)
			raw := r.Bytes(n, "bytes")
			r.FillRaw(r.Scalar(p, decode.Bytes), raw)
		case sizedLoop:
			w.repeat(r.sizeField, st.body)
		case loopUntilNull:
			w.untilNull(st.body)
		case markedObject, plainObject:
			if w.collection() {
				r.Hidden("comparator", func() { w.object(st.op, r.At(decode.ByRole, "", 0)) })
			} else {
				w.object(st.op, w.place(st.field))
			}
		default:
			w.scalar(st)
		}
	}
}

// collection reports whether the object is shown as a list or a map.
func (w *writer) collection() bool { return w.form == ofElements || w.form == ofEntries }

// place returns the place of a value: that of a field, or one in a list named #custom.
func (w *writer) place(field string) decode.Place {
	if field != "" {
		if w.list >= 0 || w.list == -2 {
			w.r.Close()
			w.list = -1
		}
		return w.r.At(decode.ByField, field, 0)
	}
	if w.list == -1 {
		if w.list = w.r.Open(decode.List, decode.ByField, "#custom", 0); w.list == -1 {
			w.list = -2
		}
	}
	w.n++
	return w.r.At(decode.ByIndex, "", w.n-1)
}

// fields takes the fields that defaultWriteObject writes. Those of a JDK collection are its inner affairs.
func (w *writer) fields() {
	r := w.r
	if !r.d.one {
		r.expectClass(sectionDefault, "the fields of class "+w.s.class)
		r.Role("type")
	}
	if w.collection() {
		r.Hidden("length", func() { r.fields(w.cl, w.s.fields) })
	} else {
		r.fields(w.cl, w.s.fields)
	}
}

// put takes what writeFields writes: a map without tag and class.
func (w *writer) put() {
	r := w.r
	if w.s.asymmetric {
		w.fields()
		return
	}
	if !r.d.one {
		r.expectClass(sectionPut, "the fields of class "+w.s.class)
	}
	outer := r.predicted
	r.predicted = prediction{set: true, one: hashMap}
	r.expectClass(1, "a HashMap")
	n := r.count("the number of fields", 2)
	r.Role("length")
	for ; n > 0 && r.OK(); n-- {
		at := r.Off
		name := r.fieldName()
		if !decode.CanBeName(name) && r.OK() {
			r.FailAt(at, decode.Malformed, "the name of a field", "a text that no field has as its name")
		}
		r.Role("field")
		r.object(r.At(decode.ByField, name, 0))
	}
	r.predicted = outer
}

// fieldName takes the name of a field: a text or a handle to one.
func (r *Reader) fieldName() string {
	x := r.fieldText()
	if x.wide {
		return x.decode()
	}
	return r.Name(x.raw)
}

func (r *Reader) fieldText() text {
	at := r.Off
	if r.atText() {
		r.note(at, stringClass)
		return r.text()
	}
	if r.Byte("the name of a field") == tagHandle {
		off := int(r.int32("a handle"))
		if r.OK() && off >= 0 && off < at {
			if x, ok := r.writtenAt(off, at); ok {
				return x
			}
		}
	}
	if r.OK() {
		r.FailAt(at, decode.Malformed, "the name of a field", decode.HexByte(r.Buf[at]))
	}
	return text{}
}

// repeat takes the body of a loop n times.
func (w *writer) repeat(n int, body []step) {
	r := w.r
	for i := 0; i < n && r.OK(); i++ {
		switch {
		case w.form == ofElements && len(body) == 1:
			w.object(body[0].op, r.At(decode.ByIndex, "", i))
		case w.form == ofEntries && len(body) == 2:
			w.entry(body[0].op, i)
		default:
			r.work += workPerObject
			w.run(body)
		}
	}
}

func (w *writer) entry(op byte, i int) {
	r := w.r
	key := r.NextNode()
	w.object(op, r.At(decode.ByKey, "", i))
	w.object(op, r.At(decode.ByEntry, r.NameKey(key), i))
}

// nullElement is a mark and null.
var nullElement = []byte{sectionTagged, tagNull}

// untilNull takes objects until one is null.
func (w *writer) untilNull(body []step) {
	r := w.r
	end := nullElement
	if r.d.one {
		end = nullElement[1:]
	}
	for i := 0; r.OK(); i++ {
		if bytes.HasPrefix(r.Buf[r.Off:], end) {
			r.Skip(len(end), "the end of the elements")
			r.Role("end")
			return
		}
		if w.form == ofEntries {
			w.entry(markedObject, i)
		} else {
			w.object(markedObject, r.At(decode.ByIndex, "", i))
		}
	}
}

// object takes an object, with its mark in front in emulation.
func (w *writer) object(op byte, p decode.Place) {
	r := w.r
	if op == markedObject && !r.d.one {
		r.expectClass(sectionTagged, "an object that class "+w.cl.name+" wrote")
		p.Start, p.Head = r.Off, r.Off
	}
	if op != plainObject || !r.d.one {
		r.object(p)
		return
	}
	outer := r.predicted
	r.predicted = prediction{}
	r.object(p)
	r.predicted, r.flushed = outer, r.Off
}

// The forms of numbers and texts that FST 1 writes: in a writeObject they have a fixed size, in a writeExternal the form of
// java.io.DataOutput.

// number takes n bytes.
func (w *writer) number(n int, what string) uint64 {
	r := w.r
	if w.s != nil && n != 2 {
		return r.Little(n, what)
	}
	switch n {
	case 2:
		return uint64(r.U16(what))
	case 4:
		return uint64(r.U32(what))
	}
	return r.U64(what)
}

// count takes a number of elements.
func (w *writer) count(what string) int {
	switch {
	case !w.r.d.one:
		return w.r.count(what, 1)
	case w.s != nil:
		return w.r.writtenCount(what, 1)
	}
	return w.r.counted(int32(w.r.U32(what)), what, 1)
}

// fixed takes a value of FST 1 that is not an object.
func (w *writer) fixed(op byte, p decode.Place) {
	switch r := w.r; op {
	case anInt:
		r.Integer(p, int64(int32(w.number(4, "an int"))))
	case aLong:
		r.Integer(p, int64(w.number(8, "a long")))
	case aShort:
		r.Integer(p, int64(int16(w.number(2, "a short"))))
	case aChar:
		u := rune(0)
		if w.s != nil {
			u = rune(r.Little(2, "a char"))
		} else {
			u = rune(r.U16("a char"))
		}
		r.Words(p, decode.Char, func() string { return string(u) })
	case aFloat:
		r.Real(p, decode.Float32, float64(math.Float32frombits(uint32(w.number(4, "a float")))))
	case aDouble:
		r.Real(p, decode.Float64, math.Float64frombits(w.number(8, "a double")))
	case aText:
		if w.s != nil {
			x := r.text()
			r.Words(p, decode.String, x.decode)
			return
		}
		raw := r.utf()
		r.Words(p, decode.String, func() string { return jdk.UTF(raw) })
	}
}

// scalar takes a value that is not an object.
func (w *writer) scalar(st *step) {
	r, op := w.r, st.op
	if w.collection() { // capacities and load factors
		switch op {
		case anInt:
			r.writtenInt("a capacity")
		case aFloat:
			r.Skip(4, "a load factor")
		}
		r.Role("length")
		return
	}
	p := w.place(st.field)
	if r.d.one && op != aByte && op != aBoolean {
		w.fixed(op, p)
		return
	}
	switch op {
	case anInt:
		r.Integer(p, int64(r.int32("an int")))
	case aLong:
		r.Integer(p, r.int64("a long"))
	case aByte:
		r.primitive(bytes1, p)
	case aBoolean:
		b := r.Byte("a boolean")
		if b > 1 && r.OK() {
			r.FailAt(p.Start, decode.Malformed, "a boolean", decode.HexByte(b))
		}
		r.Boolean(p, b != 0)
	case aShort:
		r.primitive(short2, p)
	case aChar:
		r.primitive(char2, p)
	case aFloat:
		r.primitive(float4, p)
	case aDouble:
		r.primitive(double8, p)
	case aText:
		x := r.text()
		r.Words(p, decode.String, x.decode)
	}
}

// expectClass takes a byte that must stand here if the class is the one that was written.
func (r *Reader) expectClass(want byte, what string) {
	if b := r.Byte(what); b != want && r.OK() {
		r.FailAt(r.Off-1, decode.Malformed, fmt.Sprintf("%s (%s)", what, decode.HexByte(want)), decode.HexByte(b))
	}
}

// jdkSteps is what the JDK's own methods writeObject write.
var jdkSteps = func() map[string][]step {
	t := make(map[string][]step)
	for name, s := range map[string]string{
		"java.lang.ClassNotFoundException":             "p",
		"java.lang.ExceptionInInitializerError":        "p",
		"java.io.File":                                 "Dc",
		"java.lang.Throwable":                          "D",
		"java.math.BigDecimal":                         "D",
		"java.net.InetAddress":                         "p",
		"java.net.Inet6Address":                        "p",
		"java.net.InetSocketAddress":                   "p",
		"java.net.URI":                                 "D",
		"java.net.URL":                                 "D",
		"java.text.DateFormatSymbols":                  "D",
		"java.text.NumberFormat":                       "D",
		"java.util.ArrayDeque":                         "Dn(o)",
		"java.util.ArrayList":                          "Dn(o)",
		"java.util.BitSet":                             "p",
		"java.util.Calendar":                           "Do",
		"java.util.Collections$SynchronizedCollection": "D",
		"java.util.Collections$SynchronizedMap":        "D",
		"java.util.Date":                               "Dl",
		"java.util.EnumMap":                            "Dn(oo)",
		"java.util.HashMap":                            "Din(oo)",
		hashtable:                                      "Din(oo)",
		"java.util.HashSet":                            "Difn(o)",
		"java.util.IdentityHashMap":                    "Dn(oo)",
		"java.util.LinkedList":                         "Dn(o)",
		"java.util.Locale":                             "p",
		"java.util.PriorityQueue":                      "Diq(o)",
		"java.util.Random":                             "p",
		"java.util.SimpleTimeZone":                     "Dro",
		"java.util.TreeMap":                            "Dn(oo)",
		"java.util.TreeSet":                            "Don(o)",
		vector:                                         "p",
		"java.util.concurrent.ConcurrentLinkedDeque":   "Dt(o)",
		"java.util.concurrent.ConcurrentLinkedQueue":   "Dt(o)",
		"java.util.concurrent.ConcurrentSkipListMap":   "Dt(oo)",
		"java.util.concurrent.CopyOnWriteArrayList":    "Dn(o)",
		"java.util.concurrent.LinkedBlockingDeque":     "Dt(o)",
		"java.util.concurrent.LinkedBlockingQueue":     "Dt(o)",
		"java.util.concurrent.LinkedTransferQueue":     "Dt(o)",
		"java.util.concurrent.PriorityBlockingQueue":   "D",
	} {
		t[name] = parseSteps(s)
	}
	return t
}()
