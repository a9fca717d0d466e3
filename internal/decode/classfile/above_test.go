package classfile

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A body may ask for each of its objects whether a class extends another one.
func TestIsAllocatesNothing(t *testing.T) {
	types, err := Open(Options{})
	require.NoError(t, err)
	for other, want := range map[string]bool{"java.util.Collection": true, "java.lang.Iterable": true, "java.util.Map": false, "java.lang.Object": true, "java.util.ArrayList": true} {
		is, _, err := types.is("java.util.ArrayList", other)
		require.NoError(t, err)
		assert.Equal(t, want, is, other)
		assert.Zero(t, testing.AllocsPerRun(100, func() { _, _, _ = types.is("java.util.ArrayList", other) }), other)
	}
}
