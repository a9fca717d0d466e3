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
		hash := c.hash(text)
		require.Nil(t, c.find(text, hash))
		copy(c.add(text, hash), strings.ToUpper(string(text)))
		require.Equal(t, strings.ToUpper(string(text)), string(c.find(text, hash)))
	}
	require.LessOrEqual(t, len(c.bytes), maxTextBytes)
}
