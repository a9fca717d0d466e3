package classfile

import (
	"encoding/binary"
	"slices"
	"strings"
)

const objectStreamField = "java.io.ObjectStreamField"

// persistentFields returns the fields that the static initializer puts into serialPersistentFields; nil unless it does so once,
// from an array of fields with constant names and types.
func (p *parser) persistentFields() []Field {
	f := persistentFinder{p: p}
	for at := 0; at < len(p.clinit); {
		n := instructionLen(p.clinit, at)
		if n == 0 {
			return nil
		}
		f.at = at
		f.step(p.clinit[at : at+n])
		at += n
	}
	if f.times != 1 {
		return nil
	}
	return f.found
}

// persistentFinder follows a static initializer as far as it makes an array of ObjectStreamField.
type persistentFinder struct {
	p *parser

	at         int
	start      int   // of the array
	targets    []int // of jumps
	making     bool  // an array, of size elements
	size       int64
	fields     []Field
	name, typ  string // constants that were loaded last, empty for none
	last       int64  // the constant before the instruction
	isConstant bool

	found []Field // what serialPersistentFields has
	times int
}

func (f *persistentFinder) step(ins []byte) {
	index := 0
	if len(ins) >= 3 {
		index = int(binary.BigEndian.Uint16(ins[1:]))
	}
	var r reader
	switch op := ins[0]; {
	case op == opNewArray && f.p.pool.class(&r, index, "a class") == objectStreamField:
		f.making, f.size, f.fields, f.start = f.isConstant, f.last, []Field{}, f.at
	case op == opLdc:
		f.load(int(ins[1]))
	case op == opLdcW:
		f.load(index)
	case op == opGetstatic:
		f.get(index)
	case op == opInvokespecial:
		f.construct(index)
	case op == opPutstatic:
		f.put(index)
	case op == opNew || op == opDup || op == opAastore:
	case op >= opIfeq && op <= opJsr || op == opIfnull || op == opIfnonnull:
		f.targets = append(f.targets, f.at+int(int16(index)))
		f.making = false
	default:
		if _, f.isConstant = f.p.pushed(ins); !f.isConstant { // not the index of an element, or whether a field is unshared
			f.making = false
		}
	}
	f.last, f.isConstant = f.p.pushed(ins)
}

// load notes a constant: a text or a class.
func (f *persistentFinder) load(i int) {
	var r reader
	switch pool := f.p.pool; pool.tag(i) {
	case tagString:
		f.name = pool.text(&r, pool.ref(i, tagString, 0), "a text")
	case tagClass:
		f.typ = descriptorOf(pool.class(&r, i, "a class"))
	}
}

// get notes the class of a primitive type, as in Integer.TYPE, or that there are no fields.
func (f *persistentFinder) get(i int) {
	class, name, _, _ := f.p.pool.member(i)
	switch {
	case class == "java.io.ObjectStreamClass" && name == "NO_FIELDS":
		f.making, f.size, f.fields, f.start = true, 0, []Field{}, f.at
	case name == "TYPE":
		for primitive, box := range boxes {
			if box == class {
				f.typ = primitiveDescriptors[primitive]
			}
		}
	default:
		f.making = false
	}
}

// construct takes the call of the constructor of a field.
func (f *persistentFinder) construct(i int) {
	class, name, _, _ := f.p.pool.member(i)
	if class != objectStreamField || name != "<init>" || f.name == "" || f.typ == "" {
		f.making = false
		return
	}
	f.fields = append(f.fields, Field{Name: f.name, Descriptor: f.typ})
	f.name, f.typ = "", ""
}

// put takes the assignment of a static field.
func (f *persistentFinder) put(i int) {
	if class, name, _, _ := f.p.pool.member(i); class == f.p.c.Name && name == "serialPersistentFields" {
		f.times++
		f.found = nil
		jumped := slices.ContainsFunc(f.targets, func(to int) bool { return to > f.start && to <= f.at })
		if f.making && !jumped && int64(len(f.fields)) == f.size {
			f.found = f.fields
		}
	}
	f.making = false
}

var primitiveDescriptors = map[string]string{
	"boolean": "Z", "byte": "B", "char": "C", "short": "S", "int": "I", "long": "J", "float": "F", "double": "D",
}

// descriptorOf returns the descriptor of a class, from its name as Class.getName has it.
func descriptorOf(class string) string {
	path := strings.ReplaceAll(class, ".", "/")
	if strings.HasPrefix(class, "[") {
		return path
	}
	return "L" + path + ";"
}
