package classfile

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestReturnType(t *testing.T) {
	types := openModel(t)
	const text, anything = "Ljava/lang/String;", "Ljava/lang/Object;"
	for _, c := range []struct {
		class, method string
		parameters    []string
		generic, want string // the type with type arguments, and its descriptor; - if there is none
	}{
		{"Users", "find", []string{text}, "p.Model$Point", "Lp/Model$Point;"},
		{"Users", "find", []string{anything}, "p.Model$Point", "Lp/Model$Point;"},
		{"Users", "find", nil, "-", ""},
		{"Users", "all", nil, "java.util.List<p.Model$Point>", "Ljava/util/List;"},
		{"Users", "some", []string{"I"}, "p.Model$Point[]", "[Lp/Model$Point;"},
		{"Users", "byKey", []string{anything, "[" + anything}, "java.util.Map<java.lang.String, java.util.List<p.Model$Point>>", "Ljava/util/Map;"},
		{"Users", "later", []string{anything}, "java.util.concurrent.CompletableFuture<p.Model$Point>", "Ljava/util/concurrent/CompletableFuture;"},
		{"Users", "count", []string{"[I", "J", "[Lp/Model;"}, "int", "I"},
		{"Users", "count", []string{"[I", "J", text}, "long", "J"},
		{"Users", "count", []string{"[I", "J", "D"}, "-", ""},
		{"Users", "count", []string{"", "", ""}, "-", ""}, // two
		{"Users", "some", []string{""}, "p.Model$Point[]", "[Lp/Model$Point;"},
		{"Users", "nothing", nil, "void", "V"},
		{"Users", "own", []string{"Ljava/lang/Class;"}, "?", ""},
		{"Users", "ownMap", []string{"Ljava/lang/Class;"}, "java.util.Map<java.lang.String, ?>", "Ljava/util/Map;"},
		{"Users", "future", nil, "java.util.concurrent.CompletableFuture<java.util.List<p.Model>>", "Ljava/util/concurrent/CompletableFuture;"},
		{"Users", "made", nil, "-", ""},
		{"Users", "<clinit>", nil, "-", ""},
		{"RawUsers", "all", nil, "java.util.List<T>", "Ljava/util/List;"},
		{"RawUsers", "find", []string{anything}, "T", ""},
		{"Finder", "some", []string{"I"}, "V[]", ""},
		{"Service", "future", nil, "java.util.concurrent.CompletableFuture<java.util.List<p.Model>>", "Ljava/util/concurrent/CompletableFuture;"},
	} {
		found, err := types.ReturnType("p.Services$"+c.class, c.method, c.parameters)
		require.NoError(t, err, c)
		generic, descriptor := "-", ""
		if found != nil {
			generic, descriptor = found.String(), found.Descriptor()
		}
		assert.Equal(t, c.generic, generic, c)
		assert.Equal(t, c.want, descriptor, c)
	}
	_, err := types.ReturnType("p.Missing", "find", nil)
	assert.ErrorIs(t, err, ErrMissing)
}

// TestReturnTypeHostile: signatures that are none.
func TestReturnTypeHostile(t *testing.T) {
	for _, m := range []declared{
		{"m", "(", ""}, {"m", "()", ""}, {"m", "(V)V", ""}, {"m", "()VV", ""}, {"m", "(I)", "<T"}, {"m", "()L;", ""}, {"m", "([", ""},
	} {
		found, _ := returned([]declared{m}, "m", nil)
		assert.Nil(t, found, m)
	}
	found, ok := returned([]declared{{"m", "()I", "<T"}}, "m", nil)
	assert.True(t, ok)
	assert.Equal(t, "int", found.String(), "the JVM ignores a wrong signature, too")
}
