package redact

import (
	"bufio"
	"encoding/binary"
	"io"
	"math"

	"dubbo-wire/internal/capture"
)

// File is where the output is written; what was written is read and written again while it is not done. An [os.File] is one.
type File interface {
	io.Writer
	io.ReaderAt
	io.WriterAt
}

// output writes a pcapng file. What goes wrong first is its err; nothing is written behind it.
type output struct {
	file   File
	w      *bufio.Writer
	at     int64 // where the next byte goes
	err    error
	ifaces uint32
	buf    []byte
}

const (
	blockSection   = 0x0a0d0d0a
	blockInterface = 1
	blockPacket    = 6
)

// Options of blocks.
const (
	optComment       = 1
	shbApplication   = 4
	ifResolution     = 9
	maxComment       = 8 << 10
	packetHead       = 28
	application      = "dubbo-wire"
	comment          = "Redacted by dubbo-wire: other values, other addresses, only TCP."
	littleEndianMark = 0x1a2b3c4d
)

func newOutput(f File) *output {
	o := &output{file: f, w: bufio.NewWriterSize(f, 1<<18)}
	b := begin(nil, blockSection)
	b = binary.LittleEndian.AppendUint32(b, littleEndianMark)
	b = append(b, 1, 0, 0, 0) // version 1.0
	b = binary.LittleEndian.AppendUint64(b, math.MaxUint64)
	b = option(b, optComment, comment)
	b = option(b, shbApplication, application)
	o.write(end(append(b, 0, 0, 0, 0)))
	return o
}

func begin(b []byte, kind uint32) []byte {
	return append(binary.LittleEndian.AppendUint32(b, kind), 0, 0, 0, 0)
}

// end closes the block that b is.
func end(b []byte) []byte {
	n := uint32(len(b) + 4)
	binary.LittleEndian.PutUint32(b[4:], n)
	return binary.LittleEndian.AppendUint32(b, n)
}

func option(b []byte, code uint16, s string) []byte {
	b = binary.LittleEndian.AppendUint16(b, code)
	b = binary.LittleEndian.AppendUint16(b, uint16(len(s)))
	b = append(b, s...)
	return append(b, "\x00\x00\x00"[:-len(s)&3]...)
}

func (o *output) write(b []byte) {
	if o.err == nil {
		_, o.err = o.w.Write(b)
		o.at += int64(len(b))
	}
}

// device is an interface of the output.
type device struct {
	link    capture.LinkType
	snapLen uint32
	digits  uint8
	file    int // of the input, and which of its interfaces
	id      int
	number  uint32
	written bool
	tick    int64 // nanoseconds of a unit of its times
}

func (o *output) device(d *device) {
	b := begin(o.buf[:0], blockInterface)
	b = binary.LittleEndian.AppendUint16(b, uint16(d.link))
	b = append(b, 0, 0)
	b = binary.LittleEndian.AppendUint32(b, d.snapLen)
	b = option(b, ifResolution, string([]byte{d.digits}))
	o.buf = end(append(b, 0, 0, 0, 0))
	o.write(o.buf)
	d.number, d.written = o.ifaces, true
	o.ifaces++
	d.tick = 1
	for i := d.digits; i < 9; i++ {
		d.tick *= 10
	}
}

// packet writes one and returns where its bytes are in the file.
func (o *output) packet(d *device, rec *record) int64 {
	if !d.written {
		o.device(d)
	}
	t := uint64(max(rec.time, 0) / d.tick)
	b := begin(o.buf[:0], blockPacket)
	b = binary.LittleEndian.AppendUint32(b, d.number)
	b = binary.LittleEndian.AppendUint32(b, uint32(t>>32))
	b = binary.LittleEndian.AppendUint32(b, uint32(t))
	b = binary.LittleEndian.AppendUint32(b, uint32(rec.n))
	b = binary.LittleEndian.AppendUint32(b, uint32(rec.wireLen))
	b = append(b, rec.data...)
	b = append(b, "\x00\x00\x00"[:-rec.n&3]...)
	if len(rec.comments) > 0 {
		for _, c := range rec.comments {
			b = option(b, optComment, c[:min(len(c), maxComment)])
		}
		b = append(b, 0, 0, 0, 0)
	}
	at := o.at + packetHead
	o.buf = end(b)
	o.write(o.buf)
	return at
}

// sync makes what was written part of the file.
func (o *output) sync() {
	if o.err == nil {
		o.err = o.w.Flush()
	}
}

// read reads written bytes at a place of the file.
func (o *output) read(b []byte, at int64) {
	if o.sync(); o.err == nil {
		_, o.err = o.file.ReadAt(b, at)
	}
}

// rewrite writes bytes at a place that was written before.
func (o *output) rewrite(b []byte, at int64) {
	if o.sync(); o.err == nil {
		_, o.err = o.file.WriteAt(b, at)
	}
}
