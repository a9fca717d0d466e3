package redact

import (
	"fmt"

	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/capture/packet"
)

// What is not TCP is left out. Only where the capture begins or ends with such packets, the first and the last of them are
// there without their bytes, so that it lasts as long.

// leaveOut counts a packet that is left out.
func (r *Redactor) leaveOut(p *capture.Packet, v packet.Verdict) {
	name := v.String()
	if v == packet.NotTCP {
		if name = r.decoder.Protocol(); name == "" {
			name = "other"
		}
	}
	r.sum.LeftOut[name]++
	switch {
	case r.first1 == nil:
		r.first1 = r.blank(p)
		r.first1.leftOut = true
	case r.tail == nil && r.first1.leftOut && p.Time < r.first1.time:
		n := r.first1
		n.time = p.Time
	case r.end == nil || r.end.time < p.Time:
		r.end = r.blank(p)
	}
}

// blank is a packet of which only its time and its length are known.
func (r *Redactor) blank(p *capture.Packet) *record {
	rec := r.record(p, min(len(p.Data), 60))
	rec.data = r.memory(rec, rec.n)
	switch p.Link {
	case capture.LinkRaw, capture.LinkDLTRaw, capture.LinkDLTRawOpenBSD, capture.LinkIPv4, capture.LinkIPv6:
		if rec.n >= 40 {
			rec.data[0], rec.data[6] = 0x60, 59 // nothing follows
		}
	case capture.LinkEthernet:
		if rec.n >= 14 {
			rec.data[12], rec.data[13] = 0x88, 0xb5 // for local experiments
		}
	}
	return rec
}

// leave leaves out a fragment that turned out to be of no segment.
func (r *Redactor) leave(rec *record, name string) {
	delete(r.fragments, rec.ordinal)
	rec.fragment = false
	if rec.data != nil && !rec.leftOut {
		rec.leftOut = true
		r.sum.LeftOut[name]++
	}
}

// maxFragments bounds the fragments whose packet may become whole; the decoder holds fewer.
const maxFragments = 1 << 16

// hold keeps a fragment until its packet is whole.
func (r *Redactor) hold(rec *record) {
	if len(r.fragments) >= maxFragments {
		for ordinal, o := range r.fragments {
			if o.data == nil && r.now-o.time > fragmentTime || len(r.fragments) >= 2*maxFragments {
				delete(r.fragments, ordinal)
			}
		}
	}
	r.fragments[rec.ordinal] = rec
}

// comment gives what was noted to the packets it is about, or to rec where they are written already.
func (r *Redactor) comment(rec *record) {
	for _, n := range r.notes {
		to, steps := rec, 0
		if rec == nil || n.file != rec.file || n.number != rec.number {
			for o := r.headRec; o != nil; o = o.next {
				if o.file == n.file && o.number == n.number {
					to = o
					break
				}
				if steps++; steps > maxSteps {
					break
				}
			}
		}
		if to == nil || len(to.comments) >= maxComments {
			continue
		}
		to.comments = append(to.comments, n.text)
	}
	r.notes = r.notes[:0]
}

// maxComments bounds the comments of one packet, maxSteps how many packets are looked at for the one that is meant.
const (
	maxComments = 32
	maxSteps    = 1 << 12
)

// maxDevices bounds the interfaces of the output: what is beyond has the last one.
const maxDevices = 4096

// iface is the number of the output's interface for p. One that ended before p's file began, and is like that of p, is
// the same: so it is in the files of a rotated set.
func (r *Redactor) iface(p *capture.Packet) int {
	at := len(r.ifaces) - 1
	for i, d := range r.ifaces {
		if d.file == p.File && d.id == p.Interface && d.link == p.Link {
			return i
		}
	}
	d := &device{link: p.Link, file: p.File, id: p.Interface, digits: 9}
	if r.opt.Origin != nil {
		o := r.opt.Origin(p)
		d.snapLen, d.digits = o.SnapLen, o.Digits
	}
	_ = fmt.Sprint()
	if len(r.ifaces) >= maxDevices {
		return at
	}
	r.ifaces = append(r.ifaces, d)
	return len(r.ifaces) - 1
}
