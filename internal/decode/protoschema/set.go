package protoschema

import (
	"fmt"
	"strings"
	"sync"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	_ "google.golang.org/protobuf/types/known/anypb"
	_ "google.golang.org/protobuf/types/known/durationpb"
	_ "google.golang.org/protobuf/types/known/emptypb"
	_ "google.golang.org/protobuf/types/known/fieldmaskpb"
	_ "google.golang.org/protobuf/types/known/structpb"
	_ "google.golang.org/protobuf/types/known/timestamppb"
	_ "google.golang.org/protobuf/types/known/wrapperspb"
)

// Set finds messages and methods. It is safe for use by several goroutines. A nil Set has none.
type Set struct {
	mu    sync.Mutex
	files protoregistry.Files
	// classes are messages, and services, by the names of their classes in Java; nil if several have the same.
	classes  map[string]protoreflect.MessageDescriptor
	services map[string]protoreflect.ServiceDescriptor
	// extensions are by the message that they extend.
	extensions map[protoreflect.FullName][]protoreflect.ExtensionDescriptor
	messages   map[protoreflect.FullName]*Message
	enums      map[protoreflect.FullName]*Enum
	count      int
	extendable bool
}

// known are the files that every program with protocol buffers has.
var known = [...]string{"any", "duration", "empty", "field_mask", "struct", "timestamp", "wrappers"}

// NewSet returns a set with the messages of google/protobuf that have forms of their own.
func NewSet() *Set {
	s := &Set{
		classes: map[string]protoreflect.MessageDescriptor{}, services: map[string]protoreflect.ServiceDescriptor{},
		extensions: map[protoreflect.FullName][]protoreflect.ExtensionDescriptor{},
		messages:   map[protoreflect.FullName]*Message{}, enums: map[protoreflect.FullName]*Enum{},
	}
	for _, name := range known {
		if f, err := protoregistry.GlobalFiles.FindFileByPath("google/protobuf/" + name + ".proto"); err == nil {
			_ = s.files.RegisterFile(f) // nothing is in the set that it could collide with
			s.addNames(f)
		}
	}
	return s
}

// Add adds a file. Files that it imports must be added first; of types in those that were not, only the names are known.
func (s *Set) Add(file *descriptorpb.FileDescriptorProto) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.files.FindFileByPath(file.GetName()); err == nil {
		return nil
	}
	f, err := protodesc.FileOptions{AllowUnresolvable: true}.New(file, &s.files)
	if err != nil {
		return plainError(err)
	}
	if err := s.files.RegisterFile(f); err != nil {
		return plainError(err)
	}
	s.addNames(f)
	clear(s.messages) // an extension may be one of a message that is known
	return nil
}

// plainError returns an error without the name of the library before it, and in one line.
func plainError(err error) error {
	text := strings.TrimSpace(strings.TrimPrefix(strings.ReplaceAll(err.Error(), "\u00a0", " "), "proto:"))
	text, _, _ = strings.Cut(text, "\n")
	return fmt.Errorf("%s", text)
}

// Has reports whether a file with a name was added.
func (s *Set) Has(file string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := s.files.FindFileByPath(file)
	return err == nil
}

// Extendable reports whether a file that was added has messages that others may extend.
func (s *Set) Extendable() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.extendable
}

// Len returns the number of messages of files that were added.
func (s *Set) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.count
}

// addNames adds what a file has to the tables.
func (s *Set) addNames(f protoreflect.FileDescriptor) {
	java := javaOf(f)
	extensions := func(list protoreflect.ExtensionDescriptors) {
		for i := range list.Len() {
			x := list.Get(i)
			of := x.ContainingMessage().FullName()
			s.extensions[of] = append(s.extensions[of], x)
		}
	}
	extensions(f.Extensions())
	own := !strings.HasPrefix(f.Path(), "google/protobuf/")
	var messages func(list protoreflect.MessageDescriptors, outer string)
	messages = func(list protoreflect.MessageDescriptors, outer string) {
		for i := range list.Len() {
			m := list.Get(i)
			if m.IsMapEntry() {
				continue
			}
			class := outer + string(m.Name())
			addUnique(s.classes, class, m)
			extensions(m.Extensions())
			if own {
				s.count++
				s.extendable = s.extendable || m.ExtensionRanges().Len() > 0
			}
			messages(m.Messages(), class+"$")
		}
	}
	messages(f.Messages(), java.classes)
	for i := range f.Services().Len() {
		service := f.Services().Get(i)
		addUnique(s.services, java.pkg+string(service.Name()), service)
	}
}

// addUnique adds a value, or forgets both if the name is that of another one.
func addUnique[T any](to map[string]T, name string, v T) {
	if _, ok := to[name]; ok {
		var none T
		v = none
	}
	to[name] = v
}

// Message returns the message with a full name, nil if it is not known.
func (s *Set) Message(name string) *Message {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	d, err := s.files.FindDescriptorByName(protoreflect.FullName(name))
	if err != nil {
		return nil
	}
	m, ok := d.(protoreflect.MessageDescriptor)
	if !ok {
		return nil
	}
	return s.message(m)
}

// Class returns the message whose class in Java has a name as Class.getName returns it, nil if it is not known.
func (s *Set) Class(name string) *Message {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if d := s.classes[name]; d != nil {
		return s.message(d)
	}
	return nil
}

// Method returns the messages that a method takes and returns; nil if it is not known. The service is its own name or that of its
// interface in Java. Java begins the names of methods with a lower case letter, and ends those of calls without waiting with Async.
func (s *Set) Method(service, method string) (in, out *Message) {
	if s == nil {
		return nil, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	of := s.services[service]
	if d, err := s.files.FindDescriptorByName(protoreflect.FullName(service)); err == nil {
		if named, ok := d.(protoreflect.ServiceDescriptor); ok {
			of = named
		}
	}
	if of == nil {
		return nil, nil
	}
	m := methodOf(of, method)
	if m == nil {
		if name, ok := strings.CutSuffix(method, "Async"); ok {
			m = methodOf(of, name)
		}
	}
	if m == nil {
		return nil, nil
	}
	return s.message(m.Input()), s.message(m.Output())
}

func methodOf(of protoreflect.ServiceDescriptor, name string) protoreflect.MethodDescriptor {
	if m := of.Methods().ByName(protoreflect.Name(name)); m != nil {
		return m
	}
	if name == "" || name[0] < 'a' || name[0] > 'z' {
		return nil
	}
	return of.Methods().ByName(protoreflect.Name(string(name[0]-'a'+'A') + name[1:]))
}

// message returns a message with all that its fields need.
func (s *Set) message(d protoreflect.MessageDescriptor) *Message {
	if d.IsPlaceholder() {
		return nil
	}
	type pending struct {
		m *Message
		d protoreflect.MessageDescriptor
	}
	var queue []pending
	get := func(d protoreflect.MessageDescriptor) *Message {
		if m := s.messages[d.FullName()]; m != nil {
			return m
		}
		m := &Message{Name: string(d.FullName()), Form: forms[d.FullName()]}
		s.messages[d.FullName()] = m
		queue = append(queue, pending{m, d})
		return m
	}
	found := get(d)
	for ; len(queue) > 0; queue = queue[1:] {
		m, d := queue[0].m, queue[0].d
		extensions := s.extensions[d.FullName()]
		m.Fields = make([]Field, 0, d.Fields().Len()+len(extensions))
		var oneofs []int
		for i := range d.Fields().Len() {
			f := d.Fields().Get(i)
			m.Fields = append(m.Fields, s.field(f, get))
			oneof := -1
			if o := f.ContainingOneof(); o != nil {
				oneof = o.Index()
			}
			oneofs = append(oneofs, oneof)
		}
		numbers := map[protowire.Number]bool{}
		for _, x := range extensions {
			if n := x.Number(); d.Fields().ByNumber(n) == nil && !numbers[n] && d.ExtensionRanges().Has(n) {
				numbers[n] = true
				m.Fields = append(m.Fields, s.field(x, get))
				oneofs = append(oneofs, -1)
			}
		}
		m.index(oneofs)
	}
	return found
}

// field returns a field; get returns the message of a descriptor.
func (s *Set) field(d protoreflect.FieldDescriptor, get func(protoreflect.MessageDescriptor) *Message) Field {
	f := Field{
		Number: d.Number(), Name: d.JSONName(), Kind: kindOf[d.Kind()],
		List: d.IsList(), Map: d.IsMap(), Required: d.Cardinality() == protoreflect.Required,
	}
	if d.IsExtension() {
		f.Name = "[" + string(d.FullName()) + "]"
	}
	switch f.Kind {
	case Nested, Group:
		if d.Message().IsPlaceholder() {
			f.Kind = Unknown
			break
		}
		f.Of = get(d.Message())
	case EnumValue:
		if d.Enum().IsPlaceholder() {
			f.Kind = Int32
			break
		}
		f.Enum = s.enum(d.Enum())
	case String:
		checked, ok := d.(interface{ EnforceUTF8() bool })
		f.UTF8 = ok && checked.EnforceUTF8()
	}
	return f
}

var kindOf = [...]Kind{
	protoreflect.BoolKind: Bool, protoreflect.EnumKind: EnumValue, protoreflect.Int32Kind: Int32, protoreflect.Sint32Kind: Sint32,
	protoreflect.Uint32Kind: Uint32, protoreflect.Int64Kind: Int64, protoreflect.Sint64Kind: Sint64, protoreflect.Uint64Kind: Uint64,
	protoreflect.Sfixed32Kind: Sfixed32, protoreflect.Fixed32Kind: Fixed32, protoreflect.FloatKind: Float, protoreflect.Sfixed64Kind: Sfixed64,
	protoreflect.Fixed64Kind: Fixed64, protoreflect.DoubleKind: Double, protoreflect.StringKind: String, protoreflect.BytesKind: Bytes,
	protoreflect.MessageKind: Nested, protoreflect.GroupKind: Group,
}

func (s *Set) enum(d protoreflect.EnumDescriptor) *Enum {
	if e := s.enums[d.FullName()]; e != nil {
		return e
	}
	e := &Enum{Name: string(d.FullName()), names: make(map[int32]string, d.Values().Len())}
	for i := range d.Values().Len() {
		v := d.Values().Get(i)
		if n := int32(v.Number()); e.names[n] == "" { // of several names the first one counts
			e.names[n] = string(v.Name())
		}
	}
	s.enums[d.FullName()] = e
	return e
}

// forms are the forms of messages of google/protobuf.
var forms = map[protoreflect.FullName]Form{
	"google.protobuf.BoolValue": Wrapper, "google.protobuf.Int32Value": Wrapper, "google.protobuf.UInt32Value": Wrapper,
	"google.protobuf.Int64Value": Wrapper, "google.protobuf.UInt64Value": Wrapper, "google.protobuf.FloatValue": Wrapper,
	"google.protobuf.DoubleValue": Wrapper, "google.protobuf.StringValue": Wrapper, "google.protobuf.BytesValue": Wrapper,
	"google.protobuf.Timestamp": Timestamp, "google.protobuf.Duration": Duration, "google.protobuf.FieldMask": FieldMask,
	"google.protobuf.Struct": Struct, "google.protobuf.Value": Value, "google.protobuf.ListValue": ListValue, "google.protobuf.Any": Any,
}

// Ordered calls f with the named files, those that a file imports before it.
func Ordered(names []string, files map[string]*descriptorpb.FileDescriptorProto, f func(*descriptorpb.FileDescriptorProto)) {
	type pending struct {
		file *descriptorpb.FileDescriptorProto
		next int
	}
	done := map[string]bool{}
	var stack []pending
	push := func(name string) {
		if file := files[name]; file != nil && !done[name] {
			done[name] = true
			stack = append(stack, pending{file: file})
		}
	}
	for _, name := range names {
		push(name)
		for len(stack) > 0 {
			top := &stack[len(stack)-1]
			if top.next < len(top.file.Dependency) {
				top.next++
				push(top.file.Dependency[top.next-1])
				continue
			}
			f(top.file)
			stack = stack[:len(stack)-1]
		}
	}
}
