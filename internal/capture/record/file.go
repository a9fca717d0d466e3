package record

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"

	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/capture/pcapng"
	"dubbo-wire/internal/term"
)

// bufferSize is how many bytes are collected before they are written, unless Tick comes first.
const bufferSize = 1 << 20

// file is a file that is being written. Except during a write, it ends with a complete block.
type file struct {
	name    string
	w       io.Writer
	f       *os.File // equal to w; nil for standard output
	buf     []byte   // complete blocks that are not written yet
	size    int64    // bytes written and in buf
	packets int64    // packets written and in buf
	disk    *DiskLimit
	broken  bool // it ends within a block that cannot be removed: nothing more is written
}

// create creates or truncates the named file, or uses standard output.
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
	if err := r.o.Disk.Grow(name, 0); err != nil {
		return createError(name, err)
	}
	f, err := os.Create(name)
	if errors.Is(err, fs.ErrPermission) && r.files > 0 {
		// The file may have been created before privileges were dropped. Write access to its folder is enough to
		// replace it.
		if os.Remove(name) == nil {
			f, err = os.Create(name)
		}
	}
	if err != nil {
		r.o.Disk.Done(name)
		return createError(name, err)
	}
	if info, err := f.Stat(); err == nil && !info.Mode().IsRegular() {
		r.o.Disk.Done(name) // a device or a pipe needs no room
	} else {
		r.out.disk = r.o.Disk
		if own := r.o.Owner; own != nil {
			_ = f.Chown(own.UID, own.GID) // without the right to do this there are no privileges to drop
		}
	}
	r.out.w, r.out.f = f, f
	return nil
}

// flush writes the collected blocks. If that fails, it removes the incomplete block at the end.
func (w *file) flush() error {
	if len(w.buf) == 0 || w.broken {
		return nil
	}
	n, err := 0, w.disk.Grow(w.name, w.size)
	if err == nil {
		n, err = w.w.Write(w.buf)
	}
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
		w.buf = make([]byte, 0, bufferSize) // not the buffer of an unusually large packet
	}
	return err
}

// cut truncates the file to its complete blocks. Pipes and devices cannot be truncated, and standard output may have
// contents from before; their readers must handle an incomplete block.
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
	w.disk.Done(w.name)
	w.w, w.f = nil, nil
	return err
}

// reason returns the text of an error without the name of the file.
func reason(err error) string {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	}
	return err.Error()
}

// createError returns the error for a file that cannot be created.
func createError(name string, err error) error {
	advice := "give another file with -w"
	switch {
	case errors.Is(err, fs.ErrNotExist):
		advice = "create its folder first"
	case errors.Is(err, ErrDiskLimit):
		advice = "delete files, or raise the limit"
	case errors.Is(err, fs.ErrPermission):
		advice = "choose a folder that this user may write to"
	}
	return &capture.Error{File: name, Text: fmt.Sprintf("%s: cannot be created: %s; %s", name, reason(err), advice), Err: err}
}

// writeError returns the error for a failed write to a file with that many complete packets.
func writeError(name string, packets int64, err error) error {
	advice := "give another file with -w"
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		advice = "free some space, or limit the recording with -C and -W, -s or --only-rpc"
	case errors.Is(err, ErrDiskLimit):
		advice = "raise it, or rotate with -C or -G, which keeps the newest packets"
	case errors.Is(err, syscall.EFBIG):
		advice = "raise the limit (ulimit -f), or write several files with -C"
	case errors.Is(err, syscall.EPIPE):
		advice = "its reader has ended"
	}
	return &capture.Error{
		File: name, Err: err,
		Text: fmt.Sprintf("%s: %s; recording has stopped after %s, which can be read: %s", name, reason(err), term.Counted(packets, "packet"), advice),
	}
}
