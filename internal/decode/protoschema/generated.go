package protoschema

import (
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
)

// Generated is what the classes would tell that protoc generates for the files of a set.
type Generated struct {
	// Files are the files, those that others import first.
	Files *descriptorpb.FileDescriptorSet
	// Classes are the full names of messages by the names of their classes in Java.
	Classes map[string]string
	// Methods are the full names of what methods take and return, by the service or its interface in Java, a slash and the method.
	Methods map[string][2]string
}

// Generated returns what the classes of its files would tell, nil without files.
func (s *Set) Generated() *Generated {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	g := &Generated{Files: &descriptorpb.FileDescriptorSet{}, Classes: map[string]string{}, Methods: map[string][2]string{}}
	added := map[string]bool{}
	var add func(f protoreflect.FileDescriptor)
	add = func(f protoreflect.FileDescriptor) {
		if added[f.Path()] || f.IsPlaceholder() {
			return
		}
		added[f.Path()] = true
		for i := range f.Imports().Len() {
			add(f.Imports().Get(i).FileDescriptor)
		}
		g.Files.File = append(g.Files.File, protodesc.ToFileDescriptorProto(f))
	}
	s.files.RangeFiles(func(f protoreflect.FileDescriptor) bool {
		add(f)
		return true
	})
	for class, m := range s.classes {
		if m != nil {
			g.Classes[class] = string(m.FullName())
		}
	}
	methods := func(name string, of protoreflect.ServiceDescriptor) {
		for i := range of.Methods().Len() {
			m := of.Methods().Get(i)
			method, types := string(m.Name()), [2]string{string(m.Input().FullName()), string(m.Output().FullName())}
			g.Methods[name+"/"+method] = types
			if c := method[0]; c >= 'A' && c <= 'Z' {
				g.Methods[name+"/"+string(c-'A'+'a')+method[1:]] = types
			}
		}
	}
	for name, of := range s.services {
		if of != nil {
			methods(name, of)
			methods(string(of.FullName()), of)
		}
	}
	return g
}
