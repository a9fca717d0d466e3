package dubbo

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

type nobody struct{}

func (nobody) Frame(*Frame)             {}
func (nobody) Skipped(int64, bool)      {}
func (nobody) CutHeader(int64, []byte)  {}
func (nobody) BadHeader(Header, Origin) {}

// What was taken is decided but for the frame that is read, or what a search holds.
func TestUndecided(t *testing.T) {
	head := []byte("\xda\xbb\xc2\x00\x00\x00\x00\x00\x00\x00\x00\x07\x00\x00\x00\x04")
	f := NewFramer(&Config{Recognizer: recognizer}, nobody{}, true)
	at := int64(0)
	give := func(b string) (int64, bool) {
		f.Data([]byte(b), &Chunk{Pos: at, Overhead: 1})
		at += int64(len(b))
		return f.Undecided()
	}
	for _, c := range []struct {
		bytes string
		pos   int64
		some  bool
	}{
		{string(head[:9]), 0, true},
		{string(head[9:]) + "ab", 0, true},
		{"cd", 0, false}, // a frame of 20 bytes
		{string(head) + "abc", 20, true},
		{"d", 0, false},
		{"rubbish", 0, false},
		{"\xda", 47, true},
		{"\xbb", 47, true},
	} {
		pos, some := give(c.bytes)
		assert.Equal(t, c.some, some, "%q", c.bytes)
		assert.Equal(t, c.pos, pos, "%q", c.bytes)
	}
	f.End()
	_, some := f.Undecided()
	assert.False(t, some)
}
