package redact

import (
	"bufio"
	"io"

	"dubbo-wire/internal/capture/pcapng"
	"dubbo-wire/internal/capture/rewrite"
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
	ifaces *rewrite.Interfaces
	buf    []byte
}

const (
	application = "dubbo-wire"
	comment     = "Redacted by dubbo-wire: other values, other addresses, only TCP."
	maxComment  = 8 << 10 // bytes
)

func newOutput(f File, ifaces *rewrite.Interfaces) *output {
	o := &output{file: f, ifaces: ifaces, w: bufio.NewWriterSize(f, 1<<18)}
	o.write(pcapng.AppendSection(nil, comment, "", application))
	return o
}

func (o *output) write(b []byte) {
	if o.err == nil {
		_, o.err = o.w.Write(b)
		o.at += int64(len(b))
	}
}

// packet writes a packet and returns the offset of its bytes in the file.
func (o *output) packet(rec *record) int64 {
	o.buf = o.ifaces.AppendDescription(o.buf[:0], rec.iface)
	at := o.at + int64(len(o.buf)) + pcapng.PacketHeaderLen
	o.buf = o.ifaces.AppendPacket(o.buf, rec.iface, rec.time, rec.data, rec.wireLen, rec.comments...)
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
