package report

import "dubbo-wire/internal/term"

// shownPairs is the minimum number of pairs in a table.
const (
	shownPairs = 3
	pairsTitle = "BUSIEST PAIRS"
)

// pairs returns the table of the pairs of client and server with most bytes; it has no columns if pairs were not counted.
func (r *Report) pairs(s *Style) Section {
	if r.Pairs == nil {
		return Section{}
	}
	list, all, complete := r.Pairs.Busiest(max(shownPairs, s.Top))
	if all == 0 {
		return Section{}
	}
	sec := Section{Title: pairsTitle, Columns: []Column{
		{Name: "client > server", least: len(pairsTitle), Flex: true},
		{Group: "on the wire", Name: "bytes", unit: volume, Wide: true},
		{Group: "on the wire", Name: "Mbit/s", unit: mbit, drop: 2},
		{Group: "on the wire", Name: "%", unit: percent},
		{Name: "calls", unit: count, drop: 1},
		{Name: "busiest method", Names: true},
		{Name: "%", unit: percent},
	}}
	for _, p := range list {
		top := p.Top()
		name := methodName(top.Service, top.Method)
		sec.add(
			s, textCell(p.Client+" > "+p.Server), numberCell(p.WireBytes), ratioCell(p.WireBytes, r.nanos()),
			ratioCell(p.WireBytes, r.Selected.WireBytes()), numberCell(p.Calls), textCell(name), ratioCell(top.WireBytes, p.WireBytes),
		)
	}
	if all > len(list) {
		note := "There are more pairs: --by client,server."
		if n := int64(all - len(list)); complete {
			note = Plural(n, "more pair") + ": --by client,server."
		}
		sec.Notes = append(sec.Notes, note)
	}
	if !complete {
		sec.Notes = append(sec.Notes, "There were too many pairs to count each one; a busier one may be missing.")
	}
	return sec
}

// methodName returns service/method.
func methodName(service, method string) string {
	if isUnknown(service, method) {
		return term.Clean(service)
	}
	return term.Clean(service) + "/" + term.Clean(method)
}
