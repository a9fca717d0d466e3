package classfile

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
)

// Write is something that a method writeObject or writeExternal writes.
type Write struct {
	// Call is the method of java.io.ObjectOutputStream or java.io.ObjectOutput that is called: writeInt, defaultWriteObject,
	// writeFields; write for an array of bytes that is as long as the int before it. It is empty for a loop.
	Call string
	// Field is the field of the object whose value is written; empty where it is another value.
	Field string
	// Body is what a loop writes each time. It runs as often as the int before it says.
	Body []Write
}

// WriteObject and WriteExternal are the descriptors of the methods that [Types.Writes] follows.
const (
	WriteObject   = "writeObject(Ljava/io/ObjectOutputStream;)V"
	WriteExternal = "writeExternal(Ljava/io/ObjectOutput;)V"
)

// Writes returns what a method of a class writes, with the methods that it calls for that. The error says why that is not always
// the same: something is written only under a condition, or by a method that is not known, or the number of turns of a loop is not
// written before it.
func (t *Types) Writes(class, method string) ([]Write, error) {
	return t.writes(class, method, new(int))
}

// writes is Writes; followed is the number of methods that were followed before.
func (t *Types) writes(class, method string, followed *int) ([]Write, error) {
	if *followed++; *followed > maxCalls {
		return nil, fmt.Errorf("methods call each other too often")
	}
	t.mu.Lock()
	data, _, err := t.data(class)
	t.mu.Unlock()
	if err != nil {
		return nil, err
	}
	p := parser{r: &reader{b: data}, code: map[string]*code{}}
	c := p.class()
	if p.r.err != nil {
		return nil, p.r.err
	}
	code := p.code[method]
	if code == nil {
		if c.Super == "" || c.Super == object || !strings.HasPrefix(method, "writeExternal(") {
			return nil, ErrMissing
		}
		return t.writes(c.Super, method, followed)
	}
	w := writes{types: t, class: class, pool: p.pool, code: code.instructions, followed: followed}
	if err := w.scan(); err != nil {
		return nil, err
	}
	return w.between(0, len(w.events), len(w.code))
}

// writes finds out what a method writes.
type writes struct {
	types    *Types
	class    string
	pool     *pool
	code     []byte
	followed *int
	events   []event // in order of the code
}

// event is an instruction that matters.
type event struct {
	kind   eventKind
	at     int
	end    int      // the instruction after it
	target int      // of a branch
	writes []Write  // of a call
	names  []string // of the fields, variables and methods that were used since the call before
}

type eventKind uint8

const (
	callEvent eventKind = iota
	branchEvent
	returnEvent
	switchEvent
)

// aload0 loads the object itself.
const aload0 = 0x2a

// scan finds the events of the code.
func (w *writes) scan() error {
	var names []string
	field := "" // that the instruction before has got
	for at := 0; at < len(w.code); {
		n := instructionLen(w.code, at)
		if n == 0 {
			return fmt.Errorf("instruction %d is not one", at)
		}
		ins := w.code[at : at+n]
		add := func(e event) {
			e.at, e.end, e.names = at, at+n, slices.Clone(names)
			w.events = append(w.events, e)
		}
		written := field
		field = ""
		switch op := ins[0]; {
		case op >= 0x15 && op <= 0x19: // load of a variable
			if ins[1] > 1 {
				names = append(names, fmt.Sprint("variable ", ins[1]))
			}
		case op >= 0x1a && op <= 0x2d:
			if k := (op - 0x1a) % 4; k > 1 {
				names = append(names, fmt.Sprint("variable ", k))
			}
		case op == 0xb2 || op == 0xb4: // getstatic, getfield
			if class, name, _, ok := w.pool.member(w.index(ins)); ok {
				names = append(names, "field "+quote(name))
				if op == 0xb4 && class == w.class && at > 0 && w.code[at-1] == aload0 {
					field = name
				}
			}
		case op >= 0x99 && op <= 0xa8 || op == 0xc6 || op == 0xc7: // branches
			add(event{kind: branchEvent, target: at + int(int16(binary.BigEndian.Uint16(ins[1:])))})
		case op == 0xc8 || op == 0xc9:
			add(event{kind: branchEvent, target: at + int(int32(binary.BigEndian.Uint32(ins[1:])))})
		case op == opTable || op == opLookup:
			add(event{kind: switchEvent})
		case op >= 0xac && op <= 0xb1:
			add(event{kind: returnEvent})
		case op == 0xbb: // new
			if name := w.pool.class(&reader{}, w.index(ins), "a class"); strings.HasPrefix(name, "java.io.") && strings.HasSuffix(name, "Stream") {
				return fmt.Errorf("it makes a stream of its own")
			}
		case op == 0xba: // invokedynamic
			if b := w.pool.entry(w.index(ins), tagInvokeDynamic); b != nil {
				nt := int(binary.BigEndian.Uint16(b[2:]))
				if takesStream(string(w.pool.raw(w.pool.ref(nt, tagName, 1)))) {
					return fmt.Errorf("it gives the stream to a lambda")
				}
			}
		case op >= 0xb6 && op <= 0xb9: // calls
			class, name, descriptor, ok := w.pool.member(w.index(ins))
			if !ok {
				return fmt.Errorf("a method that is not known")
			}
			calls, err := w.call(op, class, name, descriptor)
			if err != nil {
				return err
			}
			if calls != nil {
				if len(calls) == 1 && calls[0].Field == "" && !takesStream(descriptor) {
					calls[0].Field = written
				}
				add(event{kind: callEvent, writes: calls})
				names = nil
			} else if class == w.class {
				names = append(names, "method "+quote(name))
			}
		}
		at += n
	}
	return nil
}

func (w *writes) index(ins []byte) int { return int(binary.BigEndian.Uint16(ins[1:])) }

// takesStream reports whether a method takes a stream to write to.
func takesStream(descriptor string) bool {
	parameters, _, _ := strings.Cut(descriptor, ")")
	for _, stream := range []string{"ObjectOutputStream", "ObjectOutput", "DataOutput", "OutputStream"} {
		if strings.Contains(parameters, "Ljava/io/"+stream+";") {
			return true
		}
	}
	return false
}

// streamCalls are the methods whose bytes follow from their names, by name and parameters.
var streamCalls = map[string]string{
	"defaultWriteObject()": "defaultWriteObject", "writeFields()": "writeFields",
	"writeObject(Ljava/lang/Object;)": "writeObject", "writeUnshared(Ljava/lang/Object;)": "writeObject",
	"writeInt(I)": "writeInt", "writeLong(J)": "writeLong", "writeByte(I)": "writeByte", "write(I)": "writeByte", "writeBoolean(Z)": "writeBoolean",
	"writeShort(I)": "writeShort", "writeChar(I)": "writeChar", "writeFloat(F)": "writeFloat", "writeDouble(D)": "writeDouble",
	"writeUTF(Ljava/lang/String;)": "writeUTF", "write([B)": "write",
}

// call returns what a call writes; nil if it has nothing to do with the stream.
func (w *writes) call(op byte, class, name, descriptor string) ([]Write, error) {
	switch class {
	case "java.io.ObjectOutputStream", "java.io.ObjectOutput", "java.io.DataOutput":
		parameters, _, _ := strings.Cut(descriptor, ")")
		if call, ok := streamCalls[name+parameters+")"]; ok {
			return []Write{{Call: call}}, nil
		}
		if name == "putFields" || name == "flush" {
			return nil, nil
		}
		return nil, fmt.Errorf("it calls %s", quote(name))
	}
	if !takesStream(descriptor) {
		return nil, nil
	}
	const special, static = 0xb7, 0xb8 // these calls cannot be of a subclass's method
	if op != special && op != static {
		return nil, fmt.Errorf("it gives the stream to %s", quote(name))
	}
	return w.types.writes(class, name+descriptor, w.followed)
}

// between returns what events write, of which the last one ends at an offset.
func (w *writes) between(from, to, end int) (all []Write, err error) {
	var last []string // the names in the int that was written last
	for i := from; i < to; i++ {
		e := &w.events[i]
		if loop, back, ok := w.loopAt(i, to); ok {
			if back, body, err := w.loop(i, loop, back, end); err != nil {
				return nil, err
			} else if len(body) > 0 {
				if len(all) == 0 || all[len(all)-1].Call != "writeInt" || !common(last, w.events[loop].names) {
					return nil, fmt.Errorf("instruction %d: the turns of a loop are not written before it", e.at)
				}
				all = append(all, Write{Body: body})
				i = back
				continue
			} else {
				i = back
				continue
			}
		}
		switch e.kind {
		case callEvent:
			if e.writes[0].Call == "write" && len(e.writes) == 1 && (len(all) == 0 || all[len(all)-1].Call != "writeInt" || !common(last, e.names)) {
				return nil, fmt.Errorf("instruction %d: the number of bytes is not written before them", e.at)
			}
			all = append(all, e.writes...)
			last = e.names
		case branchEvent:
			if e.target > e.at && w.written(i+1, e.target) || e.target <= e.at {
				return nil, fmt.Errorf("instruction %d: something is written only under a condition", e.at)
			}
		case returnEvent, switchEvent:
			if w.written(i+1, end) {
				return nil, fmt.Errorf("instruction %d: something is written only under a condition", e.at)
			}
		}
	}
	return all, nil
}

// written reports whether an event from number i on and before an offset writes something.
func (w *writes) written(i, end int) bool {
	for ; i < len(w.events) && w.events[i].at < end; i++ {
		if w.events[i].kind == callEvent {
			return true
		}
	}
	return false
}

// loopAt reports whether event i is the first one of a loop: exit is the branch that leaves it, back the one that repeats it.
func (w *writes) loopAt(i, to int) (exit, back int, ok bool) {
	for k := to - 1; k > i; k-- {
		b := &w.events[k]
		if b.kind != branchEvent || b.target > w.events[i].at || i > 0 && b.target <= w.events[i-1].at {
			continue
		}
		for x := i; x < k; x++ {
			if w.events[x].kind == branchEvent && w.events[x].target == b.end {
				return x, k, true
			}
		}
	}
	return 0, 0, false
}

// loop returns what a loop from event i writes each time.
func (w *writes) loop(i, exit, back, end int) (last int, body []Write, err error) {
	b := &w.events[back]
	if !w.written(i, b.end) {
		return back, nil, nil
	}
	if w.written(i, w.events[exit].at) || w.code[b.at] != 0xa7 { // goto
		return 0, nil, fmt.Errorf("instruction %d: a loop that is not understood", w.events[i].at)
	}
	for k := i; k < exit; k++ {
		if w.events[k].kind != branchEvent || w.events[k].target > w.events[exit].at {
			return 0, nil, fmt.Errorf("instruction %d: a loop with several conditions", w.events[k].at)
		}
	}
	body, err = w.between(exit+1, back, b.at)
	return back, body, err
}

// common reports whether two lists have a name in common.
func common(a, b []string) bool {
	return slices.ContainsFunc(a, func(name string) bool { return slices.Contains(b, name) })
}
