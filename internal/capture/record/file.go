package record

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"

	"dubbo-wire/internal/capture/pcapng"
)

// bufferSize is how much is collected before it is written, unless a Tick comes first.
const bufferSize = 1 << 20

// file is the end of one file that is being written. What is in it ends with a whole block at any time but within a write.
type file struct {
	name    string
	w       io.Writer
	f       *os.File // what w is, unless standard output
	buf     []byte   // whole blocks that are not written yet
	size    int64    // bytes written, and in buf
	packets int64    // likewise
	broken  bool     // it ends within a block, which cannot be taken away: nothing more is written
}

// create opens a file of that name, or standard output, and empties it.
func (r *Recorder) create(name string) error {
	r.out = file{name: name, buf: r.out.buf[:0]}
	if r.out.buf == nil {
		r.out.buf = make([]byte, 0, bufferSize)
	}
	if name == "-" {
		r.out.name, r.out.w = "standard output", r.o.Stdout
		if r.out.w == nil {
			r.out.w = os.Stdout
		}
		return nil
	}
	f, err := os.Create(name)
	if errors.Is(err, fs.ErrPermission) && r.files > 0 {
		// It may be one that was written before rights were given up: a folder that may be written to is enough.
		if os.Remove(name) == nil {
			f, err = os.Create(name)
		}
	}
	if err != nil {
		return createError(name, err)
	}
	if own := r.o.Owner; own != nil {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			_ = f.Chown(own.UID, own.GID) // who cannot give it away need not: then there is nothing to give up
		}
	}
	r.out.w, r.out.f = f, f
	return nil
}

// flush writes what is collected. When it fails, what of the last block was written is taken away again.
func (w *file) flush() error {
	if len(w.buf) == 0 || w.broken {
		return nil
	}
	n, err := w.w.Write(w.buf)
	if err == nil && n < len(w.buf) {
		err = io.ErrShortWrite
	}
	if err != nil {
		whole, lost := pcapng.Complete(w.buf, n)
		w.size -= int64(len(w.buf) - whole)
		w.packets -= lost
		w.broken = whole < n && !w.cut()
	}
	w.buf = w.buf[:0]
	if cap(w.buf) > 4*bufferSize {
		w.buf = make([]byte, 0, bufferSize) // not that of a packet that was larger than what is usual
	}
	return err
}

// cut shortens the file to what it should be. Pipes and devices cannot be, and standard output may have begun before us:
// their readers know what a block cut short is.
func (w *file) cut() bool {
	if w.f == nil || w.f.Truncate(w.size) != nil {
		return false
	}
	_, err := w.f.Seek(w.size, io.SeekStart)
	return err == nil
}

func (w *file) close() error {
	err := w.flush()
	if w.f != nil {
		err = errors.Join(err, w.f.Close())
	}
	w.w, w.f = nil, nil
	return err
}

// reason is the system's word for an error, without the name of the file.
func reason(err error) string {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	}
	return err.Error()
}

// createError words that a file could not be created.
func createError(name string, err error) error {
	advice := "give another file with -w"
	switch {
	case errors.Is(err, fs.ErrNotExist):
		advice = "make its folder first"
	case errors.Is(err, fs.ErrPermission):
		advice = "give a file in a folder that this user may write to"
	}
	return &Error{File: name, Text: fmt.Sprintf("%s: cannot be created: %s; %s", name, reason(err), advice), Err: err}
}

// writeError words that a file could not be written to, of which so many packets are whole.
func writeError(name string, packets int64, err error) error {
	advice := "give another file with -w"
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		advice = "free space, or bound what is written with -C and -W, -s or --only-rpc"
	case errors.Is(err, syscall.EFBIG):
		advice = "raise the limit (ulimit -f), or write several files with -C"
	case errors.Is(err, syscall.EPIPE):
		advice = "its reader has ended"
	}
	return &Error{
		File: name, Err: err,
		Text: fmt.Sprintf("%s: %s; recording has stopped, the %d packets in this file can be read: %s", name, reason(err), packets, advice),
	}
}

// Error says in one line what could not be written, and what to do.
type Error struct {
	File string
	Text string // the whole line, naming the file
	Err  error  // the system's
}

func (e *Error) Error() string { return e.Text }

func (e *Error) Unwrap() error { return e.Err }
