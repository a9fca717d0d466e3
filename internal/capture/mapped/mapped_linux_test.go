package mapped

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	_ "dubbo-wire/internal/dev/testkit"
)

// numbered returns n bytes of which no two pages are equal.
func numbered(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i) ^ byte(i>>12) ^ byte(i>>20)
	}
	return b
}

// open maps a file with that content. Where the test's folder is on a file system without leases nothing is mapped, and that is what is tested.
func open(t *testing.T, content []byte) (path string, f *File) {
	path = filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(path, content, 0o600))
	file, err := os.Open(path)
	require.NoError(t, err)
	f = Open(file)
	var fs unix.Statfs_t
	require.NoError(t, unix.Statfs(path, &fs))
	require.Equal(t, slices.Contains(locals, int64(fs.Type)), f != nil, "file system %x", fs.Type) //nolint:unconvert // int32 on some machines
	return path, f
}

func TestLoad(t *testing.T) {
	want := numbered(3*Unit + 12_345)
	_, f := open(t, want)
	if f == nil {
		return
	}
	defer f.Close()
	require.Len(t, f.Bytes(), len(want))
	assert.Equal(t, Unit, f.Load(0, 10))
	assert.Equal(t, Unit, f.Load(10, Unit))
	assert.Equal(t, len(want), f.Load(Unit, len(want)))
	assert.True(t, bytes.Equal(want, f.Bytes()))
	assert.Zero(t, f.Load(len(want), len(want)+1), "after the end")
	f.Drop(Unit + 5)
	assert.Equal(t, Unit, f.from)
	assert.True(t, bytes.Equal(want[Unit:], f.Bytes()[Unit:]))
}

// A part that is not loaded is passed over.
func TestLoadLater(t *testing.T) {
	want := numbered(4 * Unit)
	_, f := open(t, want)
	if f == nil {
		return
	}
	defer f.Close()
	assert.Equal(t, Unit, f.Load(0, 10))
	f.Drop(Unit)
	assert.Equal(t, 3*Unit, f.Load(2*Unit+100, 2*Unit+200))
	assert.Equal(t, 2*Unit, f.from)
	assert.True(t, bytes.Equal(want[2*Unit+100:3*Unit], f.Bytes()[2*Unit+100:3*Unit]))
}

// What would have to be read from a disk is not loaded.
func TestLoadNotInMemory(t *testing.T) {
	path, f := open(t, numbered(2*Unit))
	if f == nil {
		return
	}
	defer f.Close()
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	require.NoError(t, file.Sync())
	require.NoError(t, unix.Fadvise(int(file.Fd()), 0, 0, unix.FADV_DONTNEED))
	if !f.inMemory(Unit - 1) { // not every file system gives up its pages
		assert.Zero(t, f.Load(0, 10))
	}
}

// A process that cuts the file waits until what is in use is a copy.
func TestCut(t *testing.T) {
	for name, cut := range map[string]func(path string) error{
		"truncate": func(path string) error { return os.Truncate(path, 10) },
		"create": func(path string) error {
			file, err := os.Create(path)
			if err == nil {
				err = file.Close()
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			want := numbered(3 * Unit)
			if name == "truncate" { // all of the file is in use, its last page, too
				want = want[:3*Unit-777]
			}
			path, f := open(t, want)
			if f == nil {
				return
			}
			defer f.Close()
			require.Equal(t, len(want), f.Load(0, len(want)))
			f.Drop(Unit)
			var ended atomic.Bool
			var readers sync.WaitGroup
			for range 2 {
				readers.Go(func() {
					for !ended.Load() {
						assert.True(t, bytes.Equal(want[Unit:], f.Bytes()[Unit:]))
					}
				})
			}
			require.NoError(t, cut(path))
			ended.Store(true)
			readers.Wait()
			assert.True(t, bytes.Equal(want[Unit:], f.Bytes()[Unit:]), "in use")
			assert.Zero(t, f.Load(2*Unit, 2*Unit+1))
			assert.NoError(t, cut(path), "nobody waits again")
		})
	}
}

// A file that is read by others stays mapped, and one that was closed can be written at once.
func TestOtherReaders(t *testing.T) {
	path, f := open(t, numbered(Unit))
	if f == nil {
		return
	}
	_, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, Unit, f.Load(0, 10))
	f.Close()
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	require.Eventually(t, func() bool {
		leases.mu.Lock()
		defer leases.mu.Unlock()
		return leases.asked == nil && len(leases.files) == 0
	}, 10*time.Second, time.Millisecond)
}

// A file that a process may write to is not mapped, and neither is an empty one.
func TestNotMapped(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	writer, err := os.Create(path)
	require.NoError(t, err)
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	_, err = writer.WriteString("x")
	require.NoError(t, err)
	assert.Nil(t, Open(file), "somebody writes")
	require.NoError(t, writer.Truncate(0))
	require.NoError(t, writer.Close())
	assert.Nil(t, Open(file), "empty")
	require.NoError(t, os.WriteFile(path, []byte("x"), 0o600), "no lease is left")
}
