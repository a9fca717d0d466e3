package protofile

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"github.com/bufbuild/protocompile/parser"
	"github.com/bufbuild/protocompile/reporter"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
)

// isMissing reports whether nobody brought the file that an import names.
func (s *source) isMissing(name string, sets map[string]*descriptorpb.FileDescriptorProto) bool {
	return s.byName[name] == nil && sets[name] == nil && !strings.HasPrefix(name, "google/protobuf/")
}

// missesImport reports whether a file imports one that is missing.
func (s *source) missesImport(f *file, sets map[string]*descriptorpb.FileDescriptorProto) bool {
	return slices.ContainsFunc(imports.FindAllSubmatch(f.data, -1), func(m [][]byte) bool { return s.isMissing(path.Clean(string(m[1])), sets) })
}

// withoutMissing returns a file without the imports that are missing and without the options that users define, which are of no use to a
// reader of messages.
func (s *source) withoutMissing(f *file, sets map[string]*descriptorpb.FileDescriptorProto) (*descriptorpb.FileDescriptorProto, error) {
	h := reporter.NewHandler(nil)
	tree, err := parser.Parse(f.name, bytes.NewReader(f.data), h)
	if err != nil {
		return nil, err
	}
	parsed, err := parser.ResultFromAST(tree, true, h)
	if err != nil {
		return nil, err
	}
	d := parsed.FileDescriptorProto()
	// Public and weak imports are places in the list of all.
	var kept, public []string
	for i, name := range d.Dependency {
		if s.isMissing(name, sets) {
			continue
		}
		kept = append(kept, name)
		if slices.Contains(d.PublicDependency, int32(i)) {
			public = append(public, name)
		}
	}
	d.Dependency, d.PublicDependency, d.WeakDependency = kept, nil, nil
	for _, name := range public {
		d.PublicDependency = append(d.PublicDependency, int32(slices.Index(kept, name)))
	}
	dropOptions(d.ProtoReflect())
	return d, nil
}

// dropOptions removes the options that users define from a descriptor and all that it contains.
func dropOptions(m protoreflect.Message) {
	m.Range(func(field protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case field.Message() == nil:
		case !field.IsList():
			dropOptions(v.Message())
		case field.Name() == "uninterpreted_option":
			list := v.List()
			n := 0
			for i := range list.Len() {
				if o, ok := list.Get(i).Message().Interface().(*descriptorpb.UninterpretedOption); ok && !slices.ContainsFunc(o.Name, (*descriptorpb.UninterpretedOption_NamePart).GetIsExtension) {
					list.Set(n, list.Get(i))
					n++
				}
			}
			list.Truncate(n)
		default:
			for i := range v.List().Len() {
				dropOptions(v.List().Get(i).Message())
			}
		}
		return true
	})
}
