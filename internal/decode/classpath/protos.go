package classpath

import (
	"fmt"
	"strings"
	"sync"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/classfile"
	"dubbo-wire/internal/decode/protofile"
	"dubbo-wire/internal/decode/protoschema"
)

// protos are the schemas of protocol buffers messages.
type protos struct {
	// given are those of .proto files and descriptor sets, nil without any. They count before those of classes.
	given *protoschema.Set
	// generated are those of the classes of each side; the same if the sides are not told apart.
	generated [2]*generated
}

// generated are the schemas in classes that protoc has generated. Files are read when a message of theirs is asked for by its class, and
// all of them when a name is asked for that is in none of these.
type generated struct {
	types *classfile.Types
	set   *protoschema.Set

	mu     sync.Mutex
	outers map[string]bool // classes of files that were read
	all    bool            // every class was searched
	bytes  int
}

// maxGenerated limits the bytes of descriptors of the classes of a side.
const maxGenerated = 128 << 20

// readProtos reads the .proto files and descriptor sets.
func (p *Path) readProtos(paths []string) error {
	for side, types := range p.sides {
		if side > 0 && !p.Sided() {
			p.generated[side] = p.generated[0]
		} else if types.Len() > 0 {
			p.generated[side] = &generated{types: types, set: protoschema.NewSet(), outers: map[string]bool{}}
		}
	}
	if len(paths) == 0 {
		return nil
	}
	files, err := protofile.Read(paths)
	if err != nil {
		return fmt.Errorf("--proto %w", err)
	}
	p.given = protoschema.NewSet()
	for _, f := range files {
		if err := p.given.Add(f); err != nil {
			return fmt.Errorf("--proto %s: %w", f.GetName(), err)
		}
	}
	return nil
}

// HasProtos reports whether .proto files or descriptor sets were given.
func (p *Path) HasProtos() bool { return p != nil && p.given != nil }

// HasClasses reports whether anything but schemas was given.
func (p *Path) HasClasses() bool { return p != nil && p.classes }

// Protos returns the number of messages in .proto files and descriptor sets.
func (p *Path) Protos() int { return p.given.Len() }

// Generated returns what classes generated from the .proto files and descriptor sets would tell, nil without any.
func (p *Path) Generated() *protoschema.Generated {
	if p == nil {
		return nil
	}
	return p.given.Generated()
}

// Message returns the schema of a message by its full name, as a side has it; nil if it is not known.
func (p *Path) Message(s decode.Side, name string) *protoschema.Message {
	if p == nil {
		return nil
	}
	if m := p.given.Message(name); m != nil {
		return m
	}
	g := p.generated[s]
	if g == nil {
		return nil
	}
	if m := g.set.Message(name); m != nil {
		return m
	}
	g.readAll()
	return g.set.Message(name)
}

// ClassMessage returns the schema of the message of a class, as a side has it; nil if it is not known.
func (p *Path) ClassMessage(s decode.Side, class string) *protoschema.Message {
	if p == nil {
		return nil
	}
	if m := p.given.Class(class); m != nil {
		return m
	}
	g := p.generated[s]
	if g == nil {
		return nil
	}
	if m := g.set.Class(class); m != nil {
		return m
	}
	outer, err := g.types.ProtoOuter(class)
	if err != nil || outer == "" {
		return nil
	}
	g.mu.Lock()
	g.read(outer)
	g.mu.Unlock()
	if g.set.Extendable() {
		g.readAll() // extensions may be anywhere
	}
	return g.set.Class(class)
}

// read adds the file of an outer class after those that it imports.
func (g *generated) read(outer string) {
	// A stack of its own: imports may be as long a chain as somebody likes.
	type pending struct {
		file *classfile.ProtoFile
		next int
	}
	open := func(outer string) *classfile.ProtoFile {
		if g.outers[outer] {
			return nil
		}
		g.outers[outer] = true
		f, err := g.types.ProtoFile(outer)
		if err != nil {
			return nil
		}
		return f
	}
	var stack []pending
	if f := open(outer); f != nil {
		stack = append(stack, pending{file: f})
	}
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		if top.next < len(top.file.Imports) {
			top.next++
			if f := open(top.file.Imports[top.next-1]); f != nil {
				stack = append(stack, pending{file: f})
			}
			continue
		}
		g.add(top.file.Data)
		stack = stack[:len(stack)-1]
	}
}

// add adds a file; one that is damaged is not used.
func (g *generated) add(data []byte) {
	var f descriptorpb.FileDescriptorProto
	if g.bytes += len(data); g.bytes > maxGenerated {
		return
	}
	if (proto.UnmarshalOptions{RecursionLimit: 100}).Unmarshal(data, &f) == nil {
		_ = g.set.Add(&f)
	}
}

// readAll reads the files of all classes, once.
func (g *generated) readAll() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.all {
		return
	}
	g.all = true
	files := map[string]*descriptorpb.FileDescriptorProto{}
	var names []string
	_ = g.types.ProtoFiles(func(found *classfile.ProtoFile) {
		f := new(descriptorpb.FileDescriptorProto)
		if g.bytes += len(found.Data); g.bytes > maxGenerated || (proto.UnmarshalOptions{RecursionLimit: 100}).Unmarshal(found.Data, f) != nil {
			return
		}
		if files[f.GetName()] == nil {
			files[f.GetName()] = f
			names = append(names, f.GetName())
		}
	})
	protoschema.Ordered(names, files, func(f *descriptorpb.FileDescriptorProto) { _ = g.set.Add(f) })
}

// MethodMessage returns the schema of the messages that a side sends in calls of a method: those that it takes, or those that it returns;
// nil if it is not known. The service may have more in front of it than its name: a context path.
func (p *Path) MethodMessage(s decode.Side, service, method string) *protoschema.Message {
	if p == nil {
		return nil
	}
	service = service[strings.LastIndexByte(service, '/')+1:]
	if m := sent(p.given, s, service, method); m != nil {
		return m
	}
	g := p.generated[s]
	if g == nil {
		return nil
	}
	if class := p.methodClass(s, service, method); class != "" {
		return p.ClassMessage(s, class)
	}
	if m := sent(g.set, s, service, method); m != nil {
		return m
	}
	g.readAll()
	return sent(g.set, s, service, method)
}

func sent(set *protoschema.Set, s decode.Side, service, method string) *protoschema.Message {
	in, out := set.Method(service, method)
	if s == decode.Consumer {
		return in
	}
	return out
}

// methodClass returns the class of the messages that a side sends in calls of a method, as the interface of the service tells; "" if it is
// not known. A message is the parameter of a method or its result, or it goes through an observer: of responses if that is a parameter,
// of requests if it is the result.
func (p *Path) methodClass(s decode.Side, service, method string) string {
	methods, err := p.sides[s].Methods(service, method)
	if err == classfile.ErrMissing && p.Sided() {
		methods, err = p.sides[1-s].Methods(service, method)
	}
	if err != nil {
		return ""
	}
	class := ""
	for _, m := range methods {
		var in, out string
		values := 0
		for _, t := range m.Parameters {
			if isObserver(t) {
				out = messageClass(t)
				continue
			}
			if in = messageClass(t); values > 0 {
				in = "" // several arguments are not one message
			}
			values++
		}
		switch {
		case isObserver(m.Result):
			in = messageClass(m.Result)
		case m.Result.Name != "void":
			out = messageClass(m.Result)
		}
		one := in
		if s == decode.Provider {
			one = out
		}
		if one == "" || class != "" && class != one {
			return ""
		}
		class = one
	}
	return class
}

func isObserver(t *classfile.Type) bool {
	return t.Kind == classfile.Object && strings.HasSuffix(t.Name, ".StreamObserver")
}

// messageClass returns the name of a class, that of the value of a future or an observer.
func messageClass(t *classfile.Type) string {
	if t.Kind != classfile.Object {
		return ""
	}
	if len(t.Args) == 1 {
		return messageClass(t.Args[0])
	}
	return t.Name
}
