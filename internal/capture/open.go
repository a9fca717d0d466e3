package capture

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
)

// Options are the circumstances of Open; the zero value is right for a command.
type Options struct {
	Stdin io.Reader // what "-" reads; os.Stdin if nil
	// Pipe, if set, is put around named pipes, which may keep a reader waiting: already the first read may.
	Pipe func(io.Reader) io.Reader
}

// Files is one capture made of files: their packets merged by time. It implements
// Source. All methods but Progress belong to one goroutine.
type Files struct {
	inputs []*Input
	source int // of the inputs that are being added
	stdin  io.Reader
	pipe   func(io.Reader) io.Reader

	// pending are files not opened yet, by the time of their first packet; open
	// ones are a heap, by the time of the packet they hold ready.
	pending []*file
	open    []*file
	current *file // whose packet the caller has
	buffers buffers
	kept    *buffers // set by Keep: packets stay valid in them

	read   atomic.Int64 // bytes read from files, compressed as they are
	total  int64        // bytes of all of them, -1 if not known
	closed bool
}

// Open opens captures: files, folders (every capture directly in them, in the order
// of their names) and "-". It reads up to the first packet of each, to know their
// order in time, and closes all but those it cannot open again.
//
// It fails with an *Error, or several joined, only when nothing can be read.
// Otherwise what could not be opened has Err in its Input.
func Open(paths []string, opt Options) (*Files, error) {
	f := &Files{stdin: opt.Stdin, pipe: opt.Pipe, buffers: buffers{limit: maxSpareBuffers}}
	if f.stdin == nil {
		f.stdin = os.Stdin
	}
	seenStdin := false
	for source, path := range paths {
		f.source = source
		if path == "-" {
			if seenStdin {
				f.fail(path, &Error{Cause: StdinTwice, File: path, Text: "standard input (-) is given twice; it can be read once"})
				continue
			}
			seenStdin = true
			f.add(path, path, false)
			continue
		}
		info, err := os.Stat(path)
		if err != nil {
			f.fail(path, openError(path, err))
			continue
		}
		if info.IsDir() {
			f.addFolder(path)
			continue
		}
		f.add(path, path, false)
	}
	slices.SortStableFunc(f.pending, func(a, b *file) int { return compareTime(a.first, a.index, b.first, b.index) })
	for i, fl := range f.pending {
		fl.rank = i
	}
	if !slices.ContainsFunc(f.inputs, func(in *Input) bool { return in.Err == nil }) {
		errs := make([]error, len(f.inputs))
		for i, in := range f.inputs {
			errs[i] = in.Err
		}
		if len(errs) == 1 {
			return nil, errs[0]
		}
		return nil, errors.Join(errs...)
	}
	return f, nil
}

// addFolder adds the captures in a folder. What is none is passed over: captures
// lie beside notes and truths.
func (f *Files) addFolder(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		f.fail(dir, openError(dir, err))
		return
	}
	found := false
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
			continue
		}
		found = f.add(filepath.ToSlash(path), path, true) || found
	}
	if !found {
		f.fail(dir, failure(NoCaptures, dir, nil, "%s: no pcap or pcapng file among the %d entries of this folder; folders within it are not searched",
			strings.TrimSuffix(dir, "/")+"/", len(entries)))
	}
}

// add looks at a file's first packet. With optional, a file that is no capture is
// not an input; add reports whether it became one.
func (f *Files) add(name, path string, optional bool) bool {
	fl := &file{in: &Input{File: name, Source: f.source}, index: len(f.inputs), path: path}
	if err := f.probe(fl); err != nil {
		if optional && notAnInput(name, CauseOf(err)) {
			return false
		}
		fl.in.Err = err
	}
	f.inputs = append(f.inputs, fl.in)
	if fl.hasPacket {
		f.total = addSize(f.total, fl.size)
		f.pending = append(f.pending, fl)
	}
	return true
}

// passOver tells which files of a folder are no input: those that are no capture.
// Where the content cannot be known, a name like trace.pcap.xz counts as one, so
// that it is not missed in silence.
func notAnInput(name string, c Cause) bool {
	switch c {
	case NotCapture:
		return true
	case Empty, Compression:
		return !strings.Contains(strings.ToLower(filepath.Base(name)), "cap")
	}
	return false
}

// fail adds an input that cannot be read.
func (f *Files) fail(name string, err error) {
	f.inputs = append(f.inputs, &Input{File: name, Source: f.source, Dropped: -1, Err: err})
}

func addSize(total, size int64) int64 {
	if total < 0 || size < 0 {
		return -1
	}
	return total + size
}

// Inputs describes every file, in the order of the arguments and, in a folder, of
// the names. Packet.File is an index into it.
func (f *Files) Inputs() []Input {
	all := make([]Input, len(f.inputs))
	for i, in := range f.inputs {
		all[i] = *in
		all[i].LinkTypes = slices.Clone(in.LinkTypes)
		all[i].Damage = slices.Clone(in.Damage)
	}
	return all
}

// Problems is what could not be read so far, one error of one line each: inputs
// that could not be opened (*Error) and damage (*DamageError).
func (f *Files) Problems() []error {
	var errs []error
	for _, in := range f.inputs {
		errs = append(errs, in.problems()...)
	}
	return errs
}

// Progress is how many bytes of the files have been read, and how many there are
// or -1, both as they lie on disk. Any goroutine may call it.
func (f *Files) Progress() (read, total int64) { return f.read.Load(), f.total }
