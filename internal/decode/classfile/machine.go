package classfile

import (
	"encoding/binary"
	"fmt"
	"strings"
)

// machine follows instructions (JVMS 6.5) of a class that makes lists of classes, without branches.
type machine struct {
	pool    *pool
	name    string           // of the class
	methods map[string]*code // by name and descriptor
	statics map[string]*operand
	finals  map[string]bool                    // static fields that keep what they are given
	load    func(class string) ([]byte, error) // class files of other classes; may be nil
	others  map[string]map[string]*operand     // final fields of other classes
	copied  int                                // elements of lists, to bound work
	steps   int                                // instructions that were followed
	depth   int                                // methods that have called each other
}

// code is the code of a method.
type code struct {
	instructions []byte
	locals       int
	bridge       bool
}

// Bounds of what a method may do.
const (
	maxStack    = 1 << 12
	maxCopied   = 1 << 20
	maxElements = 1 << 16
	maxSteps    = 1 << 20
	maxCalls    = 16
)

// newMachine reads the methods of a class file.
func newMachine(data []byte) (*machine, error) {
	p := parser{r: &reader{b: data}, code: map[string]*code{}}
	c := p.class()
	if p.r.err != nil {
		return nil, p.r.err
	}
	m := &machine{pool: p.pool, name: c.Name, methods: p.code, statics: map[string]*operand{}, finals: map[string]bool{}, others: map[string]map[string]*operand{}}
	for _, f := range c.Fields {
		if f.Modifiers.Has(Static | Final) {
			m.finals[f.Name] = true
		}
	}
	return m, nil
}

// method returns the code of a method without parameters, whatever type it returns; a bridge for another type is none.
func (m *machine) method(name string) *code {
	for key, c := range m.methods {
		if strings.HasPrefix(key, name+"()") && !c.bridge {
			return c
		}
	}
	return nil
}

// unknown marks what an initializer made that could not be followed to its end.
func (m *machine) unknown(what string, err error, made map[string]*operand) {
	for _, t := range made {
		t.invalidate(fmt.Sprintf("; the %s: %s", what, err))
	}
}

// invalidate marks a list, and those that it or an object holds, as one that may hold something else.
func (t *operand) invalidate(why string) {
	if t == nil || t.invalid != "" {
		return
	}
	t.invalid = why
	for _, e := range t.elements {
		e.invalidate(why)
	}
	for _, f := range t.fields {
		f.invalidate(why)
	}
}

// frame is a method that is being followed.
type frame struct {
	m      *machine
	stack  []*operand
	locals []*operand
	err    error
}

func (f *frame) push(t *operand) {
	if t == nil {
		t = &operand{}
	}
	if f.stack = append(f.stack, t); len(f.stack) > maxStack {
		f.fail("the stack is too deep")
	}
}

func (f *frame) pop() *operand {
	if len(f.stack) == 0 {
		f.fail("the stack is empty")
		return &operand{}
	}
	t := f.stack[len(f.stack)-1]
	f.stack = f.stack[:len(f.stack)-1]
	return t
}

func (f *frame) fail(format string, args ...any) {
	if f.err == nil {
		f.err = fmt.Errorf(format, args...)
	}
}

// run follows a method and returns its result.
func (m *machine) run(c *code, arguments []*operand) (*operand, error) {
	if m.depth++; m.depth > maxCalls {
		return nil, fmt.Errorf("methods call each other too often")
	}
	defer func() { m.depth-- }()
	f := &frame{m: m, locals: make([]*operand, max(c.locals, len(arguments)))}
	copy(f.locals, arguments)
	for at := 0; ; {
		if m.steps++; m.steps > maxSteps {
			return nil, fmt.Errorf("instruction %d: too many instructions", at)
		}
		n := instructionLen(c.instructions, at)
		if n == 0 {
			return nil, fmt.Errorf("instruction %d is not one", at)
		}
		ins := c.instructions[at : at+n]
		switch ins[0] {
		case 0xb0: // areturn
			t := f.pop()
			return t, f.err
		case 0xb1: // return
			return nil, f.err
		}
		if f.step(ins); f.err != nil {
			return nil, fmt.Errorf("instruction %d: %w", at, f.err)
		}
		at += n
	}
}

// step follows one instruction.
func (f *frame) step(ins []byte) {
	index := func() int { return int(binary.BigEndian.Uint16(ins[1:])) }
	switch op := ins[0]; {
	case op == 0x00: // nop
	case op == 0x01: // aconst_null
		f.push(&operand{kind: nullValue})
	case op >= opIconstM1 && op <= opIconst5:
		f.push(&operand{kind: intValue, value: int(op) - opIconstM1 - 1})
	case op >= opLconst0 && op <= 0x0f || op == opLdc2W: // long, float and double constants
		f.push(nil)
	case op == opBipush:
		f.push(&operand{kind: intValue, value: int(int8(ins[1]))})
	case op == opSipush:
		f.push(&operand{kind: intValue, value: int(int16(index()))})
	case op == opLdc:
		f.load(int(ins[1]))
	case op == opLdcW:
		f.load(index())
	case op == 0x15 || op == 0x19: // iload, aload
		f.get(int(ins[1]))
	case op >= 0x1a && op <= 0x1d: // iload_0 …
		f.get(int(op) - 0x1a)
	case op >= 0x2a && op <= 0x2d: // aload_0 …
		f.get(int(op) - 0x2a)
	case op == 0x36 || op == 0x3a: // istore, astore
		f.set(int(ins[1]))
	case op >= 0x3b && op <= 0x3e: // istore_0 …
		f.set(int(op) - 0x3b)
	case op >= 0x4b && op <= 0x4e: // astore_0 …
		f.set(int(op) - 0x4b)
	case op == 0xbe: // arraylength
		f.pop()
		f.push(nil)
	case op == 0x53: // aastore
		value, i, to := f.pop(), f.pop(), f.pop()
		if i.kind != intValue || to.kind != arrayValue || i.value < 0 || i.value >= len(to.elements) {
			f.fail("an element of an array that is not known")
			return
		}
		to.elements[i.value] = value
	case op == 0x57: // pop
		f.pop()
	case op == 0x59: // dup
		t := f.pop()
		f.push(t)
		f.push(t)
	case op == 0xb2: // getstatic
		f.field(index(), nil, false)
	case op == opPutstatic:
		f.field(index(), f.pop(), true)
	case op == 0xb4: // getfield
		f.member(index(), f.pop(), nil)
	case op == 0xb5: // putfield
		value := f.pop()
		f.member(index(), f.pop(), value)
	case op >= 0xb6 && op <= 0xb9: // invokevirtual, invokespecial, invokestatic, invokeinterface
		f.invoke(index(), op == 0xb8)
	case op == 0xbb: // new
		var r reader
		class := f.m.pool.class(&r, index(), "a class")
		ordered, known := collections[class]
		if known {
			f.push(&operand{kind: listValue, unordered: !ordered})
		} else {
			f.push(nil)
		}
	case op == 0xbd: // anewarray
		n := f.pop()
		if n.kind != intValue || n.value < 0 || n.value > maxElements {
			f.fail("an array whose length is not known")
			return
		}
		if f.m.copied += n.value; f.m.copied > maxCopied {
			f.fail("too many classes")
			return
		}
		f.push(&operand{kind: arrayValue, elements: make([]*operand, n.value)})
	case op == 0xc0: // checkcast
	case op >= 0x99 && op <= 0xab, op >= 0xc6 && op <= 0xc9:
		f.fail("the list depends on a condition or loop")
	case op == 0xba:
		f.fail("a lambda or a text that is put together")
	default:
		f.fail("opcode %#x is not followed", op)
	}
}

func (f *frame) get(i int) {
	if i >= len(f.locals) {
		f.fail("a variable that is not known")
		return
	}
	f.push(f.locals[i])
}

func (f *frame) set(i int) {
	t := f.pop()
	if i >= len(f.locals) {
		f.fail("a variable that is not known")
		return
	}
	f.locals[i] = t
}

// load pushes a constant.
func (f *frame) load(i int) {
	var r reader
	switch f.m.pool.tag(i) {
	case tagClass:
		f.push(&operand{kind: classValue, name: f.m.pool.class(&r, i, "a class")})
	case tagInteger:
		b := f.m.pool.entry(i, tagInteger)
		f.push(&operand{kind: intValue, value: int(int32(binary.BigEndian.Uint32(b)))})
	default:
		f.push(nil)
	}
}

// field gets or puts a static field: of this class, or the class of a primitive type, as in Integer.TYPE.
func (f *frame) field(i int, value *operand, put bool) {
	class, name, descriptor, ok := f.m.pool.member(i)
	if !ok {
		f.fail("a field that is not known")
		return
	}
	if class == f.m.name {
		if put {
			f.m.statics[name] = value
		} else {
			f.push(f.m.statics[name])
		}
		return
	}
	if put {
		value.invalidate("; it is kept in " + quote(class))
		return
	}
	if name == "TYPE" && strings.HasPrefix(class, "java.lang.") && descriptor == "Ljava/lang/Class;" {
		for primitive, box := range boxes {
			if box == class {
				f.push(&operand{kind: classValue, name: primitive})
				return
			}
		}
	}
	f.push(f.m.constants(class)[name])
}

// constants returns the final static fields of another class, as its static initializer makes them.
func (m *machine) constants(class string) map[string]*operand {
	made, ok := m.others[class]
	if ok || m.load == nil || len(m.others) == maxCalls {
		return made
	}
	m.others[class] = nil // where the class asks for its own fields by way of others
	data, err := m.load(class)
	if err != nil {
		return nil
	}
	o, err := newMachine(data)
	if err != nil {
		return nil
	}
	o.load, o.others, o.copied, o.steps, o.depth = m.load, m.others, m.copied, m.steps, m.depth
	if clinit := o.method("<clinit>"); clinit != nil {
		if _, err := o.run(clinit, nil); err != nil {
			o.unknown("static initializer of "+quote(class), err, o.statics)
		}
	}
	m.copied, m.steps = o.copied, o.steps
	for name := range o.statics {
		if !o.finals[name] {
			delete(o.statics, name)
		}
	}
	m.others[class] = o.statics
	return o.statics
}

// boxes are the classes with a field TYPE.
var boxes = map[string]string{
	"boolean": "java.lang.Boolean", "byte": "java.lang.Byte", "char": "java.lang.Character", "short": "java.lang.Short", "int": "java.lang.Integer",
	"long": "java.lang.Long", "float": "java.lang.Float", "double": "java.lang.Double",
}

// member gets or, if there is a value, puts a field of an object.
func (f *frame) member(i int, of, value *operand) {
	class, name, _, ok := f.m.pool.member(i)
	known := ok && class == f.m.name && of.fields != nil
	switch {
	case value == nil && known:
		f.push(of.fields[name])
	case value == nil:
		f.push(nil)
	case known:
		of.fields[name] = value
	default:
		value.invalidate("; it is kept in another object")
	}
}
