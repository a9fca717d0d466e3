package protoschema

import (
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
)

// java is where the classes of a file are.
type java struct {
	// pkg is the package with a dot, classes what precedes the name of a message: the package, or the outer class.
	pkg, classes string
}

// javaOf returns where protoc puts the classes that it generates for a file.
func javaOf(f protoreflect.FileDescriptor) (j java) {
	o, _ := f.Options().(*descriptorpb.FileOptions)
	pkg := string(f.Package())
	if o != nil && o.JavaPackage != nil {
		pkg = o.GetJavaPackage()
	}
	if pkg != "" {
		j.pkg = pkg + "."
	}
	if o.GetJavaMultipleFiles() {
		j.classes = j.pkg
		return j
	}
	outer := o.GetJavaOuterClassname()
	if outer == "" {
		outer = camel(f.Path())
		if clashes(f, outer) {
			outer += "OuterClass"
		}
	}
	j.classes = j.pkg + outer + "$"
	return j
}

// camel returns the name of a class for a file: acme/bid_request.proto has BidRequest.
func camel(path string) string {
	path = strings.TrimSuffix(path[strings.LastIndexByte(path, '/')+1:], ".proto")
	var b strings.Builder
	upper := true
	for i := range len(path) {
		switch c := path[i]; {
		case c >= 'a' && c <= 'z':
			if upper {
				c -= 'a' - 'A'
			}
			b.WriteByte(c)
			upper = false
		case c >= 'A' && c <= 'Z':
			b.WriteByte(c)
			upper = false
		case c >= '0' && c <= '9':
			b.WriteByte(c)
			upper = true
		default:
			upper = true
		}
	}
	return b.String()
}

// clashes reports whether a message, an enum or a service of a file has a name.
func clashes(f protoreflect.FileDescriptor, name string) bool {
	n := protoreflect.Name(name)
	if f.Enums().ByName(n) != nil || f.Services().ByName(n) != nil {
		return true
	}
	var in func(list protoreflect.MessageDescriptors) bool
	in = func(list protoreflect.MessageDescriptors) bool {
		for i := range list.Len() {
			m := list.Get(i)
			if m.Name() == n || m.Enums().ByName(n) != nil || in(m.Messages()) {
				return true
			}
		}
		return false
	}
	return in(f.Messages())
}
