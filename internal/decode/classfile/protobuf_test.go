package classfile

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const messages = "../../../testdata/models/messages.jar"

// The classes that protoc has generated lead to the descriptor of their file.
func TestProtoFile(t *testing.T) {
	types := open(t, Options{Paths: []string{messages}})
	for message, outer := range map[string]string{
		"org.dubbowire.rig.proto.Leaf": "org.dubbowire.rig.proto.Edge", "org.dubbowire.rig.proto.Post": "org.dubbowire.rig.proto.Published",
		"org.dubbowire.rig.notes.Note": "org.dubbowire.rig.notes.NotesOuterClass", "org.dubbowire.rig.proto.ProtoService": "", "org.dubbowire.rig.proto.Hue": "",
	} {
		found, err := types.ProtoOuter(message)
		require.NoError(t, err)
		assert.Equal(t, outer, found, message)
	}
	f, err := types.ProtoFile("org.dubbowire.rig.proto.Published")
	require.NoError(t, err)
	assert.Equal(t, []string{"com.google.protobuf.TimestampProto", "com.google.protobuf.WrappersProto"}, f.Imports)
	assert.True(t, bytes.HasPrefix(f.Data, []byte("\x0a\x0fpublished.proto\x12\x03rig")), "%q", f.Data[:40])
	assert.True(t, bytes.HasSuffix(f.Data, []byte("P\x01b\x06proto3")))

	f, err = types.ProtoFile("org.dubbowire.rig.proto.Leaf")
	require.NoError(t, err)
	assert.Nil(t, f)
	_, err = types.ProtoFile("org.dubbowire.rig.proto.Missing")
	require.ErrorIs(t, err, ErrMissing)
	_, err = types.ProtoOuter("org.dubbowire.rig.proto.Missing")
	require.ErrorIs(t, err, ErrMissing)

	var all int
	require.NoError(t, types.ProtoFiles(func(f *ProtoFile) {
		all++
		assert.Greater(t, len(f.Data), 100)
	}))
	assert.Equal(t, 3, all)
}

// Whatever an instruction of the static initializer refers to, a damaged class has no descriptor, or another one.
func TestProtoFileHostile(t *testing.T) {
	types := open(t, Options{Paths: []string{messages}})
	data, _, err := types.data("org.dubbowire.rig.notes.NotesOuterClass")
	require.NoError(t, err)
	sound, err := protoFile(data)
	require.NoError(t, err)
	p := parser{r: &reader{b: data}}
	p.class()
	code := bytes.Index(data, p.clinit)
	require.Positive(t, code)
	for at := range p.clinit {
		for _, c := range []byte{0, 1, 0x12, 0x13, 0x53, 0xb8, 0xbd, 0xc4, 0xaa, 0xff} {
			other := bytes.Clone(data)
			other[code+at] = c
			f, err := protoFile(other)
			if err == nil && f != nil {
				assert.LessOrEqual(t, len(f.Data), len(data)*len(p.clinit))
			}
		}
	}
	// A text with characters that are not bytes.
	at := bytes.Index(data, []byte("\x0a\x0b"+"notes.proto"))
	require.Positive(t, at)
	other := bytes.Clone(data)
	copy(other[at+2:], "\xe4\xb8\xad")
	f, err := protoFile(other)
	require.NoError(t, err)
	assert.Nil(t, f)
	for cut := range len(data) {
		if cut%7 == 0 {
			_, _ = protoFile(data[:cut])
		}
	}
	// A text that is loaded again and again makes no descriptor without end.
	many := bytes.Clone(data)
	copy(many[code+6:], bytes.Repeat(p.clinit[6:8], (len(p.clinit)-6)/2))
	f, err = protoFile(many)
	require.NoError(t, err)
	assert.Nil(t, f)
	assert.Equal(t, byte(opLdc), p.clinit[6])
	assert.Contains(t, string(sound.Data), "notes.proto")
}

func TestMethods(t *testing.T) {
	types := open(t, Options{Paths: []string{messages}})
	for _, c := range []struct {
		class, method string
		want          []string
	}{
		{"org.dubbowire.rig.proto.ProtoService", "pair", []string{"org.dubbowire.rig.proto.Leaf, org.dubbowire.rig.proto.Leaf -> org.dubbowire.rig.proto.Leaf"}},
		{"org.dubbowire.rig.proto.ProtoService", "future", []string{"com.google.protobuf.StringValue, com.google.protobuf.Int32Value -> java.util.concurrent.CompletableFuture<com.google.protobuf.StringValue>"}},
		{"org.dubbowire.rig.notes.Notes", "chat", []string{"org.apache.dubbo.common.stream.StreamObserver<org.dubbowire.rig.notes.Note> -> org.apache.dubbo.common.stream.StreamObserver<org.dubbowire.rig.notes.Note>"}},
		{"org.dubbowire.rig.notes.Notes", "missing", nil},
	} {
		all, err := types.Methods(c.class, c.method)
		require.NoError(t, err)
		var found []string
		for _, m := range all {
			text := ""
			for i, p := range m.Parameters {
				if i > 0 {
					text += ", "
				}
				text += p.String()
			}
			found = append(found, text+" -> "+m.Result.String())
		}
		assert.Equal(t, c.want, found)
	}
	_, err := types.Methods("org.dubbowire.rig.notes.Missing", "chat")
	require.ErrorIs(t, err, ErrMissing)
}
