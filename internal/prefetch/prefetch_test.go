package prefetch_test

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"

	_ "dubbo-wire/internal/dev/testkit"
	"dubbo-wire/internal/prefetch"
)

// Nothing is read or written, so that no place is wrong.
func TestAnyPlace(t *testing.T) {
	b := []byte("some bytes")
	for n := range b {
		prefetch.Bytes(b[:n])
	}
	prefetch.Bytes(nil)
	prefetch.Bytes(make([]byte, 1000))
	prefetch.Places(nil)
	prefetch.Places([]unsafe.Pointer{nil, unsafe.Pointer(&b[0]), nil})
	prefetch.Write(unsafe.Pointer(&b[0]), 10)
	prefetch.Write(nil, 1000)
	prefetch.Packet(unsafe.Pointer(&b[9]), 1<<40)
	prefetch.Packet(unsafe.Pointer(&b[0]), 0)
	assert.Equal(t, "some bytes", string(b))
	assert.Zero(t, testing.AllocsPerRun(10, func() {
		places := [2]unsafe.Pointer{unsafe.Pointer(&b[0]), unsafe.Pointer(&b[1])}
		prefetch.Places(places[:])
		prefetch.Bytes(b)
	}))
}
