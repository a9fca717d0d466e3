package classfile

import (
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"slices"
)

// serialVersion is what a class file says about serialVersionUID.
type serialVersion struct {
	declared, known bool  // whether the class declares it; whether value is its value
	value           int64 // as declared
	computed        int64 // what an undeclared one would be
	computable      bool
}

// members are the members of a class that serialVersionUID is computed from, as texts of the constant pool.
type members struct {
	fields, constructors, methods []member
	initializer                   bool
	size                          int // bytes of their texts
}

type member struct {
	name, descriptor []byte // modified UTF-8
	modifiers        Modifiers
}

func (m *members) add(p *pool, to *[]member, modifiers Modifiers, name, descriptor int) {
	n, d := p.raw(name), p.raw(descriptor)
	if m.size += len(n) + len(d) + 16; m.size <= maxHashed {
		*to = append(*to, member{n, d, modifiers})
	}
}

// serialVersion fills in what the class says about serialVersionUID.
func (p *parser) serialVersion() {
	u := &p.c.uid
	if p.uidField {
		u.declared = true
		u.value, u.known = p.integer(p.uidConstant, p.uidType)
		if !u.known {
			u.value, u.known = p.assigned("serialVersionUID")
		}
	}
	if u.computable = p.hashed.size <= maxHashed; u.computable {
		this, interfaces := p.rawNames()
		u.computed = p.hashed.compute(p.c, this, interfaces)
	}
}

// rawNames returns the names of the class and of its interfaces in modified UTF-8.
func (p *parser) rawNames() (this []byte, interfaces [][]byte) {
	name := func(at int) []byte {
		return p.pool.raw(p.pool.ref(int(binary.BigEndian.Uint16(p.r.b[at:])), tagClass, 0))
	}
	interfaces = make([][]byte, len(p.c.Interfaces))
	for i := range interfaces {
		interfaces[i] = name(p.header + 8 + 2*i)
	}
	return name(p.header + 2), interfaces
}

// integer returns a constant as an integer of a primitive type.
func (p *parser) integer(i int, kind byte) (int64, bool) {
	if b := p.pool.entry(i, tagLong); b != nil && kind == 'J' {
		return int64(binary.BigEndian.Uint64(b)), true
	}
	if b := p.pool.entry(i, tagInteger); b != nil && kind != 'J' {
		v := int32(binary.BigEndian.Uint32(b))
		switch kind {
		case 'B':
			return int64(int8(v)), true
		case 'S':
			return int64(int16(v)), true
		case 'C':
			return int64(uint16(v)), true
		}
		return int64(v), true
	}
	return 0, false
}

// compute returns the serialVersionUID that a class without one has (Java Object Serialization Specification, 4.6). Texts
// are compared in their modified UTF-8, which has the order of their UTF-16 units, as String.compareTo has.
func (m *members) compute(c *Class, name []byte, interfaces [][]byte) int64 {
	var w bytes.Buffer
	text := func(b []byte) {
		w.Write(binary.BigEndian.AppendUint16(nil, uint16(len(b))))
		w.Write(b)
	}
	number := func(m Modifiers) { w.Write(binary.BigEndian.AppendUint32(nil, uint32(m))) }
	dots := func(b []byte) []byte { return bytes.ReplaceAll(b, []byte{'/'}, []byte{'.'}) }

	text(dots(name))
	modifiers := c.Modifiers & (Public | Final | Interface | Abstract)
	if modifiers.Has(Interface) { // compilers did not agree on whether interfaces are abstract
		modifiers &^= Abstract
		if len(m.methods) > 0 {
			modifiers |= Abstract
		}
	}
	number(modifiers)
	for i := range interfaces {
		interfaces[i] = dots(interfaces[i])
	}
	slices.SortFunc(interfaces, bytes.Compare)
	for _, name := range interfaces {
		text(name)
	}
	slices.SortStableFunc(m.fields, func(a, b member) int { return bytes.Compare(a.name, b.name) })
	for _, f := range m.fields {
		modifiers := f.modifiers & (Public | Private | Protected | Static | Final | Volatile | Transient)
		if modifiers.Has(Private) && modifiers&(Static|Transient) != 0 {
			continue
		}
		text(f.name)
		number(modifiers)
		text(f.descriptor)
	}
	if m.initializer {
		text([]byte("<clinit>"))
		number(Static)
		text([]byte("()V"))
	}
	for _, list := range [][]member{m.constructors, m.methods} {
		slices.SortFunc(list, func(a, b member) int {
			if d := bytes.Compare(a.name, b.name); d != 0 {
				return d
			}
			return bytes.Compare(a.descriptor, b.descriptor)
		})
		for _, f := range list {
			const all = Public | Private | Protected | Static | Final | Synchronized | Native | Abstract | Strict
			if f.modifiers.Has(Private) {
				continue
			}
			text(f.name)
			number(f.modifiers & all)
			text(dots(f.descriptor))
		}
	}
	sum := sha1.Sum(w.Bytes())
	return int64(binary.LittleEndian.Uint64(sum[:]))
}
