package redact

import (
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
	buf    []byte // what is not in the file yet
	at     int64  // offset of the next byte
	err    error
	ifaces *rewrite.Interfaces
}

const (
	application = "dubbo-wire"
	comment     = "Redacted by dubbo-wire: other values, other addresses, only TCP."
	maxComment  = 8 << 10 // bytes
	writeSize   = 256 << 10
)

func newOutput(f File, ifaces *rewrite.Interfaces) *output {
	o := &output{file: f, ifaces: ifaces, buf: pcapng.AppendSection(make([]byte, 0, writeSize+writeSize/4), comment, "", application)}
	o.at = int64(len(o.buf))
	return o
}

// packet writes a packet and returns the offset of its bytes in the file.
func (o *output) packet(rec *record) int64 {
	before := len(o.buf)
	o.buf = o.ifaces.AppendDescription(o.buf, rec.iface)
	at := o.at + int64(len(o.buf)-before) + pcapng.PacketHeaderLen
	o.buf = o.ifaces.AppendPacket(o.buf, rec.iface, rec.time, rec.data, rec.wireLen, rec.comments...)
	o.at += int64(len(o.buf) - before)
	if len(o.buf) >= writeSize {
		o.sync()
	}
	return at
}

// sync writes what is not in the file yet.
func (o *output) sync() {
	if o.err == nil && len(o.buf) > 0 {
		_, o.err = o.file.Write(o.buf)
	}
	o.buf = o.buf[:0]
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
