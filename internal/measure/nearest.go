package measure

import (
	"cmp"
	"slices"
	"strings"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/report"
	"dubbo-wire/internal/term"
)

// nearest is a sink that remembers names until a call is selected, so that an empty result can name what comes close to
// the filter.
type nearest struct {
	pipeline.Sink
	filter  *call.Filter
	matched bool
	onSelf  bool // the capturing machine is an end of a call
	seen    map[seenName]bool
}

type seenName struct{ protocol, serialization, service, method string }

// maxSeenNames and maxNearest limit the names that are remembered and printed.
const (
	maxSeenNames = 5000
	maxNearest   = 3
)

func (n *nearest) Call(c *call.Call, selected bool) {
	n.Sink.Call(c, selected)
	n.onSelf = n.onSelf || c.Conn.Machine != [2]bool{}
	switch m := c.Request; {
	case n.matched:
	case selected:
		n.matched, n.seen = true, nil
	case m != nil && m.Operation != nil && len(n.seen) < maxSeenNames:
		n.seen[seenName{m.Protocol.Name, m.SerializationName(), m.Service(), m.Method()}] = true
	}
}

// text names the nearest values for each filter of names that nothing matches, after a semicolon; or it is empty. n may
// be nil.
func (n *nearest) text() (text string) {
	if n == nil {
		return ""
	}
	f := n.filter
	if f.Side != "" && !n.onSelf {
		text = "; --side: the capturing machine is not an end of any call; give its address: --self ADDRESS"
	}
	for _, field := range []struct {
		flag  string
		globs []call.Glob
		name  func(s seenName) string
		match func(s seenName) bool
	}{
		{"service", f.Service, func(s seenName) string { return s.service }, func(s seenName) bool { return call.MatchService(f.Service, s.service) }},
		{
			"method", f.Method, func(s seenName) string { return call.LastPart(s.service) + "/" + s.method },
			func(s seenName) bool { return call.MatchMethod(f.Method, s.service, s.method) },
		},
		{"serialization", f.Serialization, func(s seenName) string { return s.serialization }, func(s seenName) bool { return call.MatchSerialization(f.Serialization, s.serialization) }},
		{
			"protocol", f.Protocol, func(s seenName) string { return s.protocol },
			func(s seenName) bool {
				return slices.ContainsFunc(f.Protocol, func(g call.Glob) bool { return g.Match(s.protocol) })
			},
		},
	} {
		if len(field.globs) == 0 {
			continue
		}
		far, found := map[string]int{}, false
		for s := range n.seen {
			if found = field.match(s); found {
				break
			}
			name := field.name(s)
			for i, g := range field.globs {
				if d := distance(g.String(), name); i == 0 || d < far[name] {
					far[name] = d
				}
			}
		}
		if found || len(far) == 0 {
			continue
		}
		var names []string
		for name := range far {
			names = append(names, name)
		}
		slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(far[a], far[b]), cmp.Compare(a, b)) })
		more := ""
		if k := len(names) - maxNearest; k > 0 {
			names, more = names[:maxNearest], " and "+report.Count(int64(k))+" more"
		}
		text += "; --" + field.flag + ": the closest names in the capture are " + term.Clean(strings.Join(names, ", ")) + more
	}
	return text
}

// distance is how far a pattern is from a name, by edits without regard to case. The parts of the name count by
// themselves; a part of the pattern that the name contains is near.
func distance(pattern, name string) int {
	pattern, name = strings.ToLower(pattern), strings.ToLower(name)
	bare := strings.Trim(pattern, "*?")
	best := term.EditDistance(bare, name)
	for _, part := range strings.FieldsFunc(name, func(r rune) bool { return r == '.' || r == '/' }) {
		best = min(best, term.EditDistance(bare, part))
	}
	if bare != "" && strings.Contains(name, bare) {
		best = min(best, 1)
	}
	return best
}
