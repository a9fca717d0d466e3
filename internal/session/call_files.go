package session

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/capture/record"
	"dubbo-wire/internal/exit"
	"dubbo-wire/internal/measure"
	"dubbo-wire/internal/output"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/report"
	"dubbo-wire/internal/report/parquet"
	"dubbo-wire/internal/rpc"
	"dubbo-wire/internal/sizes"
	"dubbo-wire/internal/term"
)

// callFiles writes the selected calls to Parquet files, one after the other if there is a period, each with its coverage beside it. A file appears under
// its name when it is complete. A file that cannot be written is given up, and the next period has a new one; its coverage says how many calls were lost.
// All methods belong to the goroutine of the pipeline; a file is finished in another one, because that takes longer than the kernel's ring may wait.
type callFiles struct {
	CallFiles
	places *output.Places
	inputs []string
	local  bool
	notice func(string)

	period   record.Period
	file     *callFile      // nil after an error, until the next period
	earlier  *report.Report // at the end of the last file that was finished
	finished chan finished  // of the file that is being finished; nil without one
	periods  int            // with this one
	opened   string         // the name of the newest file
	complete int            // files that have their name
	newest   string         // the last one of these
	rows     int64          // in these
	lost     int64          // calls that are in no file
	err      error          // the first one
	full     bool           // no more files: the capture ends, and the last file with it
	over     bool           // the file is as large as a file may be
}

// CallFiles says where the calls of a capture are written as Parquet.
type CallFiles struct {
	File  string        // "" for none; with Every it may have conversions of strftime(3)
	Every time.Duration // the period of a file; 0 for one file
	Files int           // the capture ends after that many periods; 0 for no limit
	Node  string        // the name of this machine
	Disk  *record.DiskLimit
}

// LimitDisk makes the files obey a limit: complete ones, with their coverage, may be deleted.
func (c *CallFiles) LimitDisk(d *record.DiskLimit) error {
	for _, name := range []string{c.File, measure.CoverageName(c.File)} {
		if err := d.Add(record.FileSet{Pattern: name, Dated: true, NumberBeforeExt: true, Wrote: parquet.Wrote}); err != nil {
			return err
		}
	}
	c.Disk = d
	return nil
}

// limited is a writer of a file that obeys a limit of the disk.
type limited struct {
	io.Writer
	disk  *record.DiskLimit
	name  string
	bytes int64
}

func (w *limited) Write(b []byte) (int, error) {
	if err := w.disk.Grow(w.name, w.bytes+int64(len(b))); err != nil {
		return 0, err
	}
	n, err := w.Writer.Write(b)
	w.bytes += int64(n)
	return n, err
}

// callFile is a file that is being written.
type callFile struct {
	*parquet.Calls
	out             *limited
	calls, coverage *output.Target
	rows            int64
}

// check refuses names with unknown conversions.
func (c *CallFiles) check() error {
	if c.File == "" || c.Every == 0 {
		return nil
	}
	if err := record.CheckName(c.File); err != nil {
		return exit.Usagef("-o %v", err)
	}
	return nil
}

// folder returns the folder of the files, as far as it does not depend on the time.
func (c *CallFiles) folder() string {
	dir := filepath.Dir(c.File)
	for c.Every > 0 && strings.Contains(dir, "%") {
		dir = filepath.Dir(dir)
	}
	return dir
}

// open opens the first file, so that errors are known before the capture begins.
func (c *callFiles) open() error {
	c.period, c.periods = record.Period{Every: c.Every, Begin: time.Now().UnixNano()}, 1
	return c.next()
}

// next opens the file of the period.
func (c *callFiles) next() error {
	name := c.period.Name(c.File, c.local)
	if c.Every > 0 {
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			return output.CannotWrite("-o", name, err)
		}
		name = c.unused(name)
	}
	calls, err := c.places.File("-o", "parquet", name)
	if err != nil {
		return err
	}
	coverage, err := measure.CoverageFile(c.places, calls)
	if err != nil {
		calls.Discard()
		return err
	}
	out := &limited{Writer: calls.W, disk: c.Disk, name: calls.File}
	c.opened = name
	c.file = &callFile{Calls: parquet.NewCalls(out, c.inputs, c.Node), out: out, calls: calls, coverage: coverage}
	return nil
}

// unused returns a name that no file has, nor its coverage: name, or name with a number before its extension. An earlier run may have written one in the same period, and
// the file before may have no name yet.
func (c *callFiles) unused(name string) string {
	ext := filepath.Ext(name)
	for n, next := 2, name; ; n++ {
		_, calls := os.Lstat(next)
		_, coverage := os.Lstat(measure.CoverageName(next))
		if calls != nil && coverage != nil && next != c.opened {
			return next
		}
		next = fmt.Sprintf("%s-%d%s", strings.TrimSuffix(name, ext), n, ext)
	}
}

// sink returns the sink that writes calls and passes them on to next, and sets what it needs in the options of the run.
func (c *callFiles) sink(next pipeline.Sink, opt *pipeline.Options) pipeline.Sink {
	opt.Detail, opt.Records = max(opt.Detail, rpc.Parts), true
	return measure.SettledCallSink(next, c.write)
}

func (c *callFiles) write(k *call.Call) {
	if c.file == nil {
		c.lost++
		return
	}
	if err := c.file.Row(k); err != nil {
		c.fail(output.CannotWrite("-o", c.file.calls.File, err))
		return
	}
	c.file.rows++
	if limit := c.Disk.FileLimit(); limit > 0 && c.file.out.bytes >= limit/2 {
		c.over = true // the rest of the period goes to another file
	}
}

// fail gives up the file.
func (c *callFiles) fail(err error) {
	if c.file != nil {
		c.lost += c.file.rows + 1
		c.file.discard()
		c.file = nil
	}
	c.failed(err)
}

func (c *callFiles) failed(err error) {
	text := err.Error()
	if c.Every > 0 && !c.full {
		text += "; the next period has a new file"
	}
	c.notice(text)
	c.err = cmp.Or(c.err, err)
}

func (f *callFile) discard() {
	f.calls.Discard()
	f.out.disk.Done(f.out.name)
	if f.coverage != nil {
		f.coverage.Discard()
	}
}

// watch begins the next file when the period is over. books returns the report of the run so far.
func (c *callFiles) watch(now int64, books func() *report.Report) {
	due := c.period.Over(now)
	if c.full || !due && !c.over {
		return
	}
	if c.full = due && c.Files > 0 && c.periods >= c.Files; c.full {
		return // close completes the last file, with the calls whose link bytes become final at the end
	}
	if c.finished != nil && len(c.finished) == 0 {
		return // the file before takes longer than a period
	}
	c.wait()
	if c.file != nil {
		c.finish(books(), nil)
	}
	if c.over = false; due {
		c.period.Next(now)
		c.periods++
	}
	if err := c.next(); err != nil {
		c.failed(err)
	}
}

// finish completes the file in a goroutine of its own. verdict is that of the run so far.
func (c *callFiles) finish(r *report.Report, verdict error) {
	f, run, lost := c.file, &parquet.Run{Node: c.Node, Report: r, Earlier: c.earlier}, c.lost
	if c.lost > 0 && verdict == nil {
		verdict = exit.Errorf(exit.Partly, "%s before were not written: %v", term.Counted(c.lost, "call"), c.err)
	}
	c.file, c.earlier, c.lost = nil, r, 0
	c.finished = make(chan finished, 1)
	go func() { c.finished <- finished{f.finish(run, verdict), f.calls.File, f.rows, lost, run.Earlier} }()
}

// finished is what became of a file.
type finished struct {
	err     error
	name    string
	rows    int64
	lost    int64          // calls before that its coverage names
	earlier *report.Report // at the end of the file before
}

// finish completes both files, or leaves neither: without its coverage, the calls of a file would count as lost in the next one.
func (f *callFile) finish(run *parquet.Run, verdict error) error {
	err := f.Close()
	if err == nil {
		err = f.calls.W.Flush() // a full disk is known before the coverage has its name
	}
	if err != nil {
		f.discard()
		return output.CannotWrite("-o", f.calls.File, err)
	}
	disk := f.out.disk
	defer disk.Done(f.out.name)
	if f.coverage == nil {
		return f.calls.Close()
	}
	if err := disk.Grow(f.coverage.File, coverageBytes); err != nil {
		f.discard()
		return output.CannotWrite("-o", f.coverage.File, err)
	}
	defer disk.Done(f.coverage.File)
	if err := measure.CloseCoverage(f.coverage, run, verdict); err != nil {
		f.discard()
		return err
	}
	if err := f.calls.Close(); err != nil {
		_ = os.Remove(f.coverage.File)
		return err
	}
	return nil
}

// coverageBytes is more than a file of coverage has.
const coverageBytes = 64 << 10

// wait waits until the file before is complete.
func (c *callFiles) wait() {
	if c.finished == nil {
		return
	}
	f := <-c.finished
	if f.err != nil {
		c.lost, c.earlier = c.lost+f.lost+f.rows, f.earlier
		c.failed(f.err)
	} else {
		c.complete++
		c.newest = f.name
		c.rows += f.rows
	}
	c.finished = nil
}

// close completes the last file after the run, and returns the first error of all files.
func (c *callFiles) close(r *report.Report, verdict error) error {
	c.wait()
	if c.file != nil {
		c.finish(r, verdict)
		c.wait()
	}
	return c.err
}

// abandon removes what is not complete.
func (c *callFiles) abandon() {
	if c.finished != nil {
		<-c.finished
	}
	if c.file != nil {
		c.file.discard()
		c.file = nil
	}
}

// booksOf returns a report without groups: the coverage of a run so far.
func (l *Session) booksOf(t *pipeline.Totals) *report.Report {
	return report.Build(l.src.Inputs(), t, sizes.DefaultBy(), nil)
}
