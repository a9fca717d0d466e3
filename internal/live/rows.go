package live

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/report"
	"dubbo-wire/internal/sizes"
)

// group is a row while it is summed up.
type group struct {
	row            Row
	sum            sizes.Group
	serializations []string
}

// add adds what the screen's columns need.
func (g *group) add(o *sizes.Group, serialization string) {
	g.sum.Calls += o.Calls
	g.sum.Errors += o.Errors
	g.sum.Request.Wire.Total += o.Request.Wire.Total
	g.sum.ResponseOK.Wire.Total += o.ResponseWireBytes()
	g.sum.Request.Body.Merge(&o.Request.Body)
	g.sum.ResponseOK.Body.Merge(&o.ResponseOK.Body)
	g.sum.Latency.Merge(&o.Latency)
	if serialization != "" && !slices.Contains(g.serializations, serialization) {
		g.serializations = append(g.serializations, serialization)
	}
}

func (g *group) finish(span time.Duration, all int64) Row {
	r := g.row
	r.Calls = g.sum.Calls
	r.Numbers = report.ScreenNumbers(&g.sum, all, max(span, time.Millisecond))
	slices.Sort(g.serializations)
	r.Serializations = strings.Join(g.serializations, ",")
	return r
}

func percent(part, whole int64) float64 {
	if whole == 0 {
		return 0
	}
	return 100 * float64(part) / float64(whole)
}

// name returns the name of a group in a grouping.
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

func (s *second) groupedBy(g Grouping) *sizes.Aggregator {
	if g <= BySerialization {
		return s.methods
	}
	return s.peers
}

// rows sums the seconds by a grouping. It returns the rows that match the filter, by bytes; the number of groups
// without the filter; and the row of the groups beyond the limit.
func (r *ring) rows(by Grouping, filter string, span time.Duration) (rows []Row, groups int, rest *Row) {
	sums := make(map[string]*group)
	var beyond *group
	all := int64(0)
	for _, s := range r.seconds {
		for _, o := range s.groupedBy(by).Groups() {
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
	wanted := NameMatcher(filter)
	for name, g := range sums {
		if wanted(name) {
			rows = append(rows, g.finish(span, all))
		}
	}
	slices.SortFunc(rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(b.Number("Mbit/s"), a.Number("Mbit/s")), cmp.Compare(a.Name, b.Name))
	})
	if beyond != nil {
		row := beyond.finish(span, all)
		rest = &row
	}
	return rows, len(sums), rest
}

// shares returns the share of each serialization in the link bytes of messages.
func (r *ring) shares() []Share {
	var groups []*sizes.Group
	for _, s := range r.seconds {
		groups = append(groups, s.methods.Groups()...)
	}
	return sharesOf(groups, keySerialization)
}

// sharesOf returns the shares of the values of a key in the link bytes of groups, largest first.
func sharesOf(groups []*sizes.Group, key int) []Share {
	bytes, all := make(map[string]int64), int64(0)
	for _, g := range groups {
		name := "others"
		if !g.Rest {
			name = g.Values[key]
		}
		bytes[name] += g.WireBytes()
		all += g.WireBytes()
	}
	list := make([]Share, 0, len(bytes))
	for name, n := range bytes {
		list = append(list, Share{name, percent(n, all)})
	}
	slices.SortFunc(list, func(a, b Share) int {
		return cmp.Or(cmp.Compare(b.Percent, a.Percent), cmp.Compare(a.Name, b.Name))
	})
	return list
}

// NameMatcher compiles a typed filter: a glob for the whole name if it contains * or ?, else a part of the name. It
// ignores case.
func NameMatcher(filter string) func(name string) bool {
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
