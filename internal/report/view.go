package report

// View is the tables of a report for writers of other packages.
type View struct {
	// Name is a short name of the files, Head the answer of the report in a few lines.
	Name      string
	Head      []HeadLine
	OnTheWire Section
	// Comparison and Composition have a row per serialization, or per group if calls are not grouped by serialization. Composition has no columns if
	// bodies were not decoded.
	Comparison, Composition Section
	// Base is the serialization that SameCalls compares the others with, over the methods that both have. SameCalls has no columns if
	// there is one serialization, or calls are not grouped by service, method and serialization.
	Base string
	// Compared is "body" or "frame": what SameCalls compares.
	Compared  string
	SameCalls Section
	// Same compares the methods that occur in several serializations, Worst has the calls of presets. Pairs has no columns if they were
	// not counted.
	Same, Worst []Section
	Pairs       Section
	Coverage    Section
	// FindingsNotes tell what the findings do not cover.
	FindingsNotes []string
	// Ranking is nil if there are no calls.
	Ranking *Ranking
}

// View returns the tables, formatted without regard to a terminal's width.
func (r *Report) View(s Style) *View {
	s.Width = 0
	r = r.once()
	all := s
	all.Top = 25
	v := &View{Name: r.inputName(), Head: r.head(&s), OnTheWire: r.onTheWire(&s), Coverage: r.coverageSection(&s), FindingsNotes: r.basisNotes()}
	if r.SameMethods {
		v.Same = r.sameMethodsSections(&s)
	}
	if r.Selected.Calls == 0 {
		return v
	}
	v.Comparison, v.Composition = r.comparison(&all), r.composition(&all)
	if m, ok := r.shared(); ok && len(m.names) > 1 {
		v.Base, v.Compared, v.SameCalls = m.names[0], m.String(), r.sameCalls(&m, &s)
	}
	v.Worst = r.worstSections(&s)
	pairs := s
	pairs.Top = max(s.Top, DefaultTop)
	v.Pairs = r.pairs(&pairs)
	v.Ranking = r.newRanking(&s, inPage)
	return v
}
