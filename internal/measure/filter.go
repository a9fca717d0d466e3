package measure

import (
	"net/netip"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/rpc"
	"dubbo-wire/internal/sizes"
)

// Filter is a call filter and the flags that it comes from. A filter with an empty Text selects all calls.
type Filter struct {
	call.Filter
	Since, Until Bound
	Self         []netip.Prefix // addresses of the capturing machine; nil: those of its interfaces
	Text         string         // the flags but --self, quoted for a shell
	Flags        [][2]string    // the flags with their values
	OfCalls      string         // the first flag that needs single calls, not groups; or ""
	Groups       map[sizes.Key][]call.Glob
}

// Bound is a time in nanoseconds since the Unix epoch or, if Relative, since the first packet.
type Bound struct {
	At              int64
	Relative, Given bool
}

// Empty reports whether all calls are selected.
func (f *Filter) Empty() bool { return f.Text == "" }

// Apply makes a run use the filter, unless it is empty.
func (f *Filter) Apply(opt *pipeline.Options) {
	if !f.Empty() {
		opt.ForAttachments = opt.Detail < rpc.Values && f.NeedsAttachments()
		opt.Filter, opt.Detail, opt.Begin = &f.Filter, max(opt.Detail, f.Detail()), f.start
		opt.Records = opt.Records || f.NeedsErrors()
	}
}

// matchRequest reports whether the filter, which needs only requests, selects the call of a request.
func (f *Filter) matchRequest(r *pipeline.Row) bool {
	m := &call.Message{Number: r.Number}
	m.FillFrom(r.Msg)
	return f.Match(&call.Call{Conn: r.Conn, Side: r.Side, Request: m})
}

// start resolves relative times when the time of the first packet is known.
func (f *Filter) start(first int64) {
	f.Filter.Since, f.Filter.Until = f.Since.resolve(first), f.Until.resolve(first)
}

// resolve returns the time in nanoseconds since the Unix epoch, or nil if there is none.
func (b Bound) resolve(first int64) *int64 {
	if !b.Given {
		return nil
	}
	at := b.At
	if b.Relative {
		at += first
	}
	return &at
}
