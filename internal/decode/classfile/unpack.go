package classfile

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"io"
	"sync/atomic"

	"dubbo-wire/internal/decode/compress"
)

// entry is a file in an archive: what is kept of it.
type entry struct {
	hash               uint64 // of a class's name
	offset             int64  // of the local header in a jar, or which of a folder's paths
	packed, size, crc  uint32 // crc is 0 in a folder
	archive            uint32
	release            uint16 // of a multi-release jar: META-INF/versions/17; 0: of every release
	deflated, inFolder bool
}

// archive is a jar, a jar in a jar, or a folder. It is safe for use by several goroutines.
type archive struct {
	place string
	// src has the bytes of a jar, and of a jar that is stored in another one; nil for others.
	src  io.ReaderAt
	size int64
	// outer is the jar that a compressed jar is in, as packed.
	outer  *archive
	packed entry
	// dir is the path of a folder, and paths are its class files.
	dir   string
	paths []string
	// kept are the class files of a folder that were read before.
	kept map[string][]byte
}

// unpacker reads entries of jars. It is not safe for use by several goroutines.
type unpacker struct {
	buf      *bufio.Reader
	inflater compress.Inflater
	budget   *budget // nil: without bounds
}

func newUnpacker(b *budget) *unpacker {
	return &unpacker{buf: bufio.NewReaderSize(nil, 64<<10), budget: b}
}

// budget is what the scan of a class path may still take, by all goroutines together.
type budget struct {
	unpacked, archives, classes atomic.Int64
}

func newBudget() *budget {
	b := &budget{}
	b.unpacked.Store(maxUnpacked)
	b.archives.Store(maxArchives)
	b.classes.Store(maxEntries)
	return b
}

// spend takes n from what is left of something, and reports an error if that is not as much.
func (u *unpacker) spend(left *atomic.Int64, n, limit int64, what string) error {
	if left.Add(-n) < 0 {
		return &Error{Problem: "the class path has more than " + number(limit) + what, Advice: "pass the jars that have the classes of calls"}
	}
	return nil
}

// start returns where the data of an entry begin, and checks that they end within the jar.
func (e *entry) start(src io.ReaderAt, size int64) (int64, error) {
	var head [localLen]byte
	if _, err := src.ReadAt(head[:], e.offset); err != nil {
		return 0, damaged("offset %d: %s", e.offset, readError(err))
	}
	if !bytes.HasPrefix(head[:], []byte("PK\x03\x04")) {
		return 0, damaged("offset %d: the header of the entry is missing", e.offset)
	}
	start := e.offset + localLen + int64(binary.LittleEndian.Uint16(head[26:])) + int64(binary.LittleEndian.Uint16(head[28:]))
	if start+int64(e.packed) > size {
		return 0, damaged("offset %d: the file ends before the entry does", e.offset)
	}
	if !e.deflated && e.packed != e.size {
		return 0, damaged("offset %d: a stored entry of %d bytes should have %d", e.offset, e.packed, e.size)
	}
	return start, nil
}

// name returns the name in front of the data.
func (e *entry) name(src io.ReaderAt) string {
	var head [localLen]byte
	if _, err := src.ReadAt(head[:], e.offset); err != nil {
		return ""
	}
	name := make([]byte, binary.LittleEndian.Uint16(head[26:]))
	n, _ := src.ReadAt(name, e.offset+localLen)
	return string(name[:n])
}

// read returns an entry's bytes, in to if there is room. Only as much memory is taken as the packed bytes can fill, at most
// ratio for each.
func (u *unpacker) read(src io.ReaderAt, size int64, e *entry, to []byte, limit, ratio int64) ([]byte, error) {
	if int64(e.size) > limit {
		return nil, &Error{Problem: "it has " + mib(int64(e.size)) + " unpacked, the limit is " + mib(limit), Advice: keepApart}
	}
	if int64(e.size) > int64(e.packed)*ratio+1<<10 {
		return nil, &Error{Problem: "its bytes unpack to more than " + number(ratio) + " times as many, as in a zip bomb", Advice: keepApart}
	}
	start, err := e.start(src, size)
	if err != nil {
		return nil, err
	}
	var r io.Reader = io.NewSectionReader(src, start, int64(e.packed))
	if e.deflated {
		u.buf.Reset(r)
		if r, err = u.inflater.Open(u.buf); err != nil {
			return nil, err
		}
	}
	if cap(to) < int(e.size) {
		to = make([]byte, e.size)
	}
	to = to[:e.size]
	if n, err := io.ReadFull(r, to); err != nil {
		return nil, damaged("byte %d of the entry: %s", n, readError(err))
	}
	if e.deflated {
		if n, _ := r.Read(make([]byte, 1)); n > 0 {
			return nil, damaged("the entry has more than the %d bytes that its directory says", e.size)
		}
	}
	if sum := crc32.ChecksumIEEE(to); sum != e.crc {
		return nil, damaged("its checksum is %08x and should be %08x", sum, e.crc)
	}
	return to, nil
}

// nested returns the bytes of a compressed jar in a jar.
func (u *unpacker) nested(src io.ReaderAt, size int64, e *entry, to []byte) ([]byte, error) {
	if u.budget != nil {
		if err := u.spend(&u.budget.unpacked, int64(e.size), maxUnpacked, " bytes in compressed jars in jars"); err != nil {
			return nil, err
		}
	}
	return u.read(src, size, e, to, maxNestedJar, maxRatio)
}
