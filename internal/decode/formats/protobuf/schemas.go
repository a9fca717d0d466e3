package protobuf

import (
	"strings"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/classpath"
	"dubbo-wire/internal/decode/protoschema"
)

// With returns f, a format of this package, with readers that know the schemas of p: of .proto files, descriptor sets and the classes that
// protoc generates.
func With(f decode.Format, p *classpath.Path) decode.Format {
	if p == nil {
		return f
	}
	f.Classes = decode.DepthFull
	f.TypedResults = true
	f.New = func() decode.Reader {
		return &typedReader{Reader{lines: stretch{lines: true}, schemas: &schemas{path: p}}}
	}
	return f
}

// typedReader is a Reader that knows schemas.
type typedReader struct{ Reader }

// WrittenBy implements decode.ClassReader.
func (r *typedReader) WrittenBy(s decode.Side) { r.writer = s }

// Misfits implements decode.ClassReader: messages that do not fit their schema are read again by the reader itself.
func (r *typedReader) Misfits(*decode.Error) bool { return false }

// Distrust implements decode.ClassReader.
func (r *typedReader) Distrust(*decode.Error) {}

// ResultType implements decode.ResultReader.
func (r *typedReader) ResultType(s decode.Side, service, method string, parameters []string) string {
	if typ := r.schemas.path.ReturnType(s, service, method, parameters, false); typ != "" {
		return typ
	}
	if m := r.schemas.path.MethodMessage(s, service, method); m != nil {
		return messagePrefix + m.Name
	}
	return ""
}

// messagePrefix precedes the full name of a message in place of a descriptor.
const messagePrefix = "#"

// SetMethod implements decode.MethodReader.
func (r *typedReader) SetMethod(writer decode.Side, service, method string) {
	r.writer = writer
	r.method = r.schemas.ofMethod(writer, service, method)
}

// schemas finds the types of messages, and remembers them.
type schemas struct {
	path *classpath.Path
	// types are by descriptor, names by full name, methods by service and method; nil values are types that are not known.
	types, names [2]map[string]*protoschema.Message
	methods      map[methodKey]*protoschema.Message
}

type methodKey struct {
	writer          decode.Side
	service, method string
}

// maxTypes limits what is remembered; names come from the wire.
const maxTypes = 1 << 12

// ofType returns the message of a class, by its descriptor.
func (s *schemas) ofType(writer decode.Side, typ string) *protoschema.Message {
	if s == nil || typ == "" {
		return nil
	}
	m, ok := s.types[writer][typ]
	if !ok {
		if name, is := strings.CutPrefix(typ, messagePrefix); is {
			m = s.path.Message(writer, name)
			s.asked(m, name)
		} else if class, is := strings.CutPrefix(typ, "L"); is {
			name := strings.ReplaceAll(strings.TrimSuffix(class, ";"), "/", ".")
			m = s.path.ClassMessage(writer, name)
			s.asked(m, name)
		}
		remember(&s.types[writer], typ, m)
	}
	return m
}

// ofMethod returns the message that a side sends in calls of a method.
func (s *schemas) ofMethod(writer decode.Side, service, method string) *protoschema.Message {
	if s == nil || method == "" {
		return nil
	}
	key := methodKey{writer, service, method}
	m, ok := s.methods[key]
	if !ok {
		m = s.path.MethodMessage(writer, service, method)
		s.asked(m, service+"/"+method)
		remember(&s.methods, key, m)
	}
	return m
}

// asked notes that bodies have a message; what tells its type where that is not known.
func (s *schemas) asked(m *protoschema.Message, what string) {
	if m != nil {
		s.path.Asked(m.Name, true)
	} else if !decode.IsJDKClass(what) {
		s.path.Asked(what, false)
	}
}

func remember[K comparable](to *map[K]*protoschema.Message, key K, m *protoschema.Message) {
	if *to == nil || len(*to) >= maxTypes {
		*to = make(map[K]*protoschema.Message)
	}
	(*to)[key] = m
}

// maxName limits the length of a name.
const maxName = 1 << 10

// named returns the message with a full name, nil if it is not known.
func (r *Reader) named(name []byte) *protoschema.Message {
	s := r.schemas
	if s == nil || len(name) > maxName {
		return nil
	}
	m, ok := s.names[r.writer][string(name)]
	if !ok {
		if decode.IsClassName(string(name)) {
			m = s.path.Message(r.writer, string(name))
		}
		remember(&s.names[r.writer], string(name), m)
	}
	return m
}
