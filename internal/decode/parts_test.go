package decode

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestLongNameInPath: a long name is cut between two characters.
func TestLongNameInPath(t *testing.T) {
	for _, c := range []struct{ name, want string }{
		{strings.Repeat("a", 128), strings.Repeat("a", 128)},
		{strings.Repeat("a", 129), `["` + strings.Repeat("a", 128) + `..."]`},
		{strings.Repeat("码", 43), `["` + strings.Repeat("码", 42) + `..."]`},
		{strings.Repeat("\x80", 200), `["` + strings.Repeat(`\x80`, 124) + `..."]`}, // is not UTF-8
	} {
		var p pathWriter
		p.name(c.name)
		assert.Equal(t, c.want, string(p.buf))
	}
}
