package classfile

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func writeText(all []Write) string {
	var w []string
	for _, x := range all {
		switch {
		case x.Call == "":
			w = append(w, "("+writeText(x.Body)+")")
		case x.Field != "":
			w = append(w, x.Call+" "+x.Field)
		default:
			w = append(w, x.Call)
		}
	}
	return strings.Join(w, ", ")
}

// What the methods of the captures' classes write.
func TestWrites(t *testing.T) {
	types, err := Open(Options{Paths: []string{"../../../testdata/models/rig.jar", "../../../testdata/models/graphs.jar"}})
	require.NoError(t, err)
	defer func() { assert.NoError(t, types.Close()) }()
	const rig = "org.dubbowire.rig."
	for _, c := range []struct{ class, method, want string }{
		{rig + "edge.Custom$Written", WriteObject, "defaultWriteObject, writeInt extra, writeObject"},
		{rig + "zoo.Own$Extended", WriteObject, "defaultWriteObject, writeInt, (writeUTF), writeObject hidden, writeLong"},
		{rig + "zoo.Own$Blocks", WriteObject, "writeInt, write data"},
		{rig + "zoo.Own$Put", WriteObject, "writeFields"},
		{rig + "models.Written", WriteObject, "defaultWriteObject, writeInt hidden, writeObject, writeUTF"},
		{rig + "models.Defaulted", WriteObject, "defaultWriteObject"},
		{rig + "edge.Custom$External", WriteExternal, "writeUTF text, writeLong number"},
		{rig + "zoo.Own$External", WriteExternal, "writeUTF text, writeObject inner, writeDouble"},
		{rig + "edge.Node", WriteObject, "! class not found"},
		{"no.Class", WriteObject, "! class not found"},
	} {
		all, err := types.Writes(c.class, c.method)
		if want, fails := strings.CutPrefix(c.want, "! "); fails {
			assert.EqualError(t, err, want, c.class)
			continue
		}
		if assert.NoError(t, err, c.class) {
			assert.Equal(t, c.want, writeText(all), c.class)
		}
	}
}

// Code whose bytes depend on more than the object's class is refused.
func TestWritesUnderConditions(t *testing.T) {
	calls := func(at int) event {
		return event{kind: callEvent, at: at, end: at + 3, writes: []Write{{Call: "writeInt"}}, names: []string{"field n"}}
	}
	branch := func(at, to int) event {
		return event{kind: branchEvent, at: at, end: at + 3, target: to, names: []string{"field n"}}
	}
	jump := func(at, to int) event { e := branch(at, to); e.names = nil; return e }
	code := make([]byte, 64)
	for _, at := range []int{20, 40} {
		code[at] = 0xa7 // goto
	}
	for _, c := range []struct {
		name   string
		events []event
		want   string
	}{
		{"calls", []event{calls(0), calls(3)}, "writeInt, writeInt"},
		{"a condition around nothing", []event{branch(0, 6), calls(9)}, "writeInt"},
		{"a condition around a call", []event{branch(0, 9), calls(3)}, "!only under a condition"},
		{"a return before a call", []event{{kind: returnEvent, at: 0, end: 1}, calls(3)}, "!only under a condition"},
		{"a switch before a call", []event{{kind: switchEvent, at: 0, end: 1}, calls(3)}, "!only under a condition"},
		{"a loop", []event{calls(0), branch(6, 23), calls(12), jump(20, 4)}, "writeInt, (writeInt)"},
		{"a loop without its number", []event{branch(6, 23), calls(12), jump(20, 4)}, "!turns of a loop"},
		{"a loop with two conditions", []event{calls(0), branch(6, 23), branch(9, 15), calls(12), jump(20, 4)}, "!only under a condition"},
		{"a loop that writes nothing", []event{branch(6, 23), jump(20, 4), calls(30)}, "writeInt"},
		{"a loop that ends late", []event{calls(0), calls(6), jump(20, 4)}, "!only under a condition"},
	} {
		w := writes{code: code, events: c.events}
		all, err := w.between(0, len(w.events), len(code))
		if want, fails := strings.CutPrefix(c.want, "!"); fails {
			assert.ErrorContains(t, err, want, c.name)
			continue
		}
		if assert.NoError(t, err, c.name) {
			assert.Equal(t, c.want, writeText(all), fmt.Sprint(c.name))
		}
	}
}
