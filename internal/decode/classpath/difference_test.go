package classpath

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestDifferences: fields that one side alone has, of classes that bodies have objects of.
func TestDifferences(t *testing.T) {
	const models = "../../../testdata/models/"
	p, err := Open(Options{Consumer: []string{models + "skew-consumer.jar"}, Provider: []string{models + "skew-provider.jar"}})
	require.NoError(t, err)
	defer func() { assert.NoError(t, p.Close()) }()
	assert.Empty(t, p.Differences())
	p.Asked("org.dubbowire.rig.skew.Customer", true)
	p.Asked("org.dubbowire.rig.skew.Missing", false)
	list := p.Differences()
	assert.Equal(t, []Difference{{Class: "org.dubbowire.rig.skew.Customer", Consumer: []string{"java.lang.String note"}}}, list)

	one, err := Open(Options{Paths: []string{models + "skew-consumer.jar"}})
	require.NoError(t, err)
	one.Asked("org.dubbowire.rig.skew.Customer", true)
	assert.Empty(t, one.Differences())
	require.NoError(t, one.Close())
	assert.Empty(t, (*Path)(nil).Differences())
}
