package capture

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// Whether the kernel has a file's bytes, must fetch them, or cannot tell, they are read once and in order.
func TestCachedFile(t *testing.T) {
	want := bytes.Repeat([]byte("0123456789abcdef"), 300_000)
	path := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(path, want, 0o600))
	for _, c := range []struct {
		name        string
		drop, plain bool
	}{{name: "cached"}, {name: "not cached", drop: true}, {name: "plain", plain: true}} {
		t.Run(c.name, func(t *testing.T) {
			f, err := os.Open(path)
			require.NoError(t, err)
			defer f.Close()
			if c.drop {
				require.NoError(t, f.Sync())
				_ = unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED)
			}
			r := newCachedReader(f)
			r.(*cachedFile).plain = c.plain
			head := make([]byte, 1000)
			_, err = io.ReadFull(f, head) // ordinary reads move the same place
			require.NoError(t, err)
			rest, err := io.ReadAll(io.MultiReader(io.LimitReader(r, 100_003), r))
			require.NoError(t, err)
			assert.True(t, bytes.Equal(want, append(head, rest...)))
			n, err := r.Read(head)
			assert.Zero(t, n)
			assert.Equal(t, io.EOF, err)
		})
	}
}

// A pipe is read as a pipe.
func TestCachedFileOfAPipe(t *testing.T) {
	r, w, err := os.Pipe()
	require.NoError(t, err)
	go func() {
		_, _ = w.WriteString("some bytes")
		_ = w.Close()
	}()
	got, err := io.ReadAll(newCachedReader(r))
	require.NoError(t, err)
	assert.Equal(t, "some bytes", string(got))
}
