package estimate

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/rpc"
)

// ring is a body of protostuff with the objects 1 and 2, which refer to each other: object 1 stands there twice, since protostuff writes no
// references to it. number is that of the copy.
func ring(number int64) *decode.Tree {
	t := &decode.Tree{WithValues: true}
	off := 0
	leaf := func(kind decode.Kind, name string, n int64) {
		t.Leaf(kind, decode.ByField, name, 0, off, off+1).Num = n
		off++
	}
	open := func(name string) {
		t.Nodes[t.Open(decode.Object, decode.ByField, name, 0, off)].Class = "p.Node"
	}
	open("result")
	leaf(decode.Int, "id", 1)
	open("next")
	second := len(t.Nodes) - 1
	leaf(decode.Int, "id", 2)
	open("next")
	leaf(decode.Int, "id", number)
	leaf(decode.Ref, "next", int64(second))
	t.Close()
	t.Close()
	t.Close()
	return t
}

func TestRootsAgain(t *testing.T) {
	tree := ring(1)
	assert.Equal(t, map[int]int{4: 0}, rootsAgain(tree, -1, 0))
	assert.Empty(t, rootsAgain(ring(3), -1, 0), "another object")

	m := &rpc.Message{Tree: tree}
	m.Kind, m.Complete, m.ResultKind, m.Format = rpc.Response, true, 1, &decode.Format{Name: "protostuff"}
	values, cause := AppendValues(nil, m)
	require.Empty(t, cause)
	r := recordReader{t: t, b: values}
	require.EqualValues(t, 1, r.int32())
	r.node(1)
	assert.EqualValues(t, 5, r.nodes, "two objects, their numbers and one reference")
	assert.Equal(t, []byte{0}, r.b)
	assert.Equal(t, uint32(0), binary.BigEndian.Uint32(values[len(values)-5:]), "to the first object")
}
