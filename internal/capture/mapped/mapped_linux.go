package mapped

import (
	"os"
	"os/signal"
	"slices"
	"strconv"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// File is a mapped file. One goroutine calls Load and Close, any Drop.
type File struct {
	file *os.File
	data []byte

	mu      sync.Mutex
	from    int  // what is before it is in use no longer; a multiple of Unit
	to      int  // end of what was loaded
	givenUp bool // the lease is given up, or no more can be loaded
}

// locals are the file systems on which a lease keeps every process from cutting a file: those of this machine alone.
var locals = []int64{unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.F2FS_SUPER_MAGIC, unix.TMPFS_MAGIC, unix.OVERLAYFS_SUPER_MAGIC}

// Open maps a regular file, which it then owns. It returns nil if that is not possible, or not safe: the file has another owner, another
// process may write to it, or its file system has no leases.
func Open(file *os.File) *File {
	var fs unix.Statfs_t
	if strconv.IntSize < 64 || unix.Fstatfs(int(file.Fd()), &fs) != nil || !slices.Contains(locals, int64(fs.Type)) { //nolint:unconvert // int32 on some machines
		return nil
	}
	f := &File{file: file}
	if !leases.add(f) {
		return nil
	}
	if f.mapAll() {
		return f
	}
	leases.remove(f)
	return nil
}

// mapAll maps the file, whose size is final while it is leased.
func (f *File) mapAll() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	info, err := f.file.Stat()
	if err != nil || info.Size() == 0 {
		return false
	}
	p, err := unix.MmapPtr(int(f.file.Fd()), 0, nil, uintptr(info.Size()), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return false
	}
	f.data = unsafe.Slice((*byte)(p), info.Size())
	return true
}

// Bytes returns the whole file. Only what was loaded and not dropped may be read.
func (f *File) Bytes() []byte { return f.data }

// Load makes the bytes between two positions usable and returns the end of what is usable then. It returns 0 if they are not: they
// are not in memory, or the lease is given up.
func (f *File) Load(from, to int) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.givenUp || to > len(f.data) {
		return 0
	}
	if f.to < from {
		if f.from >= f.to&^(Unit-1) {
			f.drop(from)
		}
		f.to = from
	}
	for f.to < to {
		end := min(f.to&^(Unit-1)+Unit, len(f.data))
		if !f.inMemory(end-1) || unix.Madvise(f.data[f.to&^(pageSize-1):end], unix.MADV_POPULATE_READ) != nil {
			return 0
		}
		f.to = end
	}
	return f.to
}

var pageSize = os.Getpagesize()

// inMemory reports whether the byte at a position need not be read from a disk first.
func (f *File) inMemory(at int) bool {
	var in byte
	_, _, errno := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&f.data[at&^(pageSize-1)])), 1, uintptr(unsafe.Pointer(&in)))
	return errno == 0 && in&1 != 0
}

// Drop says that what is before a position is used no longer.
func (f *File) Drop(to int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.drop(to)
}

func (f *File) drop(to int) {
	if to &^= Unit - 1; to > f.from {
		_ = unix.Madvise(f.data[f.from:to], unix.MADV_DONTNEED)
		f.from = to
	}
}

// Close unmaps and closes the file.
func (f *File) Close() {
	leases.remove(f)
	f.mu.Lock()
	defer f.mu.Unlock()
	_ = unix.MunmapPtr(unsafe.Pointer(unsafe.SliceData(f.data)), uintptr(len(f.data)))
	f.data, f.givenUp = nil, true
	_ = f.file.Close()
}

// giveUp gives up the lease if another process waits for that. What is in use becomes a copy, at the same address and in one step.
func (f *File) giveUp() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.givenUp || f.leased() {
		return
	}
	if from, to := f.from, min((f.to+pageSize-1)&^(pageSize-1), len(f.data)); f.from < to {
		size := uintptr(to - from)
		p, err := unix.MmapPtr(-1, 0, nil, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
		if err != nil {
			return // until it is closed
		}
		for b, at := unsafe.Slice((*byte)(p), size), from; len(b) > 0; {
			n, err := f.file.ReadAt(b, int64(at))
			if b, at = b[n:], at+n; err != nil {
				break
			}
		}
		if _, err := unix.MremapPtr(p, size, unsafe.Pointer(&f.data[from]), size, unix.MREMAP_MAYMOVE|unix.MREMAP_FIXED); err != nil {
			return
		}
	}
	f.givenUp = true
	f.unlease()
}

// leased reports whether the lease holds and nobody waits for its end.
func (f *File) leased() bool {
	kind, err := unix.FcntlInt(f.file.Fd(), unix.F_GETLEASE, 0)
	return err == nil && kind == unix.F_RDLCK
}

func (f *File) lease() bool {
	_, err := unix.FcntlInt(f.file.Fd(), unix.F_SETLEASE, unix.F_RDLCK)
	return err == nil
}

func (f *File) unlease() { _, _ = unix.FcntlInt(f.file.Fd(), unix.F_SETLEASE, unix.F_UNLCK) }

// leases are the files with a lease. The kernel sends SIGIO when a process waits for one of them.
var leases leaseList

type leaseList struct {
	mu    sync.Mutex
	files []*File
	asked chan os.Signal // while there are files
}

// add takes a lease of a file, and reports whether the kernel gave it.
func (l *leaseList) add(f *File) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.asked == nil {
		l.asked = make(chan os.Signal, 1)
		signal.Notify(l.asked, unix.SIGIO)
		go l.answer(l.asked)
	}
	if f.lease() {
		l.files = append(l.files, f)
		return true
	}
	l.end()
	return false
}

// remove gives up the lease of a file.
func (l *leaseList) remove(f *File) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f.unlease()
	l.files = slices.DeleteFunc(l.files, func(o *File) bool { return o == f })
	l.end()
}

// end ends the goroutine that waits for signals when nothing is leased.
func (l *leaseList) end() {
	if len(l.files) == 0 && l.asked != nil {
		signal.Stop(l.asked)
		close(l.asked)
		l.asked = nil
	}
}

func (l *leaseList) answer(asked <-chan os.Signal) {
	for range asked {
		l.mu.Lock()
		files := slices.Clone(l.files)
		l.mu.Unlock()
		for _, f := range files {
			f.giveUp()
		}
	}
}
