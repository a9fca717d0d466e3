package decode

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// usesText shows how fields are used, a line each.
func usesText(list []FieldUse) (lines []string) {
	for _, f := range list {
		lines = append(lines, fmt.Sprintf("%s set %d default %d bytes %d unknown %d", f.Path, f.Set, f.Defaults, f.DefaultBytes, f.UndeclaredBytes))
	}
	return lines
}

func TestFields(t *testing.T) {
	tree := &Tree{WithValues: true}
	at := 0
	leaf := func(k Kind, l Label, name string, n int) *Node {
		at += n
		return tree.Leaf(k, l, name, 0, at-n, at)
	}
	leaf(String, ByField, "method", 9)
	tree.Open(List, ByField, "args", 0, at)
	tree.Open(Object, ByIndex, "", 0, at)
	tree.SetType(len(tree.Nodes)-1, &DeclaredType{Fields: []string{"tagged", "gone", "list"}})
	leaf(Overhead, ByRole, "class", 20)
	leaf(Overhead, ByRole, "field", 4) // the names of a class
	leaf(Overhead, ByRole, "field", 5)
	leaf(Int, ByField, "first", 1)
	leaf(Overhead, ByRole, "field", 2)
	leaf(Null, ByField, "tagged", 1)
	tree.Open(List, ByField, "list", 0, at)
	leaf(Overhead, ByRole, "length", 3)
	tree.Close()
	tree.Open(List, ByField, "full", 0, at)
	leaf(Int, ByIndex, "", 1)
	tree.Close()
	leaf(Overhead, ByRole, "field", 1)
	tree.Open(Object, ByField, "#9", Undeclared, at)
	leaf(String, ByField, "text", 6)
	leaf(Opaque, ByField, "more", 6)
	tree.Close()
	tree.Close()
	tree.Open(Map, ByIndex, "", 1, at) // an object in JSON
	tree.Nodes[len(tree.Nodes)-1].Index = 1
	leaf(Overhead, ByRole, "punct", 1)
	leaf(String, ByMember, "zero", 6)
	leaf(Overhead, ByRole, "punct", 1)
	leaf(Int, ByEntry, "zero", 1)
	leaf(String, ByMember, "not a name", 6)
	leaf(Null, ByEntry, "not a name", 1)
	tree.Close()
	tree.Close()
	tree.Open(Map, ByField, "attachments", 0, at)
	leaf(Opaque, Whole, "opaque", 6)
	tree.Close()

	var a Anatomist
	for range 2 {
		list, ok := a.Fields(nil, tree)
		assert.True(t, ok)
		assert.Equal(t, []string{
			"args[0].tagged set 0 default 1 bytes 3 unknown 0",
			"args[0].gone set 0 default 0 bytes 0 unknown 0",
			"args[0].list set 0 default 1 bytes 3 unknown 0",
			"args[0].first set 0 default 1 bytes 1 unknown 0",
			"args[0].full set 1 default 0 bytes 0 unknown 0",
			"args[0].#9 set 1 default 0 bytes 0 unknown 13",
			"args[1].zero set 0 default 1 bytes 8 unknown 0",
		}, usesText(list))
	}
	list, ok := a.Fields(nil, &Tree{Nodes: tree.Nodes})
	assert.False(t, ok, "without values")
	assert.Empty(t, list)
	tree.Open(List, ByField, "result", 0, at)
	leaf(Opaque, ByIndex, "", 1)
	_, ok = a.Fields(nil, tree)
	assert.False(t, ok, "something was not read")
}

// What is deeper than paths go, or exceeds their number, does not make a field look as if it was never set.
func TestFieldsBeyondLimits(t *testing.T) {
	tree := &Tree{WithValues: true}
	typ := &DeclaredType{Fields: []string{"next", "value"}}
	tree.Open(Object, ByField, "result", 0, 0)
	for range 100 {
		tree.SetType(len(tree.Nodes)-1, typ)
		tree.Leaf(Int, ByField, "value", 0, 0, 1)
		tree.Open(Object, ByField, "next", 0, 1)
	}
	tree.CloseTo(0)
	var a Anatomist
	list, ok := a.Fields(nil, tree)
	require.True(t, ok)
	for _, f := range list {
		assert.LessOrEqual(t, strings.Count(f.Path, "."), 11)
		if f.Path == OtherPaths {
			assert.EqualValues(t, 100-11, f.Defaults)
			assert.Zero(t, f.Set)
			assert.False(t, f.NeverSet())
		} else if strings.HasSuffix(f.Path, "next") {
			assert.EqualValues(t, 1, f.Set, f.Path)
		}
	}

	tree = &Tree{WithValues: true}
	tree.Open(Object, ByField, "result", 0, 0)
	for i := range 2 * maxAnatomyPaths {
		tree.Leaf(Int, ByField, fmt.Sprint("f", i), 0, i, i+1).Num = int64(i % 2)
	}
	tree.CloseTo(0)
	list, _ = a.Fields(nil, tree)
	require.Len(t, list, maxAnatomyPaths+1)
	var sum FieldUses
	sum.Add(PackFields(list, new(KeyCache[string])), 100, 10)
	assert.Equal(t, 11, sum.Len())
	assert.True(t, sum.Lacks())
	assert.Empty(t, sum.NeverSet(), "which fields were set is not known of all")
	bytes := int64(0)
	for _, f := range sum.List() {
		bytes += f.DefaultBytes
	}
	assert.EqualValues(t, maxAnatomyPaths, bytes)
}

// A body whose objects lack many fields of their type costs no more than its bytes and the fields of one object.
func TestFieldsOfLargeTypes(t *testing.T) {
	typ := new(DeclaredType)
	for i := range 100_000 {
		typ.Fields = append(typ.Fields, fmt.Sprint("field", i))
	}
	tree := &Tree{WithValues: true}
	tree.Open(List, ByField, "result", 0, 0)
	for i := range 100_000 {
		tree.SetType(tree.Open(Object, ByIndex, "", i, i), typ)
		tree.Close()
	}
	tree.Close()
	var a Anatomist
	list, ok := a.Fields(nil, tree)
	assert.True(t, ok)
	assert.Len(t, list, maxAnatomyPaths)
}

func BenchmarkFields(b *testing.B) {
	tree := &Tree{WithValues: true}
	tree.Open(List, ByField, "result", 0, 0)
	for i := range 1000 {
		tree.Open(Object, ByIndex, "", i, i)
		for k := range 10 {
			tree.Leaf(Int, ByField, names10[k], 0, i, i+1).Num = int64(k)
		}
		tree.Close()
	}
	tree.Close()
	var a Anatomist
	var list []FieldUse
	b.ReportAllocs()
	for b.Loop() {
		list, _ = a.Fields(list[:0], tree)
	}
}

var names10 = []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"}
