package decode

import (
	"testing"

	"github.com/stretchr/testify/assert"

	_ "dubbo-wire/internal/dev/testkit" // the flag -update
)

// Elements of a list share a path; arguments keep their numbers, attachments their keys, members of an object their names.
func TestAnatomistPaths(t *testing.T) {
	tree := Tree{}
	off := 0
	leaf := func(k Kind, l Label, name string, index int) {
		tree.Leaf(k, l, name, index, off, off+1)
		off++
	}
	tree.Open(List, ByField, "args", 0, 0)
	tree.Open(Object, ByIndex, "", 0, 0)
	tree.Open(Object, ByField, "user", 0, 0)
	leaf(String, ByField, "name", 0)
	tree.Close()
	tree.Open(List, ByField, "tags", 0, 0)
	for i := range 4 {
		leaf(Int, ByIndex, "", i)
	}
	tree.Close()
	tree.Close()
	tree.Open(List, ByIndex, "", 12, 0)
	for i := range 2 {
		tree.Open(Object, ByIndex, "", i, 0)
		leaf(Int, ByField, "x", 0)
		tree.Close()
	}
	tree.Close()
	tree.Close()
	tree.Open(Map, ByField, "attachments", 0, 0)
	leaf(String, ByKey, "a.b", 0)
	leaf(String, ByEntry, "a.b", 0)
	tree.Close()

	a := Anatomist{}
	assert.Equal(t, []PathBytes{
		{"args[0].user.name", ClassValues, 1},
		{"args[0].tags[*]", ClassValues, 4},
		{"args[12][*].x", ClassValues, 2},
		{`attachments["a.b"]`, ClassAttachments, 2},
	}, a.Append(nil, &tree))

	a = Anatomist{Depth: 2}
	assert.Equal(t, []PathBytes{
		{"args[0].user", ClassValues, 1},
		{"args[0].tags", ClassValues, 4},
		{"args[12][*]", ClassValues, 2},
		{`attachments["a.b"]`, ClassAttachments, 2},
	}, a.Append(nil, &tree))
}
