package http2

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"dubbo-wire/internal/rpc"
)

func TestFieldValue(t *testing.T) {
	assert.Equal(t, "9 = FAILED_PRECONDITION (literal; 3 for 12 bytes)", fieldValue(&rpc.Header{Name: "grpc-status", Value: "9", Len: 3, PlainLen: 12}))
	assert.Equal(t, "POST (entry 3 of the static table; 1 for 11 bytes)", fieldValue(&rpc.Header{Name: ":method", Value: "POST", Entry: 3, Len: 1, PlainLen: 11}))
}
