package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"dubbo-wire/internal/sizes"
)

// Ranking iterates over the groups in the order of the report. A report may have a hundred thousand groups; rows are made only for those
// that are shown.
type Ranking struct {
	// Section has the columns, and a row for each group that Next returned.
	Section
	Order string
	// Labels is the number of columns after the first that name a group, Len the number of groups.
	Labels, Len int

	report  *Report
	style   *Style
	metrics []*metric
	keys    []int
	label   *labels
	rows    []*sizes.Group
	taken   int
	sum     int64
}

func (r *Report) newRanking(s *Style, in tables) *Ranking {
	k := &Ranking{report: r, style: s, keys: r.rankedKeys(), rows: r.ranked()}
	k.label = r.labels(k.keys)
	names := k.label.columns
	k.Title, k.Order, k.Labels, k.Len = r.rankingTitle(names), r.rankingOrder(), len(names), len(k.rows)
	list, numbers := r.metricsIn(in)
	k.metrics, k.Columns = list, slices.Concat([]Column{{Name: "#", unit: count}}, names, numbers)
	return k
}

// Next returns the next group and its row, or nil if only groups beyond the limit are left.
func (k *Ranking) Next() ([]Cell, *sizes.Group) {
	if k.taken == len(k.rows) || k.rows[k.taken].Rest {
		return nil, nil
	}
	g := k.rows[k.taken]
	k.taken++
	return k.row(numberCell(int64(k.taken)), k.label.cells(k.values(g)), g, g), g
}

// values returns the parts of a group's key that name it.
func (k *Ranking) values(g *sizes.Group) []string {
	return listOf(k.keys, func(i int) string { return g.Values[i] })
}

// Rest returns a row that sums all groups that Next has not returned, nil if there are none.
func (k *Ranking) Rest() []Cell {
	return k.rest(func(n int) string { return Count(int64(n)) + " more" })
}

func (k *Ranking) rest(more func(n int) string) []Cell {
	left := k.rows[k.taken:]
	if len(left) == 0 {
		return nil
	}
	var text []string
	n := len(left)
	if last := left[n-1]; last.Rest {
		n--
		text = append(text, beyondText(last.Groups))
	}
	if n > 0 {
		text = append([]string{more(n)}, text...)
	}
	return k.row(textCell(""), spanningLabel(strings.Join(text, ", "), k.Labels), sumOf(left), left...)
}

// row adds the row of a group, or of the sum of groups.
func (k *Ranking) row(rank cell, names []cell, sum *sizes.Group, groups ...*sizes.Group) []Cell {
	r := k.report
	k.sum += sum.WireBytes()
	nanos := r.nanosOf(indexes(len(r.By.Keys)), groups...)
	k.add(k.style, slices.Concat([]cell{rank}, names, r.cellsOf(k.metrics, sum, k.sum, nanos))...)
	return k.Rows[len(k.Rows)-1]
}

// rankingSection returns a table of the first groups and a row that sums all others.
func (r *Report) rankingSection(s *Style) Section {
	k := r.newRanking(s, r.presetTable())
	service, method := r.keyIndex(sizes.Service), r.keyIndex(sizes.Method)
	unknown := false
	for len(k.Rows) < s.Rows(DefaultTop) {
		_, g := k.Next()
		if g == nil {
			break
		}
		unknown = unknown || service >= 0 && method >= 0 && isUnknown(g.Values[service], g.Values[method])
	}
	all := k.Len
	if all > 0 && k.rows[all-1].Rest {
		all--
	}
	k.rest(func(n int) string { return moreText(n, all) })
	k.Title += ", " + k.Order + " (sizes: body bytes)"
	switch {
	case unknown && r.Totals.Unnamed > 0:
		k.note("?: calls whose method is unknown: the client named it before the capture began or in a gap, or the request was not captured. See COVERAGE.")
	case unknown:
		k.note("?: calls without a captured request, or whose request does not contain service and method.")
	}
	return k.Section
}

// ranked returns the groups in ranking order, the row beyond the limit last.
func (r *Report) ranked() []*sizes.Group {
	rows := r.merge(indexes(len(r.By.Keys)))
	if r.Sorted == "" && !r.byTime() {
		sortByWire(rows)
	}
	return rows
}

// sortByWire sorts rows by bytes on the wire, largest first, groups beyond the limit last, equal ones as they were. It looks at each row once:
// there may be many.
func sortByWire(rows []*sizes.Group) {
	type place struct {
		bytes int64
		row   int
	}
	places := make([]place, len(rows))
	for i, g := range rows {
		places[i] = place{g.WireBytes(), i}
		if g.Rest {
			places[i].bytes = math.MinInt64
		}
	}
	slices.SortFunc(places, func(a, b place) int { return cmp.Or(cmp.Compare(b.bytes, a.bytes), cmp.Compare(a.row, b.row)) })
	sorted := listOf(places, func(p place) *sizes.Group { return rows[p.row] })
	copy(rows, sorted)
}

// rankedKeys returns the indexes of the keys, without protocol and serialization if they are the same in all groups.
func (r *Report) rankedKeys() []int {
	var keys []int
	for i, k := range r.By.Keys {
		if k != sizes.Protocol && k != sizes.Serialization || len(r.By.Keys) == 1 || r.varies(i) {
			keys = append(keys, i)
		}
	}
	if len(keys) == 0 {
		return indexes(len(r.By.Keys))
	}
	return keys
}

func (r *Report) varies(key int) bool {
	first := ""
	for i, g := range r.Groups {
		if g.Rest {
			continue
		}
		if i == 0 {
			first = g.Values[key]
		}
		if g.Values[key] != first {
			return true
		}
	}
	return false
}

func indexes(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// moreText is the label of a row that sums n of all rows; it tells how to see them.
func moreText(n, all int) string {
	return fmt.Sprintf("%s more (--top %d)", Count(int64(n)), all)
}

// rankingTitle returns what is ranked.
func (r *Report) rankingTitle(names []Column) string {
	if r.keyIndex(sizes.Method) >= 0 && !slices.ContainsFunc(r.By.Keys, func(k sizes.Key) bool {
		return k != sizes.Protocol && k != sizes.Serialization && k != sizes.Service && k != sizes.Method
	}) {
		return "METHODS"
	}
	return r.keyTitle(names)
}

// rankingOrder returns the order in words.
func (r *Report) rankingOrder() string {
	switch {
	case r.Sorted != "":
		return sortOrders[slices.Index(SortNames(), r.Sorted)].words
	case r.byTime():
		return "in order"
	}
	return byBytes.words
}
