package dubbo

import (
	"runtime"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
)

// There are two framers for every connection that is open.
func TestFramerIsSmall(t *testing.T) {
	assert.LessOrEqual(t, unsafe.Sizeof(Framer{}), uintptr(120))
}

// Frames that have begun and announce 8 MiB each, at known places and in streams that were joined midway, take a fixed
// memory beside the framers themselves.
func TestHalfOpenFrames(t *testing.T) {
	begun := []byte{0xda, 0xbb, 0xc2, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0x7f, 0xff, 0xff, 5, '2', '.', '0', '.', '2', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}
	more := make([]byte, 1448)
	const framers = 20_000
	for _, c := range []struct {
		joined bool
		most   int // bytes for each
	}{{false, 600}, {true, 600}} {
		cfg := &Config{Recognizer: recognizer, Buffers: &Buffers{Max: 4 << 20}}
		n := new(notes)
		all := make([]*Framer, framers)
		before := heap()
		for i := range all {
			all[i] = NewFramer(cfg, n, !c.joined)
			all[i].Data(begun, &Chunk{})
		}
		for _, f := range all {
			f.Data(more, &Chunk{Pos: int64(len(begun))})
		}
		assert.Less(t, heap()-before, c.most*framers+8<<20)
		for _, f := range all {
			f.End()
		}
		idle := heap() - before
		assert.Less(t, idle, 200*framers+4<<20)
		assert.Equal(t, int64(framers*(len(begun)+len(more))), n.framed+n.skipped)
		runtime.KeepAlive(all)
	}
}

func heap() int {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}
