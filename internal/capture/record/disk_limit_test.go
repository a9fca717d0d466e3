package record

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/capture/packet"
)

// limited are options with a limit of the disk.
func limited(t *testing.T, most int64, o Options) Options {
	t.Helper()
	o.Application = Program + " test"
	require.NoError(t, o.LimitDisk(most))
	return o
}

// occupied returns the bytes of all files in a folder.
func occupied(t *testing.T, dir string) (sum int64) {
	t.Helper()
	for _, name := range files(t, dir) {
		info, err := os.Stat(filepath.Join(dir, name))
		require.NoError(t, err)
		sum += info.Size()
	}
	return sum
}

// recordMany records n packets of a second each, and checks after each that the files in dir are not larger than most in all.
func recordMany(t *testing.T, r *Recorder, n int, dir string, most int64) {
	t.Helper()
	for i := range n {
		r.Packet(pkt(int64(i+1)*int64(time.Second), strings.Repeat(string(rune('0'+i%10)), 100+i)), packet.NotTCP, nil)
		if i%5 == 0 {
			r.Tick(int64(i+1) * int64(time.Second))
		}
		require.LessOrEqual(t, occupied(t, dir), most)
	}
}

// TestDiskLimit: with rotation the newest packets remain, without a hole, and the files of earlier runs are deleted first.
func TestDiskLimit(t *testing.T) {
	for name, o := range map[string]Options{
		"size":         {File: "f", MaxBytes: 2000},
		"ring":         {File: "f", MaxBytes: 2000, Files: 50},
		"time":         {File: "f-%H%M%S.pcapng", Every: 10 * time.Second},
		"long period":  {File: "f-%H.pcapng", Every: time.Hour},
		"time, size":   {File: "f-%H%M%S.pcapng", Every: 10 * time.Second, MaxBytes: 1500},
		"no new names": {File: "f", Every: time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			const most = 9000
			dir := t.TempDir()
			o.File = filepath.Join(dir, o.File)
			for run := range 3 {
				o := limited(t, most, o)
				o.Now = clockAt(int64(run) * int64(time.Hour))
				r := open(t, o)
				recordMany(t, r, 100, dir, most)
				require.NoError(t, r.Close())
				assert.LessOrEqual(t, occupied(t, dir), int64(most))
				assert.GreaterOrEqual(t, occupied(t, dir), int64(most/2), "no more than needed is deleted")
				assert.Positive(t, r.o.Disk.Deleted().Files)
				all, _ := back(t, dir)
				assert.Equal(t, 100*int64(time.Second), all[len(all)-1].Time)
				for i := range all[1:] {
					assert.Equal(t, all[i].Time+int64(time.Second), all[i+1].Time, "the last packets")
				}
			}
		})
	}
}

// TestDiskLimitFiles: the files of -W are those of the periods.
func TestDiskLimitFiles(t *testing.T) {
	dir := t.TempDir()
	o := limited(t, 9000, Options{File: filepath.Join(dir, "f-%s"), Every: 40 * time.Second, Files: 2})
	o.Now = clockAt(int64(time.Second))
	r := open(t, o)
	recordMany(t, r, 80, dir, 9000)
	assert.Greater(t, r.Stats().Files, 2)
	assert.False(t, r.Done())
	r.Tick(81 * int64(time.Second))
	assert.True(t, r.Done())
}

// TestDiskLimitWithoutRotation: the recording stops with one line, with complete packets and counts.
func TestDiskLimitWithoutRotation(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "f")
	require.NoError(t, os.WriteFile(name+"1", make([]byte, 5000), 0o600))
	r := open(t, limited(t, 9000, Options{File: name}))
	r.Dropped(12, 3)
	recordMany(t, r, 100, dir, 9000+5000)
	require.ErrorIs(t, r.Err(), ErrDiskLimit)
	assert.Regexp(t, `^`+regexp.QuoteMeta(name)+`: the limit of --max-disk is reached; recording has stopped after \d+ packets, which can be read: raise it, or rotate with -C or -G, which keeps the newest packets$`, r.Err().Error())
	info, err := os.Stat(name)
	require.NoError(t, err)
	assert.LessOrEqual(t, info.Size(), int64(9000))
	assert.Greater(t, info.Size(), int64(8000))
	all, in := back(t, name)
	assert.Equal(t, r.Stats().Packets, int64(len(all)))
	assert.Equal(t, int64(3), in[0].Dropped)
	assert.Equal(t, []string{"f", "f1"}, files(t, dir), "the file of another program stays")
}

// TestDiskLimitKeepsOthers: only files that dubbo-wire wrote under a name of the pattern are counted and deleted.
func TestDiskLimitKeepsOthers(t *testing.T) {
	dir := t.TempDir()
	o := limited(t, 9000, Options{File: filepath.Join(dir, "f-%b-%d.pcapng"), Every: time.Hour, MaxBytes: 2000})
	write := func(name string, application string) {
		r := open(t, Options{File: filepath.Join(dir, name), Application: application})
		r.Packet(pkt(1, strings.Repeat("x", 3000)), packet.NotTCP, nil)
		require.NoError(t, r.Close())
		require.NoError(t, os.Chtimes(filepath.Join(dir, name), time.Unix(1, 0), time.Unix(1, 0)))
	}
	others := []string{"f-Xxx-01.pcapng", "f-Jan-1.pcapng", "f-Jan-01.pcap", "g-Jan-01.pcapng", "f-Jan-01.pcapng.zst", "xf-Jan-01.pcapng"}
	for _, name := range others {
		write(name, o.Application)
	}
	write("f-Feb-01.pcapng", "Wireshark")
	write("f-Feb-02.pcapng", "dubbo-wirex 1")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "f-Feb-03.pcapng"), make([]byte, 3000), 0o600))
	require.NoError(t, os.Symlink("f-Jan-1.pcapng", filepath.Join(dir, "f-Feb-04.pcapng")))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "f-Feb-05.pcapng"), 0o700))
	kept := files(t, dir)
	gone := []string{"f-Mar-01.pcapng", "f-Mar-02.pcapng7", ".f-Mar-03.pcapng.4711"}
	for _, name := range gone {
		write(name, o.Application)
	}
	r := open(t, o)
	recordMany(t, r, 100, dir, 1e9)
	require.NoError(t, r.Close())
	left := files(t, dir)
	assert.Subset(t, left, kept)
	for _, name := range gone {
		assert.NotContains(t, left, name)
	}
}

// TestDiskLimitShared: two kinds of files obey one limit, as packets and calls of one capture do.
func TestDiskLimitShared(t *testing.T) {
	dir := t.TempDir()
	d := NewDiskLimit(3000)
	ours := func(*os.File) bool { return true }
	require.NoError(t, d.Add(FileSet{Pattern: filepath.Join(dir, "a%S"), Dated: true, Wrote: ours}))
	require.NoError(t, d.Add(FileSet{Pattern: filepath.Join(dir, "b"), Wrote: ours}))
	assert.Equal(t, int64(1000), d.FileLimit())
	put := func(name string, size int) error {
		err := d.Grow(filepath.Join(dir, name), int64(size))
		if err == nil {
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), make([]byte, size), 0o600))
		}
		return err
	}
	done := func(name string, at int64) {
		require.NoError(t, os.Chtimes(filepath.Join(dir, name), time.Unix(at, 0), time.Unix(at, 0)))
		d.Done(filepath.Join(dir, name))
	}
	require.NoError(t, put("a01", 1000))
	require.NoError(t, put("b", 1000))
	done("b", 1)
	done("a01", 2)
	require.NoError(t, put("b1", 1000))
	require.NoError(t, put("a02", 1000))
	assert.Equal(t, []string{"a01", "a02", "b1"}, files(t, dir), "the oldest is the first")
	require.NoError(t, put("a02", 2000))
	assert.Equal(t, []string{"a02", "b1"}, files(t, dir))
	require.ErrorIs(t, put("a02", 2001), ErrDiskLimit, "what is being written stays")
	require.NoError(t, put("a02", 2000))
	assert.Equal(t, Deleted{First: filepath.Join(dir, "b"), Files: 2, Bytes: 2000}, d.Deleted())
	done("a02", 3)
	require.NoError(t, os.Remove(filepath.Join(dir, "a02")))
	require.NoError(t, put("b1", 3000), "a file that somebody else deleted")
}

// TestDiskLimitFolders: names may have the time in their folders, which are removed when nothing is left in them.
func TestDiskLimitFolders(t *testing.T) {
	dir := t.TempDir()
	d := NewDiskLimit(1000)
	require.NoError(t, d.Add(FileSet{
		Pattern: filepath.Join(dir, "dt=%F", "calls", "slot-%H.parquet"), Dated: true, NumberBeforeExt: true,
		Wrote: func(f *os.File) bool {
			head := make([]byte, 4)
			_, err := io.ReadFull(f, head)
			return err == nil && string(head) == "PAR1"
		},
	}))
	at := int64(0)
	put := func(name string, size int) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte("PAR1"+strings.Repeat("x", size-4)), 0o600))
		at++
		require.NoError(t, os.Chtimes(path, time.Unix(at, 0), time.Unix(at, 0)))
		return path
	}
	put("dt=2026-11-26/calls/slot-01.parquet", 400)
	put("dt=2026-11-26/calls/.slot-02.parquet.17", 400)
	put("dt=2026-11-26x/calls/slot-01.parquet", 400)
	put("dt=2026-11-26/other/slot-01.parquet", 400)
	put("dt=2026-11-27/calls/slot-01.parquet2", 400)
	put("dt=2026-11-27/calls/slot-1.parquet", 400)
	put("dt=2026-11-27/calls/slot-01-2.parquet", 400)
	put("dt=2026-11-25/calls/slot-01-3.parquet", 100)
	last := filepath.Join(dir, "dt=2026-11-28/calls/slot-00.parquet")
	require.NoError(t, d.Grow(last, 400))
	assert.Equal(t, Deleted{First: filepath.Join(dir, "dt=2026-11-26/calls/slot-01.parquet"), Files: 1 + 1, Bytes: 800}, d.Deleted())
	assert.Equal(t, []string{"other"}, files(t, filepath.Join(dir, "dt=2026-11-26")))
	put("dt=2026-11-28/calls/.slot-00.parquet.18", 400) // is being written
	require.NoError(t, d.Grow(last, 1000))
	assert.Equal(t, []string{"dt=2026-11-26", "dt=2026-11-26x", "dt=2026-11-27", "dt=2026-11-28"}, files(t, dir))
	assert.Equal(t, []string{"slot-01.parquet2", "slot-1.parquet"}, files(t, filepath.Join(dir, "dt=2026-11-27", "calls")))
	require.NoError(t, os.Rename(filepath.Join(dir, "dt=2026-11-28/calls/.slot-00.parquet.18"), last))
	d.Done(last)
	require.NoError(t, d.Grow(filepath.Join(dir, "dt=2026-11-28/calls/slot-00-2.parquet"), 700))
	assert.NoFileExists(t, last)
}

// TestDiskLimitCannotDelete: what cannot be deleted is named, and nothing more is written.
func TestDiskLimitCannotDelete(t *testing.T) {
	dir := t.TempDir()
	d := NewDiskLimit(1000)
	require.NoError(t, d.Add(FileSet{Pattern: filepath.Join(dir, "a"), Wrote: func(*os.File) bool { return true }}))
	name := filepath.Join(dir, "a")
	require.NoError(t, d.Grow(name, 600))
	require.NoError(t, os.WriteFile(name, make([]byte, 600), 0o600))
	d.Done(name)
	require.NoError(t, d.Grow(name+"1", 100))
	// A folder with contents has replaced the file.
	require.NoError(t, os.Remove(name))
	require.NoError(t, os.MkdirAll(filepath.Join(name, "x"), 0o700))
	err := d.Grow(name+"1", 900)
	require.ErrorIs(t, err, ErrDiskLimit)
	assert.Equal(t, "the limit of --max-disk is reached, and "+name+" cannot be deleted: directory not empty", err.Error())
	assert.Equal(t, err.Error(), errors.Unwrap(createError(name, err)).Error())
}

func TestDiskLimitOptions(t *testing.T) {
	o := Options{File: "-", Disk: NewDiskLimit(1)}
	assert.ErrorContains(t, o.Check(), "-w - (standard output) cannot be combined with --max-disk")
	o = limited(t, 10_000_000, Options{File: "f", MaxBytes: 6_000_000})
	assert.EqualError(t, o.Check(), "-C 6 is too large for --max-disk: 5 or less leaves room for a complete file besides the one that is written")
	o = limited(t, 10_000_000, Options{File: "f", MaxBytes: 5_000_000})
	assert.NoError(t, o.Check())
	var none *DiskLimit
	assert.NoError(t, none.Grow("x", 1<<60))
}

// TestTimePattern: each conversion is recognized in the names that it gives.
func TestTimePattern(t *testing.T) {
	formats := []string{"%%", "%C", "%G", "%j", "%s", "%u", "%V", "%w"}
	zones := []*time.Location{time.UTC, time.FixedZone("CEST", 7200), time.FixedZone("", -3600), time.FixedZone("+0545", 20700)}
	for c := range timeLayouts {
		formats = append(formats, "%"+string(c))
	}
	for _, f := range formats {
		match := regexp.MustCompile(`^` + timePattern("a."+f+"(é") + `$`)
		for day := range 400 {
			at := time.Date(2024, 1, 1+day, day%24, day%60, day%60, 0, zones[day%len(zones)])
			name, _ := formatTime("a."+f+"(é", at)
			require.True(t, match.MatchString(name), "%s: %s", f, name)
		}
	}
}
