package capture

import (
	"io"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// cachedFile reads a file whose bytes lie in the page cache without telling Go's scheduler. A read of a megabyte takes
// long enough for the scheduler to hand the processor to another thread, which finds nothing to do; that costs about a
// sixth of the read. The kernel is asked for what it has (RWF_NOWAIT): where it would have to wait for a disk it says
// so, and the file is read as any other, so that no processor is ever held while a disk works.
type cachedFile struct {
	f     *os.File
	fd    uintptr
	plain bool // the file system cannot tell
}

// newCachedReader returns a reader of a regular file, which stays the caller's to close.
func newCachedReader(f *os.File) io.Reader { return &cachedFile{f: f, fd: f.Fd()} }

func (c *cachedFile) Read(b []byte) (int, error) {
	if c.plain || len(b) == 0 {
		return c.f.Read(b)
	}
	v := unix.Iovec{Base: &b[0]}
	v.SetLen(len(b))
	// The place -1 is the file's own, which ordinary reads use and move as well.
	n, _, errno := unix.RawSyscall6(unix.SYS_PREADV2, c.fd, uintptr(unsafe.Pointer(&v)), 1, ^uintptr(0), ^uintptr(0), unix.RWF_NOWAIT)
	switch {
	case errno == 0 && n > 0:
		return int(n), nil
	case errno != 0 && errno != unix.EAGAIN:
		c.plain = true
	}
	return c.f.Read(b) // the end of the file, too
}
