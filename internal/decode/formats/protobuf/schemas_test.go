package protobuf

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/classpath"
	"dubbo-wire/internal/decode/formats/formattest"
	"dubbo-wire/internal/dev/protoform"
)

// opened returns a path with .proto files, by name and content.
func opened(tb testing.TB, files ...string) *classpath.Path {
	tb.Helper()
	dir := tb.TempDir()
	for i := 0; i < len(files); i += 2 {
		name := filepath.Join(dir, filepath.FromSlash(files[i]))
		require.NoError(tb, os.MkdirAll(filepath.Dir(name), 0o700))
		require.NoError(tb, os.WriteFile(name, []byte(files[i+1]), 0o600))
	}
	p, err := classpath.Open(classpath.Options{Protos: []string{dir}})
	require.NoError(tb, err)
	return p
}

// readAs reads a message that a method takes, with a schema, and returns it as JSON with the reader's fault.
func readAs(tb testing.TB, p *classpath.Path, service, method string, body []byte) (string, *decode.Error) {
	tb.Helper()
	f := With(Format, p)
	r := f.New()
	tree := decode.Tree{WithValues: true}
	r.(decode.MethodReader).SetMethod(decode.Consumer, service, method)
	r.Reset(body, decode.Malformed, &tree)
	r.(decode.MethodReader).Whole(decode.ByField, "result", 0)
	require.Nil(tb, r.Err())
	require.Equal(tb, len(body), r.Offset())
	formattest.Balance(tb, &tree, len(body))
	m := formattest.Message{Tree: tree}
	fault := r.(decode.Faulter).Fault()

	// The same without a tree.
	c := f.New()
	c.(decode.MethodReader).SetMethod(decode.Consumer, service, method)
	c.Reset(body, decode.Malformed, nil)
	c.(decode.MethodReader).Whole(decode.ByField, "result", 0)
	sum, ok := c.(decode.Summer).Sum()
	require.True(tb, ok)
	require.Equal(tb, tree.Bytes(), sum)
	require.Equal(tb, fault, c.(decode.Faulter).Fault())
	return m.Value("result"), fault
}

// difference returns where two texts of JSON differ first, "" if they do not; numbers are compared by value.
func difference(tb testing.TB, want, got string) string {
	return differs("", normal(tb, want), normal(tb, got))
}

func differs(path string, want, got any) string {
	if reflect.DeepEqual(want, got) {
		return ""
	}
	switch w := want.(type) {
	case map[string]any:
		if g, ok := got.(map[string]any); ok {
			for k := range w {
				if d := differs(path+"."+k, w[k], g[k]); d != "" {
					return d
				}
			}
		}
	case []any:
		if g, ok := got.([]any); ok && len(g) == len(w) {
			for i := range w {
				if d := differs(fmt.Sprint(path, "[", i, "]"), w[i], g[i]); d != "" {
					return d
				}
			}
		}
	}
	return fmt.Sprintf("%s: %.300v instead of %.300v", path, got, want)
}

func normal(tb testing.TB, text string) any {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	require.NoError(tb, d.Decode(&v), text)
	return normalOf(v)
}

func normalOf(v any) any {
	switch v := v.(type) {
	case json.Number:
		r, _ := new(big.Rat).SetString(string(v))
		return r.RatString()
	case []any:
		for i := range v {
			v[i] = normalOf(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = normalOf(v[k])
		}
		if pairs, ok := v["@map"].([]any); ok { // in any order
			byKey := map[string]any{}
			for _, p := range pairs {
				byKey[fmt.Sprint(p.([]any)[0])] = p.([]any)[1]
			}
			v["@map"] = byKey
		}
	}
	return v
}

// random makes schemas and messages.
type random struct{ *rand.Rand }

var scalarTypes = []descriptorpb.FieldDescriptorProto_Type{
	descriptorpb.FieldDescriptorProto_TYPE_DOUBLE, descriptorpb.FieldDescriptorProto_TYPE_FLOAT, descriptorpb.FieldDescriptorProto_TYPE_INT64,
	descriptorpb.FieldDescriptorProto_TYPE_UINT64, descriptorpb.FieldDescriptorProto_TYPE_INT32, descriptorpb.FieldDescriptorProto_TYPE_FIXED64,
	descriptorpb.FieldDescriptorProto_TYPE_FIXED32, descriptorpb.FieldDescriptorProto_TYPE_BOOL, descriptorpb.FieldDescriptorProto_TYPE_STRING,
	descriptorpb.FieldDescriptorProto_TYPE_BYTES, descriptorpb.FieldDescriptorProto_TYPE_UINT32, descriptorpb.FieldDescriptorProto_TYPE_SFIXED32,
	descriptorpb.FieldDescriptorProto_TYPE_SFIXED64, descriptorpb.FieldDescriptorProto_TYPE_SINT32, descriptorpb.FieldDescriptorProto_TYPE_SINT64,
}

var knownTypes = []string{
	"Timestamp", "Duration", "FieldMask", "Struct", "Value", "ListValue", "Any", "Empty", "BoolValue", "Int32Value", "UInt32Value", "Int64Value",
	"UInt64Value", "FloatValue", "DoubleValue", "StringValue", "BytesValue",
}

var knownFiles = []string{"any", "duration", "empty", "field_mask", "struct", "timestamp", "wrappers"}

// file returns a file with some messages, an enum, extensions if the syntax has them, and a service with a method for each message.
func (r random) file(syntax string) *descriptorpb.FileDescriptorProto {
	f := &descriptorpb.FileDescriptorProto{Name: proto.String("r.proto"), Package: proto.String("r"), Syntax: proto.String(syntax)}
	if syntax == "editions" {
		f.Edition = descriptorpb.Edition_EDITION_2023.Enum()
	}
	for _, name := range knownFiles {
		f.Dependency = append(f.Dependency, "google/protobuf/"+name+".proto")
	}
	f.EnumType = []*descriptorpb.EnumDescriptorProto{{Name: proto.String("E"), Value: []*descriptorpb.EnumValueDescriptorProto{
		{Name: proto.String("ZERO"), Number: proto.Int32(0)}, {Name: proto.String("ONE"), Number: proto.Int32(1)}, {Name: proto.String("LESS"), Number: proto.Int32(-5)},
	}}}
	n := 1 + r.IntN(4)
	for i := range n {
		f.MessageType = append(f.MessageType, r.message(syntax, i, n))
	}
	if syntax != "proto3" {
		for i := range n {
			m := f.MessageType[i]
			m.ExtensionRange = []*descriptorpb.DescriptorProto_ExtensionRange{{Start: proto.Int32(5000), End: proto.Int32(6000)}}
			x := r.field(syntax, fmt.Sprintf("x%d", i), int32(5000+r.IntN(1000)), n, false)
			x.Extendee = proto.String(".r." + m.GetName())
			f.Extension = append(f.Extension, x)
		}
	}
	s := &descriptorpb.ServiceDescriptorProto{Name: proto.String("S")}
	for _, m := range f.MessageType {
		s.Method = append(s.Method, &descriptorpb.MethodDescriptorProto{Name: m.Name, InputType: proto.String(".r." + m.GetName()), OutputType: proto.String(".r." + m.GetName())})
	}
	f.Service = []*descriptorpb.ServiceDescriptorProto{s}
	return f
}

func (r random) message(syntax string, i, n int) *descriptorpb.DescriptorProto {
	m := &descriptorpb.DescriptorProto{Name: proto.String(fmt.Sprintf("M%d", i))}
	number := int32(0)
	for k := range r.IntN(12) {
		number += 1 + int32(r.IntN(3))
		if r.IntN(12) == 0 {
			number += int32(r.IntN(4000))
		}
		if number >= 4990 {
			break
		}
		name := fmt.Sprintf("f_%d", k)
		if r.IntN(6) == 0 {
			m.Field = append(m.Field, r.mapping(m, name, number, n))
			continue
		}
		f := r.field(syntax, name, number, n, true)
		if syntax == "proto2" && f.Options == nil && f.GetLabel() != descriptorpb.FieldDescriptorProto_LABEL_REQUIRED && r.IntN(6) == 0 {
			group := fmt.Sprintf("G%d", k)
			f.Name, f.Type, f.TypeName = proto.String(strings.ToLower(group)), descriptorpb.FieldDescriptorProto_TYPE_GROUP.Enum(), proto.String(".r."+m.GetName()+"."+group)
			m.NestedType = append(m.NestedType, &descriptorpb.DescriptorProto{Name: proto.String(group), Field: []*descriptorpb.FieldDescriptorProto{
				r.field(syntax, "in", 1, n, false), r.field(syntax, "side", 200, n, true),
			}})
		}
		m.Field = append(m.Field, f)
	}
	// A oneof of the last fields that may be in one.
	if k := len(m.Field) - 2; k >= 0 && m.Field[k].GetLabel() == descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL && m.Field[k+1].GetLabel() == descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL &&
		m.Field[k].Options == nil && m.Field[k+1].Options == nil && !m.Field[k].GetProto3Optional() && !m.Field[k+1].GetProto3Optional() {
		m.OneofDecl = []*descriptorpb.OneofDescriptorProto{{Name: proto.String("o")}}
		m.Field[k].OneofIndex, m.Field[k+1].OneofIndex = proto.Int32(0), proto.Int32(0)
	}
	return m
}

func (r random) typ(f *descriptorpb.FieldDescriptorProto, n int) {
	switch r.IntN(8) {
	case 0:
		f.Type, f.TypeName = descriptorpb.FieldDescriptorProto_TYPE_ENUM.Enum(), proto.String(".r.E")
	case 1:
		f.Type, f.TypeName = descriptorpb.FieldDescriptorProto_TYPE_MESSAGE.Enum(), proto.String(fmt.Sprintf(".r.M%d", r.IntN(n)))
	case 2:
		f.Type, f.TypeName = descriptorpb.FieldDescriptorProto_TYPE_MESSAGE.Enum(), proto.String(".google.protobuf."+knownTypes[r.IntN(len(knownTypes))])
	default:
		f.Type = scalarTypes[r.IntN(len(scalarTypes))].Enum()
	}
}

func (r random) field(syntax, name string, number int32, n int, required bool) *descriptorpb.FieldDescriptorProto {
	f := &descriptorpb.FieldDescriptorProto{Name: proto.String(name), Number: proto.Int32(number), Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum()}
	r.typ(f, n)
	features := &descriptorpb.FeatureSet{}
	scalar := f.TypeName == nil || f.GetType() == descriptorpb.FieldDescriptorProto_TYPE_ENUM
	switch r.IntN(4) {
	case 0:
		f.Label = descriptorpb.FieldDescriptorProto_LABEL_REPEATED.Enum()
		if f.GetType() != descriptorpb.FieldDescriptorProto_TYPE_STRING && f.GetType() != descriptorpb.FieldDescriptorProto_TYPE_BYTES && scalar && r.IntN(2) == 0 {
			if syntax == "editions" {
				features.RepeatedFieldEncoding = descriptorpb.FeatureSet_EXPANDED.Enum()
			} else {
				f.Options = &descriptorpb.FieldOptions{Packed: proto.Bool(r.IntN(2) == 0)}
			}
		}
	case 1:
		switch {
		case syntax == "proto2" && required && scalar:
			f.Label = descriptorpb.FieldDescriptorProto_LABEL_REQUIRED.Enum()
		case syntax == "editions" && required && scalar:
			features.FieldPresence = descriptorpb.FeatureSet_LEGACY_REQUIRED.Enum()
		case syntax == "editions" && required && f.GetType() != descriptorpb.FieldDescriptorProto_TYPE_MESSAGE:
			features.FieldPresence = descriptorpb.FeatureSet_IMPLICIT.Enum()
		}
	}
	if syntax == "editions" && f.GetType() == descriptorpb.FieldDescriptorProto_TYPE_MESSAGE && r.IntN(2) == 0 {
		features.MessageEncoding = descriptorpb.FeatureSet_DELIMITED.Enum()
	}
	if proto.Size(features) > 0 {
		f.Options = &descriptorpb.FieldOptions{Features: features}
	}
	return f
}

func (r random) mapping(m *descriptorpb.DescriptorProto, name string, number int32, n int) *descriptorpb.FieldDescriptorProto {
	key := &descriptorpb.FieldDescriptorProto{Name: proto.String("key"), Number: proto.Int32(1), Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum()}
	for key.Type == nil || key.GetType() == descriptorpb.FieldDescriptorProto_TYPE_DOUBLE || key.GetType() == descriptorpb.FieldDescriptorProto_TYPE_FLOAT || key.GetType() == descriptorpb.FieldDescriptorProto_TYPE_BYTES {
		key.Type = scalarTypes[r.IntN(len(scalarTypes))].Enum()
	}
	value := &descriptorpb.FieldDescriptorProto{Name: proto.String("value"), Number: proto.Int32(2), Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum()}
	r.typ(value, n)
	entry := strings.ToUpper(name[:1]) + strings.ReplaceAll(name[1:], "_", "") + "Entry"
	m.NestedType = append(m.NestedType, &descriptorpb.DescriptorProto{Name: proto.String(entry), Field: []*descriptorpb.FieldDescriptorProto{key, value}, Options: &descriptorpb.MessageOptions{MapEntry: proto.Bool(true)}})
	return &descriptorpb.FieldDescriptorProto{
		Name: proto.String(name), Number: proto.Int32(number), Label: descriptorpb.FieldDescriptorProto_LABEL_REPEATED.Enum(),
		Type: descriptorpb.FieldDescriptorProto_TYPE_MESSAGE.Enum(), TypeName: proto.String(".r." + m.GetName() + "." + entry),
	}
}

var words = []string{"", "a", "user", "北京市", "😀 x", "line\n\tline", "\"quoted\"", "a.b[c]", "@at", "0123456789012345678901234567890123456789"}

func (r random) fill(m protoreflect.Message, files *protoregistry.Files, depth int) {
	d := m.Descriptor()
	switch d.FullName() {
	case "google.protobuf.Any":
		name := protoreflect.FullName("r.M0")
		if r.IntN(3) == 0 {
			name = protoreflect.FullName("google.protobuf." + knownTypes[r.IntN(len(knownTypes))])
		}
		of, _ := files.FindDescriptorByName(name)
		in := dynamicpb.NewMessage(of.(protoreflect.MessageDescriptor))
		if depth > 3 {
			return
		}
		r.fill(in, files, depth+1)
		b, _ := proto.MarshalOptions{Deterministic: true, AllowPartial: true}.Marshal(in)
		m.Set(d.Fields().ByName("type_url"), protoreflect.ValueOfString("type.googleapis.com/"+string(name)))
		m.Set(d.Fields().ByName("value"), protoreflect.ValueOfBytes(b))
		return
	case "google.protobuf.Timestamp":
		m.Set(d.Fields().ByName("seconds"), protoreflect.ValueOfInt64(r.Int64N(1<<41)-1<<40))
		m.Set(d.Fields().ByName("nanos"), protoreflect.ValueOfInt32(r.nanos()))
		return
	case "google.protobuf.Duration":
		sign := int64(1 - 2*r.IntN(2))
		m.Set(d.Fields().ByName("seconds"), protoreflect.ValueOfInt64(sign*r.Int64N(1<<30)))
		m.Set(d.Fields().ByName("nanos"), protoreflect.ValueOfInt32(int32(sign)*r.nanos()))
		return
	case "google.protobuf.Value":
		if depth < 4 {
			f := d.Fields().Get(r.IntN(d.Fields().Len()))
			if f.Kind() == protoreflect.EnumKind {
				m.Set(f, protoreflect.ValueOfEnum(0))
			} else {
				m.Set(f, r.value(f, files, depth+1, m.NewField(f)))
			}
			return
		}
		m.Set(d.Fields().ByName("string_value"), protoreflect.ValueOfString("deep"))
		return
	}
	fields := []protoreflect.FieldDescriptor{}
	for i := range d.Fields().Len() {
		fields = append(fields, d.Fields().Get(i))
	}
	files.RangeFiles(func(f protoreflect.FileDescriptor) bool {
		for i := range f.Extensions().Len() {
			if x := f.Extensions().Get(i); x.ContainingMessage().FullName() == d.FullName() {
				fields = append(fields, dynamicpb.NewExtensionType(x).TypeDescriptor())
			}
		}
		return true
	})
	for _, f := range fields {
		if f.Cardinality() != protoreflect.Required && r.IntN(4) == 0 || depth > 3 && f.Message() != nil {
			continue
		}
		switch {
		case f.IsMap():
			in := m.NewField(f).Map()
			for range r.IntN(4) {
				in.Set(r.value(f.MapKey(), files, depth+1, protoreflect.Value{}).MapKey(), r.value(f.MapValue(), files, depth+1, in.NewValue()))
			}
			m.Set(f, protoreflect.ValueOfMap(in))
		case f.IsList():
			in := m.NewField(f).List()
			for range r.IntN(5) {
				in.Append(r.value(f, files, depth+1, in.NewElement()))
			}
			m.Set(f, protoreflect.ValueOfList(in))
		default:
			m.Set(f, r.value(f, files, depth+1, m.NewField(f)))
		}
	}
}

func (r random) nanos() int32 {
	return []int32{0, 1, 500_000_000, 123_000, 999_999_999, 120_000_000}[r.IntN(6)]
}

// bits returns a number of any size.
func (r random) bits() uint64 { return r.Uint64() >> r.IntN(64) * uint64(1-2*int64(r.IntN(2))) }

func (r random) value(f protoreflect.FieldDescriptor, files *protoregistry.Files, depth int, empty protoreflect.Value) protoreflect.Value {
	switch f.Kind() {
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(r.IntN(2) == 0)
	case protoreflect.EnumKind:
		if f.Enum().IsClosed() {
			return protoreflect.ValueOfEnum([]protoreflect.EnumNumber{0, 1, -5}[r.IntN(3)])
		}
		return protoreflect.ValueOfEnum([]protoreflect.EnumNumber{0, 1, -5, 70, math.MinInt32}[r.IntN(5)])
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind:
		return protoreflect.ValueOfInt32(int32(r.bits()))
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		return protoreflect.ValueOfUint32(uint32(r.bits()))
	case protoreflect.Int64Kind, protoreflect.Sint64Kind, protoreflect.Sfixed64Kind:
		return protoreflect.ValueOfInt64(int64(r.bits()))
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		return protoreflect.ValueOfUint64(r.bits())
	case protoreflect.FloatKind:
		return protoreflect.ValueOfFloat32([]float32{0, 1.5, -0.1, math.MaxFloat32, float32(math.Inf(1)), 1e-40}[r.IntN(6)])
	case protoreflect.DoubleKind:
		return protoreflect.ValueOfFloat64([]float64{0, 1.5, -0.1, math.MaxFloat64, math.Inf(-1), math.NaN(), 5e-324}[r.IntN(7)])
	case protoreflect.StringKind:
		return protoreflect.ValueOfString(words[r.IntN(len(words))])
	case protoreflect.BytesKind:
		b := make([]byte, r.IntN(9))
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		return protoreflect.ValueOfBytes(b)
	}
	r.fill(empty.Message(), files, depth)
	return empty
}

// set returns a path with the file and those of google/protobuf, and the same for protobuf-go.
func (r random) set(tb testing.TB, f *descriptorpb.FileDescriptorProto) (*classpath.Path, *protoregistry.Files) {
	all := &descriptorpb.FileDescriptorSet{}
	for _, name := range knownFiles {
		d, err := protoregistry.GlobalFiles.FindFileByPath("google/protobuf/" + name + ".proto")
		require.NoError(tb, err)
		all.File = append(all.File, protodesc.ToFileDescriptorProto(d))
	}
	all.File = append(all.File, f)
	files, err := protodesc.NewFiles(all)
	require.NoError(tb, err)
	b, err := proto.Marshal(all)
	require.NoError(tb, err)
	name := filepath.Join(tb.TempDir(), "set.pb")
	require.NoError(tb, os.WriteFile(name, b, 0o600))
	p, err := classpath.Open(classpath.Options{Protos: []string{name}})
	require.NoError(tb, err)
	return p, files
}

// TestRandomMessages compares messages of random schemas with what protobuf-go reads.
func TestRandomMessages(t *testing.T) {
	messages, size := 0, 0
	for seed := range 90 {
		r := random{rand.New(rand.NewPCG(uint64(seed), 22))}
		file := r.file([]string{"proto2", "proto3", "editions"}[seed%3])
		p, files := r.set(t, file)
		for _, d := range file.MessageType {
			of, err := files.FindDescriptorByName(protoreflect.FullName("r." + d.GetName()))
			require.NoError(t, err)
			for range 6 {
				m := dynamicpb.NewMessage(of.(protoreflect.MessageDescriptor))
				r.fill(m, files, 0)
				b, err := proto.MarshalOptions{AllowPartial: true}.Marshal(m)
				require.NoError(t, err)
				want := protoform.Text(m, dynamicpb.NewTypes(files))
				got, fault := readAs(t, p, "r.S", d.GetName(), b)
				require.Nil(t, fault, "seed %d %s", seed, d.GetName())
				require.Empty(t, difference(t, want, got), "seed %d %s %x", seed, d.GetName(), b[:min(len(b), 200)])
				messages++
				size += len(b)
			}
		}
	}
	assert.Greater(t, messages, 1000)
	t.Logf("%d messages, %d bytes", messages, size)
}

// TestFramesWithSchema: bodies of the rig keep their bytes, and counting finds what a tree has, with the schema of the rig's messages.
func TestFramesWithSchema(t *testing.T) {
	p := rig(t)
	for file, f := range map[string]decode.Format{"testdata/frames.tsv": Format, "testdata/frames21.tsv": Format21} {
		for _, row := range formattest.Frames(t, file) {
			formattest.Check(t, With(f, p), row.Body)
		}
	}
}

// rig returns a path with the classes of the rig's messages.
func rig(tb testing.TB) *classpath.Path {
	tb.Helper()
	p, err := classpath.Open(classpath.Options{Paths: []string{"../../../../testdata/models/messages.jar"}})
	require.NoError(tb, err)
	tb.Cleanup(func() { assert.NoError(tb, p.Close()) })
	return p
}

func FuzzReaderWithSchema(f *testing.F) {
	formattest.Fuzz(f, With(Format, rig(f)), "testdata/values.tsv", "testdata/frames.tsv", "testdata/frames21.tsv")
}
