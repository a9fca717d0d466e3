package live

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/report"
)

// body is the largest body of a protocol whose peers limit the size of bodies; limit is that size in bytes, 0 if there is no such body.
type body struct {
	bytes, limit int
	method, what string // its method without the package; request or response
}

// over reports whether the body takes a larger share of its limit than o.
func (b *body) over(o *body) bool {
	return o.limit == 0 || float64(b.bytes)*float64(o.limit) > float64(o.bytes)*float64(b.limit)
}

// call compares the bodies of a call. Those of less than half the limit, or of a protocol without any, do not count.
func (b *body) call(c *call.Call) {
	for _, m := range [2]*call.Message{c.Request, c.Response} {
		for ; m != nil && m.Protocol != nil; m = m.Next {
			k := body{bytes: m.BodyLen, limit: m.Protocol.PayloadLimit}
			if k.limit == 0 || k.bytes <= k.limit/2 || !k.over(b) {
				continue
			}
			k.what, k.method = m.Kind.String(), call.Unknown
			if c.Request != nil && c.Request.Operation != nil {
				k.method = shortName(Method{c.Request.Service(), c.Request.Method()}.String())
			}
			*b = k
		}
	}
}

// largest returns the largest body of the window.
func (r *ring) largest() (b body) {
	for _, s := range r.seconds {
		if s.largest.limit > 0 && s.largest.over(&b) {
			b = s.largest
		}
	}
	return b
}

// remarks returns what a user should know first and the screen does not show elsewhere.
func remarks(s *Snapshot, largest body, progress *pipeline.Progress) []string {
	var all []string
	add := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	var failing *Row
	failed := func(r *Row) float64 { return r.Number("errors") * float64(r.Calls) }
	for i := range s.Rows {
		r := &s.Rows[i]
		if r.Number("errors") >= 10 && r.Calls >= 10 && (failing == nil || failed(r) > failed(failing)) {
			failing = r
		}
	}
	if n := largest.bytes; largest.limit > 0 {
		add("%s: largest %s %s bytes = %.0f %% of the default payload limit", largest.method, largest.what, report.Count(int64(n)),
			100*float64(n)/float64(largest.limit))
	}
	if failing != nil {
		add("%s: %.0f %% of the calls fail", shortName(failing.Name), failing.Number("errors"))
	}
	if progress.Unnamed > 0 && slices.ContainsFunc(s.Rows, func(r Row) bool { return r.Name == call.Unknown }) {
		add("?: calls on connections that were open before the capture, whose headers refer to earlier ones; new connections have names")
	}
	if s.Coverage < 99 && progress.Frames > 0 {
		add("%s bytes of the streams are missing, %s belong to no frame", report.Count(s.Gap), report.Count(s.Skipped))
	}
	return all
}

// busiestPorts returns the ports of connections without messages, by bytes.
func busiestPorts(progress *pipeline.Progress) []int {
	list := slices.SortedFunc(maps.Keys(progress.OtherTCP), func(a, b uint16) int {
		return cmp.Or(cmp.Compare(progress.OtherTCP[b], progress.OtherTCP[a]), cmp.Compare(a, b))
	})
	var ports []int
	for _, p := range list[:min(len(list), 5)] {
		ports = append(ports, int(p))
	}
	return ports
}

// shortName removes the package of a service; the screen shows the full name elsewhere.
func shortName(name string) string {
	service, method, ok := strings.Cut(name, "/")
	if !ok {
		return name
	}
	return call.LastPart(service) + "/" + method
}
