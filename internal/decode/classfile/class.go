package classfile

import "strings"

// Modifiers are access flags as java.lang.reflect.Modifier numbers them (JVMS tables 4.1-B, 4.5-A, 4.6-A, 4.7.6-A).
type Modifiers uint16

const (
	Public Modifiers = 1 << iota
	Private
	Protected
	Static
	Final
	Synchronized
	Volatile
	Transient
	Native
	Interface
	Abstract
	Strict
	Synthetic
	Annotated // the class is an annotation type
	Enum
)

// Has reports whether all of some modifiers are set.
func (m Modifiers) Has(all Modifiers) bool { return m&all == all }

// Class is what a class file says about its class. It must not be changed.
type Class struct {
	// Name is what Class.getName returns: java.util.Map$Entry.
	Name string
	// Place is the file that the class was read from, or says that the class is built in; empty if it was parsed from bytes.
	Place string
	// Release is the Java release that the class file is for: 8, 17.
	Release int
	// Modifiers are what Class.getModifiers returns: those that a member class was declared with.
	Modifiers Modifiers
	// Super is the superclass; empty for java.lang.Object and for modules.
	Super string
	// Interfaces are those that the class itself declares, in order.
	Interfaces []string
	// Generic has type parameters, superclass and interfaces as they were declared; nil where none of them is generic.
	Generic *ClassSignature
	// Fields are all fields of the class itself, static ones too, in order of declaration, as Class.getDeclaredFields returns
	// them. Classes that are built in have their enum constants and no other static fields, and no generic types.
	Fields []Field
	// Record says that the class is a record.
	Record bool
	// Outer is the class that declares this one as a member; empty for top-level, local and anonymous classes.
	Outer string
	// Local says that the class is local or anonymous: declared in a method.
	Local bool
	// Constructor has the modifiers of the constructor without arguments, if HasConstructor.
	Constructor    Modifiers
	HasConstructor bool
	// PersistentFields says that the class has serialPersistentFields: ObjectOutputStream writes these, not its fields.
	PersistentFields bool
	// Annotations are those of the class that change what a format writes: see [Annotation].
	Annotations []Annotation
	// SignatureErr is the first generic signature that could not be read; its type is then the one without type arguments.
	// The JVM ignores such a signature, too, until somebody asks for it.
	SignatureErr error

	uid        serialVersion
	methods    []method // those that serialization looks for
	persistent []Field  // what serialPersistentFields names; nil if that is not known
}

// Field is a field of a class.
type Field struct {
	Name string
	// Descriptor is the type without type arguments: I, [Ljava/lang/String;
	Descriptor string
	Modifiers  Modifiers
	// Generic is the type as it was declared; nil where it has no type arguments or variables.
	Generic *Type
	// Annotations are those that change what a format writes.
	Annotations []Annotation
}

// Type returns the type as it was declared.
func (f *Field) Type() *Type {
	if f.Generic != nil {
		return f.Generic
	}
	t, _ := ParseDescriptor(f.Descriptor) // checked when the class was parsed
	return t
}

// IsEnum reports whether the class declares an enum, as Class.isEnum does: not so the class of a constant with a body.
func (c *Class) IsEnum() bool { return c.Modifiers.Has(Enum) && c.Super == "java.lang.Enum" }

// IsInterface reports whether the class is an interface or annotation type.
func (c *Class) IsInterface() bool { return c.Modifiers.Has(Interface) }

// Constants returns the names of an enum's constants by ordinal: compilers declare them in this order.
func (c *Class) Constants() []string {
	var names []string
	if c.IsEnum() {
		for i := range c.Fields {
			if c.Fields[i].Modifiers.Has(Enum) {
				names = append(names, c.Fields[i].Name)
			}
		}
	}
	return names
}

// Field returns the class's own field with a name, nil if there is none.
func (c *Class) Field(name string) *Field {
	for i := range c.Fields {
		if c.Fields[i].Name == name {
			return &c.Fields[i]
		}
	}
	return nil
}

// Package returns the package of a class name.
func Package(name string) string { return name[:max(strings.LastIndexByte(name, '.'), 0)] }

// method is a method that serialization looks for.
type method struct {
	name, descriptor string
	modifiers        Modifiers
}

// method returns what Class.getDeclaredMethod does for a name and the descriptor of its parameters: of several that differ
// in the type that they return, one with another type than Object.
func (c *Class) method(name, parameters string) *method {
	var found *method
	for i := range c.methods {
		m := &c.methods[i]
		if m.name == name && strings.HasPrefix(m.descriptor, parameters) &&
			(found == nil || found.descriptor == parameters+"Ljava/lang/Object;") {
			found = m
		}
	}
	return found
}

// weight is about how many bytes a class takes in memory.
func (c *Class) weight(file int) int { return 1024 + file/2 + 160*len(c.Fields) }
