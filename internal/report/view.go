package report

// View is a report as texts, for who draws it elsewhere: the tables that a terminal shows, and that of all groups.
type View struct {
	// Name is the file or files, Summary the first line of the report.
	Name, Summary string
	OnTheWire     Section
	// Compared are the serializations, or what groups are compared by where these are not a key: Comparison and MadeOf have a
	// row for each. MadeOf has no columns where bodies were not taken apart.
	Comparison, MadeOf Section
	// Same are the methods seen in several serializations, Worst the calls that presets ask for; Pairs has no columns where
	// they were not counted.
	Same, Worst []Section
	Pairs       Section
	Coverage    Section
	// Ranking is nil where there are no calls.
	Ranking *Ranking
}

// View makes the tables.
func (r *Report) View(s Style) *View {
	s.Width = 0
	all := s
	all.Top = 25
	v := &View{Name: r.inputName(), Summary: r.summary(&s), OnTheWire: r.onTheWire(&s), Coverage: r.coverageSection(&s)}
	if r.Selected.Calls == 0 {
		return v
	}
	v.Comparison = r.comparison(&all)
	if r.Parts || r.Sampled {
		v.MadeOf = r.madeOf(&all)
	}
	if r.SameMethods {
		v.Same = r.fairComparison(&s)
	}
	for _, w := range r.Worst {
		v.Worst = append(v.Worst, r.worst(w, &s))
	}
	pairs := s
	pairs.Top = max(s.Top, DefaultTop)
	v.Pairs = r.pairs(&pairs)
	v.Ranking = r.newRanking(&s, inPage)
	return v
}
