package protoschema

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"

	_ "dubbo-wire/internal/dev/testkit"
)

// file returns a file with a message M that has a nested message In, and what options say.
func file(name string, options *descriptorpb.FileOptions, more ...string) *descriptorpb.FileDescriptorProto {
	f := &descriptorpb.FileDescriptorProto{Name: proto.String(name), Package: proto.String("p" + name[:1]), Syntax: proto.String("proto3"), Options: options}
	for _, m := range append([]string{"M"}, more...) {
		f.MessageType = append(f.MessageType, &descriptorpb.DescriptorProto{Name: proto.String(m), NestedType: []*descriptorpb.DescriptorProto{{Name: proto.String("In")}}})
	}
	return f
}

// The classes of messages are where protoc puts them.
func TestClasses(t *testing.T) {
	s := NewSet()
	for _, f := range []*descriptorpb.FileDescriptorProto{
		file("a/bid_request.proto", nil),
		file("b/order2line-item.proto", nil),
		file("c/clash.proto", nil, "Clash"),
		file("d.proto", &descriptorpb.FileOptions{JavaPackage: proto.String("x.y"), JavaOuterClassname: proto.String("Outer")}),
		file("e.proto", &descriptorpb.FileOptions{JavaPackage: proto.String("x.y"), JavaMultipleFiles: proto.Bool(true)}),
		file("f.proto", &descriptorpb.FileOptions{JavaPackage: proto.String("")}),
	} {
		require.NoError(t, s.Add(f))
		require.NoError(t, s.Add(f), "a second time")
	}
	for class, want := range map[string]string{
		"pa.BidRequest$M": "pa.M", "pa.BidRequest$M$In": "pa.M.In", "pb.Order2LineItem$M": "pb.M", "pc.ClashOuterClass$M": "pc.M", "pc.ClashOuterClass$Clash": "pc.Clash",
		"x.y.Outer$M": "pd.M", "x.y.M": "pe.M", "x.y.M$In": "pe.M.In", "F$M": "pf.M", "com.google.protobuf.Any": "google.protobuf.Any",
	} {
		m := s.Class(class)
		if assert.NotNil(t, m, class) {
			assert.Equal(t, want, m.Name)
		}
	}
	assert.Nil(t, s.Class("pa.M"))
	assert.Equal(t, 14, s.Len())

	// Of two messages with the same class none is taken.
	require.NoError(t, s.Add(file("g.proto", &descriptorpb.FileOptions{JavaPackage: proto.String("x.y"), JavaMultipleFiles: proto.Bool(true)})))
	assert.Nil(t, s.Class("x.y.M"))
	assert.Equal(t, "pg.M", s.Message("pg.M").Name)

	var none *Set
	assert.Nil(t, none.Class("a"))
	assert.Nil(t, none.Message("a"))
	in, out := none.Method("a", "b")
	assert.True(t, in == nil && out == nil)
}

// Types of a file that is missing are not known; the rest is.
func TestMissingImport(t *testing.T) {
	s := NewSet()
	f := file("a.proto", nil)
	f.Dependency = []string{"missing.proto"}
	field := func(name string, n int32, typ descriptorpb.FieldDescriptorProto_Type, of string) *descriptorpb.FieldDescriptorProto {
		d := &descriptorpb.FieldDescriptorProto{Name: proto.String(name), Number: proto.Int32(n), Type: typ.Enum(), Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum()}
		if of != "" {
			d.TypeName = proto.String(of)
		}
		return d
	}
	f.MessageType[0].Field = []*descriptorpb.FieldDescriptorProto{
		field("other", 1, descriptorpb.FieldDescriptorProto_TYPE_MESSAGE, ".q.Other"), field("self_ref", 2, descriptorpb.FieldDescriptorProto_TYPE_MESSAGE, ".pa.M"),
		field("far", 536870911, descriptorpb.FieldDescriptorProto_TYPE_SINT64, ""), field("some", 3, descriptorpb.FieldDescriptorProto_TYPE_ENUM, ".q.Some"),
	}
	require.NoError(t, s.Add(f))
	m := s.Message("pa.M")
	assert.Equal(t, Unknown, m.Field(1).Kind)
	assert.Same(t, m, m.Field(2).Of)
	assert.Equal(t, "selfRef", m.Field(2).Name)
	assert.Equal(t, Sint64, m.Field(536870911).Kind)
	assert.Equal(t, Int32, m.Field(3).Kind)
	assert.Nil(t, m.Field(4))
	assert.Nil(t, m.Field(200))
	assert.Equal(t, 4, m.Slots)

	bad := file("b.proto", nil)
	bad.MessageType[0].Field = []*descriptorpb.FieldDescriptorProto{field("x", 0, descriptorpb.FieldDescriptorProto_TYPE_INT32, "")}
	require.Error(t, s.Add(bad))
	assert.False(t, s.Has("b.proto"))
	assert.True(t, s.Has("a.proto"))
}
