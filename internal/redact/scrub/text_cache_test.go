package scrub

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// However many texts there are, each has its own replacement or none.
func TestTextCache(t *testing.T) {
	c := newTextCache()
	long := strings.Repeat("x", 1000)
	for i := range 20000 {
		text := []byte(fmt.Sprint(i, long[:i%1000]))
		known, hash := c.find(text)
		require.Nil(t, known)
		copy(c.add(text, hash), strings.ToUpper(string(text)))
		known, _ = c.find(text)
		require.Equal(t, strings.ToUpper(string(text)), string(known))
	}
	require.LessOrEqual(t, len(c.bytes), maxTextBytes)
}
