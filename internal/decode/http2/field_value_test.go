package http2

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"dubbo-wire/internal/rpc"
)

func TestFieldValue(t *testing.T) {
	assert.Equal(t, "9 = FAILED_PRECONDITION (literal; 3 bytes instead of 12)", fieldValue(&rpc.Header{Name: "grpc-status", Value: "9", Len: 3, PlainLen: 12}))
	assert.Equal(t, "POST (static entry 3; 1 byte instead of 11)", fieldValue(&rpc.Header{Name: ":method", Value: "POST", Entry: 3, Len: 1, PlainLen: 11}))
}
