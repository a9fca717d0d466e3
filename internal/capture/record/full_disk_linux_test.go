package record

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/capture/packet"
	"dubbo-wire/internal/dev/testkit"
)

// fill records more than there is room for, and checks that this ends the recording with one clear line and leaves a file
// that can be read, with what the statistics say is in it.
func fill(t *testing.T, name string, o Options, words ...string) {
	t.Helper()
	o.File = name
	r := open(t, o)
	r.Dropped(12, 3)
	for i := range 10_000 {
		r.Packet(pkt(int64(i+1), fmt.Sprint("packet ", i, strings.Repeat("x", 990+i%100))), packet.NotTCP, nil)
		if i%700 == 0 {
			r.Tick(int64(i + 1))
		}
	}
	err := r.Err()
	require.Error(t, err)
	for _, word := range append(words, name, "recording has stopped") {
		assert.Contains(t, err.Error(), word)
	}
	assert.NotContains(t, err.Error(), "\n")
	assert.False(t, r.Stats().On)
	assert.Equal(t, err, r.Close(), "the first error stays")
	all, in := back(t, name)
	require.NotEmpty(t, all)
	assert.Less(t, len(all), 10_000)
	for i, p := range all {
		require.True(t, strings.HasPrefix(string(p.Data), fmt.Sprint("packet ", i, "x")))
	}
	assert.Equal(t, int64(len(all)), r.Stats().Packets)
	info, err := os.Stat(name)
	require.NoError(t, err)
	assert.Equal(t, info.Size(), r.Stats().Bytes)
	assert.Contains(t, []int64{3, -1}, in[0].Dropped)
}

// TestDevFull: a device that is always full says so before anything is captured.
func TestDevFull(t *testing.T) {
	_, err := Open(Options{File: "/dev/full"})
	require.ErrorContains(t, err, "/dev/full: no space left on device; recording has stopped after 0 packets, which can be read: free some space")
}

func TestDiskFull(t *testing.T) {
	testkit.Needs(t, "root, to mount a small file system")
	dir := t.TempDir()
	if err := syscall.Mount("none", dir, "tmpfs", 0, "size=3m"); err != nil {
		t.Skipf("mounting a small file system needs root: %v", err)
	}
	defer func() { require.NoError(t, syscall.Unmount(dir, 0)) }()
	name := filepath.Join(dir, "f")
	fill(t, name, Options{}, "no space left on device", "free some space")
	require.NoError(t, os.Remove(name))

	// In a rotated set the files before are whole as well.
	r := open(t, Options{File: name, MaxBytes: 1_000_000})
	for i := range 10_000 {
		r.Packet(pkt(int64(i+1), strings.Repeat("x", 1000)), packet.NotTCP, nil)
	}
	require.ErrorContains(t, r.Err(), "no space left on device")
	all, in := back(t, dir)
	assert.Equal(t, r.Stats().Packets, int64(len(all)))
	assert.Equal(t, r.Stats().Files, len(in))

	// When there is room again, recording may go on.
	require.NoError(t, os.Remove(name))
	require.NoError(t, r.Start(filepath.Join(dir, "again")))
	r.Packet(pkt(1, "again"), packet.NotTCP, nil)
	require.NoError(t, r.Close())
	all, _ = back(t, filepath.Join(dir, "again"))
	assert.Equal(t, []string{"again"}, texts(all))
}

// TestFileLimit runs in a process of its own, as the limit is of all its files.
func TestFileLimit(t *testing.T) {
	const word = "DUBBO_WIRE_TEST_LIMITED"
	if name := os.Getenv(word); name != "" {
		require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 2_500_000, Max: 2_500_000}))
		fill(t, name, Options{}, "file too large", "ulimit -f")
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestFileLimit$", "-test.v")
	cmd.Env = append(os.Environ(), word+"="+filepath.Join(t.TempDir(), "f"))
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	require.Contains(t, string(out), "PASS: TestFileLimit")
}

// TestGivenAway: files belong to the user that rights are given up to.
func TestGivenAway(t *testing.T) {
	testkit.Needs(t, "root, to give files away")
	if os.Geteuid() != 0 {
		t.Skip("giving files away needs root")
	}
	dir := t.TempDir()
	r := open(t, Options{File: filepath.Join(dir, "f"), Owner: &Owner{UID: 65534, GID: 65534}})
	require.NoError(t, r.Close())
	info, err := os.Stat(filepath.Join(dir, "f"))
	require.NoError(t, err)
	stat := info.Sys().(*syscall.Stat_t)
	assert.Equal(t, []uint32{65534, 65534}, []uint32{stat.Uid, stat.Gid})
}
