package report

import "dubbo-wire/internal/term"

// shownPairs is how many pairs the screen has.
const shownPairs = 3

// pairs lists who talks to whom with most bytes.
func (r *Report) pairs(s *Style) (section, bool) {
	if r.Pairs == nil {
		return section{}, false
	}
	list, all, complete := r.Pairs.Busiest(max(shownPairs, s.Top))
	if all == 0 {
		return section{}, false
	}
	const title = "BUSIEST PAIRS"
	tab := &table{columns: []column{
		{name: "client > server", least: len(title), flex: true},
		{group: "on the wire", name: "bytes", unit: volume, wide: true},
		{group: "on the wire", name: "Mbit/s", unit: mbit},
		{group: "on the wire", name: "%", unit: percent},
		{name: "calls", unit: count},
		{name: "most of it", flex: true, shorten: shortenNames, cut: cutName},
		{name: "%", unit: percent},
	}}
	for _, p := range list {
		top := p.Top()
		name := methodName(top.Service, top.Method)
		tab.rows = append(tab.rows, []cell{
			textCell(p.Client + " > " + p.Server), numberCell(p.WireBytes), ratioCell(p.WireBytes, r.nanos()),
			ratioCell(p.WireBytes, r.Selected.WireBytes()), numberCell(p.Calls), textCell(name), ratioCell(top.WireBytes, p.WireBytes),
		})
	}
	sec := section{title: title, table: tab}
	if all > len(list) {
		note := "More of them: --by client,server."
		if n := int64(all - len(list)); complete {
			note = plural(n, "more pair", "more pairs") + ": --by client,server."
		}
		sec.notes = append(sec.notes, note)
	}
	if !complete {
		sec.notes = append(sec.notes, "There were too many pairs to keep all of them apart; a busier one may be missing.")
	}
	return sec, true
}

// methodName is the written form of a method.
func methodName(service, method string) string {
	if isUnknown(service, method) {
		return term.Clean(service)
	}
	return term.Clean(service) + "/" + term.Clean(method)
}
