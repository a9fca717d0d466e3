package mapped

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	_ "dubbo-wire/internal/dev/testkit"
)

// numbered returns n bytes of which no two pages are equal, and none is zero.
func numbered(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i) ^ byte(i>>12) ^ byte(i>>20) | 1
	}
	return b
}

// open maps a file with that content.
func open(t *testing.T, content []byte) (path string, f *File) {
	path = filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(path, content, 0o600))
	file, err := os.Open(path)
	require.NoError(t, err)
	f = Open(file)
	require.NotNil(t, f)
	return path, f
}

func TestLoad(t *testing.T) {
	want := numbered(3*Unit + 12_345)
	_, f := open(t, want)
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
	assert.EqualValues(t, -1, f.Cut())
}

// A part that is not loaded is passed over.
func TestLoadLater(t *testing.T) {
	want := numbered(4 * Unit)
	_, f := open(t, want)
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

// What another process cuts off is read as zeros, by any number of goroutines, and that is told.
func TestCut(t *testing.T) {
	const left = 5*pageSize + 100
	want := numbered(3*Unit - 777)
	path, f := open(t, want)
	_, other := open(t, want)
	require.Equal(t, len(want), f.Load(0, len(want)))
	require.Equal(t, Unit, other.Load(0, 1))
	require.NoError(t, os.Truncate(path, left))
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			assert.True(t, bytes.Equal(want[:left], f.Bytes()[:left]))
			assert.True(t, bytes.Equal(make([]byte, len(want)-6*pageSize), f.Bytes()[6*pageSize:]))
			assert.True(t, bytes.Equal(want[:Unit], other.Bytes()[:Unit]))
		})
	}
	readers.Wait()
	cut := f.Cut()
	assert.GreaterOrEqual(t, cut, int64(left))
	assert.Zero(t, cut%pageSize)
	assert.EqualValues(t, -1, other.Cut())
	f.Close()
	other.Close()
	assert.Equal(t, cut, f.Cut(), "when it is closed")
	assert.EqualValues(t, -1, other.Cut())
	_, again := open(t, want)
	assert.EqualValues(t, -1, again.Cut(), "in the place of another one")
	again.Close()
}

// What was cut off is not loaded.
func TestLoadAfterCut(t *testing.T) {
	path, f := open(t, numbered(3*Unit))
	defer f.Close()
	require.Equal(t, Unit, f.Load(0, 1))
	require.NoError(t, os.Truncate(path, Unit))
	assert.Zero(t, f.Load(Unit, Unit+1))
	assert.EqualValues(t, -1, f.Cut(), "nothing was read")
}

// Faults of other memory, and of files that were mapped before, are the Go runtime's.
func TestOtherFaults(t *testing.T) {
	path, f := open(t, numbered(Unit))
	defer f.Close()
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	m, err := unix.Mmap(int(file.Fd()), 0, Unit, unix.PROT_READ, unix.MAP_SHARED)
	require.NoError(t, err)
	defer func() { _ = unix.Munmap(m) }()
	require.NoError(t, os.Truncate(path, 0))
	for name, at := range map[string]*byte{"bus error": &m[pageSize], "no memory": (*byte)(unsafe.Add(unsafe.Pointer(&m[0]), -1<<40))} {
		func() {
			defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
			defer func() { assert.NotNil(t, recover(), name) }()
			assert.Zero(t, *at)
		}()
	}
	assert.Zero(t, f.Bytes()[pageSize])
	assert.EqualValues(t, pageSize, f.Cut())
}

// Only so many files are mapped at once, and an empty one is not.
func TestNotMapped(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	next := func() *File {
		file, err := os.Open(path)
		require.NoError(t, err)
		f := Open(file)
		if f == nil {
			_ = file.Close()
		}
		return f
	}
	assert.Nil(t, next(), "empty")
	require.NoError(t, os.WriteFile(path, []byte("x"), 0o600))
	var all []*File
	for f := next(); f != nil; f = next() {
		all = append(all, f)
	}
	assert.Len(t, all, maxRegions)
	for _, f := range all {
		f.Close()
	}
	f := next()
	require.NotNil(t, f)
	f.Close()
}
