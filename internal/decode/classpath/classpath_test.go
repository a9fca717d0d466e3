package classpath

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/registration"
	_ "dubbo-wire/internal/dev/testkit"
)

const classes = "../classfile/testdata/classes"

func list(t *testing.T, lines string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "list")
	require.NoError(t, os.WriteFile(name, []byte(lines), 0o600))
	return name
}

func TestSides(t *testing.T) {
	p, err := Open(Options{Paths: []string{classes}})
	require.NoError(t, err)
	assert.False(t, p.Sided())
	assert.Same(t, p.Types(decode.Consumer), p.Types(decode.Provider))
	require.NoError(t, p.Close())

	p, err = Open(Options{Consumer: []string{classes}, Paths: []string{t.TempDir()}})
	require.NoError(t, err)
	assert.True(t, p.Sided())
	_, err = p.Types(decode.Consumer).Class("p.Model")
	require.NoError(t, err)
	_, err = p.Types(decode.Provider).Class("p.Model")
	require.Error(t, err)
	require.NoError(t, p.Close())

	_, err = Open(Options{Paths: []string{"missing.jar"}})
	require.ErrorContains(t, err, "missing.jar")
}

// Each list may be all that a peer registers, and so may all of them.
func TestRegistries(t *testing.T) {
	one, two := list(t, "p.A\n"), list(t, "p.B\n")
	id := func(r Registry, name string) int {
		n, _ := r.ID(name)
		return n
	}
	p, err := Open(Options{Lists: []string{one, two}})
	require.NoError(t, err)
	registries, err := p.Registries(registration.Kryo4)
	require.NoError(t, err)
	require.Len(t, registries, 3)
	first := id(registries[0], "p.A")
	assert.Equal(t, first, id(registries[1], "p.B"))
	assert.Equal(t, []string{one, two}, registries[2].Lists)
	assert.Equal(t, first+1, id(registries[2], "p.B"))

	var none *Path
	registries, err = none.Registries(registration.FST2)
	require.NoError(t, err)
	require.Len(t, registries, 1)

	p, err = Open(Options{Paths: []string{classes}, Optimizers: []string{"p.Optimizers$Listed"}})
	require.NoError(t, err)
	registries, err = p.Registries(registration.Kryo5)
	require.NoError(t, err)
	require.Len(t, registries, 1)
	assert.Equal(t, []string{"p.Optimizers$Listed"}, registries[0].Lists)
	assert.NotEmpty(t, registries[0].Name(53))

	_, err = Open(Options{Paths: []string{classes}, Optimizers: []string{"p.Optimizers$Loop"}})
	require.ErrorContains(t, err, "p.Optimizers$Loop")
	_, err = Open(Options{Lists: []string{list(t, "p.A 7 8\n")}})
	require.ErrorContains(t, err, "list: ")
}

func TestMissing(t *testing.T) {
	p, err := Open(Options{})
	require.NoError(t, err)
	p.Asked("p.B", false)
	p.Asked("p.A", false)
	p.Asked("p.C", true)
	missing, found := p.Missing()
	assert.Equal(t, []string{"p.A", "p.B"}, missing)
	assert.Equal(t, 1, found)
}

// TestReturnType: of a future the value counts, and a path may have more in front of the interface.
func TestReturnType(t *testing.T) {
	p, err := Open(Options{Provider: []string{classes}})
	require.NoError(t, err)
	defer func() { assert.NoError(t, p.Close()) }()
	const users, anything = "p.Services$Users", "Ljava/lang/Object;"
	for _, c := range []struct {
		service, method string
		parameters      []string
		want            string
	}{
		{users, "later", []string{anything}, "Lp/Model$Point;"},
		{"app/" + users, "later", []string{anything}, "Lp/Model$Point;"},
		{users, "future", nil, "Ljava/util/List;"},
		{users, "nothing", nil, "V"},
		{users, "missing", nil, ""},
		{"p.Services$RawUsers", "later", []string{anything}, ""},
		{"p.Missing", "later", nil, ""},
	} {
		for range 2 { // the second time it is known
			for _, side := range []decode.Side{decode.Consumer, decode.Provider} {
				assert.Equal(t, c.want, p.ReturnType(side, c.service, c.method, c.parameters, true), c)
			}
		}
	}
	missing, found := p.Missing()
	assert.Equal(t, []string{"p.Missing"}, missing)
	assert.Equal(t, 2, found)
	assert.Empty(t, (*Path)(nil).ReturnType(decode.Provider, users, "nothing", nil, true))
}
