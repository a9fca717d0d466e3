package screen

import (
	"cmp"
	"slices"

	"dubbo-wire/internal/live"
	"dubbo-wire/internal/report"
	"dubbo-wire/internal/term"
)

// row is a group in the form in which it is drawn.
type row struct {
	*live.Row
	full  string    // the cleaned name
	short [2]string // the name with packages shortened, and shortened more
	rest  bool      // it stands for the groups beyond the limit
}

// rows are the groups of a snapshot.
type rows struct {
	all    []row
	widest [3]int // width of the widest name: in full, and shortened
}

// prepare makes the rows of a snapshot.
func prepare(snap *live.Snapshot) rows {
	var r rows
	if snap == nil {
		return r
	}
	r.all = make([]row, 0, len(snap.Rows)+1)
	names := make([]string, len(snap.Rows))
	for i := range snap.Rows {
		names[i] = clean(snap.Rows[i].Name)
		if names[i] == "" {
			names[i] = "?"
		}
		r.all = append(r.all, row{Row: &snap.Rows[i], full: names[i]})
	}
	if snap.By == live.ByMethod || snap.By == live.ByService {
		for level := range 2 {
			for i, s := range report.ShortNames(names, level+1) {
				r.all[i].short[level] = s
			}
		}
	} else {
		for i, s := range names {
			r.all[i].short = [2]string{s, s}
		}
	}
	if snap.Rest != nil {
		const others = "(all others)"
		r.all = append(r.all, row{Row: snap.Rest, full: others, short: [2]string{others, others}, rest: true})
	}
	for i := range r.all {
		r.widest[0] = max(r.widest[0], term.Width(r.all[i].full))
		for level, s := range r.all[i].short {
			r.widest[level+1] = max(r.widest[level+1], term.Width(s))
		}
	}
	return r
}

// name returns the name of a row in n columns: the longest form in which the names of all rows fit.
func (r *rows) name(i *row, n int) string {
	switch {
	case r.widest[0] <= n:
		return i.full
	case r.widest[1] <= n:
		return i.short[0]
	}
	return term.CutLeft(i.short[1], n)
}

// visible returns the rows that match the filter, sorted; rows with unknown numbers come last in any order. The Monitor
// filters, too. Until its answer is there, and while the screen is paused, this filter works alone.
func (r *rows) visible(filter string, by columnID, reversed bool) []row {
	list := make([]row, 0, len(r.all))
	wanted := live.NameMatcher(filter)
	for _, i := range r.all {
		if i.rest || wanted(i.Name) {
			list = append(list, i)
		}
	}
	c := columnOf(by)
	slices.SortStableFunc(list, func(a, b row) int {
		if a.rest != b.rest {
			return lastIf(a.rest)
		}
		order := 0
		if c.word != nil {
			order = cmp.Compare(c.word(&a), c.word(&b))
		} else if x, y := a.Number(c.Title), b.Number(c.Title); isNumber(x) != isNumber(y) {
			return lastIf(isNumber(y))
		} else {
			order = cmp.Compare(y, x)
		}
		if reversed {
			order = -order
		}
		return cmp.Or(order, cmp.Compare(a.full, b.full))
	})
	return list
}

// lastIf returns 1 to sort a row after another one, -1 to sort it before.
func lastIf(last bool) int {
	if last {
		return 1
	}
	return -1
}
