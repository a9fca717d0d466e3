package measure

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestDistance(t *testing.T) {
	assert.Equal(t, 0, distance("userservice", "com.acme.UserService"))
	assert.Equal(t, 1, distance("UserServise", "com.acme.UserService"))
	assert.Equal(t, 1, distance("*Serv*", "com.acme.UserService"))
	assert.Equal(t, 0, distance("BID", "EchoService/bid"))
	assert.Equal(t, 3, distance("kryo", "fsto"))
}
