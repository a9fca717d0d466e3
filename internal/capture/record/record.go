// Package record writes packets to pcapng files while they are analysed: to one file, or to several by size and time as
// tcpdump's -C, -G and -W do; all packets, or the packets of connections that carry RPC messages.
//
// Packets, their verdicts and the connections that carry messages come in; pcapng files go out. Each file is valid
// whenever the process ends, except within a write: complete blocks are collected and written together, and after a
// failed write the incomplete block at the end is removed. Each file is independent: it has its own section, its
// interfaces, and at its end how many packets the kernel received and dropped meanwhile.
//
// A Recorder must be used by one goroutine. Packets are borrowed, and copied before Packet returns.
//
// The format is draft-ietf-opsawg-pcapng; names and rotation follow tcpdump(1) 4.99. docs/recording.md lists the
// differences.
package record

import (
	"fmt"

	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/capture/packet"
	"dubbo-wire/internal/capture/pcapng"
	"dubbo-wire/internal/term"
)

// Recorder writes packets to files.
type Recorder struct {
	o     Options
	snap  int
	names namer
	out   file
	on    bool // a file is open
	err   error
	done  bool

	// Interfaces that packets came from, and their numbers in the current section.
	ifaces  []iface
	known   map[ifaceKey]int32
	last    int32
	section uint32 // counts sections of all files
	ids     uint32 // interfaces described in this section

	now         int64  // the latest known time
	period      Period // of the current file
	opened      int64  // time when the file was opened
	files       int
	parts       int // files that started because the one before them had its full size
	overwritten int

	counted           bool
	received, dropped int64                             // the kernel's counts so far
	base              struct{ received, dropped int64 } // the counts when the file was opened
	leftBase          int64

	conns   *table // with OnlyRPC only
	scratch []byte

	stats Stats // of closed files, and of packets that were not written
}

type ifaceKey struct {
	file, number int
	link         capture.LinkType
}

type iface struct {
	key     ifaceKey
	section uint32 // the last section that describes it
	id      uint32 // its number there
}

// maxIDs is how many interfaces a section describes before the next section starts: as many as our reader accepts.
const maxIDs = 4096

// Stats counts what became of the packets so far.
type Stats struct {
	File    string // current or last file; "" if there was none
	On      bool   // the file is open
	Files   int    // opened
	Packets int64  // written
	Bytes   int64  // of all files
	// Packets that were not written, and their bytes on the wire. LeftOut: because of OnlyRPC; Undecided: packets of
	// connections that may still turn out to carry messages.
	LeftOut, LeftOutBytes     int64
	Undecided, UndecidedBytes int64
	// Overwritten is how many files reused the name of an earlier file of this recorder: rings of -W, and names of -G
	// that repeat.
	Overwritten int
}

// Open creates the first file, so that errors are known before the capture starts.
func Open(o Options) (*Recorder, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	r := &Recorder{o: o, snap: o.snapLen(), known: make(map[ifaceKey]int32), last: -1, scratch: make([]byte, 0, 64<<10)}
	if o.OnlyRPC {
		r.conns = newTable(maxConns, maxHeld, r.countLeftOut)
	}
	r.now = o.now()
	if o.File == "" {
		return r, nil
	}
	if err := r.Start(""); err != nil {
		return nil, err
	}
	return r, nil
}

// Start starts recording into a file, or into the file of the options if it is "". Earlier files are kept: a name that
// was used last gets a number.
func (r *Recorder) Start(file string) error {
	if r.on {
		return nil
	}
	if file != "" {
		o := r.o
		o.File = file
		if err := o.Check(); err != nil {
			return err
		}
		r.o.File = file
	}
	if r.o.File == "" {
		return fmt.Errorf("no file to record to")
	}
	r.err, r.done = nil, false
	r.stats.Files, r.files, r.parts = r.stats.Files+r.files, 0, 0
	r.now = r.o.now()
	r.period = Period{r.o.Every, r.now}
	if err := r.open(); err != nil {
		r.err = err
		return err
	}
	return nil
}

// Close closes the file; Start may open another one. Packets of undecided connections are left out. It returns the first
// error, and may be called again.
func (r *Recorder) Close() error {
	if r.conns != nil {
		r.conns.giveUpAll()
	}
	if r.on {
		r.finish()
	}
	return r.err
}

// Err returns the error that ended the recording, or nil.
func (r *Recorder) Err() error { return r.err }

// Done reports whether the requested number of files of Every is reached.
func (r *Recorder) Done() bool { return r.done }

// Dropped sets how many packets the kernel has received and dropped so far.
func (r *Recorder) Dropped(received, dropped int64) {
	r.counted, r.received, r.dropped = true, received, dropped
}

// Stats returns what became of the packets so far.
func (r *Recorder) Stats() Stats {
	s := r.stats
	s.File, s.On = r.out.name, r.on
	s.Files += r.files
	s.Overwritten = r.overwritten
	if r.on {
		s.Packets += r.out.packets
		s.Bytes += r.out.size
	}
	if r.conns != nil {
		s.Undecided, s.UndecidedBytes = r.conns.heldPackets, r.conns.heldBytes
	}
	return s
}

// Packet records a packet, holds it, or leaves it out. s is its segment if v is packet.TCP.
func (r *Recorder) Packet(p *capture.Packet, v packet.Verdict, s *packet.Segment) {
	if r.conns != nil {
		r.packetOfConnection(p, v, s)
		return
	}
	if !r.on || !r.rotateIfDue(p.Time) {
		return
	}
	r.write(r.ifaceOf(p), p.Time, p.Data, p.WireLen)
}

// packetOfConnection is Packet with OnlyRPC. IP fragments are always recorded, because their connection is known only
// when the last fragment has come.
func (r *Recorder) packetOfConnection(p *capture.Packet, v packet.Verdict, s *packet.Segment) {
	if r.on {
		r.rotateIfDue(p.Time)
	}
	switch {
	case v == packet.TCP:
	case v == packet.Held, v == packet.Fragment:
		if r.on {
			r.write(r.ifaceOf(p), p.Time, p.Data, p.WireLen)
		}
		return
	default:
		if r.on {
			r.countLeftOut(1, int64(p.WireLen))
		}
		return
	}
	if r.on {
		r.conns.expire(p.Time)
	}
	ends, side := pairOf(s.Src, s.Dst)
	c := r.conns.index[ends]
	if c != nil && c.list >= rpc {
		r.conns.update(c, s, side, p.Time)
		if r.on {
			r.write(r.ifaceOf(p), p.Time, p.Data, p.WireLen)
		}
		return
	}
	if !r.on {
		return
	}
	if c == nil {
		c = r.conns.add(&ends, quiet)
	}
	r.conns.hold(c, s, held{at: p.Time, wire: p.WireLen, iface: r.ifaceOf(p)}, p.Data[:min(len(p.Data), r.snap)])
}

// Carries tells that the connection between two ends carries messages. Its held packets are written.
func (r *Recorder) Carries(a, b packet.Endpoint) {
	t := r.conns
	if t == nil {
		return
	}
	ends, _ := pairOf(a, b)
	c := t.index[ends]
	if c == nil {
		t.add(&ends, rpc).last = r.now
		return
	}
	if c.list >= rpc {
		return
	}
	t.move(c, rpc)
	for _, ch := range [...]*chain{&c.handshake, &c.payload} {
		for ch.count > 0 {
			var h held
			h, r.scratch = t.mem.pop(ch, r.scratch[:0])
			t.uncount(h)
			if r.on {
				r.write(h.iface, h.at, r.scratch, h.wire)
			} else {
				t.onLeftOut(1, int64(h.wire))
			}
		}
		*ch = chain{}
	}
}

// countLeftOut counts packets that are left out.
func (r *Recorder) countLeftOut(packets, bytes int64) {
	r.stats.LeftOut += packets
	r.stats.LeftOutBytes += bytes
}

// Tick does what is due at a time, whether packets come or not: it writes collected blocks, and may end a period. It is
// called several times per second.
func (r *Recorder) Tick(at int64) {
	if r.conns != nil {
		r.conns.expire(at)
	}
	if r.on && r.rotateIfDue(at) {
		if err := r.out.flush(); err != nil {
			r.fail(err)
		}
	}
}

// rotateIfDue opens the next file if the period of this one is over. It reports whether a file is open.
func (r *Recorder) rotateIfDue(at int64) bool {
	r.now = at
	if !r.period.Over(at) {
		return true
	}
	if r.o.Files > 0 && r.o.MaxBytes == 0 && r.files-r.parts >= r.o.Files {
		r.done = true
		r.finish()
		return false
	}
	r.period.Next(at)
	return r.next()
}

// next closes this file and opens the next one.
func (r *Recorder) next() bool {
	if !r.finish() {
		return false
	}
	if err := r.open(); err != nil {
		r.err = err
		return false
	}
	return true
}

// nextPart continues in the next file, because this one has its full size. Without rotation that ends the recording.
func (r *Recorder) nextPart() bool {
	if !r.o.rotates() {
		r.fail(ErrDiskLimit)
		return false
	}
	r.parts++
	return r.next()
}

// open opens a file.
func (r *Recorder) open() error {
	name, reused := r.o.File, false
	if name != "-" {
		name, reused = r.names.next(&r.o, &r.period, r.files == 0)
	}
	if err := r.create(name); err != nil {
		return err
	}
	if reused {
		r.overwritten++
	}
	r.files++
	r.on = true
	r.opened = max(r.now, r.period.Begin)
	r.base.received, r.base.dropped = r.received, r.dropped
	r.leftBase = r.stats.LeftOut
	r.startSection()
	if err := r.out.flush(); err != nil { // reports a full disk at once
		r.fail(err)
		return r.err
	}
	return nil
}

func (r *Recorder) startSection() {
	r.section++
	r.ids = 0
	at := len(r.out.buf)
	r.out.buf = pcapng.AppendSection(r.out.buf, r.o.Comment, r.o.OS, r.o.Application)
	r.out.size += int64(len(r.out.buf) - at)
}

// finish closes the file, and reports whether all of it was written.
func (r *Recorder) finish() bool {
	err := r.out.flush()
	r.finalBlocks()
	return r.closeFile(err)
}

// closeFile closes the file and stores its error.
func (r *Recorder) closeFile(err error) bool {
	if closing := r.out.close(); err == nil {
		err = closing
	}
	r.on = false
	r.stats.Packets += r.out.packets
	r.stats.Bytes += r.out.size
	if err != nil {
		r.err = writeError(r.out.name, r.out.packets, err)
		if r.conns != nil {
			r.conns.giveUpAll()
		}
	}
	return err == nil
}

// fail ends the recording after a failed write. It still tries to write the end of the file, which is short.
func (r *Recorder) fail(err error) {
	r.finalBlocks()
	r.closeFile(err)
}

// finalBlocks adds the end of a file: the counts of its packets. A file without an interface gets one, because some
// readers, tcpdump among them, need it.
func (r *Recorder) finalBlocks() {
	at := len(r.out.buf)
	if r.ids == 0 {
		key := ifaceKey{link: r.o.Link}
		if len(r.ifaces) > 0 {
			key = r.ifaces[0].key
		} else if key.link == 0 {
			key.link = capture.LinkEthernet
		}
		r.appendInterface(key)
	}
	s := pcapng.Counts{Time: max(r.now, r.opened), Start: r.opened, End: max(r.now, r.opened), Known: r.counted}
	s.Received = max(r.received-r.base.received, 0)
	s.Dropped = max(r.dropped-r.base.dropped, 0)
	if r.counted && r.ids > 1 {
		s.Comment = "counts of all interfaces together"
	}
	if r.conns != nil {
		if s.Comment != "" {
			s.Comment += "; "
		}
		s.Comment += "only connections with RPC messages: omitted " + term.Counted(r.stats.LeftOut-r.leftBase, "packet") + " of others"
	}
	r.out.buf = pcapng.AppendStatistics(r.out.buf, 0, s)
	r.out.size += int64(len(r.out.buf) - at)
}

// roomAtEnd is more than finalBlocks needs, without names and filter.
const roomAtEnd = 256

// ifaceOf returns the index of the packet's interface in r.ifaces.
func (r *Recorder) ifaceOf(p *capture.Packet) int32 {
	key := ifaceKey{p.File, p.Interface, p.Link}
	if r.last >= 0 && r.ifaces[r.last].key == key {
		return r.last
	}
	i, ok := r.known[key]
	if !ok {
		i = int32(len(r.ifaces))
		r.known[key] = i
		r.ifaces = append(r.ifaces, iface{key: key})
	}
	r.last = i
	return i
}

// write adds a packet to the file.
func (r *Recorder) write(i int32, at int64, data []byte, wireLen int) {
	if !r.on {
		return
	}
	data = data[:min(len(data), r.snap)]
	need := pcapng.PacketOverhead + (len(data)+3)&^3
	if limit := r.o.fileLimit(); limit > 0 && r.out.packets > 0 {
		room := r.out.size + int64(need) + roomAtEnd
		if r.ifaces[i].section != r.section {
			room += r.description()
		}
		if room > limit && !r.nextPart() {
			return
		}
	}
	if f := &r.ifaces[i]; f.section != r.section {
		r.describe(f)
	}
	w := &r.out
	if len(w.buf)+need > bufferSize {
		if err := w.flush(); err != nil {
			r.fail(err)
			return
		}
	}
	w.buf = pcapng.AppendPacket(w.buf, r.ifaces[i].id, uint64(max(at, 0)), data, wireLen)
	w.size += int64(need)
	w.packets++
}

// description returns an upper bound of the bytes of an interface description.
func (r *Recorder) description() int64 {
	return int64(128 + len(r.o.Filter) + len(r.o.OS) + 24*len(r.o.Machine))
}

// describe adds the description of an interface to the file.
func (r *Recorder) describe(f *iface) {
	if r.ids == maxIDs {
		r.startSection()
	}
	f.section, f.id = r.section, r.ids
	at := len(r.out.buf)
	r.appendInterface(f.key)
	r.out.size += int64(len(r.out.buf) - at)
}

func (r *Recorder) appendInterface(k ifaceKey) {
	d := pcapng.Description{Link: uint16(k.link), SnapLen: uint32(r.snap), Digits: 9, Filter: r.o.Filter, OS: r.o.OS}
	if r.o.Names != nil {
		d.Name = r.o.Names(k.number)
	}
	if r.ids == 0 {
		d.Addresses = r.o.Machine
	}
	r.out.buf = pcapng.AppendInterface(r.out.buf, d)
	r.ids++
}
