package parquet

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// Wrote reports whether this package wrote a file: a complete one by the schema in its metadata, an unfinished one by its temporary name.
func Wrote(f *os.File) bool {
	var magic [4]byte
	if _, err := io.ReadFull(f, magic[:]); err != nil || string(magic[:]) != "PAR1" {
		return false
	}
	if strings.HasPrefix(filepath.Base(f.Name()), ".") {
		return true
	}
	end, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return false
	}
	tail := make([]byte, min(end, maxFooter))
	n, _ := f.ReadAt(tail, end-int64(len(tail)))
	return bytes.Contains(tail[:n], []byte("dubbo-wire/calls/")) || bytes.Contains(tail[:n], []byte("dubbo-wire/coverage/"))
}

// maxFooter is how many bytes at the end of a file are searched for its schema.
const maxFooter = 1 << 20
