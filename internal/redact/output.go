package redact

import (
	"io"

	"dubbo-wire/internal/capture/packet"
	"dubbo-wire/internal/capture/pcapng"
	"dubbo-wire/internal/capture/rewrite"
)

// File is the output. What was written is read and overwritten until the redaction is done. An [os.File] is a File.
type File interface {
	io.ReaderAt
	io.WriterAt
}

// output writes a pcapng file. err is the first error that is known; nothing is written after it.
type output struct {
	file     File
	part     *part // what is not given to the file yet
	at       int64 // offset of the next byte
	err      error
	ifaces   *rewrite.Interfaces
	finisher *finisher
	// give gives a part to another goroutine, unless it returns false.
	give func(*part) bool
	sent []*part // those of other goroutines, the oldest first
	size int     // of a part, in bytes
	free []*part
}

// part is bytes of the file that follow each other.
type part struct {
	b          []byte
	at         int64 // in the file
	unfinished []unfinished
	layers     []packet.Layer
	spans      []span
	done       chan struct{} // closed when it is in the file
	err        error
}

// unfinished is a packet of a part whose bytes of no claim are still the original ones. Its checksums are not set.
type unfinished struct {
	from, to int // in the part
	payload  int // where the payload begins in the packet
	layers   [2]int
	open     [2]int // spans of the payload
	in       int
	of       flow
	seq      uint32
	framed   bool
}

// finisher finishes packets. Each goroutine has its own.
type finisher struct {
	addresses *addresses // only for checksums
	filler    *filler
}

const (
	application = "dubbo-wire"
	comment     = "Redacted by dubbo-wire: other values, other addresses, only TCP."
	maxComment  = 8 << 10 // bytes
	writeSize   = 256 << 10
)

func newOutput(f File, ifaces *rewrite.Interfaces, fin *finisher) *output {
	o := &output{file: f, ifaces: ifaces, finisher: fin, part: newPart(), size: writeSize}
	o.part.b = pcapng.AppendSection(o.part.b, comment, "", application)
	o.at = int64(len(o.part.b))
	return o
}

func newPart() *part { return &part{b: make([]byte, 0, writeSize+writeSize/4)} }

// packet writes a packet and returns the offset of its bytes in the file. u is its unit if the packet is to be finished, else nil.
func (o *output) packet(rec *record, u *unit) int64 {
	p := o.part
	before := len(p.b)
	p.b = o.ifaces.AppendDescription(p.b, rec.iface)
	from := len(p.b) + pcapng.PacketHeaderLen
	at := o.at + int64(from-before)
	p.b = o.ifaces.AppendPacket(p.b, rec.iface, rec.time, rec.data, rec.wireLen, rec.comments...)
	o.at += int64(len(p.b) - before)
	if u != nil {
		p.add(u, from, from+len(rec.data))
	}
	if len(p.b) >= o.size {
		o.flush()
	}
	return at
}

// add adds the packet of a unit, from from to before to, to those that are to be finished.
func (p *part) add(u *unit, from, to int) {
	layers, spans := len(p.layers), len(p.spans)
	p.layers = u.appendLayers(p.layers)
	p.spans = append(p.spans, u.open...)
	p.unfinished = append(p.unfinished, unfinished{
		from: from, to: to, payload: u.from, layers: [2]int{layers, len(p.layers)}, open: [2]int{spans, len(p.spans)}, in: u.in,
		of: u.dir.at, seq: u.seq, framed: u.dir.framed,
	})
}

// finish finishes the packets of a part.
func (f *finisher) finish(p *part) {
	for i := range p.unfinished {
		x := &p.unfinished[i]
		b := p.b[x.from:x.to]
		for _, s := range p.spans[x.open[0]:x.open[1]] {
			v := b[x.payload+s.from : x.payload+s.to]
			f.filler.write(v, v, &x.of, x.framed, x.seq+uint32(s.from))
		}
		f.addresses.checksums(b, p.layers[x.layers[0]:x.layers[1]], x.in, false)
	}
}

// write writes a part to a file.
func (p *part) write(file File, f *finisher) {
	f.finish(p)
	_, p.err = file.WriteAt(p.b, p.at)
}

// flush writes what is not in the file yet, or lets another goroutine do that.
func (o *output) flush() {
	for len(o.sent) > 0 {
		select {
		case <-o.sent[0].done:
			o.reuse()
			continue
		default:
		}
		break
	}
	p := o.part
	if len(p.b) == 0 || o.err != nil {
		p.reset()
		return
	}
	p.at = o.at - int64(len(p.b))
	if p.done = make(chan struct{}); o.give != nil && o.give(p) {
		o.sent = append(o.sent, p)
		if k := len(o.free); k > 0 {
			o.part, o.free = o.free[k-1], o.free[:k-1]
		} else {
			o.part = newPart()
		}
		return
	}
	p.write(o.file, o.finisher)
	o.err = p.err
	p.reset()
}

// reuse takes the memory of the oldest part that was sent, which is in the file.
func (o *output) reuse() {
	p := o.sent[0]
	o.sent = o.sent[1:]
	if o.err == nil {
		o.err = p.err
	}
	p.reset()
	o.free = append(o.free, p)
}

func (p *part) reset() {
	if cap(p.b) > 2*writeSize { // of a long packet
		p.b = newPart().b
	}
	p.b, p.unfinished, p.layers, p.spans = p.b[:0], p.unfinished[:0], p.layers[:0], p.spans[:0]
}

// settle returns once the bytes before an offset are in the file.
func (o *output) settle(to int64) {
	if to > o.at-int64(len(o.part.b)) {
		o.flush()
	}
	for len(o.sent) > 0 && o.sent[0].at < to {
		<-o.sent[0].done
		o.reuse()
	}
}

// sync writes what is not in the file yet.
func (o *output) sync() { o.settle(o.at) }

// read reads written bytes at an offset of the file.
func (o *output) read(b []byte, at int64) {
	if o.settle(at + int64(len(b))); o.err == nil {
		_, o.err = o.file.ReadAt(b, at)
	}
}

// rewrite overwrites bytes at an offset of the file.
func (o *output) rewrite(b []byte, at int64) {
	if o.settle(at + int64(len(b))); o.err == nil {
		_, o.err = o.file.WriteAt(b, at)
	}
}
