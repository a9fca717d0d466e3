package redact

import (
	"bufio"
	"io"

	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/capture/pcapng"
)

// File is the output. What was written is read and overwritten until the redaction is done. An [os.File] is a File.
type File interface {
	io.Writer
	io.ReaderAt
	io.WriterAt
}

// output writes a pcapng file. err is the first error; nothing is written after it.
type output struct {
	file   File
	w      *bufio.Writer
	at     int64 // offset of the next byte
	err    error
	ifaces uint32
	buf    []byte
}

const (
	application = "dubbo-wire"
	comment     = "Redacted by dubbo-wire: other values, other addresses, only TCP."
	maxComment  = 8 << 10 // bytes
)

func newOutput(f File) *output {
	o := &output{file: f, w: bufio.NewWriterSize(f, 1<<18)}
	o.write(pcapng.AppendSection(nil, comment, "", application))
	return o
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
	file    int // of the input
	id      int
	number  uint32
	written bool
	tick    int64 // nanoseconds per unit of its times
}

func (o *output) device(d *device) {
	o.buf = pcapng.AppendInterface(o.buf[:0], pcapng.Description{Link: uint16(d.link), SnapLen: d.snapLen, Digits: d.digits})
	o.write(o.buf)
	d.number, d.written = o.ifaces, true
	o.ifaces++
	d.tick = 1
	for i := d.digits; i < 9; i++ {
		d.tick *= 10
	}
}

// packet writes a packet and returns the offset of its bytes in the file.
func (o *output) packet(d *device, rec *record) int64 {
	if !d.written {
		o.device(d)
	}
	at := o.at + pcapng.PacketHeaderLen
	o.buf = pcapng.AppendPacket(o.buf[:0], d.number, uint64(max(rec.time, 0)/d.tick), rec.data, rec.wireLen, rec.comments...)
	o.write(o.buf)
	return at
}

// sync flushes the buffer to the file.
func (o *output) sync() {
	if o.err == nil {
		o.err = o.w.Flush()
	}
}

// read reads written bytes at an offset of the file.
func (o *output) read(b []byte, at int64) {
	if o.sync(); o.err == nil {
		_, o.err = o.file.ReadAt(b, at)
	}
}

// rewrite overwrites bytes at an offset of the file.
func (o *output) rewrite(b []byte, at int64) {
	if o.sync(); o.err == nil {
		_, o.err = o.file.WriteAt(b, at)
	}
}
