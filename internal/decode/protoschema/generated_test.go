package protoschema

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/types/descriptorpb"

	_ "dubbo-wire/internal/dev/testkit"
)

// What classes would tell is what their files do, in an order in which they can be read.
func TestGenerated(t *testing.T) {
	var none *Set
	assert.Nil(t, none.Generated())
	s := NewSet()
	message := func(name string) []*descriptorpb.DescriptorProto {
		return []*descriptorpb.DescriptorProto{{Name: proto.String(name)}}
	}
	require.NoError(t, s.Add(&descriptorpb.FileDescriptorProto{
		Name: proto.String("b.proto"), Package: proto.String("p"), MessageType: message("B"),
		Options: &descriptorpb.FileOptions{JavaPackage: proto.String("acme"), JavaMultipleFiles: proto.Bool(true)},
	}))
	require.NoError(t, s.Add(&descriptorpb.FileDescriptorProto{
		Name: proto.String("a.proto"), Package: proto.String("p"), Dependency: []string{"b.proto"}, MessageType: message("Other"),
		Service: []*descriptorpb.ServiceDescriptorProto{{Name: proto.String("S"), Method: []*descriptorpb.MethodDescriptorProto{
			{Name: proto.String("Get"), InputType: proto.String(".p.B"), OutputType: proto.String(".p.Other")},
		}}},
	}))
	g := s.Generated()
	_, err := protodesc.NewFiles(g.Files)
	require.NoError(t, err)
	seen := map[string]bool{}
	for _, f := range g.Files.File {
		for _, d := range f.Dependency {
			assert.True(t, seen[d], "%s before %s", d, f.GetName())
		}
		seen[f.GetName()] = true
	}
	assert.True(t, seen["a.proto"] && seen["b.proto"] && seen["google/protobuf/any.proto"])
	assert.Equal(t, "p.B", g.Classes["acme.B"])
	assert.Equal(t, "p.Other", g.Classes["p.A$Other"])
	assert.Equal(t, "google.protobuf.StringValue", g.Classes["com.google.protobuf.StringValue"])
	assert.Equal(t, [2]string{"p.B", "p.Other"}, g.Methods["p.S/Get"])
	assert.Equal(t, [2]string{"p.B", "p.Other"}, g.Methods["p.S/get"])
}
