package redact

import "golang.org/x/sys/unix"

// mapMemory returns n zero bytes that the garbage collector does not know, or nil: bytes of packets have no pointers, and as part of the heap
// they would let it grow by a part of them. The caller passes them to unmapMemory.
func mapMemory(n int) []byte {
	b, err := unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return nil
	}
	_ = unix.Madvise(b, unix.MADV_HUGEPAGE)
	return b
}

func unmapMemory(b []byte) { _ = unix.Munmap(b) }
