package measure

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestDistance(t *testing.T) {
	assert.Equal(t, 0, distance("userservice", "com.acme.UserService"))
	assert.Equal(t, 1, distance("UserServise", "com.acme.UserService"))
	assert.Equal(t, 1, distance("*Serv*", "com.acme.UserService"))
	assert.Equal(t, 0, distance("BID", "EchoService/bid"))
	assert.Equal(t, 3, distance("kryo", "fsto"))
	assert.Equal(t, 3, edits("", "abc"))
	assert.Equal(t, 2, edits("kyro", "kryo"))
	assert.Equal(t, maxCompared, edits(strings.Repeat("a", 1<<20), strings.Repeat("b", 1<<20)))
}
