package term

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestGroupIn(t *testing.T) {
	assert.Equal(t, "a string of 20,000 UTF-16 units (1,234 bytes): 1,048,576, at most", GroupIn("a string of 20000 UTF-16 units (1234 bytes): 1048576, at most"))
	assert.Equal(t, "class a.B20000 at 0012345, \"12345\", 999", GroupIn("class a.B20000 at 0012345, \"12345\", 999"))
	assert.Equal(t, "20000 Main Street and 3,400 bytes more", GroupIn("20000 Main Street and 3400 bytes more", "bytes"))
	assert.Empty(t, GroupIn(""))
}
