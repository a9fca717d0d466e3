package pipeline

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/rpc"
)

// A number that is an object in Java has its class only where the body did not have that class before: the value is the same.
func TestNumberAttachments(t *testing.T) {
	values := func(class string, num int64, kind decode.Kind) uint64 {
		body := []byte(class + "\x00\x00\x4e\x20")
		tree := &decode.Tree{WithValues: true}
		tree.Open(decode.Map, decode.ByField, "attachments", 0, 0)
		tree.Open(kind, decode.ByEntry, "timeout", 0, 0)
		tree.Leaf(decode.Overhead, decode.ByField, "class", 0, 0, len(class))
		tree.Close()
		n := &tree.Nodes[1]
		n.Off, n.Len, n.Num = int32(len(class)), 4, num
		tree.Close()
		list := new(sampler).attachments(&rpc.Message{Tree: tree, Body: body})
		require.Len(t, list, 1)
		return list[0].Value
	}
	first, again := values("java.lang.Integer", 20000, decode.Int), values("\x71\x00\x7e\x00\x05", 20000, decode.Int)
	assert.Equal(t, first, again)
	assert.NotEqual(t, first, values("java.lang.Integer", 20001, decode.Int))
}
