package classfile

import "strings"

// Parse reads a class file (JVMS 4.1). The class does not refer to data. An error is an [*Error] without a place.
func Parse(data []byte) (*Class, error) {
	p := parser{r: &reader{b: data}}
	c := p.class()
	if p.r.err != nil {
		return nil, p.r.err
	}
	return c, nil
}

// parser is a class file that is being read.
type parser struct {
	r               *reader
	pool            *pool
	c               *Class
	values          int  // of annotations
	nested, generic bool // the attributes InnerClasses and Signature of the class were read
	// allAnnotations keeps those that no serialization knows, too: for tests.
	allAnnotations bool

	header int     // offset of what follows the constant pool: flags, this class, superclass, interfaces
	hashed members // what serialVersionUID is computed from
	clinit []byte  // the code of the static initializer
	// code is that of all methods, by name and descriptor, for a machine that follows them; nil where none does.
	code map[string]*code
	// declared is the methods that others can call, in order, for who asks for one; nil where nobody does.
	declared *[]declared
	// uidField says that serialVersionUID is declared, and uidConstant which entry of the pool is its value, if one is.
	uidField    bool
	uidType     byte
	uidConstant int
}

func (p *parser) class() *Class {
	r := p.r
	if magic := r.u4(); magic != 0xcafebabe {
		r.fail(0, "not a class file: it starts with %08x", magic)
	}
	r.u2() // minor version
	major := r.u2()
	if r.err == nil && major < 45 {
		r.fail(6, "class file version %d is not a Java release's", major)
	}
	p.pool = readPool(r)
	p.header = r.at
	p.c = &Class{Release: max(major-44, 1)}
	c := p.c
	flags := Modifiers(r.u2())
	c.Name = p.pool.class(r, r.u2(), "this class")
	c.Super = p.pool.optionalClass(r, r.u2(), "the superclass")
	for range r.u2() {
		if r.err != nil {
			return nil
		}
		i := r.u2()
		c.Interfaces = append(c.Interfaces, p.pool.class(r, i, "an interface"))
		p.hashed.size += len(p.pool.raw(p.pool.ref(i, tagClass, 0)))
	}
	p.fields()
	p.methods()
	c.Modifiers = p.modifiers(flags, 0)
	p.attributes(r, p.classAttribute)
	if r.err == nil && r.at < len(r.b) {
		r.fail(r.at, "%d more bytes than the class needs", len(r.b)-r.at)
	}
	if r.err == nil {
		if c.PersistentFields {
			c.persistent = p.persistentFields()
		}
		p.serialVersion()
	}
	return c
}

// modifiers returns the flags of a class that the JVM knows, and others. Interfaces are abstract: old compilers forgot it.
func (p *parser) modifiers(flags, others Modifiers) Modifiers {
	if flags.Has(Interface) && p.c.Release < 6 {
		flags |= Abstract
	}
	return flags & (Public | Final | Interface | Abstract | Annotated | Enum | Synthetic | others)
}

// attributes hands out the attributes at r, each with a reader of its own.
func (p *parser) attributes(r *reader, f func(name string, r *reader)) {
	for range r.u2() {
		name := p.pool.raw(r.u2())
		if r.err == nil && name == nil {
			r.fail(r.at-2, "the name of an attribute is not a text")
		}
		a := r.within(r.u4())
		if r.err != nil {
			return
		}
		f(string(name), a)
		if r.err = a.err; r.err != nil {
			return
		}
	}
}

func (p *parser) classAttribute(name string, r *reader) {
	c := p.c
	switch name {
	case "Signature":
		p.classSignature(r)
	case "Synthetic":
		c.Modifiers |= Synthetic
	case "Record":
		c.Record = c.Super == "java.lang.Record"
	case "EnclosingMethod":
		c.Local = true
	case "RuntimeVisibleAnnotations":
		c.Annotations = p.annotations(r)
	case "InnerClasses":
		if !p.nested {
			p.nested = true
			p.innerClasses(r)
		}
	}
}

// innerClasses finds this class among the member classes, whose own flags do not say private, protected or static.
func (p *parser) innerClasses(r *reader) {
	others := map[int]bool{}
	for range r.u2() {
		inner, outer, _, flags := r.u2(), r.u2(), r.u2(), r.u2()
		if r.err != nil {
			return
		}
		if others[inner] {
			continue
		}
		if p.pool.class(r, inner, "a member class") == p.c.Name {
			p.c.Modifiers = p.modifiers(Modifiers(flags), Private|Protected|Static)
			p.c.Outer = p.pool.optionalClass(r, outer, "an outer class")
			return
		}
		others[inner] = true
	}
}

// fields reads the fields (JVMS 4.5).
func (p *parser) fields() {
	r := p.r
	n := r.u2()
	if n*8 > len(r.b)-r.at {
		r.fail(r.at-2, "%d fields do not fit into the file", n)
		return
	}
	p.c.Fields = make([]Field, n)
	for i := range p.c.Fields {
		f := &p.c.Fields[i]
		const known = Public | Private | Protected | Static | Final | Volatile | Transient | Enum | Synthetic
		f.Modifiers = Modifiers(r.u2()) & known
		name, descriptor := r.u2(), r.u2()
		f.Name = p.pool.text(r, name, "the name of a field")
		f.Descriptor = p.pool.text(r, descriptor, "the descriptor of a field")
		if t := p.fieldType(descriptor); r.err == nil && t == nil {
			r.fail(r.at-2, "field %s: %q is not the descriptor of a type", quote(f.Name), f.Descriptor)
		}
		constant := 0
		p.attributes(r, func(attribute string, r *reader) {
			switch attribute {
			case "ConstantValue":
				constant = r.u2()
			case "Synthetic":
				f.Modifiers |= Synthetic
			case "Signature":
				p.fieldSignature(f, r)
			case "RuntimeVisibleAnnotations":
				f.Annotations = p.annotations(r)
			}
		})
		if r.err != nil {
			return
		}
		p.hashed.add(p.pool, &p.hashed.fields, f.Modifiers, name, descriptor)
		switch {
		case f.Name == "serialVersionUID" && f.Modifiers.Has(Static|Final) && strings.Contains("BCSIJ", f.Descriptor):
			p.uidField, p.uidType, p.uidConstant = true, f.Descriptor[0], constant
		case f.Name == "serialPersistentFields" && f.Modifiers.Has(Private|Static|Final) &&
			f.Descriptor == "[Ljava/io/ObjectStreamField;":
			p.c.PersistentFields = true
		}
	}
}

// fieldType returns the type of a descriptor; nil if it is not one.
func (p *parser) fieldType(i int) *Type {
	t, ok := p.pool.types[i]
	if !ok {
		t, _ = ParseDescriptor(p.pool.text(&reader{}, i, "a descriptor"))
		if t == primitives['V'] {
			t = nil
		}
		p.pool.types[i] = t
	}
	return t
}

// fieldSignature reads the Signature attribute of a field. Entries of the pool are parsed once.
func (p *parser) fieldSignature(f *Field, r *reader) {
	i := r.u2()
	const signed = 1 << 16 // apart from descriptors
	t, ok := p.pool.types[signed+i]
	if !ok {
		var err error
		if t, err = ParseSignature(p.pool.text(r, i, "a signature")); err != nil {
			t = nil
			p.badSignature("field "+quote(f.Name), err)
		}
		p.pool.types[signed+i] = t
	}
	f.Generic = t
}

func (p *parser) classSignature(r *reader) {
	if p.generic {
		return
	}
	p.generic = true
	s, err := ParseClassSignature(p.pool.text(r, r.u2(), "a signature"))
	if err != nil {
		p.badSignature("class", err)
		return
	}
	p.c.Generic = s
}

func (p *parser) badSignature(where string, err error) {
	if p.c.SignatureErr == nil {
		p.c.SignatureErr = located(where, err)
	}
}

// methods reads the methods (JVMS 4.6).
func (p *parser) methods() {
	r := p.r
	n := r.u2()
	if n*8 > len(r.b)-r.at {
		r.fail(r.at-2, "%d methods do not fit into the file", n)
		return
	}
	for range n {
		flags := Modifiers(r.u2())
		name, descriptor := r.u2(), r.u2()
		n, d := p.pool.raw(name), p.pool.raw(descriptor)
		if r.err == nil && (n == nil || len(d) < 3 || d[0] != '(') {
			r.fail(r.at-4, "name or descriptor of a method is not one")
		}
		generic := ""
		p.attributes(r, func(attribute string, r *reader) {
			switch {
			case attribute == "Synthetic":
				flags |= Synthetic
			case attribute == "Signature" && p.declared != nil:
				generic = p.pool.text(r, r.u2(), "a signature")
			case attribute == "Code" && p.code != nil:
				const bridge = Volatile // the same bit
				c := codeOf(r)
				c.bridge = flags.Has(bridge)
				p.code[string(n)+string(d)] = c
			case attribute == "Code" && string(n) == "<clinit>":
				p.clinit = codeOf(r).instructions
			}
		})
		if r.err != nil {
			return
		}
		if p.declared != nil && flags&(Static|Private|Synthetic) == 0 {
			*p.declared = append(*p.declared, declared{string(n), string(d), generic})
		}
		switch string(n) {
		case "<clinit>":
			p.hashed.initializer = true
			continue
		case "<init>":
			if string(d) == "()V" {
				p.c.HasConstructor, p.c.Constructor = true, flags
			}
			p.hashed.add(p.pool, &p.hashed.constructors, flags, name, descriptor)
			continue
		case "writeObject", "readObject", "readObjectNoData", "writeReplace", "readResolve":
			p.c.methods = append(p.c.methods, method{string(n), p.pool.text(r, descriptor, "a descriptor"), flags})
		}
		p.hashed.add(p.pool, &p.hashed.methods, flags, name, descriptor)
	}
}
