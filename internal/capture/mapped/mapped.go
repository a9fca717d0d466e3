// Package mapped maps files into memory, so that their bytes are read without being copied.
//
// An access to a mapped page that is no longer part of its file ends the program. So a file is mapped only with a read lease
// of the kernel (fcntl(2), F_SETLEASE): a process that wants to cut the file, or to open it for writing, waits until the
// lease is given up. For that, what is in use is replaced by a copy first; the rest of the file must then be read in the ordinary way.
// A program that is stopped for longer than /proc/sys/fs/lease-break-time (45 s) while another process waits loses its lease.
package mapped

// Unit is the number of bytes that are mapped or given back at once: a page of the larger kind on most processors.
const Unit = 2 << 20
