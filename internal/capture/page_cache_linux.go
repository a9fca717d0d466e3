package capture

import (
	"io"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// cachedFile reads a file whose bytes are in the page cache without telling Go's scheduler. A read of a megabyte takes
// long enough for the scheduler to hand the processor to another thread, which finds nothing to do; that costs about a
// sixth of the read. The kernel is asked for the bytes that it has (RWF_NOWAIT). If it would have to wait for a disk,
// the file is read in the ordinary way, so no processor is held while a disk works.
type cachedFile struct {
	f     *os.File
	fd    uintptr
	plain bool // the file system does not support RWF_NOWAIT
}

// newCachedReader returns a reader of a regular file. Closing the file is left to the caller.
func newCachedReader(f *os.File) io.Reader { return &cachedFile{f: f, fd: f.Fd()} }

func (c *cachedFile) Read(b []byte) (int, error) {
	if c.plain || len(b) == 0 {
		return c.f.Read(b)
	}
	v := unix.Iovec{Base: &b[0]}
	v.SetLen(len(b))
	// The offset -1 is the file's own position, which ordinary reads use and move as well.
	n, _, errno := unix.RawSyscall6(unix.SYS_PREADV2, c.fd, uintptr(unsafe.Pointer(&v)), 1, ^uintptr(0), ^uintptr(0), unix.RWF_NOWAIT)
	switch {
	case errno == 0 && n > 0:
		return int(n), nil
	case errno != 0 && errno != unix.EAGAIN:
		c.plain = true
	}
	return c.f.Read(b) // the end of the file, too
}
