package rpc

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"dubbo-wire/internal/decode"
)

// TestClone: a copy shares no memory with the message, and has a body of no bytes only if the message has one.
func TestClone(t *testing.T) {
	m := &Message{Body: []byte("body"), Plain: []byte("plain"), Head: []byte("head"), Headers: []Header{{Name: "a"}}, Tree: &decode.Tree{Nodes: make([]decode.Node, 1)}}
	c := m.Clone(true, true)
	m.Body[0], m.Plain[0], m.Head[0], m.Headers[0].Name, m.Tree.Nodes[0].Name = '-', '-', '-', "-", "-"
	assert.Equal(t, "bodyplainhead", string(c.Body)+string(c.Plain)+string(c.Head))
	assert.Equal(t, "a", c.Headers[0].Name)
	assert.Empty(t, c.Tree.Nodes[0].Name)
	c = m.Clone(false, false)
	assert.Nil(t, c.Body)
	assert.Nil(t, c.Plain)
	assert.Nil(t, c.Tree)
	assert.Nil(t, (&Message{}).Clone(true, true).Body)
	assert.NotNil(t, (&Message{Body: []byte{}}).Clone(true, true).Body)
}
