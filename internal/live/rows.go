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
	g.sum.Unknown += o.Unknown
	g.sum.OneWay += o.OneWay
	g.sum.Unanswered += o.Unanswered
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
	return v[keyClient] + pairSeparator + v[keyServer]
}

const pairSeparator = " > "

// table is the rows of a snapshot.
type table struct {
	rows   []Row // those that match the filter, by bytes
	groups int   // without the filter
	rest   *Row  // the groups beyond the limit
	span   time.Duration
}

// groups returns the groups of the window for a grouping of the ring's selection, and the time that they cover.
func (r *ring) groups(by Grouping, now int64) (list []*sizes.Group, span time.Duration) {
	since := r.seconds[0].began
	direct := r.selection.within(by)
	if !direct {
		since = max(since, r.selectedAt)
	}
	for _, s := range r.seconds {
		switch {
		case direct:
			for _, o := range s.all.groupedBy(by).Groups() {
				// The rest has calls that are not selected.
				if r.selection == (Selection{}) || !o.Rest && r.selection.hasGroup(by, o) {
					list = append(list, o)
				}
			}
		case s.selected != nil:
			list = append(list, s.selected.groupedBy(by).Groups()...)
		}
	}
	return list, time.Duration(now - since)
}

// table sums the seconds by a grouping of the ring's selection.
func (r *ring) table(by Grouping, filter string, now int64) (t table) {
	sums := make(map[string]*group)
	var beyond *group
	all := int64(0)
	var list []*sizes.Group
	list, t.span = r.groups(by, now)
	for _, o := range list {
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
	wanted := NameMatcher(filter)
	for name, g := range sums {
		if wanted(name) {
			t.rows = append(t.rows, g.finish(t.span, all))
		}
	}
	t.groups = len(sums)
	slices.SortFunc(t.rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(b.Number("Mbit/s"), a.Number("Mbit/s")), cmp.Compare(a.Name, b.Name))
	})
	if beyond != nil {
		row := beyond.finish(t.span, all)
		t.rest = &row
	}
	return t
}

// shares returns the share of each serialization in the link bytes of messages.
func (r *ring) shares() []Share {
	var groups []*sizes.Group
	for _, s := range r.seconds {
		groups = append(groups, s.all.methods.Groups()...)
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
