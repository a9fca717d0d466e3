package hessian2

import (
	"bytes"

	"dubbo-wire/internal/decode"
)

// detector walks a whole body for evidence of its writer and so of its numbering. It is needed only when a reference follows
// an object that writers count differently, at most once per body. All fields of a body are values of Hessian, so it does
// not need to know which is which.
//
// The evidence: the order of the fields of a few classes of the JDK, whether an ArrayList has a type, the version at the
// start of a request, classes that one generation writes in its own way; and the targets of references. Every place that is
// referred to must exist, nothing refers to an object that a writer makes for one use, a field or an array of a type mostly
// holds objects of one class or arrays of one type, a throwable without a cause is its own cause, and an inner object refers
// to one of the outer class. 2.7.0 and 3.3 write alike; a body is taken for 3.3's unless something contradicts that. 2.5.10
// to 2.6.2 write as 3.3 does when it answers a consumer as old; there a body is taken for theirs. Where nothing shows the
// writer and the numberings disagree, the reference is left open: a node of kind [decode.Opaque]. A single value that Dubbo 3 wrote
// is typed or four.
type detector struct {
	r       Reader
	writers writers
	dubbo3  bool // see [Reader.Dubbo3]
	early   bool // a result as providers before 2.6.3 write it, or later ones for a consumer before 2.6.3
	// fits: no reference contradicts the numbering. mismatches: how many refer to an object of another class than the
	// same field holds elsewhere.
	fits       [numberings]bool
	mismatches [numberings]int
	differ     bool // lite3 and lite40 mean different things

	first         []int32  // by class: its first slot
	slots         []what   // by field of each class, and by type of array: what it held; 0 for nothing, -1 for several
	roles         []role   // by slot
	elements      []int32  // by type of list: its slot, if it is that of arrays, else 0
	names         [][]byte // by class
	owner         int32    // the object whose field is read, an entry of the table
	cause         int32    // of the class being defined: the slot of its field cause, and whether it has a stack trace
	hasStackTrace bool
	pending       []pendingReference
	handles       []bool // by class: hessian-lite makes a new object of it for each it writes
	calendar      []bool // by class
}

// role is what the name of a field says about its target.
type role uint8

const (
	anyRole   role = iota
	causeRole      // of a throwable: itself, if it has none
	outerRole      // of an object of an inner class: one of the class around it
)

// pendingReference is a reference in a field, with its target in each numbering.
type pendingReference struct {
	slot int32
	what [numberings]what
}

// writers is a set of generations of hessian-lite that may have written a body.
type writers uint8

const (
	forward  writers = 1 << iota // Dubbo 2.5.3 to 2.5.8 and 2.6.0: fields in the order of the class; ArrayList without type
	backward                     // 2.5.10, 2.6.1, 2.6.2: fields from the last to the first, as all later ones write them
	seven                        // 2.7.0: as these, with the protocol's version, 2.0.2
	typed                        // 2.6.3 to 2.6.12, 2.7.1 to 3.2: every list with its type
	four                         // 3.3: ArrayList without type again
)

// verdict is the numbering to use. If it is unsure, rival fits as well and means something else.
type verdict struct {
	used, rival numbering
	unsure      bool
}

// judge decides how a body is numbered.
func (s *detector) judge(body []byte) verdict {
	s.begin(body)
	s.r.observer = s
	s.r.Reset(body, decode.Malformed, nil)
	s.r.dirty = true
	for s.r.OK() && s.r.Off < len(body) {
		s.r.value(&place{})
	}
	for _, p := range s.pending {
		if known := s.slots[p.slot-1]; known > 0 {
			for n, is := range p.what {
				if is != known {
					s.mismatches[n]++
				}
			}
		}
	}
	switch {
	case s.early && s.writers != four && s.fits[lite3] && !s.contradicted(lite3, lite40):
		return verdict{used: lite3}
	case s.writers == four|seven && s.contradicted(lite40, lite3):
		return verdict{used: lite3}
	case s.writers&four != 0 && s.writers&^(four|seven) == 0:
		if s.contradicted(lite40, lite41) {
			return verdict{used: lite41}
		}
		return verdict{used: lite40}
	case s.writers != 0 && s.writers&four == 0:
		return verdict{used: lite3}
	}
	// Nothing shows the writer: the targets of references decide.
	switch {
	case s.contradicted(lite3, lite40):
		return verdict{used: lite40}
	case !s.fits[lite3] && s.fits[lite41]:
		return verdict{used: lite41}
	case s.contradicted(lite40, lite3), !s.fits[lite3] && !s.fits[lite40], !s.differ:
		return verdict{used: lite3}
	}
	return verdict{used: lite3, rival: lite40, unsure: true}
}

// contradicted reports whether the references contradict n and not other.
func (s *detector) contradicted(n, other numbering) bool {
	return s.fits[other] && (!s.fits[n] || s.mismatches[n] > 0 && s.mismatches[other] == 0)
}

var (
	protocolVersion = []byte("\x052.0.2")
	application     = []byte("\x12remote.application")
)

func (s *detector) begin(body []byte) {
	s.writers = forward | backward | seven | typed | four
	s.fits = [numberings]bool{true, true, true}
	s.mismatches = [numberings]int{}
	s.differ = false
	s.pending = emptied(s.pending)
	s.first, s.slots, s.elements = emptied(s.first), emptied(s.slots), emptied(s.elements)
	s.roles, s.names = emptied(s.roles), emptied(s.names)
	s.cause, s.hasStackTrace = 0, false
	s.handles, s.calendar = emptied(s.handles), emptied(s.calendar)
	if s.dubbo3 {
		s.writers, s.early = typed|four, false
		return
	}
	s.early = len(body) > 0 && body[0] >= 0x90 && body[0] <= 0x92
	switch { // A request starts with the version, a result with its kind; kinds with attachments came with 2.0.2.
	case bytes.HasPrefix(body, protocolVersion), len(body) > 0 && body[0] >= 0x93 && body[0] <= 0x95:
		s.writers &^= forward | backward
	case len(body) > 2 && body[0] >= 5 && body[0] < 0x20 && body[1] == '2' && body[2] == '.':
		s.writers &^= seven | typed | four
	}
	if bytes.Contains(body, application) { // an attachment of requests since 2.7.3
		s.writers &= typed | four
	}
}

// class notes the definition of a class: its name and that of its first field, encoded.
func (s *detector) class(name, field []byte, fields int) {
	s.first = append(s.first, int32(len(s.slots)-fields+1)) // slots are counted from 1
	c, first := plain(name), string(plain(field))
	s.names = append(s.names, c)
	if s.cause > 0 && s.hasStackTrace {
		s.roles[s.cause-1] = causeRole
	}
	s.cause, s.hasStackTrace = 0, false
	isCalendar := string(c) == handlePackage+"CalendarHandle"
	s.calendar = append(s.calendar, isCalendar)
	s.handles = append(s.handles, bytes.HasPrefix(c, []byte(handlePackage)) &&
		(bytes.HasSuffix(c, []byte("Handle")) || bytes.HasSuffix(c, []byte("Handler"))))
	switch string(c) {
	case handlePackage + "CalendarHandle":
		s.order(first, "type")
	case "java.math.BigInteger":
		s.order(first, "signum")
	case "java.util.UUID":
		s.order(first, "mostSigBits")
		if first == "value" {
			s.writers &^= forward | backward | seven
		} else {
			s.writers &^= four
		}
	case "java.util.CollSer": // what List.of writes itself as; 4.0.1 and later write a list
		s.writers &^= four
	case "java.net.InetAddress", "java.net.Inet6Address", "java.net.InetSocketAddress":
		if countedAs(name, field) == address {
			s.writers &= four
		} else {
			s.writers &^= four
		}
	case "object":
		s.writers &= four
	case "java.time.LocalDate", "java.time.LocalTime", "java.time.LocalDateTime":
		if fields == 0 || first == "date" {
			s.writers &= four
		}
	case handlePackage + "FloatHandle", handlePackage + "ByteHandle", handlePackage + "ShortHandle":
		s.writers &= four
	}
}

// order notes the first field of a class whose order of fields is known.
func (s *detector) order(first, declared string) {
	if first == declared {
		s.writers &= forward
	} else {
		s.writers &^= forward
	}
}

// field notes a field of a class being defined, by its name, encoded.
func (s *detector) field(name []byte) {
	slot, r := s.slot(), anyRole
	switch string(plain(name)) {
	case "cause":
		s.cause = slot
	case "stackTrace":
		s.hasStackTrace = true
	case "this$0":
		r = outerRole
	}
	s.roles[slot-1] = r
}

// slot adds a slot.
func (s *detector) slot() int32 {
	s.slots, s.roles = append(s.slots, 0), append(s.roles, anyRole)
	return int32(len(s.slots))
}

// listType notes a type of lists, encoded.
func (s *detector) listType(name []byte) {
	slot, text := int32(0), plain(name)
	if len(text) > 0 && text[0] == '[' {
		slot = s.slot()
	}
	s.elements = append(s.elements, slot)
	if string(text) == "java.util.ArrayList" {
		s.writers &= typed
	}
}

// list notes the type of the list added last, an index of the type table or -1, and returns the slot of its elements.
func (s *detector) list(typ int, slot int32) (elements int32) {
	is := aList
	if typ < 0 {
		s.writers &^= typed
	} else if elements = s.elements[typ]; elements > 0 {
		is = ofArray(typ)
		s.r.table.entries[len(s.r.table.entries)-1].what = is
	}
	s.hold(slot, is)
	return elements
}

// isNew reports whether objects of a class are made for writing them once, so that nothing refers to them.
func (s *detector) isNew(class int, n numbering) bool {
	return class >= 0 && s.handles[class] && (n == lite3 || n == lite40 && !s.calendar[class])
}

// hold notes what a field holds.
func (s *detector) hold(slot int32, is what) {
	if slot == 0 {
		return
	}
	if held := &s.slots[slot-1]; *held == 0 {
		*held = is
	} else if *held != is {
		*held = -1
	}
}

// reference notes a reference.
func (s *detector) reference(place int, slot int32) {
	t := &s.r.table
	p := pendingReference{slot: slot}
	var to [numberings]int
	for n := range to {
		entry, last := t.find(numbering(n), place)
		// A place that is not the last is that of a Calendar that was counted and not written.
		if to[n] = entry; !last || s.isNew(t.entries[entry].what.class(), numbering(n)) {
			to[n], s.fits[n] = -1, false
			continue
		}
		p.what[n] = t.entries[entry].what
	}
	s.differ = s.differ || to[lite3] != to[lite40]
	if slot > 0 {
		s.pending = append(s.pending, p)
		s.expect(s.roles[slot-1], to)
	}
}

// expect counts the numberings in which a reference contradicts its field's role, if it does not in another one.
func (s *detector) expect(r role, to [numberings]int) {
	var is [numberings]bool
	any := false
	for n, t := range to {
		switch {
		case t < 0:
		case r == causeRole:
			is[n] = t == int(s.owner)
		case r == outerRole:
			c, owner := s.r.table.entries[t].what.class(), s.r.table.entries[s.owner].what.class()
			is[n] = c >= 0 && bytes.Equal(s.names[c], outer(s.names[owner]))
		}
		any = any || is[n]
	}
	for n := range is {
		if any && !is[n] {
			s.mismatches[n]++
		}
	}
}

// outer returns the name of the class around an inner one.
func outer(class []byte) []byte { return class[:max(bytes.LastIndexByte(class, '$'), 0)] }
