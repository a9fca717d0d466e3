package classfile

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode/registration"
)

// TestRegisteredClasses: what the optimizers of testdata/model/Optimizers.java return, and why some cannot be followed.
func TestRegisteredClasses(t *testing.T) {
	types := openModel(t)
	for name, want := range map[string][]string{
		"Added":     {"p.Model", "p.Model$Color", "[Lp.Model;", "int", "p.Model$Bottom"},
		"Listed":    {"p.Model$Point", "p.Model"},
		"Constant":  {"p.Model", "p.Model$Color", "p.Model$Point", "p.Model$Raw", "java.lang.String"},
		"Field":     {"p.Model$Raw", "p.Model", "p.Model$Base"},
		"Null":      nil,
		"Elsewhere": {"p.Model", "p.Model$Color", "p.Model$Raw", "p.Model$Base"},
	} {
		got, err := types.RegisteredClasses("p.Optimizers$" + name)
		assert.NoError(t, err, name)
		assert.Equal(t, want, got, name)
	}
	for name, want := range map[string]string{
		"Unordered": "getSerializableClasses returns a set without an order, so each JVM registers its classes in another one",
		"Loop":      "getSerializableClasses: instruction 23: the list depends on a condition or loop",
		"Outside":   "what it returns is not a list that is made there; it is given to p.Optimizers$Elsewhere.more",
		"ByName":    "element 2 of the list is not written as NAME.class",
		"Removed":   "not a list that is made there; the static initializer: instruction 31: opcode 0x94 is not followed",
		"Abstract":  "the class has no method getSerializableClasses of its own",
		"Inherited": "the class has no method getSerializableClasses of its own",
	} {
		got, err := types.RegisteredClasses("p.Optimizers$" + name)
		assert.Nil(t, got, name)
		assert.ErrorContains(t, err, want, name)
		if err != nil {
			assert.ErrorContains(t, err, filepath.FromSlash("testdata/classes/p/Optimizers$")+name+".class: ")
			assert.ErrorContains(t, err, "; list the classes in a file for --register, in the order in which they are registered")
		}
	}
	_, err := types.RegisteredClasses("p.Missing")
	assert.ErrorIs(t, err, ErrMissing)
}

// The optimizers of the rig give what a constant of another class holds.
func TestConstantsOfOtherClasses(t *testing.T) {
	list, err := os.Open("../../../testdata/models/registered.txt")
	require.NoError(t, err)
	defer list.Close()
	registered, err := registration.Read(list)
	require.NoError(t, err)
	var want []string
	for _, c := range registered {
		want = append(want, c.Name)
	}
	types := open(t, Options{Paths: []string{"../../../testdata/models/rig.jar"}})
	for _, family := range []string{"apache", "alibaba"} {
		got, err := types.RegisteredClasses("org.dubbowire.rig." + family + ".Optimizer")
		assert.NoError(t, err, family)
		assert.Equal(t, want, got, family)
	}
}

func TestOptimizers(t *testing.T) {
	names, err := openModel(t).Optimizers()
	require.NoError(t, err)
	assert.Equal(t, "Added ByName Constant Elsewhere Field Listed Loop Null Outside Removed Unordered",
		strings.ReplaceAll(strings.Join(names, " "), "p.Optimizers$", ""))
	path := write(t, t.TempDir(), "app.jar", jar(t, packed("BOOT-INF/lib/l.jar", jar(t, packed("p/Optimizers$Added.class", classFile(t, "p.Optimizers$Added"))))))
	names, err = open(t, Options{Paths: []string{path}}).Optimizers()
	require.NoError(t, err)
	assert.Equal(t, []string{"p.Optimizers$Added"}, names)
}

// FuzzOptimizer: code of any kind is followed to an end or to an error, in bounded time and memory.
func FuzzOptimizer(f *testing.F) {
	files, err := filepath.Glob("testdata/classes/p/Optimizers$*.class")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := newMachine(data)
		if err != nil {
			return
		}
		names, err := m.registered()
		if len(names) > maxElements || err != nil && bytes.ContainsAny([]byte(err.Error()), "\r\x00") {
			t.Fatalf("%d names, %q", len(names), err)
		}
	})
}
