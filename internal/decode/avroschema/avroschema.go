// Package avroschema reads schemas of Avro in JSON: those that users bring, and those that annotations and generated classes have.
//
// Source: Apache Avro Specification 1.11, "Schema Declaration" and "Names".
package avroschema

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
)

// Kind is the type of a schema. The names are those of the specification.
type Kind string

const (
	Null    Kind = "null"
	Boolean Kind = "boolean"
	Int     Kind = "int"
	Long    Kind = "long"
	Float   Kind = "float"
	Double  Kind = "double"
	Bytes   Kind = "bytes"
	String  Kind = "string"
	Record  Kind = "record" // and error
	Enum    Kind = "enum"
	Array   Kind = "array"
	Map     Kind = "map"
	Fixed   Kind = "fixed"
	Union   Kind = "union"
)

var primitives = map[Kind]bool{Null: true, Boolean: true, Int: true, Long: true, Float: true, Double: true, Bytes: true, String: true}

// Schema is a schema. It may contain itself.
type Schema struct {
	Kind Kind
	// Name is the full name of a record, an enum or a fixed.
	Name   string
	Fields []Field
	// Symbols are the constants of an enum.
	Symbols []string
	// Elem is the schema of the items of an array, of the values of a map.
	Elem *Schema
	// Branches are those of a union.
	Branches []*Schema
	// Size is the number of bytes of a fixed.
	Size int
	// Class is the property java-class, with which Java's reflection tells the class of a value.
	Class string
	// KeyClass is the property java-key-class of a map.
	KeyClass string
}

// Field is a field of a record.
type Field struct {
	Name   string
	Schema *Schema
}

// MaxDepth is how deep schemas may be nested in a text.
const MaxDepth = 256

// Parse reads a schema. The named schemas that it declares are returned, too, in their order; a file may have a union of several.
func Parse(text []byte) (s *Schema, named []*Schema, err error) {
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		return nil, nil, fmt.Errorf("it is not JSON: %w", err)
	}
	p := parser{names: map[string]*Schema{}}
	s = p.schema(v, "", 0)
	if p.err != nil {
		return nil, nil, p.err
	}
	return s, p.named, nil
}

type parser struct {
	names map[string]*Schema
	named []*Schema
	err   error
}

func (p *parser) fail(format string, args ...any) *Schema {
	if p.err == nil {
		p.err = fmt.Errorf(format, args...)
	}
	return &Schema{Kind: Null}
}

// schema reads a schema within a namespace.
func (p *parser) schema(v any, space string, depth int) *Schema {
	if depth > MaxDepth {
		return p.fail("schemas are nested more than %d deep", MaxDepth)
	}
	switch v := v.(type) {
	case string:
		return p.reference(v, space)
	case []any:
		u := &Schema{Kind: Union}
		for _, b := range v {
			branch := p.schema(b, space, depth+1)
			if branch.Kind == Union {
				return p.fail("a union is directly in a union")
			}
			u.Branches = append(u.Branches, branch)
		}
		if len(u.Branches) == 0 {
			return p.fail("a union has no types")
		}
		return u
	case map[string]any:
		return p.object(v, space, depth)
	}
	return p.fail("a schema is neither a name, an object nor an array: %.40v", v)
}

func (p *parser) reference(name, space string) *Schema {
	if primitives[Kind(name)] {
		return &Schema{Kind: Kind(name)}
	}
	if s := p.names[fullName(name, space)]; s != nil {
		return s
	}
	return p.fail("%.80q is not a type that is declared before it is used", name)
}

func fullName(name, space string) string {
	if space == "" || strings.Contains(name, ".") {
		return name
	}
	return space + "." + name
}

func (p *parser) object(v map[string]any, space string, depth int) *Schema {
	typ, is := v["type"].(string)
	if !is {
		if v["type"] == nil {
			return p.fail("a schema has no type")
		}
		return p.schema(v["type"], space, depth+1)
	}
	s := &Schema{Kind: Kind(typ)}
	s.Class, _ = v["java-class"].(string)
	s.KeyClass, _ = v["java-key-class"].(string)
	switch s.Kind {
	case Array:
		s.Elem = p.schema(v["items"], space, depth+1)
		return s
	case Map:
		s.Elem = p.schema(v["values"], space, depth+1)
		return s
	case Record, "error", Enum, Fixed:
	default:
		if primitives[s.Kind] {
			return s
		}
		return p.reference(typ, space)
	}
	name, _ := v["name"].(string)
	if name == "" {
		return p.fail("a %s has no name", typ)
	}
	if own, ok := v["namespace"].(string); ok {
		space = own
	}
	s.Name = fullName(name, space)
	if dot := strings.LastIndexByte(s.Name, '.'); dot >= 0 {
		space = s.Name[:dot]
	}
	if p.names[s.Name] != nil {
		return p.fail("%.80q is declared twice", s.Name)
	}
	p.names[s.Name] = s
	p.named = append(p.named, s)
	switch s.Kind {
	case Fixed:
		size, ok := v["size"].(float64)
		if !ok || size < 0 || size > math.MaxInt32 || size != math.Trunc(size) {
			return p.fail("the fixed %.80q has no size", s.Name)
		}
		s.Size = int(size)
	case Enum:
		symbols, _ := v["symbols"].([]any)
		for _, symbol := range symbols {
			text, ok := symbol.(string)
			if !ok {
				return p.fail("a symbol of the enum %.80q is not a text", s.Name)
			}
			s.Symbols = append(s.Symbols, text)
		}
	default:
		s.Kind = Record
		fields, ok := v["fields"].([]any)
		if !ok {
			return p.fail("the record %.80q has no fields", s.Name)
		}
		for _, f := range fields {
			members, _ := f.(map[string]any)
			name, _ := members["name"].(string)
			if name == "" {
				return p.fail("a field of the record %.80q has no name", s.Name)
			}
			s.Fields = append(s.Fields, Field{name, p.schema(members["type"], space, depth+1)})
		}
	}
	return s
}

// ClassName returns the name of the Java class of a named schema, as Class.getName returns it: reflection puts a $ at the end of the
// namespace of a member class.
func (s *Schema) ClassName() string { return strings.ReplaceAll(s.Name, "$.", "$") }
