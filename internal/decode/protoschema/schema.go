// Package protoschema holds the schemas of protocol buffers messages in the form in which a reader of bodies needs them: fields by
// number, with what their bytes may be.
//
// A [Set] is made of file descriptors, whatever they come from: .proto files, descriptor sets, or generated classes. It knows messages by
// their own names and by those of the classes that protoc generates for Java, and the methods of services.
//
// Sources: https://protobuf.dev/programming-guides/encoding, /proto3/#json, /reference/java/java-generated, /editions/features.
package protoschema

import (
	"google.golang.org/protobuf/encoding/protowire"

	"dubbo-wire/internal/decode"
)

// Kind is the type of a field.
type Kind uint8

const (
	// Unknown is the type of a field of which the schema has only the name, since a file that it imports is missing.
	Unknown Kind = iota
	Bool
	Int32
	Int64
	Uint32
	Uint64
	Sint32
	Sint64
	Fixed32
	Fixed64
	Sfixed32
	Sfixed64
	Float
	Double
	EnumValue
	String
	Bytes
	Nested // a message after its length
	Group  // a message between two tags
)

// Wire returns the wire type of a single value; -1 if it may be any.
func (k Kind) Wire() protowire.Type { return kinds[k].wire }

// String returns the name of the type in a .proto file.
func (k Kind) String() string { return kinds[k].name }

var kinds = [...]struct {
	name string
	wire protowire.Type
}{
	Unknown:   {"a value", -1},
	Bool:      {"bool", protowire.VarintType},
	Int32:     {"int32", protowire.VarintType},
	Int64:     {"int64", protowire.VarintType},
	Uint32:    {"uint32", protowire.VarintType},
	Uint64:    {"uint64", protowire.VarintType},
	Sint32:    {"sint32", protowire.VarintType},
	Sint64:    {"sint64", protowire.VarintType},
	Fixed32:   {"fixed32", protowire.Fixed32Type},
	Fixed64:   {"fixed64", protowire.Fixed64Type},
	Sfixed32:  {"sfixed32", protowire.Fixed32Type},
	Sfixed64:  {"sfixed64", protowire.Fixed64Type},
	Float:     {"float", protowire.Fixed32Type},
	Double:    {"double", protowire.Fixed64Type},
	EnumValue: {"an enum", protowire.VarintType},
	String:    {"string", protowire.BytesType},
	Bytes:     {"bytes", protowire.BytesType},
	Nested:    {"a message", protowire.BytesType},
	Group:     {"a group", protowire.StartGroupType},
}

// Form is how values of a message are shown.
type Form uint8

const (
	Plain     Form = iota // fields by name
	Wrapper               // the value of its field
	Timestamp             // a date
	Duration              // a text like 1.5s
	FieldMask             // a list of paths
	Struct                // a map
	Value                 // what it holds: null, a number, a text, a boolean, a map, a list
	ListValue             // a list
	Any                   // the message in it, if its type is known
)

// Message is the type of a message. It does not change after it was returned.
type Message struct {
	// Name is the full name; Own is set for messages of Dubbo itself, whose schema a user does not bring.
	Name string
	Own  bool
	Form Form
	// Slots is the number of slots that its fields have; the first Required are those of fields that are required.
	Slots, Required int
	// Fields are in the order of their declaration, extensions last.
	Fields []Field
	// Declared are their names without extensions, nil if Own is set.
	Declared *decode.DeclaredType

	low  []*Field // by number
	high map[protowire.Number]*Field
}

// maxLow limits the numbers of fields that are found by index.
const maxLow = 128

// Field returns the field with a number, nil if the message has none. A nil message has no fields.
func (m *Message) Field(n protowire.Number) *Field {
	switch {
	case m == nil:
		return nil
	case int(n) < len(m.low):
		return m.low[n]
	}
	return m.high[n]
}

// MaxSlots is the maximum number of slots of a message.
const MaxSlots = 1 << 10

// NoSlot is the slot of a field that may occur several times, and of those that exceed MaxSlots.
const NoSlot = -1

// index fills the tables by number, and gives slots to fields that occur at most once: those of a oneof share one.
func (m *Message) index(oneofs []int) {
	most := protowire.Number(0)
	for i := range m.Fields {
		if n := m.Fields[i].Number; n < maxLow {
			most = max(most, n)
		}
	}
	m.low = make([]*Field, most+1)
	if !m.Own {
		m.Declared = new(decode.DeclaredType)
		for i := range m.Fields {
			if name := m.Fields[i].Name; name[0] != '[' {
				m.Declared.Fields = append(m.Declared.Fields, name)
			}
		}
	}
	shared := map[int]int16{}
	slot := func(f *Field, oneof int) {
		f.Slot = NoSlot
		if oneof >= 0 {
			if s, ok := shared[oneof]; ok {
				f.Slot = s
				return
			}
		}
		if f.List || f.Map || m.Slots == MaxSlots {
			return
		}
		f.Slot = int16(m.Slots)
		m.Slots++
		if oneof >= 0 {
			shared[oneof] = f.Slot
		}
	}
	for i := range m.Fields {
		if f := &m.Fields[i]; f.Required {
			slot(f, -1)
			m.Required = m.Slots
		}
	}
	for i := range m.Fields {
		f := &m.Fields[i]
		if f.Number < maxLow {
			m.low[f.Number] = f
		} else {
			if m.high == nil {
				m.high = make(map[protowire.Number]*Field)
			}
			m.high[f.Number] = f
		}
		if !f.Required {
			slot(f, oneofs[i])
		}
	}
}

// Field is a field of a message.
type Field struct {
	Number protowire.Number
	// Name is the name in JSON, that of an extension in brackets.
	Name string
	Kind Kind
	// Of is the type of a message or a group, Enum that of an enum.
	Of   *Message
	Enum *Enum
	// List: it is repeated, and not a map. Map: Of has the key as field 1 and the value as field 2.
	List, Map, Required bool
	// UTF8: its text is checked by whoever writes it.
	UTF8 bool
	// Class: its text is the class of the object.
	Class bool
	// Slot is the same for fields of which at most one is set.
	Slot int16
}

// Packs reports whether values of a repeated field may be packed.
func (f *Field) Packs() bool { return f.List && f.Kind >= Bool && f.Kind <= EnumValue }

// Zero returns what an entry of a map has where the field is missing.
func (f *Field) Zero() decode.Kind {
	switch f.Kind {
	case Bool:
		return decode.Bool
	case Float:
		return decode.Float32
	case Double:
		return decode.Float64
	case String:
		return decode.String
	case Bytes:
		return decode.Bytes
	case Nested, Group:
		return decode.Object
	case EnumValue:
		return decode.Enum
	}
	return decode.Int
}

// Enum is the type of an enum.
type Enum struct {
	Name  string
	names map[int32]string
}

// Of returns the name of a number, "" if it has none.
func (e *Enum) Of(n int32) string { return e.names[n] }

// Made returns a message that is built in, with these fields.
func Made(m *Message) *Message {
	oneofs := make([]int, len(m.Fields))
	for i := range oneofs {
		oneofs[i] = -1
	}
	m.index(oneofs)
	return m
}
