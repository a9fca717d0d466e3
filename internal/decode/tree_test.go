package decode

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestTreeKeepsMemoryWhileLargeBodiesCome(t *testing.T) {
	var tree Tree
	fill := func(nodes int) {
		tree.Reset()
		for i := range nodes {
			tree.Leaf(Int, ByIndex, "", i, i, i+1)
		}
	}
	kept := func() bool { return cap(tree.Nodes) > usualNodes }
	fill(usualNodes + 1)
	for range 3 {
		for range idleBodies - 1 {
			fill(1)
			assert.True(t, kept())
		}
		fill(usualNodes + 1)
	}
	for range idleBodies {
		fill(1)
		assert.True(t, kept())
	}
	fill(1)
	assert.False(t, kept(), "as many bodies needed less")

	fill(mostKept + 1)
	fill(1)
	assert.False(t, kept(), "too much to keep")

	fill(usualNodes / 2)
	small := cap(tree.Nodes)
	for range 2 * idleBodies {
		fill(1)
	}
	assert.Equal(t, small, cap(tree.Nodes), "usual memory stays")
}
