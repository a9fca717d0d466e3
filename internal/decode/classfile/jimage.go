package classfile

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"strings"
)

// A JDK's lib/modules (imageFile.hpp of OpenJDK): a header, a table that turns the hash of a path into an entry, the entries'
// locations, their texts, and then the files. Paths are /MODULE/PACKAGE/CLASS.class; /packages/PACKAGE lists the modules with a
// package. Numbers have the byte order of the machine that the JDK is for.

// image is an open lib/modules. It is safe for use by several goroutines. Its tables are in memory: some 2 MB.
type image struct {
	place string
	src   io.ReaderAt
	size  int64
	file  *os.File // nil in tests

	order     binary.ByteOrder
	redirect  []byte // a number for each hash: a seed for another one, or where the entry is
	offsets   []byte // of locations
	locations []byte
	strings   []byte
	files     int64 // where the files begin
}

// location says where a file of an image is.
type location struct {
	module, parent, base, extension uint64 // offsets of texts
	offset, packed, size            uint64 // packed is 0 for a file that is not compressed
}

// Attributes of a location.
const (
	attributeEnd = iota
	attributeModule
	attributeParent
	attributeBase
	attributeExtension
	attributeOffset
	attributeCompressed
	attributeUncompressed
)

const (
	imageMagic     = 0xcafedada
	imageHeaderLen = 28
	imageSeed      = 0x01000193
)

func openImage(path string) (*image, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, located(path, withoutPath(err))
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, located(path, withoutPath(err))
	}
	m, err := newImage(f, info.Size())
	if err != nil {
		f.Close()
		return nil, located(path, err)
	}
	m.place, m.file = path, f
	return m, nil
}

func newImage(src io.ReaderAt, size int64) (*image, error) {
	m := &image{src: src, size: size, order: binary.LittleEndian}
	head := make([]byte, imageHeaderLen)
	if n, _ := src.ReadAt(head, 0); n < len(head) {
		return nil, damaged("too short for the modules of a JDK")
	}
	if m.order.Uint32(head) != imageMagic {
		m.order = binary.BigEndian
	}
	if m.order.Uint32(head) != imageMagic {
		return nil, damaged("not the modules of a JDK: they start with %x", head[:4])
	}
	if v := m.order.Uint32(head[4:]); v>>16 != 1 {
		return nil, &Error{Problem: fmt.Sprintf("modules of version %d.%d; only 1 is known", v>>16, v&0xffff), Advice: "pass another JDK"}
	}
	table := int64(m.order.Uint32(head[16:]))
	locations, texts := int64(m.order.Uint32(head[20:])), int64(m.order.Uint32(head[24:]))
	m.files = imageHeaderLen + 8*table + locations + texts
	if m.files > size || m.files > maxImageIndex || table == 0 {
		return nil, damaged("its tables should have %d bytes, it has %d", m.files, size)
	}
	tables := make([]byte, m.files-imageHeaderLen)
	if _, err := src.ReadAt(tables, imageHeaderLen); err != nil && err != io.EOF {
		return nil, err
	}
	cut := func(n int64) []byte {
		b := tables[:n:n]
		tables = tables[n:]
		return b
	}
	m.redirect, m.offsets, m.locations, m.strings = cut(4*table), cut(4*table), cut(locations), cut(texts)
	return m, nil
}

// hash is ImageStrings::hash_code.
func (m *image) hash(path string, seed uint32) uint32 {
	for i := range len(path) {
		seed = seed*imageSeed ^ uint32(path[i])
	}
	return seed & 0x7fffffff
}

// find returns the location of a path.
func (m *image) find(path string) (l location, ok bool) {
	n := uint32(len(m.redirect) / 4)
	i := m.hash(path, imageSeed) % n
	switch v := int32(m.order.Uint32(m.redirect[4*i:])); {
	case v == 0:
		return l, false
	case v > 0:
		i = m.hash(path, uint32(v)) % n
	default:
		if i = uint32(-1 - int64(v)); i >= n {
			return l, false
		}
	}
	l, ok = m.location(i)
	return l, ok && m.path(&l) == path
}

// location returns the i-th location: attributes, each a kind and a number of as many bytes as it needs.
func (m *image) location(i uint32) (l location, ok bool) {
	at := uint64(m.order.Uint32(m.offsets[4*i:]))
	for at < uint64(len(m.locations)) {
		kind, n := m.locations[at]>>3, uint64(m.locations[at]&7)+1
		if kind == attributeEnd {
			return l, true
		}
		if at++; n > uint64(len(m.locations))-at {
			break
		}
		var v uint64
		for _, b := range m.locations[at : at+n] {
			v = v<<8 | uint64(b)
		}
		at += n
		switch kind {
		case attributeModule:
			l.module = v
		case attributeParent:
			l.parent = v
		case attributeBase:
			l.base = v
		case attributeExtension:
			l.extension = v
		case attributeOffset:
			l.offset = v
		case attributeCompressed:
			l.packed = v
		case attributeUncompressed:
			l.size = v
		}
	}
	return l, false
}

// text returns the text at an offset, which a zero byte ends.
func (m *image) text(at uint64) string {
	if at >= uint64(len(m.strings)) {
		return ""
	}
	b := m.strings[at:]
	if n := bytes.IndexByte(b[:min(len(b), 1<<16)], 0); n >= 0 {
		return string(b[:n])
	}
	return ""
}

// path returns the path of a location: /module/parent/base.extension.
func (m *image) path(l *location) string {
	var w strings.Builder
	if s := m.text(l.module); s != "" {
		w.WriteString("/" + s + "/")
	}
	if s := m.text(l.parent); s != "" {
		w.WriteString(s + "/")
	}
	w.WriteString(m.text(l.base))
	if s := m.text(l.extension); s != "" {
		w.WriteString("." + s)
	}
	return w.String()
}

// class returns a class file.
func (m *image) class(name string) (data []byte, place string, err error) {
	list, ok := m.find("/packages/" + Package(name))
	if !ok {
		return nil, "", ErrMissing
	}
	modules, err := m.read(&list)
	if err != nil {
		return nil, m.place, located(m.place+"!/packages/"+quote(Package(name)), err)
	}
	file := "/" + strings.ReplaceAll(name, ".", "/") + ".class"
	for n := 0; len(modules) >= 8 && n < 1000; n++ { // each: whether the module's package is empty, the module's name
		if m.order.Uint32(modules) == 0 {
			path := "/" + m.text(uint64(m.order.Uint32(modules[4:]))) + file
			if l, ok := m.find(path); ok {
				place = m.place + "!" + quote(path)
				if data, err = m.read(&l); err != nil {
					err = located(place, err)
				}
				return data, place, err
			}
		}
		modules = modules[8:]
	}
	return nil, "", ErrMissing
}

// read returns a file.
func (m *image) read(l *location) ([]byte, error) {
	n := l.packed
	if n == 0 {
		n = l.size
	}
	if l.size > maxClassFile || n > maxClassFile {
		return nil, &Error{Problem: "it has " + number(int64(max(l.size, n)>>20)) + " MiB, the limit is " + mib(maxClassFile), Advice: rebuild}
	}
	if room := uint64(m.size - m.files); l.offset > room || n > room-l.offset {
		return nil, damaged("%d bytes at offset %d of the files lie outside of the image", n, l.offset)
	}
	data := make([]byte, n)
	if _, err := m.src.ReadAt(data, m.files+int64(l.offset)); err != nil && err != io.EOF {
		return nil, err
	}
	if l.packed == 0 {
		return data, nil
	}
	return m.unpack(data, l.size)
}

func (m *image) close() error {
	if m.file == nil {
		return nil
	}
	return m.file.Close()
}
