package decode

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// A map prints the same whether the texts of its keys are borrowed or not: one with a key that begins with "@" is a list of pairs.
func TestBorrowedKeys(t *testing.T) {
	for _, key := range []string{"a", "@a", ""} {
		printed := func(borrowed bool) string {
			tree := Tree{WithValues: true}
			tree.Nodes = []Node{
				{Kind: Map, Label: ByField, Name: "result", End: 3, Parent: -1},
				{Kind: String, Label: ByKey, End: 2, Len: 1, Text: key},
				{Kind: Int, Label: ByEntry, End: 3, Len: 1, Num: 7},
			}
			if borrowed {
				tree.Nodes[1].Text, tree.Nodes[1].Raw = "", append([]byte{}, key...)
			}
			return string(tree.AppendJSON(nil, 0))
		}
		assert.Equal(t, printed(false), printed(true), key)
	}
}
