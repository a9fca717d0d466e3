package live

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/sizes"
)

// group is one row while it is being added up.
type group struct {
	row             Row
	wire            int64
	errors          int64
	request, respon sizes.Stat
	latency         sizes.Stat
	serializations  []string
}

func (g *group) add(o *sizes.Group, serialization string) {
	g.row.Calls += o.Calls
	g.errors += o.Errors
	g.wire += o.WireBytes()
	g.request.Merge(&o.Request.Body)
	g.respon.Merge(&o.Response.Body)
	g.latency.Merge(&o.Latency)
	if serialization != "" && !slices.Contains(g.serializations, serialization) {
		g.serializations = append(g.serializations, serialization)
	}
}

func (g *group) finish(span time.Duration, all int64) Row {
	r := g.row
	seconds := max(span.Seconds(), 1e-3)
	r.BitsPerSecond = 8 * float64(g.wire) / seconds
	r.CallsPerSecond = float64(r.Calls) / seconds
	r.Share = percent(g.wire, all)
	r.ErrorPercent = percent(g.errors, r.Calls)
	r.Request, r.Response = sizesOf(&g.request), sizesOf(&g.respon)
	r.LatencyP50, r.LatencyP99 = -1, -1
	if g.latency.Count > 0 {
		r.LatencyP50, r.LatencyP99 = g.latency.Percentile(50), g.latency.Percentile(99)
	}
	slices.Sort(g.serializations)
	r.Serializations = strings.Join(g.serializations, ",")
	return r
}

func sizesOf(s *sizes.Stat) Sizes {
	if s.Count == 0 {
		return Sizes{}
	}
	return Sizes{Count: s.Count, Mean: s.Mean(), P50: s.Percentile(50), P99: s.Percentile(99), Max: s.Max}
}

func percent(part, whole int64) float64 {
	if whole == 0 {
		return 0
	}
	return 100 * float64(part) / float64(whole)
}

// name is what a group is called in a grouping.
func (g Grouping) name(o *sizes.Group) string {
	v := o.Values
	switch g {
	case ByMethod:
		if v[keyService] == call.Unknown && v[keyMethod] == call.Unknown {
			return call.Unknown
		}
		return v[keyService] + "/" + v[keyMethod]
	case ByService:
		return v[keyService]
	case BySerialization:
		return v[keySerialization]
	case ByClient:
		return v[keyClient]
	case ByServer:
		return v[keyServer]
	}
	return v[keyClient] + " > " + v[keyServer]
}

func (s *second) of(g Grouping) *sizes.Aggregator {
	if g <= BySerialization {
		return s.methods
	}
	return s.peers
}

// rows adds the seconds up by a grouping: those that the filter wants, the most bytes first; how many there are without
// it; and what was not kept apart.
func (r *ring) rows(by Grouping, filter string, span time.Duration) (rows []Row, groups int, rest *Row) {
	sums := make(map[string]*group)
	var beyond *group
	all := int64(0)
	for _, s := range r.seconds {
		for _, o := range s.of(by).Groups() {
			all += o.WireBytes()
			if o.Rest {
				if beyond == nil {
					beyond = &group{}
				}
				beyond.add(o, "")
				continue
			}
			name := by.name(o)
			g := sums[name]
			if g == nil {
				g = &group{row: Row{Name: name}}
				if by == ByMethod {
					g.row.Method = Method{o.Values[keyService], o.Values[keyMethod]}
				}
				sums[name] = g
			}
			g.add(o, o.Values[keySerialization])
		}
	}
	wanted := match(filter)
	for name, g := range sums {
		if wanted(name) {
			rows = append(rows, g.finish(span, all))
		}
	}
	slices.SortFunc(rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(b.BitsPerSecond, a.BitsPerSecond), cmp.Compare(a.Name, b.Name))
	})
	if beyond != nil {
		row := beyond.finish(span, all)
		rest = &row
	}
	return rows, len(sums), rest
}

// shares is the serializations' parts of the messages' bytes.
func (r *ring) shares() []Share {
	bytes := make(map[string]int64)
	all := int64(0)
	for _, s := range r.seconds {
		for _, o := range s.methods.Groups() {
			name := "others"
			if !o.Rest {
				name = o.Values[keySerialization]
			}
			bytes[name] += o.WireBytes()
			all += o.WireBytes()
		}
	}
	return sharesOf(bytes, all)
}

func sharesOf(bytes map[string]int64, all int64) []Share {
	list := make([]Share, 0, len(bytes))
	for name, n := range bytes {
		list = append(list, Share{name, percent(n, all)})
	}
	slices.SortFunc(list, func(a, b Share) int {
		return cmp.Or(cmp.Compare(b.Percent, a.Percent), cmp.Compare(a.Name, b.Name))
	})
	return list
}

// match makes a filter of what was typed: a glob over the whole name where it has * or ?, else a part of it. Letters of
// both cases are equal.
func match(filter string) func(name string) bool {
	filter = strings.ToLower(filter)
	switch {
	case filter == "":
		return func(string) bool { return true }
	case strings.ContainsAny(filter, "*?"):
		glob := call.ParseGlob(filter)
		return func(name string) bool { return glob.Match(strings.ToLower(name)) }
	}
	return func(name string) bool { return strings.Contains(strings.ToLower(name), filter) }
}
