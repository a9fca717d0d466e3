package classpath

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestOptimizersOfBothSides: each is listed once, with its classes or why they are not known.
func TestOptimizersOfBothSides(t *testing.T) {
	for _, o := range []Options{{Paths: []string{classes}}, {Consumer: []string{classes}}, {Consumer: []string{classes}, Provider: []string{classes}}} {
		p, err := Open(o)
		require.NoError(t, err)
		assert.Len(t, p.Sides(), 1+len(o.Consumer))
		list, err := p.Optimizers()
		require.NoError(t, err)
		known := map[string]int{}
		for _, o := range list {
			if o.Err == nil {
				known[o.Name] = len(o.Classes)
			}
		}
		assert.Len(t, list, 11)
		assert.Equal(t, map[string]int{
			"p.Optimizers$Added": 5, "p.Optimizers$Constant": 5, "p.Optimizers$Elsewhere": 4, "p.Optimizers$Field": 3,
			"p.Optimizers$Listed": 2, "p.Optimizers$Null": 0,
		}, known)
		require.NoError(t, p.Close())
	}
	var none *Path
	require.NoError(t, none.ReadFolders())
	assert.Empty(t, none.Sides())
}
