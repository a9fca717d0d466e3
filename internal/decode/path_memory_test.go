package decode

import (
	"cmp"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Paths and fields are the same whether the memory has them from other bodies, from this one, or has no room for them.
func TestPathMemory(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	types := []*DeclaredType{{Fields: []string{"name", "b", "unset"}}, {Fields: []string{"a.b", "id"}}}
	var used, full Anatomist
	leave := func(room int) { // in full
		m := &full.paths.memory
		m.forget()
		m.prepare(true)
		for len(m.nodes) < maxRemembered-room {
			m.nodes = append(m.nodes, rememberedPath{})
		}
	}
	for body := range 90 {
		tree := randomTree(rng, types)
		var fresh Anatomist
		depth := []int{0, 3, anatomyDepth}[body/30]
		fresh.Depth, used.Depth, full.Depth = depth, depth, depth
		full.paths.collapse, full.paths.depth = true, cmp.Or(depth, anatomyDepth)
		paths := fresh.Append(nil, tree)
		fields, ok := fresh.Fields(nil, tree)

		assert.Equal(t, paths, used.Append(nil, tree), "body %d", body)
		have, read := used.Fields(nil, tree)
		assert.Equal(t, fields, have, "body %d", body)
		assert.Equal(t, ok, read)

		leave(1 + body%7)
		assert.Equal(t, paths, full.Append(nil, tree), "body %d", body)
		leave(1 + body%5)
		have, read = full.Fields(nil, tree)
		assert.Equal(t, fields, have, "body %d", body)
		assert.Equal(t, ok, read)
	}
}

// randomTree returns the tree of a body whose values are nested and named at random.
func randomTree(rng *rand.Rand, types []*DeclaredType) *Tree {
	t := &Tree{WithValues: true}
	names := []string{"name", "id", "b", "a.b", "", "opaque", "no name", "größe", strings.Repeat("long", 40), "x-1", "7"}
	off := 0
	leaf := func(k Kind, l Label, name string, index, size int) {
		if n := t.Leaf(k, l, name, index, off, off+size); n != nil {
			n.Num = int64(rng.IntN(2))
		}
		off += size
	}
	kinds := []Kind{Null, Int, String, Bool, Opaque, Bytes, Ref}
	name := func() string { return names[rng.IntN(len(names))] }
	var value func(l Label, name string, index, depth int)
	value = func(l Label, as string, index, depth int) {
		kind := []Kind{List, Map, Object, Int}[rng.IntN(4)]
		if depth > 5 || kind == Int {
			leaf(kinds[rng.IntN(len(kinds))], l, as, index, rng.IntN(4))
			return
		}
		i := t.Open(kind, l, as, index, off)
		t.Role("type", off, off+1)
		off++
		if kind == Object && rng.IntN(2) == 0 {
			t.SetType(i, types[rng.IntN(len(types))])
		}
		for k := range rng.IntN(5) {
			switch kind {
			case List:
				value(ByIndex, "", k, depth+1)
			case Object:
				if rng.IntN(3) == 0 {
					leaf(Overhead, ByRole, "field", 0, 2)
				}
				value(ByField, name(), -rng.IntN(2), depth+1)
			case Map:
				key := name()
				leaf(String, []Label{ByKey, ByMember}[rng.IntN(2)], key, k, 2)
				value(ByEntry, key, k, depth+1)
			}
		}
		if rng.IntN(8) == 0 {
			leaf(Custom, Whole, name(), 0, 3)
		}
		t.Close()
	}
	leaf(String, ByField, "path", 0, 5)
	t.Open(List, ByField, "args", 0, off)
	for i := range rng.IntN(4) {
		value(ByIndex, "", i, 0)
	}
	t.Close()
	value(ByField, "result", 0, 0)
	t.Open(Map, ByField, "attachments", 0, off)
	for k := range rng.IntN(4) {
		key := name()
		leaf(String, ByKey, key, k, 2)
		value(ByEntry, key, k, 3)
	}
	t.Close()
	return t
}
