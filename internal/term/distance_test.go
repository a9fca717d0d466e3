package term_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	_ "dubbo-wire/internal/dev/testkit"
	"dubbo-wire/internal/term"
)

func TestEditDistance(t *testing.T) {
	assert.Equal(t, 3, term.EditDistance("", "abc"))
	assert.Equal(t, 0, term.EditDistance("kryo", "kryo"))
	assert.Equal(t, 1, term.EditDistance("kyro", "kryo"), "two neighbours are swapped")
	assert.Equal(t, 2, term.EditDistance("analize", "analyse"))
	assert.Equal(t, 100, term.EditDistance(strings.Repeat("a", 1<<20), strings.Repeat("b", 1<<20)))
}
