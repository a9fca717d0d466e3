package classfile

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestStrings: the text of the schema that a generated class has.
func TestStrings(t *testing.T) {
	types, err := Open(Options{Paths: []string{"../../../testdata/models/reflected.jar", "../../../testdata/models/rig.jar"}})
	require.NoError(t, err)
	defer types.Close()
	all, err := types.Strings("org.dubbowire.rig.models.reflected.Generated")
	require.NoError(t, err)
	require.Len(t, all, 2)
	assert.Equal(t, "Bad index", all[0])
	assert.Contains(t, all[1], `{"type":"record","name":"Generated"`)
	_, err = types.Strings("p.Missing")
	assert.Equal(t, ErrMissing, err)
}

// TestSubtypesOfJava: classes of the JDK lie between a class of the class path and its supertype.
func TestSubtypesOfJava(t *testing.T) {
	types, err := Open(Options{Paths: []string{"../../../testdata/models/reflected.jar"}})
	require.NoError(t, err)
	defer types.Close()
	all, err := types.Subtypes("java.lang.Throwable")
	require.NoError(t, err)
	assert.Equal(t, []string{"org.dubbowire.rig.models.reflected.Failure"}, all)
	all, err = types.Subtypes("java.util.Map")
	require.NoError(t, err)
	assert.Empty(t, all)
}
