package classfile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	_ "dubbo-wire/internal/dev/testkit" // the flag -update
)

// openModel opens the classes of testdata/model, without a JDK, and q.Orphan, whose superclass q.Gone is missing.
func openModel(t testing.TB) *Types {
	t.Helper()
	orphan := write(t, t.TempDir(), "q.jar", jar(t, stored("q/Orphan.class", class("q.Orphan", "q/Gone"))))
	return open(t, Options{Paths: []string{"testdata/classes", orphan}})
}

// TestModel compares the model with what Java 17 said of it.
func TestModel(t *testing.T) {
	compareWithJava(t, openModel(t), "testdata/java.txt", 30)
}

func memberLines(t *testing.T, types *Types, name string) (lines []string, missing string) {
	all, missing, err := types.Members(name)
	require.NoError(t, err)
	for _, m := range all {
		lines = append(lines, strings.TrimPrefix(m.Class.Name, "p.Model$")+" "+m.Field.Name+" "+m.Type.String())
	}
	return lines, missing
}

// TestMembers: the fields of objects, with types for the variables of superclasses.
func TestMembers(t *testing.T) {
	types := openModel(t)
	lines, missing := memberLines(t, types, "p.Model$Bottom")
	assert.Empty(t, missing)
	third := "java.util.Map<java.lang.String, java.util.List<java.lang.Integer[]>>"
	assert.Equal(t, []string{
		"Base value java.lang.String",
		"Base list java.util.List<" + third + ">",
		"Base maps java.util.Map<java.lang.String, java.util.List<" + third + "[]>>[]",
		"Base inner p.Model$Base<java.lang.String, " + third + ">$Inner",
		"Middle own java.lang.Integer[]",
		"Bottom number int",
	}, lines)
	middle, _, err := types.Members("p.Model$Middle", &Type{Kind: Object, Name: "p.User"})
	require.NoError(t, err)
	assert.Equal(t, "java.util.List<java.util.Map<java.lang.String, java.util.List<p.User>>>", middle[1].Type.String())
	none, missing, err := types.Members("java.lang.Object")
	assert.Empty(t, none)
	assert.Empty(t, missing)
	assert.NoError(t, err)
	lines, _ = memberLines(t, types, "p.Model$Raw")
	assert.Equal(t, "Base value T", lines[0], "a raw superclass binds nothing")
	lines, missing = memberLines(t, types, "q.Orphan")
	assert.Equal(t, "q.Gone", missing)
	assert.Empty(t, lines)
	lines, missing = memberLines(t, types, "p.Model$1")
	assert.Empty(t, missing)
	assert.Equal(t, []string{
		"java.util.AbstractList modCount int", "java.util.ArrayList elementData java.lang.Object[]", "java.util.ArrayList size int", "1 more int", "1 this$0 p.Model",
	}, lines)
	lines, _ = memberLines(t, types, "p.Model$Computed")
	assert.Equal(t, []string{
		"p.Model number int", "p.Model hidden java.lang.String", "p.Model generic java.util.Map<java.lang.String, java.util.List<? super java.lang.Integer>>",
		"p.Model texts java.lang.String[][]", "Computed unseen int", "Computed größe long", "Computed number int",
	}, lines)
}

func TestKinds(t *testing.T) {
	types := openModel(t)
	class := func(name string) *Class {
		c, err := types.Class("p.Model$" + name)
		require.NoError(t, err)
		return c
	}
	assert.Equal(t, []string{"RED", "GREEN", "BLUE"}, class("Color").Constants())
	assert.Equal(t, []string{"ROUND", "SQUARE"}, class("Shape").Constants())
	assert.False(t, class("Shape").Modifiers.Has(Final))
	assert.False(t, class("Shape$1").IsEnum())
	assert.Equal(t, "p.Model$Shape", class("Shape$1").Super)
	assert.Nil(t, class("Bottom").Constants())
	assert.True(t, class("Point").Record)
	assert.False(t, class("NoDefault").HasConstructor)
	assert.True(t, class("Persistent").PersistentFields)
	assert.True(t, class("1Local").Local)
	assert.Equal(t, "p.Model", class("Color").Outer)
	assert.Equal(t, 17, class("Color").Release)
	assert.Equal(t, filepath.FromSlash("testdata/classes/p/Model$Color.class"), class("Color").Place)

	for descriptor, final := range map[string]bool{
		"I": true, "[[J": true, "Lp/Model$Bottom;": true, "[Lp/Model$Bottom;": true, "Lp/Model;": false, "Lp/Model$Shape;": false, "Lp/Model$Color;": true,
		"Ljava/lang/String;": true, "[Ljava/util/List;": false, "Ljava/util/HashMap;": false,
	} {
		got, err := types.IsFinal(descriptor)
		assert.NoError(t, err)
		assert.Equal(t, final, got, descriptor)
	}
	named := open(t, Options{Paths: []string{write(t, t.TempDir(), "l.jar", jar(t, stored("LL.class", small(func(*made) [][]byte { return nil }))))}})
	_, err := named.IsFinal("[LLL;")
	assert.ErrorContains(t, err, "it has the class p.A and should have LL")
	_, err = types.IsFinal("Lq/Gone;")
	assert.ErrorIs(t, err, ErrMissing)
}

// TestAnnotations: those that FST and Kryo read are kept.
func TestAnnotations(t *testing.T) {
	c, err := openModel(t).Class("p.Model$Annotated")
	require.NoError(t, err)
	require.Len(t, c.Annotations, 1)
	classes := c.Annotations[0].Get("value").([]any)
	assert.Equal(t, "p.Model", classes[0].(*Type).String())
	assert.Equal(t, "int[]", classes[1].(*Type).String())
	assert.Equal(t, []Annotation{{Type: "org.nustaq.serialization.annotations.Version", Elements: []Element{{"value", int32(3)}}}}, c.Field("added").Annotations)
	assert.Nil(t, c.Field("first").Annotations[0].Get("value"))
	assert.Equal(t, []Annotation{{Type: "java.lang.Deprecated"}}, c.Field("old").Annotations)
	assert.Nil(t, c.Field("none"))
}

func TestIs(t *testing.T) {
	types := openModel(t)
	for _, c := range []struct {
		name, other string
		is          bool
		unknown     string
	}{
		{"p.Model$Computed", "java.io.Serializable", true, ""},
		{"p.Model$Computed", "java.lang.Object", true, ""},
		{"p.Model$NoDefault", "java.io.Serializable", false, ""},
		{"p.Model$Color", "java.lang.Enum", true, ""},
		{"p.Model$Color", "java.io.Serializable", true, ""},
		{"p.Model$1", "java.util.Collection", true, ""},
		{"p.Model$1", "java.util.Map", false, ""},
		{"q.Orphan", "java.util.Map", false, "q.Gone"},
		{"q.Missing", "java.io.Serializable", false, "q.Missing"},
	} {
		is, err := types.Is(c.name, c.other)
		assert.Equal(t, c.is, is, c)
		if c.unknown == "" {
			assert.NoError(t, err)
			continue
		}
		assert.ErrorIs(t, err, ErrMissing)
		assert.ErrorContains(t, err, c.unknown)
	}
	s, err := types.ObjectStream("q.Orphan")
	require.NoError(t, err)
	assert.Equal(t, "q.Gone", s.Incomplete)
	s, err = types.ObjectStream("p.Model$1")
	require.NoError(t, err)
	assert.Empty(t, s.Incomplete)
	s, err = types.ObjectStream("p.Model$Unknown")
	require.NoError(t, err)
	assert.False(t, s.SerialVersionUIDKnown)
	_, err = types.ObjectStream("q.Missing")
	assert.ErrorIs(t, err, ErrMissing)
	assert.Equal(t, uint64(0xadd256e7e91d7b47), uint64(ArraySerialVersionUID("[Ljava.lang.String;", Public|Final)), "as on the wire")
	assert.Equal(t, uint64(0xacf317f8060854e0), uint64(ArraySerialVersionUID("[B", Public)))
}

// TestCache: a class that was thrown away is read again, and is the same.
func TestCache(t *testing.T) {
	types, err := Open(Options{Paths: []string{"testdata/classes"}, CacheSize: 1})
	require.NoError(t, err)
	defer types.Close()
	for range 2 {
		for _, name := range []string{"p.Model", "p.Model$Color"} {
			c, err := types.Class(name)
			require.NoError(t, err)
			assert.Equal(t, name, c.Name)
			assert.Equal(t, 1, types.used.Len())
			assert.Len(t, types.cache, 1)
		}
	}
}

func classFile(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata/classes", strings.ReplaceAll(name, ".", "/")+".class"))
	require.NoError(t, err)
	return data
}

func TestSubtypes(t *testing.T) {
	types, err := Open(Options{Paths: []string{"../../../testdata/models/rig.jar"}})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, types.Close()) })
	names, err := types.Subtypes("org.dubbowire.rig.edge.Base")
	require.NoError(t, err)
	assert.Equal(t, []string{"org.dubbowire.rig.edge.Derived", "org.dubbowire.rig.edge.Shadow"}, names)
	names, err = types.Subtypes("p.Missing")
	require.NoError(t, err)
	assert.Empty(t, names)
}
