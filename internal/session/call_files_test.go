package session

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/capture/record"
	_ "dubbo-wire/internal/dev/testkit" // for -update
	"dubbo-wire/internal/exit"
	"dubbo-wire/internal/output"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/report"
	"dubbo-wire/internal/rpc"
)

// newCallFiles returns files of a second in a folder.
func newCallFiles(t *testing.T, dir string, most int64) *callFiles {
	c := &callFiles{
		CallFiles: CallFiles{File: filepath.Join(dir, "calls-%H%M%S.parquet"), Every: time.Second},
		places:    &output.Places{}, notice: func(string) {},
	}
	if most > 0 {
		require.NoError(t, c.LimitDisk(record.NewDiskLimit(most)))
	}
	require.NoError(t, c.open())
	return c
}

func someCalls(c *callFiles, n int) {
	protocol := &rpc.Protocol{Name: "dubbo"}
	conn := &call.Conn{Number: 1, Ends: [2]string{"10.0.0.1:40000", "10.0.0.2:20880"}}
	for i := range n {
		m := &call.Message{Number: int64(i), Details: new(call.Details)}
		m.Protocol, m.Exchange, m.FirstTime, m.BodyLen = protocol, uint64(i*i), int64(i*i*7919), i*7919%65536
		c.write(&call.Call{Conn: conn, Request: m})
	}
}

func noBooks() *report.Report { return &report.Report{Totals: new(pipeline.Totals)} }

// written returns the number of rows in a folder's files, and the bytes of all files in it.
func written(t *testing.T, dir string) (rows, bytes int64) {
	require.NoError(t, filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		require.NoError(t, err)
		info, err := e.Info()
		require.NoError(t, err)
		if e.IsDir() {
			return nil
		}
		if e.Name() == foreign {
			return nil
		}
		bytes += info.Size()
		f, err := os.Open(name)
		require.NoError(t, err)
		defer f.Close()
		p, err := parquet.OpenFile(f, info.Size())
		require.NoError(t, err, "a complete file")
		if filepath.Dir(name) == dir {
			rows += p.NumRows()
		}
		return nil
	}))
	return rows, bytes
}

// foreign is the name of a file that somebody else wrote.
const foreign = "calls-000000.parquet"

// TestCallFilesObeyDiskLimit: the oldest files are deleted with their coverage, and a file that grows too large is followed by another one.
func TestCallFilesObeyDiskLimit(t *testing.T) {
	dir := t.TempDir()
	const most = 600_000
	require.NoError(t, os.WriteFile(filepath.Join(dir, foreign), []byte("PAR1 of somebody else PAR1"), 0o600))
	for range 2 {
		c := newCallFiles(t, dir, most)
		at := c.period.Begin
		for i := range 24 {
			someCalls(c, 5000)
			if i%2 == 1 {
				at += int64(time.Second)
			}
			c.wait()
			c.watch(at, noBooks)
		}
		require.NoError(t, c.close(noBooks(), nil))
		require.Zero(t, c.lost)
		require.Positive(t, c.Disk.Deleted().Files)
		rows, bytes := written(t, dir)
		require.LessOrEqual(t, bytes, int64(most))
		require.Greater(t, bytes, int64(most/3))
		require.Positive(t, rows)
		require.FileExists(t, filepath.Join(dir, foreign))
	}
}

// TestCallFilesThatCannotBeWritten: the next period has a new file, whose coverage says how many calls are missing.
func TestCallFilesThatCannotBeWritten(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "calls")
	c := newCallFiles(t, dir, 0)
	at := c.period.Begin
	someCalls(c, 10)
	require.NoError(t, os.RemoveAll(dir)) // the file is not there when it gets its name
	require.NoError(t, os.WriteFile(dir, nil, 0o600))
	c.watch(at+1e9, noBooks)
	c.wait()
	require.Nil(t, c.file)
	someCalls(c, 5)
	require.NoError(t, os.Remove(dir))
	c.watch(at+2e9, noBooks)
	someCalls(c, 3)
	err := c.close(noBooks(), nil)
	require.ErrorContains(t, err, "cannot be written")
	rows, _ := written(t, dir)
	require.Equal(t, int64(3), rows)
	require.Equal(t, exit.Partly, coverageOf(t, dir)["exit_code"])
	require.Contains(t, coverageOf(t, dir)["error"], "15 calls before were not written: ")
}

// TestCallFileWithoutItsCoverage: a file whose coverage cannot be written does not appear, so its calls are not there and counted as lost at once.
func TestCallFileWithoutItsCoverage(t *testing.T) {
	dir := t.TempDir()
	c := newCallFiles(t, dir, 0)
	var said []string
	c.notice = func(text string) { said = append(said, text) }
	at, name := c.period.Begin, c.opened
	someCalls(c, 10)
	books := filepath.Join(dir, "_coverage")
	require.NoError(t, os.RemoveAll(books))
	c.watch(at+1e9, noBooks)
	c.wait()
	require.NoFileExists(t, name)
	require.Len(t, said, 1)
	require.Equal(t, 1, strings.Count(said[0], "cannot be written"))
	someCalls(c, 3)
	require.Error(t, c.close(noBooks(), nil))
	rows, _ := written(t, dir)
	require.Equal(t, int64(3), rows)
	require.Equal(t, int64(3), c.rows)
	require.Contains(t, coverageOf(t, dir)["error"], "10 calls before were not written: ")
	require.FileExists(t, c.newest)
}

// TestCallFilesKeepCoverage: the coverage of a file that was moved away is not replaced.
func TestCallFilesKeepCoverage(t *testing.T) {
	dir := t.TempDir()
	books := filepath.Join(dir, "_coverage")
	require.NoError(t, os.Mkdir(books, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(books, "calls.parquet"), nil, 0o600))
	c := callFiles{CallFiles: CallFiles{File: filepath.Join(dir, "calls.parquet"), Every: time.Second}, places: &output.Places{}, notice: func(string) {}}
	require.NoError(t, c.open())
	defer c.abandon()
	require.Equal(t, "calls-2.parquet", filepath.Base(c.opened))
}

// TestLastCallFile: after the last period of -W, the calls whose link bytes become final at the end of the capture belong to the last file.
func TestLastCallFile(t *testing.T) {
	dir := t.TempDir()
	c := newCallFiles(t, dir, 0)
	c.Files = 1
	someCalls(c, 10)
	c.watch(c.period.Begin+1e9, noBooks)
	require.True(t, c.full)
	someCalls(c, 3)
	require.NoError(t, c.close(noBooks(), nil))
	rows, _ := written(t, dir)
	require.Equal(t, int64(13), rows)
	require.NotContains(t, coverageOf(t, dir), "error")
}

// coverageOf returns the row of the only file of coverage in a folder.
func coverageOf(t *testing.T, dir string) map[string]any {
	names, err := filepath.Glob(filepath.Join(dir, "_coverage", "*.parquet"))
	require.NoError(t, err)
	require.Len(t, names, 1)
	f, err := os.Open(names[0])
	require.NoError(t, err)
	defer f.Close()
	info, err := f.Stat()
	require.NoError(t, err)
	p, err := parquet.OpenFile(f, info.Size())
	require.NoError(t, err)
	r := parquet.NewReader(p)
	defer r.Close()
	rows := make([]parquet.Row, 1)
	_, _ = r.ReadRows(rows)
	of := map[string]any{}
	for _, v := range rows[0] {
		switch name := p.Schema().Columns()[v.Column()][0]; {
		case v.IsNull():
		case v.Kind() == parquet.ByteArray:
			of[name] = string(v.ByteArray())
		case v.Kind() == parquet.Int64:
			of[name] = int(v.Int64())
		}
	}
	return of
}
