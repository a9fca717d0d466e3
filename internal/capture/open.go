package capture

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"dubbo-wire/internal/term"
)

// Options configures Open. The zero value is what commands use.
type Options struct {
	Stdin io.Reader // read for "-"; nil: os.Stdin
	// Pipe, if set, wraps the readers of named pipes, which may block, the first read included.
	Pipe func(io.Reader) io.Reader
}

// Files merges the packets of several files by time. It implements Source. All methods but Progress and Recycle must be
// called from one goroutine.
type Files struct {
	inputs []*Input
	source int // index of the argument whose inputs are being added
	stdin  io.Reader
	pipe   func(io.Reader) io.Reader

	// pending are the files that are not open yet, by the time of their first packet. open is a heap of the open ones,
	// by the time of the first packet in their queue.
	pending []*file
	open    []*file
	files   []*file // all with packets, by the time of the first one
	current *file   // the first open file, if its queue is empty
	pace    pace    // of files that are looked at in place: one at a time, since a file that is opened beside others is read
	buffers buffers
	kept    *buffers // set by Keep: packets stay valid in them

	read   atomic.Int64 // bytes read from files, as they are on disk
	total  int64        // bytes of all files, -1 if unknown
	closed bool
}

// Open opens captures: files, folders (all captures directly in them, ordered by name) and "-". It reads each up to its
// first packet, to learn their order in time, and closes those that it can open again.
//
// Open fails with an *Error, or several joined ones, only if nothing can be read. Otherwise the Input of what could not
// be opened has an Err.
func Open(paths []string, opt Options) (*Files, error) {
	f := &Files{stdin: opt.Stdin, pipe: opt.Pipe, buffers: buffers{limit: maxSpareBuffers}}
	if f.stdin == nil {
		f.stdin = os.Stdin
	}
	seenStdin := false
	for source, path := range paths {
		f.source = source
		info, err := os.Stat(path)
		switch {
		case path == "-" && seenStdin:
			f.fail(path, failure(StdinTwice, path, nil, "standard input (-) is given twice, but can be read only once"))
		case path != "-" && err != nil:
			f.fail(path, openError(path, err))
		case path != "-" && info.IsDir():
			f.addFolder(path)
		default:
			seenStdin = seenStdin || path == "-"
			f.add(path, path, false)
		}
	}
	slices.SortStableFunc(f.pending, func(a, b *file) int { return compareTime(a.first, a.index, b.first, b.index) })
	for i, fl := range f.pending {
		fl.rank = i
	}
	f.files = f.pending
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

// addFolder adds the captures of a folder. Other files are ignored, because captures are often stored beside notes.
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
		f.fail(dir, failure(NoCaptures, dir, nil, "%s: no pcap or pcapng file among the %s entries of this folder; subfolders are not searched",
			strings.TrimSuffix(dir, "/")+"/", term.Count(int64(len(entries)))))
	}
}

// add probes a file and adds it as an input. If optional is set, a file that is not a capture is ignored; add reports
// whether the file became an input.
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

// notAnInput reports whether a file of a folder is ignored: one that is not a capture. If its content cannot be known,
// a name like trace.pcap.xz makes it an input, so that it is not missed silently.
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

// Inputs describes all files, in the order of the arguments and, within a folder, of the names. Packet.File is an index
// into it.
func (f *Files) Inputs() []Input {
	f.noteCuts()
	all := make([]Input, len(f.inputs))
	for i, in := range f.inputs {
		all[i] = *in
		all[i].LinkTypes = slices.Clone(in.LinkTypes)
		all[i].Damage = slices.Clone(in.Damage)
	}
	return all
}

// Problems returns what could not be read so far, as errors of one line each: inputs that could not be opened (*Error)
// and damage (*DamageError).
func (f *Files) Problems() []error {
	f.noteCuts()
	var errs []error
	for _, in := range f.inputs {
		if in.Err != nil {
			errs = append(errs, in.Err)
		}
		for _, d := range in.Damage {
			errs = append(errs, &DamageError{File: in.File, Damage: d})
		}
		if in.DamageLeftOut > 0 {
			errs = append(errs, fmt.Errorf("%s: %s more", in.File, term.Counted(in.DamageLeftOut, "damaged place")))
		}
	}
	return errs
}

func (f *Files) noteCuts() {
	for _, fl := range f.files {
		fl.noteCut()
	}
}

// Progress returns how many bytes were read from the files and how many there are, or -1; both as they are on disk. Any
// goroutine may call it.
func (f *Files) Progress() (read, total int64) { return f.read.Load(), f.total }
