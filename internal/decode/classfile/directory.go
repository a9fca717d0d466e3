package classfile

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
)

// The directory of a zip file (ZIP Application Note 4.3) is read entry by entry, in constant memory: archive/zip takes some
// 300 bytes an entry, and does not say where entries begin, which shows whether they overlap.

const (
	endLen        = 22 // end of central directory record
	end64Len      = 56
	locator64Len  = 20
	headerLen     = 46 // header of an entry in the directory
	localLen      = 30 // header in front of an entry's data
	zip64ExtraTag = 1
	deflated      = 8
	encryptedFlag = 1
)

// zipEntry is a file in a zip file.
type zipEntry struct {
	name         []byte
	offset       int64 // of its local header
	packed, size uint64
	crc          uint32
	method       uint16
	encrypted    bool
}

// directory is where the entries of a zip file are listed.
type directory struct {
	base         int64 // what lies in front of the zip file: a shell script
	offset, size int64
	entries      uint64
}

// findDirectory finds the end of central directory record, which a comment may follow.
func findDirectory(r io.ReaderAt, size int64) (d directory, err error) {
	var tail []byte
	end := -1
	for _, n := range []int64{1 << 10, endLen + 1<<16} {
		tail = make([]byte, min(n, size))
		if _, err := r.ReadAt(tail, size-int64(len(tail))); err != nil && err != io.EOF {
			return d, err
		}
		if end = findEnd(tail); end >= 0 || n >= size {
			break
		}
	}
	if end < 0 {
		if start := make([]byte, 2); size > 0 {
			if n, _ := r.ReadAt(start, 0); string(start[:n]) != "PK" && string(start[:n]) != "#!" {
				return d, &Error{Problem: "is not a jar", Advice: "pass a jar, a war or a folder of class files"}
			}
		}
		return d, damaged("the end of the jar is missing")
	}
	at := size - int64(len(tail)) + int64(end)
	rec := tail[end:]
	d.entries = uint64(binary.LittleEndian.Uint16(rec[10:]))
	d.size = int64(binary.LittleEndian.Uint32(rec[12:]))
	d.offset = int64(binary.LittleEndian.Uint32(rec[16:]))
	if d.entries == 0xffff || d.size == 0xffffffff || d.offset == 0xffffffff {
		if at, err = d.zip64(r, at); err != nil {
			return d, err
		}
	}
	if d.size >= 0 && d.size <= at && d.offset >= 0 && d.offset <= at {
		d.base = at - d.size - d.offset
	} else {
		d.base = -1
	}
	if d.base < 0 {
		return d, damaged("the directory does not fit into the file: %d bytes at offset %d", d.size, d.offset)
	}
	return d, nil
}

// findEnd returns where the record begins that has a comment up to the end of b; -1 if there is none.
func findEnd(b []byte) int {
	for i := len(b) - endLen; i >= 0; i-- {
		if b[i] == 'P' && bytes.HasPrefix(b[i:], []byte("PK\x05\x06")) &&
			i+endLen+int(binary.LittleEndian.Uint16(b[i+20:])) <= len(b) {
			return i
		}
	}
	return -1
}

// zip64 reads the record for large files, if there is one; end is where the directory ends.
func (d *directory) zip64(r io.ReaderAt, at int64) (end int64, err error) {
	b := make([]byte, locator64Len)
	if at < locator64Len {
		return at, nil
	}
	if _, err := r.ReadAt(b, at-locator64Len); err != nil {
		return 0, err
	}
	if !bytes.HasPrefix(b, []byte("PK\x06\x07")) {
		return at, nil
	}
	rec := make([]byte, end64Len)
	said := int64(binary.LittleEndian.Uint64(b[8:]))
	for _, end = range []int64{at - locator64Len - end64Len, said} { // said does not count what lies in front of the zip file
		if end < 0 || end > at {
			continue
		}
		if _, err := r.ReadAt(rec, end); err != nil {
			return 0, err
		}
		if bytes.HasPrefix(rec, []byte("PK\x06\x06")) {
			d.entries = binary.LittleEndian.Uint64(rec[32:])
			d.size = int64(binary.LittleEndian.Uint64(rec[40:]))
			d.offset = int64(binary.LittleEndian.Uint64(rec[48:]))
			return end, nil
		}
	}
	return 0, damaged("the zip64 record is not at offset %d", said)
}

// readDirectory calls f for each entry of a zip file, in the order of its directory. The entry and its name are f's until it
// returns.
func readDirectory(r io.ReaderAt, size int64, buf *bufio.Reader, f func(*zipEntry) error) error {
	d, err := findDirectory(r, size)
	if err != nil {
		return err
	}
	start := d.base + d.offset
	buf.Reset(io.NewSectionReader(r, start, d.size))
	var e zipEntry
	var head [headerLen]byte
	var rest []byte
	read := int64(0)
	count := uint64(0)
	for ; read < d.size; count++ {
		at := start + read
		if _, err := io.ReadFull(buf, head[:]); err != nil || !bytes.HasPrefix(head[:], []byte("PK\x01\x02")) {
			return damaged("offset %d: entry %d of the directory is not one", at, count+1)
		}
		nameLen, extraLen := int(binary.LittleEndian.Uint16(head[28:])), int(binary.LittleEndian.Uint16(head[30:]))
		n := nameLen + extraLen + int(binary.LittleEndian.Uint16(head[32:]))
		if cap(rest) < n {
			rest = make([]byte, n, max(n, 512))
		}
		rest = rest[:n]
		if _, err := io.ReadFull(buf, rest); err != nil {
			return damaged("offset %d: entry %d of the directory is cut off", at, count+1)
		}
		read += int64(headerLen + n)
		e = zipEntry{
			name: rest[:nameLen], crc: binary.LittleEndian.Uint32(head[16:]), method: binary.LittleEndian.Uint16(head[10:]),
			encrypted: head[8]&encryptedFlag != 0,
			packed:    uint64(binary.LittleEndian.Uint32(head[20:])), size: uint64(binary.LittleEndian.Uint32(head[24:])),
		}
		offset := uint64(binary.LittleEndian.Uint32(head[42:]))
		if e.size == 0xffffffff || e.packed == 0xffffffff || offset == 0xffffffff {
			e.zip64(rest[nameLen:nameLen+extraLen], &offset)
		}
		// The data come before the directory, after a header that repeats the name.
		room := uint64(d.offset)
		if offset > room || e.packed > room-offset || uint64(localLen+nameLen) > room-offset-e.packed {
			return damaged("entry %s does not fit into the file: %d bytes at offset %d", quote(e.name), e.packed, offset)
		}
		e.offset = d.base + int64(offset)
		if err := f(&e); err != nil {
			return err
		}
	}
	if count&0xffff != d.entries&0xffff {
		return damaged("the directory has %d entries and should have %d", count, d.entries)
	}
	return nil
}

// zip64 takes the numbers that do not fit into 32 bits from an entry's extra fields.
func (e *zipEntry) zip64(extra []byte, offset *uint64) {
	for len(extra) >= 4 {
		tag, n := binary.LittleEndian.Uint16(extra), int(binary.LittleEndian.Uint16(extra[2:]))
		extra = extra[4:]
		if n > len(extra) {
			return
		}
		field := extra[:n]
		extra = extra[n:]
		if tag != zip64ExtraTag {
			continue
		}
		for _, to := range []*uint64{&e.size, &e.packed, offset} {
			if *to == 0xffffffff && len(field) >= 8 {
				*to, field = binary.LittleEndian.Uint64(field), field[8:]
			}
		}
		return
	}
}
