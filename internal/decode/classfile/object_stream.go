package classfile

import (
	"cmp"
	"crypto/sha1"
	"encoding/binary"
	"slices"
)

// ObjectStream is what java.io.ObjectStreamClass says of a class: how Java serialization writes its objects.
type ObjectStream struct {
	// Serializable and Externalizable say what the class implements, directly or not.
	Serializable, Externalizable bool
	// Enum says that the class is java.lang.Enum or extends it: a constant is written as its name.
	Enum bool
	// Record says that the class is a record, whose writeObject and readObject are not called.
	Record bool
	// SerialVersionUID is declared or computed; 0 for enums, records that do not declare it, and classes that are not Serializable.
	// SerialVersionUIDKnown is false if the class computes it when it is loaded.
	SerialVersionUID      int64
	SerialVersionUIDKnown bool
	// WriteObject, ReadObject and ReadObjectNoData say which of these methods the class has itself, so that they are called.
	WriteObject, ReadObject, ReadObjectNoData bool
	// WriteReplace and ReadResolve say which of these methods the class has or inherits.
	WriteReplace, ReadResolve bool
	// Incomplete is a superclass or interface that was not found: what it would add is not known.
	Incomplete string

	fieldsOf *Class
}

// ObjectStream returns what ObjectStreamClass.lookupAny says of a class. The class itself must be known; if one of its
// superclasses or interfaces is not, Incomplete names it.
func (t *Types) ObjectStream(name string) (*ObjectStream, error) {
	chain, missing, err := t.Chain(name)
	if err != nil {
		return nil, err
	}
	if len(chain) == 0 { // java.lang.Object
		return &ObjectStream{SerialVersionUIDKnown: true}, nil
	}
	c := chain[0]
	s := &ObjectStream{Incomplete: missing, SerialVersionUIDKnown: true, Record: c.Record}
	is := func(other string) bool {
		yes, missing, failed := t.is(name, other)
		s.Incomplete, err = cmp.Or(s.Incomplete, missing), cmp.Or(err, failed)
		return yes
	}
	s.Serializable, s.Externalizable, s.Enum = is("java.io.Serializable"), is("java.io.Externalizable"), is("java.lang.Enum")
	if err != nil {
		return nil, err
	}
	if s.Externalizable || s.Enum { // these interfaces are Serializable, whether the JDK's classes are known or not
		s.Serializable = true
	}
	if !s.Serializable || s.Enum {
		return s, nil
	}
	u := &c.uid
	switch {
	case u.declared:
		s.SerialVersionUID, s.SerialVersionUIDKnown = u.value, u.known
	case !c.Record:
		s.SerialVersionUID, s.SerialVersionUIDKnown = u.computed, u.computable
	}
	if !s.Externalizable && !c.IsInterface() {
		s.fieldsOf = c
	}
	if !s.Record && !s.Externalizable {
		s.WriteObject = c.isCalled("writeObject", "(Ljava/io/ObjectOutputStream;)")
		s.ReadObject = c.isCalled("readObject", "(Ljava/io/ObjectInputStream;)")
		s.ReadObjectNoData = c.isCalled("readObjectNoData", "()")
	}
	s.WriteReplace = inherits(chain, "writeReplace")
	s.ReadResolve = inherits(chain, "readResolve")
	return s, nil
}

// isCalled reports whether the class has a private method that serialization calls (ObjectStreamClass.getPrivateMethod).
func (c *Class) isCalled(name, parameters string) bool {
	m := c.method(name, parameters)
	return m != nil && m.descriptor == parameters+"V" && m.modifiers&(Private|Static) == Private
}

// inherits reports whether a class has or inherits a method that returns another object instead of its own
// (ObjectStreamClass.getInheritableMethod).
func inherits(chain []*Class, name string) bool {
	for _, c := range chain {
		m := c.method(name, "()")
		switch {
		case m == nil:
			continue
		case m.descriptor != "()Ljava/lang/Object;" || m.modifiers&(Static|Abstract) != 0:
			return false
		case m.modifiers&(Public|Protected) != 0:
			return true
		case m.modifiers.Has(Private):
			return c == chain[0]
		}
		return Package(c.Name) == Package(chain[0].Name)
	}
	return false
}

// Fields returns the class's own fields in the order that ObjectOutputStream writes them (Java Object Serialization
// Specification, 4.3): primitive ones first, each group by name. If a class has serialPersistentFields, these are what it
// names; nil if nothing is known of that, see [ObjectStream.FieldsKnown].
func (s *ObjectStream) Fields() []*Field {
	if s.fieldsOf == nil || !s.FieldsKnown() {
		return nil
	}
	var fields []*Field
	if all := s.fieldsOf.persistent; s.fieldsOf.PersistentFields {
		for i := range all {
			fields = append(fields, &all[i])
		}
	} else {
		all = s.fieldsOf.Fields
		for i := range all {
			if f := &all[i]; f.Modifiers&(Static|Transient) == 0 {
				fields = append(fields, f)
			}
		}
	}
	slices.SortStableFunc(fields, func(a, b *Field) int {
		if p, q := len(a.Descriptor) > 1, len(b.Descriptor) > 1; p != q {
			if p {
				return 1
			}
			return -1
		}
		return cmp.Compare(a.Name, b.Name)
	})
	return fields
}

// FieldsKnown reports whether Fields are all. That is not known of a class whose static initializer computes serialPersistentFields.
func (s *ObjectStream) FieldsKnown() bool {
	return s.fieldsOf == nil || !s.fieldsOf.PersistentFields || s.fieldsOf.persistent != nil
}

// ArraySerialVersionUID returns the serialVersionUID of an array class: [Lp.Model; with the modifiers of its innermost
// component, which for a primitive type are public.
func ArraySerialVersionUID(name string, component Modifiers) int64 {
	var w []byte
	w = binary.BigEndian.AppendUint16(w, uint16(len(name)))
	w = append(w, name...)
	w = binary.BigEndian.AppendUint32(w, uint32(component&Public|Final|Abstract))
	sum := sha1.Sum(w)
	return int64(binary.LittleEndian.Uint64(sum[:]))
}
