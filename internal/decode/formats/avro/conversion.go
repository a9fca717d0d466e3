package avro

import (
	"strings"

	"dubbo-wire/internal/decode/avroschema"
	"dubbo-wire/internal/decode/classfile"
)

// conversion makes schemas of those that were written down.
type conversion map[*avroschema.Schema]*schema

func newConversion() conversion { return conversion{} }

// parsed returns the schema that an annotation has as a text.
func parsed(a *classfile.Annotation) *schema {
	text, _ := a.Get("value").(string)
	s, _, err := avroschema.Parse([]byte(text))
	if err != nil {
		return cannot("a schema that cannot be read")
	}
	return newConversion().schema(s)
}

var plain = map[avroschema.Kind]*schema{
	avroschema.Null: nulls, avroschema.Boolean: booleans, avroschema.Int: ints, avroschema.Long: longs, avroschema.Float: floats,
	avroschema.Double: doubles, avroschema.Bytes: blobs, avroschema.String: texts,
}

// isPair reports whether a schema is that of the entries of a map whose keys are not texts.
func isPair(s *avroschema.Schema) bool {
	return s.Kind == avroschema.Record && len(s.Fields) == 2 && s.Fields[0].Name == "key" && s.Fields[1].Name == "value" &&
		strings.Contains(s.Name, ".reflect.Pair")
}

// schema converts a schema, which may contain itself.
func (c conversion) schema(from *avroschema.Schema) *schema {
	if s := plain[from.Kind]; s != nil {
		if of := boxes[from.Class]; of != nil && (from.Kind == avroschema.Int || from.Kind == avroschema.String) {
			return of
		}
		return s
	}
	if s := c[from]; s != nil {
		return s
	}
	s := &schema{class: from.ClassName(), own: true}
	c[from] = s
	switch from.Kind {
	case avroschema.Array:
		if isPair(from.Elem) && from.Class != "" {
			*s = schema{kind: pairs, key: c.schema(from.Elem.Fields[0].Schema), elem: c.schema(from.Elem.Fields[1].Schema)}
			break
		}
		*s = schema{kind: array, elem: c.schema(from.Elem)}
	case avroschema.Map:
		*s = schema{kind: mapping, key: texts, elem: c.schema(from.Elem)}
		if key := boxes[from.KeyClass]; key != nil && (key.kind == str || key.kind == number) {
			s.key = key
		}
	case avroschema.Fixed:
		s.kind, s.size = fixed, from.Size
	case avroschema.Enum:
		s.kind, s.symbols = enum, from.Symbols
	case avroschema.Record:
		s.kind = record
		for _, f := range from.Fields {
			s.fields = append(s.fields, field{f.Name, c.schema(f.Schema)})
		}
		if len(s.fields) == 0 && isJava(s.class) {
			*s = schema{kind: nothing, class: s.class}
		}
	case avroschema.Union:
		s.kind = union
		for _, b := range from.Branches {
			s.branches = append(s.branches, c.schema(b))
		}
	}
	return s
}
