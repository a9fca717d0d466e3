package decode

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A list whose class has a field "owner", an object that refers to itself and to what lies in it; then references to them.
func unprintedTree() *Tree {
	tree := &Tree{WithValues: true}
	tree.Open(List, ByField, "args", 0, 0)
	tree.Open(List, ByIndex, "", 0, 0)
	tree.Leaf(String, ByIndex, "", 0, 0, 1).Text = "x"
	owner := tree.Open(Object, ByField, "owner", 0, 1)
	tree.Leaf(Ref, ByField, "self", 0, 1, 2).Num = int64(owner)
	tags := tree.Open(List, ByField, "tags", 0, 2)
	tree.Leaf(Ref, ByIndex, "", 0, 2, 3).Num = int64(owner)
	tree.CloseTo(1)
	tree.Leaf(Ref, ByIndex, "", 1, 3, 4).Num = int64(tags)
	tree.Leaf(Ref, ByIndex, "", 2, 4, 5).Num = int64(owner)
	tree.Leaf(Ref, ByIndex, "", 3, 5, 6).Num = int64(tags)
	tree.CloseTo(0)
	return tree
}

// Fields beside the elements of a list are not printed, but what else refers to them has them.
func TestBeside(t *testing.T) {
	tree := unprintedTree()
	const want = `[["x"],[{"self":{"@ref":"args[1][0]"},"tags":{"@ref":"args[1]"}}],{"@ref":"args[1][0]"},{"@ref":"args[1]"}]`
	got := string(tree.AppendJSON(nil, 0))
	require.True(t, json.Valid([]byte(got)))
	assert.Equal(t, want, got)
	assert.Equal(t, got, string(tree.AppendJSON(nil, 0)), "a tree prints the same twice")
	assert.Equal(t, 1, tree.Elements(1))
	assert.Equal(t, "args[0].owner", tree.Path(3))
}

// Whatever refers to whatever: values end and are JSON.
func TestBesideEnds(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		tree := &Tree{WithValues: true}
		tree.Open(List, ByField, "args", 0, 0)
		var refs, targets []int
		for range 60 {
			label := []Label{ByIndex, ByField}[random.IntN(2)]
			switch random.IntN(3) {
			case 0:
				targets = append(targets, tree.Open([]Kind{List, Object}[random.IntN(2)], label, "f", 0, 0))
			case 1:
				if tree.Depth() > 1 {
					tree.Close()
				}
			default:
				refs = append(refs, len(tree.Nodes))
				tree.Leaf(Ref, label, "r", 0, 0, 0)
			}
		}
		tree.CloseTo(0)
		for _, i := range refs {
			if len(targets) > 0 {
				tree.Nodes[i].Num = int64(targets[random.IntN(len(targets))])
			}
		}
		out := tree.AppendJSON(nil, 0)
		require.True(t, json.Valid(out), "%s", out)
		require.Less(t, len(out), 1<<16)
		require.Zero(t, tree.levels)
		require.Empty(t, tree.inlining)
	}
}
