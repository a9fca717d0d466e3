package dubboserialization

import (
	"bytes"

	"dubbo-wire/internal/decode"
)

// Some bytes can be read in several ways, between which only the class decides. Without the class the reader takes the way
// that leads exactly to the end of the body: the other arguments and the attachments follow a value, or, in a response,
// nothing or the attachments. The ways are tried one after the other, the likely ones first, the last choice changed first,
// with a bound on the work. The first way that leads to the end settles all choices.

// plan has the choices for a body that can be read in several ways.
type plan struct {
	choices []choice
	next    int
	// settled: the choices lead to the end of the body.
	settled bool
	// trying: choices are made and noted.
	trying bool
	// strict: a choice is an error.
	strict bool
	seen   int // choices since the start of a value
	// farthest is the error of the way that came farthest, if none led to the end.
	farthest decode.Error
}

// choice is the picked one of some options.
type choice struct{ pick, of int }

func (p *plan) reset() {
	*p = plan{choices: p.choices[:0]}
	if cap(p.choices) > 1<<13 {
		p.choices = nil
	}
}

// choose picks one of some options.
func (r *Reader) choose(of int) int {
	p := &r.plan
	if of < 2 || !r.OK() {
		return 0
	}
	p.seen++
	switch {
	case p.strict:
		r.undecided()
	case (p.settled || p.trying) && p.next < len(p.choices):
		p.next++
		return p.choices[p.next-1].pick
	case p.trying:
		p.choices = append(p.choices, choice{of: of})
		p.next++
	}
	return 0
}

// undecided stops at a choice. The bytes may be malformed, or only the class can decide. If they cannot be read in any way,
// the error names the place that the farthest way reached.
func (r *Reader) undecided() {
	e := r.plan.farthest
	if e.Expected == "" {
		r.Fail(decode.Unsupported, "bytes that can be read in one way", "several, between which only a class decides")
		return
	}
	r.Fail(decode.Unsupported, "in the way to read this that leads farthest "+e.Expected, e.Found)
	if r.Err().At < e.Offset() {
		r.Err().Wrong = e.Offset()
	}
}

// ending is the number of values that follow a value up to the end of the body. The last one is a map, the attachments.
type ending struct{ fewest, most int }

// Bounds of a search, in bytes read: per byte of the body, at least for small bodies, and at most for large ones. An object
// costs more than its bytes.
const (
	workPerByte   = 128
	smallWork     = 1 << 17
	largeWork     = 1 << 26
	workPerTry    = 64
	workPerObject = 64
)

func budget(body []byte) int { return min(workPerByte*len(body)+smallWork, largeWork) }

// planned takes a value, by a plan if there are several ways to read it.
func (r *Reader) planned(p place, end ending) {
	if r.plan.settled {
		r.object(p)
		return
	}
	mark, at, count, nodes := r.Mark(), r.Off, r.count, len(r.nodes)
	again := func() {
		r.Resume(at)
		r.Rewind(mark)
		r.count, r.nodes = count, r.nodes[:nodes]
		r.object(p)
	}
	r.plan.seen = 0
	r.object(p)
	if r.plan.seen == 0 {
		return
	}
	if err := r.Err(); r.Short != decode.Malformed && err == nil || err != nil && err.Cause != decode.Malformed && err.Cause != decode.Unsupported {
		return // the end of the body is not known
	}
	read, met := r.OK(), r.plan.seen
	switch {
	case r.Short != decode.Malformed || !r.search(at, count, end):
		r.plan.strict = true
		again()
		r.plan.strict = false
	case read && r.plan.first(met):
		r.plan.next = met // it was read so
	default:
		again()
	}
}

// first reports whether the first n choices are the ones made without a plan.
func (p *plan) first(n int) bool {
	if n > len(p.choices) {
		return false // the way that leads to the end has fewer
	}
	for _, c := range p.choices[:n] {
		if c.pick != 0 {
			return false
		}
	}
	return true
}

// search looks for choices that lead from offset at to the end of the body.
func (r *Reader) search(at, count int, end ending) bool {
	if r.probe == nil {
		r.probe = new(Reader)
	}
	x := r.probe
	x.source = nil // it is that of the body, which goes on
	x.Reset(r.Buf, decode.Malformed, nil)
	x.source = r.source
	for budget := budget(r.Buf); budget > 0; {
		x.Resume(at)
		x.count, x.unknownObjects, x.work = count, r.unknownObjects, 0
		x.plan.next, x.plan.trying = 0, true
		if x.readsToEnd(end) {
			r.plan.choices = append(r.plan.choices[:0], x.plan.choices...)
			r.plan.next, r.plan.settled = 0, true
			return true
		}
		if e := x.Err(); e != nil && e.Offset() > r.plan.farthest.Offset() {
			r.plan.farthest = *e
		}
		budget -= x.Off - at + x.work + workPerTry
		c := x.plan.choices
		for len(c) > 0 && c[len(c)-1].pick+1 == c[len(c)-1].of {
			c = c[:len(c)-1]
		}
		if len(c) == 0 {
			return false
		}
		c[len(c)-1].pick++
		x.plan.choices = c
	}
	return false
}

// readsToEnd reads a value and the values after it, and reports whether they end with the body.
func (r *Reader) readsToEnd(end ending) bool {
	r.object(place{})
	values, isMap := 0, false
	for r.OK() && r.Off < len(r.Buf) {
		if values++; values > end.most {
			return false
		}
		rest := r.Buf[r.Off:]
		isMap = bytes.HasPrefix(rest, mapHead) || rest[0] == tagNull
		r.object(place{})
	}
	return r.OK() && values >= end.fewest && (values == 0 || isMap)
}
