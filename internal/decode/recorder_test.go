package decode

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// What is read and not given to a node is given back after an error: place, offset and nodes agree.
func TestRecorderSettles(t *testing.T) {
	var r Recorder
	var tree Tree
	r.Reset([]byte{1, 2, 3, 4}, Malformed, &tree)
	r.Byte("a byte")
	r.Leaf(Int, ByField, "a", 0)
	r.Open(List, ByField, "list", 0)
	r.U16("two bytes")
	r.U32("four bytes")
	require.NotNil(t, r.Err())
	r.Settle(0)
	require.Equal(t, 1, r.Err().At)
	require.Equal(t, 1, r.Offset())
	require.Equal(t, 0, tree.Depth())
	require.Equal(t, []Part{{Path: "a", Class: ClassEnvelope, Off: 0, Bytes: 1}}, tree.Parts(nil, 0))
}

func TestRecorderRewinds(t *testing.T) {
	var r Recorder
	var tree Tree
	r.Reset([]byte{1, 2, 3, 4}, Malformed, &tree)
	r.Byte("a byte")
	m := r.Mark()
	require.True(t, r.Enter())
	i := r.Open(List, ByField, "list", 0)
	r.Byte("a byte")
	r.Role("length")
	r.Byte("a byte")
	r.Fill(i)
	r.Rewind(m)
	require.Equal(t, 1, r.Offset())
	require.Equal(t, 1, r.Pending())
	require.Empty(t, tree.Nodes)
	require.Equal(t, 0, tree.Depth())
}

// A container owns one span; what it is filled with beyond that is overhead, and what is hidden is one piece.
func TestRecorderFills(t *testing.T) {
	var r Recorder
	var tree Tree
	r.Reset([]byte{1, 2, 3, 4, 5, 6}, Malformed, &tree)
	i := r.Open(Int, ByField, "result", 0)
	r.Byte("a byte")
	r.Role("type")
	r.Byte("a byte")
	r.Fill(i)
	r.Byte("a byte")
	r.Fill(i)
	r.Hidden("unused", func() {
		r.Byte("a byte")
		r.Leaf(Int, ByIndex, "", 0)
		r.Byte("a byte")
		r.Leaf(Int, ByIndex, "", 1)
	})
	r.Close()
	r.Byte("a byte")
	r.Role("end")
	require.Equal(t, []Part{
		{"result.#type", ClassOverhead, 0, 1},
		{"result", ClassValues, 1, 1},
		{"result.#value", ClassOverhead, 2, 1},
		{"result.#unused", ClassOverhead, 3, 2},
		{"#end", ClassOverhead, 5, 1},
	}, tree.Parts(nil, 0))
}

func TestRecorderLimits(t *testing.T) {
	var r Recorder
	tree := Tree{MaxNodes: 1}
	r.Reset([]byte{1, 2}, Malformed, &tree)
	r.Byte("a byte")
	r.Leaf(Int, ByField, "a", 0)
	r.Byte("a byte")
	require.Nil(t, r.Leaf(Int, ByField, "b", 0))
	require.Equal(t, Limit, r.Err().Cause)

	r.Reset(nil, Malformed, nil)
	for range MaxDepth {
		require.True(t, r.Enter())
	}
	require.False(t, r.Enter())
	require.Equal(t, Limit, r.Err().Cause)
}
