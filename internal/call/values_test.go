package call

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

// A buffer is at most a quarter larger than what it is for, and is found again by its size.
func TestSizeOfValues(t *testing.T) {
	for n := 0; n < 3<<maxValueBits; n += 1 + n/100 {
		size, class := sizeOfValues(n)
		require.GreaterOrEqual(t, size, n)
		require.LessOrEqual(t, size, max(n+n/4, 1<<minValueBits))
		again, same := sizeOfValues(size)
		require.Equal(t, [2]int{size, class}, [2]int{again, same})
		require.Less(t, class, len(valueBuffers))
		require.Equal(t, n <= 1<<maxValueBits, class >= 0)
	}
	_, first := sizeOfValues(0)
	_, last := sizeOfValues(1 << maxValueBits)
	require.Equal(t, [2]int{3, len(valueBuffers) - 1}, [2]int{first, last})
}

func TestKeepValues(t *testing.T) {
	for _, n := range []int{0, 1, 300, 1 << 21} {
		m := &Message{Details: &noDetails}
		values := bytes.Repeat([]byte("v"), n)
		m.KeepValues(values, []byte("{}"))
		own := *m
		own.OwnValues()
		m.FreeValues()
		require.Nil(t, m.Values)
		require.Nil(t, m.AttachmentsJSON)
		other := &Message{Details: &noDetails}
		other.KeepValues(bytes.Repeat([]byte("o"), n), []byte("[]"))
		require.Equal(t, string(values), string(own.Values))
		require.Equal(t, "{}", string(own.AttachmentsJSON))
		own.FreeValues()
		require.Equal(t, "[]", string(other.AttachmentsJSON))
		m.FreeValues() // nothing is freed twice
	}
	require.Nil(t, noDetails.Values)
	(*Message)(nil).FreeValues()
}
