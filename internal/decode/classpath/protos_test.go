package classpath

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode"
)

const messages = "../../../testdata/models/messages.jar"

func name(p *Path, s decode.Side, service, method string) string {
	if m := p.MethodMessage(s, service, method); m != nil {
		return m.Name
	}
	return ""
}

// Generated classes tell messages by class, by name, by the Java interface and by the service.
func TestGenerated(t *testing.T) {
	p, err := Open(Options{Paths: []string{messages}})
	require.NoError(t, err)
	defer func() { assert.NoError(t, p.Close()) }()
	const java, proto, plain = "org.dubbowire.rig.notes.Notes", "rig.notes.Notes", "org.dubbowire.rig.proto.ProtoService"
	var wait sync.WaitGroup
	for range 4 { // readers ask at once
		wait.Go(func() {
			for _, c := range []struct{ service, method, in, out string }{
				{java, "echo", "rig.notes.Note", "rig.notes.Note"},
				{java, "fail", "rig.notes.Note", "rig.notes.Nothing"},
				{java, "countdown", "rig.notes.Note", "rig.notes.Note"},
				{"/context/" + java, "chat", "rig.notes.Note", "rig.notes.Note"},
				{proto, "fail", "rig.notes.Note", "rig.notes.Nothing"},
				{proto, "missing", "", ""},
				{plain, "listUser", "google.protobuf.Int32Value", "rig.Page"},
				{plain, "future", "", "google.protobuf.StringValue"},
				{plain, "event", "google.protobuf.StringValue", ""},
				{plain, "notAMessage", "google.protobuf.Empty", ""},
				{"a.Missing", "get", "", ""},
			} {
				assert.Equal(t, c.in, name(p, decode.Consumer, c.service, c.method), c)
				assert.Equal(t, c.out, name(p, decode.Provider, c.service, c.method), c)
			}
			assert.Equal(t, "rig.Leaf", p.ClassMessage(decode.Consumer, "org.dubbowire.rig.proto.Leaf").Name)
			assert.Equal(t, "google.protobuf.Timestamp", p.ClassMessage(decode.Consumer, "com.google.protobuf.Timestamp").Name)
			assert.Nil(t, p.ClassMessage(decode.Consumer, "java.lang.String"))
			assert.Equal(t, "rig.Known", p.Message(decode.Provider, "rig.Known").Name)
			assert.Nil(t, p.Message(decode.Provider, "rig.Missing"))
		})
	}
	wait.Wait()
	assert.True(t, p.HasClasses())
	assert.False(t, p.HasProtos())

	var none *Path
	assert.Nil(t, none.Message(decode.Consumer, "a"))
	assert.Nil(t, none.ClassMessage(decode.Consumer, "a"))
	assert.Nil(t, none.MethodMessage(decode.Consumer, "a", "b"))
	assert.False(t, none.HasClasses() || none.HasProtos())
}

// What the user gives counts before what classes have; the sides may have other classes.
func TestProtos(t *testing.T) {
	file := filepath.Join(t.TempDir(), "leaf.proto")
	require.NoError(t, os.WriteFile(file, []byte(`syntax = "proto3"; package rig; option java_package = "org.dubbowire.rig.proto"; option java_multiple_files = true; message Leaf { int64 other = 1; }`), 0o600))
	p, err := Open(Options{Consumer: []string{messages}, Protos: []string{file}})
	require.NoError(t, err)
	defer func() { assert.NoError(t, p.Close()) }()
	for side, known := range map[decode.Side]bool{decode.Consumer: true, decode.Provider: false} {
		assert.Equal(t, "other", p.ClassMessage(side, "org.dubbowire.rig.proto.Leaf").Field(1).Name)
		assert.Equal(t, known, p.ClassMessage(side, "org.dubbowire.rig.proto.User") != nil)
	}
	assert.Equal(t, 1, p.Protos())
	assert.True(t, p.HasProtos())

	p, err = Open(Options{Protos: []string{file}})
	require.NoError(t, err)
	assert.False(t, p.HasClasses())
	_, err = Open(Options{Protos: []string{"missing.proto"}})
	require.EqualError(t, err, "--proto missing.proto: no such file or directory")
}
