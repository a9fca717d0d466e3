package mapped

import (
	"os"
	"sync"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// File is a mapped file. One goroutine calls Load and Close, any the other methods.
type File struct {
	file   *os.File
	data   []byte
	region *region

	mu   sync.Mutex
	from int   // start of what may be in use, a multiple of Unit
	to   int   // end of what was loaded
	cut  int64 // as Cut, when the region is given back
}

// region is the memory of a file, for the handler of the signal.
type region struct {
	from, to uintptr
	missing  uintptr // an address where a page was missing; 0 if none was
}

const maxRegions = 64

var (
	regions    [maxRegions]region
	regionsMu  sync.Mutex
	goHandler  uintptr // of the Go runtime
	installing sync.Once
	installed  bool
)

// sigaction is a struct sigaction as the kernel has it on amd64.
type sigaction struct {
	handler, flags, restorer uintptr
	mask                     uint64
}

// handlerAddress returns where the handler of SIGBUS is.
func handlerAddress() uintptr

// install replaces the handler of SIGBUS. Flags, stack and mask stay those of the Go runtime.
func install() {
	var is sigaction
	_, _, errno := unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(unix.SIGBUS), 0, uintptr(unsafe.Pointer(&is)), 8, 0, 0)
	if goHandler = is.handler; errno != 0 || goHandler <= 1 {
		return // the default, or ignored
	}
	is.handler = handlerAddress()
	_, _, errno = unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(unix.SIGBUS), uintptr(unsafe.Pointer(&is)), 0, 8, 0, 0)
	installed = errno == 0
}

// Open maps a regular file, which it then owns. It returns nil if that is not possible.
func Open(file *os.File) *File {
	installing.Do(install)
	info, err := file.Stat()
	if !installed || err != nil || info.Size() == 0 {
		return nil
	}
	p, err := unix.MmapPtr(int(file.Fd()), 0, nil, uintptr(info.Size()), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil
	}
	f := &File{file: file, data: unsafe.Slice((*byte)(p), info.Size())}
	regionsMu.Lock()
	defer regionsMu.Unlock()
	for i := range regions {
		if r := &regions[i]; r.to == 0 {
			*r = region{from: uintptr(p), to: uintptr(p) + uintptr(info.Size())}
			f.region = r
			return f
		}
	}
	_ = unix.MunmapPtr(p, uintptr(info.Size()))
	return nil
}

// Bytes returns the whole file. Only what was loaded and not dropped should be read.
func (f *File) Bytes() []byte { return f.data }

// Load maps the pages with the bytes between two positions and returns the end of what is mapped then. It returns 0 if the system does not have
// them in memory, or if another process has cut them off.
func (f *File) Load(from, to int) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	if to > len(f.data) {
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
		if !f.inMemory(end - 1) {
			return 0
		}
		// Linux before 5.14 does not know this and maps pages one by one, when they are used.
		if err := unix.Madvise(f.data[f.to&^(pageSize-1):end], unix.MADV_POPULATE_READ); err != nil && err != unix.EINVAL {
			return 0
		}
		f.to = end
	}
	return f.to
}

const pageSize = 4096

// inMemory reports whether the byte at a position need not be read from a disk first.
func (f *File) inMemory(at int) bool {
	var in byte
	_, _, errno := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&f.data[at&^(pageSize-1)])), 1, uintptr(unsafe.Pointer(&in)))
	return errno == 0 && in&1 != 0
}

// Cut returns the position of a page that was missing when it was read, so that it was read as zeros, or -1.
func (f *File) Cut() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.missing()
}

func (f *File) missing() int64 {
	r := f.region
	if r == nil {
		return f.cut
	}
	if at := atomic.LoadUintptr(&r.missing); at != 0 {
		return int64(at-r.from) &^ (pageSize - 1)
	}
	return -1
}

// Drop gives back the pages before a position, which are not used again.
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
	f.mu.Lock()
	defer f.mu.Unlock()
	_ = unix.MunmapPtr(unsafe.Pointer(unsafe.SliceData(f.data)), uintptr(len(f.data)))
	_ = f.file.Close()
	f.cut = f.missing()
	regionsMu.Lock()
	defer regionsMu.Unlock()
	*f.region = region{}
	f.region, f.data = nil, nil
}
