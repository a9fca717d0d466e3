package redact

import (
	"slices"

	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/capture/packet"
)

// omit counts a packet that is left out since it is not TCP. If the capture begins or ends with such packets, the first and
// the last one are written without their bytes, so that the copy lasts as long.
func (r *Redactor) omit(p *capture.Packet, v packet.Verdict) {
	name := v.String()
	if v == packet.NotTCP {
		if name = r.decoder.Protocol(); name == "" {
			name = "other"
		}
	}
	r.sum.LeftOut[name]++
	switch {
	case r.firstTaken == 0 && r.before == nil:
		r.before = r.empty(p)
	case r.firstTaken == 0 && p.Time < r.before.time:
		r.before.time = p.Time
	case r.end == nil || r.end.time < p.Time:
		r.end = r.empty(p)
	}
}

// empty returns a record with the time and the length of a packet, without its bytes.
func (r *Redactor) empty(p *capture.Packet) *record {
	rec := r.record(p, min(len(p.Data), 60))
	rec.data = r.memory(rec, rec.n)
	clear(rec.data)
	r.blank(rec.data, p.Link)
	return rec
}

// blank marks b, zeros, as a packet that is not TCP.
func (r *Redactor) blank(b []byte, link capture.LinkType) {
	switch link {
	case capture.LinkRaw, capture.LinkDLTRaw, capture.LinkDLTRawOpenBSD, capture.LinkIPv4, capture.LinkIPv6:
		if len(b) >= 40 {
			b[0], b[6] = 0x60, 59 // nothing follows
		}
	case capture.LinkEthernet:
		if len(b) >= 14 {
			b[12], b[13] = 0x88, 0xb5 // for local experiments
		}
	}
}

// omitFragment leaves out an IP fragment that is not part of a TCP segment.
func (r *Redactor) omitFragment(rec *record, name string) {
	delete(r.fragments, rec.ordinal)
	rec.fragment = false
	if rec.data == nil || rec.omitted {
		return
	}
	r.sum.LeftOut[name]++
	if rec.ordinal != r.firstTaken && rec != r.tail {
		rec.omitted = true
		return
	}
	clear(rec.data) // the first or the last packet: its time counts
	r.blank(rec.data, r.ifaces.Link(rec.iface))
}

// maxFragments bounds the fragments whose packet may be completed; the decoder holds fewer.
const maxFragments = 1 << 16

// holdFragment keeps a fragment until its packet is complete.
func (r *Redactor) holdFragment(rec *record) {
	if len(r.fragments) >= maxFragments {
		for ordinal, o := range r.fragments {
			if o.data == nil && r.now-o.time > fragmentTime || len(r.fragments) >= 2*maxFragments {
				delete(r.fragments, ordinal)
			}
		}
	}
	r.fragments[rec.ordinal] = rec
}

// comment adds the notes to the packets they are about, or to rec if those are already written.
func (r *Redactor) comment(rec *record) {
	for _, n := range r.notes {
		if to := r.noted(rec, n.file, n.number); to != nil {
			to.comment(n.frame, n.text)
		}
	}
	r.notes = r.notes[:0]
}

// noted returns the record of a packet, or rec if that is already written.
func (r *Redactor) noted(rec *record, file int, number int64) *record {
	if rec != nil && file == rec.file && number == rec.number {
		return rec
	}
	steps := 0
	for o := r.front; o != nil; o = o.next {
		if o.file == file && o.number == number {
			return o
		}
		if steps++; steps > maxSteps {
			break
		}
	}
	return rec
}

// comment adds a comment about a frame. Those of the first frames stay, in their order: workers may be done with them later than with others.
func (rec *record) comment(frame int64, text string) {
	if text == "" {
		return
	}
	i, _ := slices.BinarySearch(rec.frames, frame)
	rec.frames = slices.Insert(rec.frames, i, frame)
	rec.comments = slices.Insert(rec.comments, i, text[:min(len(text), maxComment)])
	if len(rec.frames) > maxComments {
		rec.frames, rec.comments = rec.frames[:maxComments], rec.comments[:maxComments]
	}
}

// maxComments bounds the comments of one packet, maxSteps the packets that are searched for the one with that number.
const (
	maxComments = 32
	maxSteps    = 1 << 12
)
