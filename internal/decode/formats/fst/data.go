package fst

import "dubbo-wire/internal/decode"

// data takes what follows tag and class id of an object.
func (r *Reader) data(cl *class, p decode.Place) {
	if !r.OK() {
		return
	}
	if cl.plan != nil {
		r.planned(cl, p)
		return
	}
	if cl.emulated != nil && r.Left() > 1 && r.Buf[r.Off] == sectionOwn && r.Buf[r.Off+1] == sectionPut {
		r.planned(cl.emulated, p)
		return
	}
	switch cl.layout {
	case collection:
		r.container(p, decode.List, cl, func() { r.list(r.size()) })
	case mapping:
		r.container(p, decode.Map, cl, func() { r.entries(r.size()) })
	case plain:
		r.container(p, decode.Object, cl, r.end)
	case emptyList:
		r.container(p, decode.List, cl, r.emptySection)
	case emptyMap:
		r.container(p, decode.Map, cl, r.emptySection)
	case emptyObject:
		r.container(p, decode.Object, cl, r.emptySection)
	case single:
		r.container(p, decode.List, cl, func() {
			r.member(r.At(decode.ByIndex, "", 0), objectMember)
			r.end()
		})
	case singleMap:
		r.container(p, decode.Map, cl, func() {
			key := r.NextNode()
			r.member(r.At(decode.ByKey, "", 0), objectMember)
			r.member(r.At(decode.ByEntry, r.NameKey(key), 0), objectMember)
			r.end()
		})
	case properties:
		r.container(p, decode.Map, cl, func() {
			r.Skip(4, "a load factor")
			r.int32("a threshold")
			r.Skip(4, "a capacity")
			n := r.writtenCount("the number of elements", 1)
			r.Role("length")
			r.markedEntries(n)
			r.Hidden("defaults", func() { r.member(r.At(decode.ByRole, "", 0), objectMember) })
		})
	case copies:
		r.copies(cl, p)
	case asList, wrapSet, wrapMap, wrapList:
		r.wrapped(cl, p)
	case linkedSet, treeSet, treeMap, dequeLike, factory:
		r.customWritten(cl, p)
	case enumSet:
		r.container(p, decode.List, cl, func() {
			n := r.size()
			q := r.At(decode.ByRole, "", 0)
			r.class(&q)
			r.Role("class")
			r.list(n)
		})
	case exception:
		r.exception(cl, p)
	case stackFrame:
		r.stackTraceElement(cl, p)
	case otherText, classRef, uuid:
		r.asText(cl, p)
	case numberInt, numberLong, boolInt:
		if r.classes == nil {
			r.scalar(cl, p)
			return
		}
		r.container(p, decode.Object, cl, func() {
			q := r.At(decode.ByField, "value", 0)
			if cl.layout == numberLong {
				r.Integer(q, r.int64("a long"))
			} else {
				r.Integer(q, int64(r.int32("an int")))
			}
			r.end()
		})
	default:
		if p.Throwable && cl.layout == unknown {
			r.exception(cl, p)
			return
		}
		r.scalar(cl, p)
	}
}

// end takes the end of an object's fields.
func (r *Reader) end() {
	if r.d.one {
		return
	}
	r.expect(fieldsEnd, "the end of the fields")
	r.Role("end")
}

// emptySection takes the section of a class without fields.
func (r *Reader) emptySection() {
	r.mark(sectionFields, "a section")
	r.end()
}

// size takes a number of elements.
func (r *Reader) size() int {
	n := r.count("the number of elements", 1)
	r.Role("length")
	return n
}

func (r *Reader) list(n int) {
	if r.mayCount() {
		r.countElements(0, n, nil, collection)
		r.endTally()
		return
	}
	for i := 0; i < n && r.OK(); i++ {
		r.object(r.At(decode.ByIndex, "", i))
	}
}

func (r *Reader) entries(n int) {
	if r.mayCount() {
		r.countElements(0, 2*n, nil, mapping)
		r.endTally()
		return
	}
	e := r.startEntries()
	for i := 0; i < n && r.OK(); i++ {
		key := r.NextNode()
		r.predicted = e.keys
		r.object(r.At(decode.ByKey, "", i))
		e.key(r)
		r.object(r.At(decode.ByEntry, r.NameKey(key), i))
		e.value(r)
	}
}

// copies takes a list of n times the same element. Without a class path, and if it is too long to be written out, it is an object.
func (r *Reader) copies(cl *class, p decode.Place) {
	r.mark(sectionFields, "a section")
	at := r.Off
	n := int(r.int32("a number of elements"))
	if r.classes == nil || n < 0 || n-1 > decode.MaxRepeated-r.repeated {
		r.Off = at
		r.container(p, decode.Object, cl, func() {
			r.Role("type")
			r.Integer(r.At(decode.ByField, "n", 0), int64(r.int32("a number of elements")))
			r.member(r.At(decode.ByField, "element", 0), objectMember)
			r.end()
		})
		return
	}
	r.container(p, decode.List, cl, func() {
		r.Role("length")
		if n == 0 {
			r.Hidden("value", func() { r.member(r.At(decode.ByRole, "", 0), objectMember) })
		} else {
			first := r.NextNode()
			r.member(r.At(decode.ByIndex, "", 0), objectMember)
			r.repeated += n - 1
			r.Repeat(first, n, r.mayCopy)
		}
		r.end()
	})
}

// wrapped takes a collection or array inside another object. If that is a list or a map and not a handle, the tree
// shows one value for both.
func (r *Reader) wrapped(cl *class, p decode.Place) {
	if cl.layout == wrapList {
		r.mark(sectionFields, "a section")
	}
	outer := r.predicted
	r.predicted = prediction{}
	defer func() { r.predicted = outer }()
	k, simple := r.peekWrapped()
	if !simple {
		k = decode.Object
	}
	i := r.Begin(p, k, cl.name)
	r.Content(func() {
		if cl.layout == wrapList {
			r.Role("type")
		}
		if simple {
			r.wrappedContent()
		} else {
			r.member(r.At(decode.ByField, "wrapped", 0), objectMember)
		}
		r.end()
		if cl.layout == wrapList {
			r.mark(sectionFields, "a section")
			r.expect(tagHandle, "a handle")
			r.int32("a handle")
			r.Role("ref")
			r.end()
		}
	})
	if !simple && r.classes != nil {
		r.showWrapped(i, "wrapped", false)
	}
}

// peekWrapped looks ahead at a wrapped value.
func (r *Reader) peekWrapped() (k decode.Kind, simple bool) {
	if !r.OK() {
		return decode.Object, false
	}
	x := Reader{names: r.names, skipped: r.skipped, application: r.application}
	x.quiet = true
	x.Cursor = r.Cursor
	tag := x.Byte("")
	if tag != tagArray && tag != tagObject {
		return decode.Object, false
	}
	cl := x.class(&decode.Place{})
	switch {
	case !x.OK():
	case tag == tagArray && cl.layout == array && cl.elem == tagged, tag == tagObject && cl.layout == collection:
		return decode.List, true
	case tag == tagObject && cl.layout == mapping:
		return decode.Map, true
	}
	return decode.Object, false
}

// wrappedContent takes a plain wrapped value as content of the open container.
func (r *Reader) wrappedContent() {
	q := r.At(decode.ByRole, "", 0)
	if r.Tree != nil { // the last node is overhead of the container
		r.remember(q.Start, int(r.Tree.Nodes[len(r.Tree.Nodes)-1].Parent))
	} else {
		r.rememberPlace(q.Start)
	}
	at := r.Off
	r.Byte("a tag")
	cl := r.class(&q)
	if !r.OK() {
		return
	}
	r.note(at, cl)
	r.Role(q.HeadRole())
	if cl.layout == mapping {
		r.entries(r.size())
	} else {
		r.list(r.size())
	}
}

// customWritten takes a class with a writeObject of its own: its fields, then what it wrote, with a mark before each object.
func (r *Reader) customWritten(cl *class, p decode.Place) {
	r.mark(sectionOwn, "a section")
	r.mark(sectionDefault, "the fields of a section")
	k := decode.List
	if cl.layout == treeMap || cl.layout == factory && r.int32("a kind") == mapFactory {
		k = decode.Map
	}
	r.container(p, k, cl, func() {
		r.Role("type")
		if cl.layout == treeMap { // a field
			outer := r.predicted
			r.predicted = prediction{}
			r.comparator()
			r.predicted = outer
		}
		r.end()
		switch cl.layout {
		case treeSet:
			r.mark(sectionTagged, "a comparator")
			r.comparator()
		case linkedSet:
			r.writtenInt("a capacity")
			r.Skip(4, "a load factor")
		}
		n := r.writtenCount("the number of elements", 1)
		r.Role("length")
		switch {
		case k == decode.List:
			r.markedList(n)
		case cl.layout == factory:
			r.markedEntries(n / 2)
		default:
			r.markedEntries(n)
		}
		if cl.layout == linkedSet {
			r.emptySection()
		}
	})
}

// mapFactory is the kind of java.util.CollSer that stands for Map.of.
const mapFactory = 3

func (r *Reader) markedList(n int) {
	for i := 0; i < n && r.OK(); i++ {
		r.mark(sectionTagged, "an element")
		r.object(r.At(decode.ByIndex, "", i))
	}
}

func (r *Reader) markedEntries(n int) {
	for i := 0; i < n && r.OK(); i++ {
		r.mark(sectionTagged, "a key")
		key := r.NextNode()
		r.object(r.At(decode.ByKey, "", i))
		name := r.NameKey(key)
		r.mark(sectionTagged, "a value")
		r.object(r.At(decode.ByEntry, name, i))
	}
}

// comparator takes the comparator of a sorted collection: null, an enum constant, or an object.
func (r *Reader) comparator() {
	if tag, ok := r.Peek(); ok && tag != tagNull && tag != tagEnum && tag != tagObject && tag != tagHandle && r.predicted.class(r, tag) == nil {
		r.FailAt(r.Off, decode.Unsupported, "a comparator", decode.HexByte(tag))
	}
	r.Hidden("comparator", func() { r.object(r.At(decode.ByRole, "", 0)) })
}

// exception takes a Throwable: its own fields, then a section for each class down to the runtime class.
func (r *Reader) exception(cl *class, p decode.Place) {
	r.mark(sectionOwn, "a section")
	r.mark(sectionDefault, "the fields of a section")
	r.container(p, decode.Object, cl, func() {
		r.Role("type")
		r.member(r.At(decode.ByField, "suppressedExceptions", 0), objectMember)
		r.member(r.At(decode.ByField, "stackTrace", 0), objectMember)
		r.member(r.At(decode.ByField, "detailMessage", 0), textMember)
		cause := r.At(decode.ByField, "cause", 0)
		cause.Throwable = true
		r.member(cause, objectMember)
		r.end()
		switch {
		case cl.layout == exception:
		case r.distrusted != nil:
			r.FailWith(r.distrusted)
		default:
			r.missing(cl.name)
			r.FailClass("the fields of class", cl.name)
		}
		for range cl.sections {
			r.emptySection()
		}
	})
}

// stackTraceElement takes a StackTraceElement: since JDK 9 there is a byte in front and there are more names.
func (r *Reader) stackTraceElement(cl *class, p decode.Place) {
	names := []string{"classLoaderName", "declaringClass", "fileName", "methodName", "moduleName", "moduleVersion"}
	jdk8 := false
	if b := r.Buf[r.Off:]; len(b) > 1 {
		jdk8 = b[0] == wide16 || b[1] == tagString && !r.d.one || b[1] == tagTyped && r.d.one || b[1] == tagHandle
	}
	r.container(p, decode.Object, cl, func() {
		if jdk8 {
			names = names[1:4]
		} else {
			r.Integer(r.At(decode.ByField, "format", 0), int64(int8(r.Byte("a format"))))
		}
		r.Integer(r.At(decode.ByField, "lineNumber", 0), int64(r.int32("a line number")))
		for _, name := range names {
			r.member(r.At(decode.ByField, name, 0), textMember)
		}
		r.end()
	})
}
