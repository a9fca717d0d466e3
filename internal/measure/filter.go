package measure

import (
	"dubbo-wire/internal/call"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/sizes"
)

// Filter is a call filter as its user gave it. It selects all where its Text is empty.
type Filter struct {
	call.Filter
	Since, Until Bound
	Text         string // the flags, as they may be given again
	OfCalls      string // the first flag that selects by more than groups have; "" if there is none
	Groups       map[sizes.Key][]call.Glob
}

// Bound is a moment in nanoseconds since the Unix epoch, or since the first packet.
type Bound struct {
	At              int64
	Relative, Given bool
}

// Empty reports whether all calls are selected.
func (f *Filter) Empty() bool { return f.Text == "" }

// Apply makes a run use the filter, if it selects at all.
func (f *Filter) Apply(opt *pipeline.Options) {
	if !f.Empty() {
		opt.Filter, opt.Detail, opt.Begin = &f.Filter, max(opt.Detail, f.Detail()), f.start
	}
}

// start fixes relative times, once the first packet's time is known.
func (f *Filter) start(first int64) {
	for _, b := range []struct {
		bound Bound
		to    **int64
	}{{f.Since, &f.Filter.Since}, {f.Until, &f.Filter.Until}} {
		if b.bound.Given {
			at := b.bound.At
			if b.bound.Relative {
				at += first
			}
			*b.to = &at
		}
	}
}
