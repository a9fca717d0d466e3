package classfile

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"io"
)

// Files of an image that jlink --compress made (imageDecompressor.cpp of OpenJDK): a header says what to undo and how large the
// result is; the result may have such a header again.

const (
	packedMagic     = 0xcafefafa
	packedHeaderLen = 29
	maxPackings     = 4
)

// unpack returns a file of size bytes.
func (m *image) unpack(data []byte, size uint64) ([]byte, error) {
	for range maxPackings {
		if len(data) < packedHeaderLen || m.order.Uint32(data) != packedMagic {
			break
		}
		packed, unpacked := m.order.Uint64(data[4:]), m.order.Uint64(data[12:])
		method := m.text(uint64(m.order.Uint32(data[20:])))
		data = data[packedHeaderLen:]
		if packed > uint64(len(data)) || unpacked > maxClassFile {
			return nil, damaged("a compressed file of %d bytes, %d unpacked, does not fit", packed, unpacked)
		}
		data = data[:packed]
		var err error
		switch method {
		case "zip":
			data, err = inflate(data, unpacked)
		case "compact-cp":
			data, err = m.withTexts(data, unpacked)
		default:
			err = &Error{Problem: fmt.Sprintf("unknown compression %s", quote(method)), Advice: "pass a JDK that jlink did not make"}
		}
		if err != nil {
			return nil, err
		}
		if uint64(len(data)) != unpacked {
			return nil, damaged("%d bytes unpacked, %d were expected", len(data), unpacked)
		}
	}
	if uint64(len(data)) != size {
		return nil, damaged("%d bytes unpacked, %d were expected", len(data), size)
	}
	return data, nil
}

func inflate(data []byte, size uint64) ([]byte, error) {
	z, err := zlib.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, damaged("%s", err)
	}
	data, err = io.ReadAll(io.LimitReader(z, int64(size)+1))
	if err != nil {
		return nil, damaged("%s", readError(err))
	}
	return data, nil
}

// Entries of a constant pool whose text is in the image's strings.
const (
	sharedText       = 23
	sharedDescriptor = 25
)

// withTexts returns a class file whose constant pool shares its texts with other classes.
func (m *image) withTexts(data []byte, size uint64) ([]byte, error) {
	r := &reader{b: data}
	var out []byte
	out = append(out, r.take(10)...)
	if r.err != nil {
		return nil, r.err
	}
	count := int(binary.BigEndian.Uint16(out[8:]))
	for i := 1; i < count && r.err == nil && uint64(len(out)) <= size; i++ {
		at := r.at
		switch tag := r.u1(); {
		case tag == sharedText:
			out = appendText(out, m.text(uint64(r.index())))
		case tag == sharedDescriptor:
			shape := m.text(uint64(r.index()))
			names := r.within(uint32(r.index()))
			out = appendText(out, m.descriptor(shape, names, int(size)))
			if r.err == nil {
				r.err = names.err
			}
		case tag == tagUtf8:
			n := r.u2()
			r.take(n)
			out = append(out, data[at:r.at]...)
		case tag < len(tagSizes) && tagSizes[tag] > 0:
			r.take(tagSizes[tag] - 1)
			out = append(out, data[at:r.at]...)
			if tag == tagLong || tag == tagDouble {
				i++
			}
		default:
			r.fail(at, "constant pool entry %d has the unknown tag %d", i, tag)
		}
	}
	if r.err != nil {
		return nil, r.err
	}
	return append(out, data[r.at:]...), nil
}

func appendText(out []byte, s string) []byte {
	out = append(out, tagUtf8)
	out = binary.BigEndian.AppendUint16(out, uint16(len(s)))
	return append(out, s[:min(len(s), 0xffff)]...)
}

// index reads a number whose first byte says how long it is.
func (r *reader) index() int {
	first := r.u1()
	if first&0x80 == 0 { // four bytes
		n := first
		for range 3 {
			n = n<<8 | r.u1()
		}
		return n
	}
	n := first & 0x1f
	for range first>>5&3 - 1 {
		n = n<<8 | r.u1()
	}
	return n
}

// descriptor puts package and class after each L of a descriptor.
func (m *image) descriptor(shape string, names *reader, limit int) string {
	var w []byte
	for i := range len(shape) {
		w = append(w, shape[i])
		if shape[i] != 'L' || names.err != nil || names.at == len(names.b) || len(w) > limit {
			continue
		}
		if s := m.text(uint64(names.index())); s != "" {
			w = append(append(w, s...), '/')
		}
		w = append(w, m.text(uint64(names.index()))...)
	}
	return string(w)
}
