package report

import (
	"slices"

	"dubbo-wire/internal/sizes"
)

// part is a part of a report that users name in --sections.
type part struct {
	name string
	// title is the heading if a section that the user named is empty.
	title string
	// sections is nil for the head, which is not a section.
	sections func(*Report, *Style) []Section
	// ofCalls parts are absent if no call was selected.
	ofCalls bool
}

const headName = "head"

// parts are all parts in reading order. Those of presets and the same methods are there if the user asked for them.
var parts = []part{
	{name: headName},
	{name: SameMethodsName, title: "SAME METHODS", sections: (*Report).sameMethodsSections},
	presetPart(sizes.BigRequests),
	presetPart(sizes.BigResponses),
	presetPart(sizes.Slow),
	presetPart(sizes.Errors),
	{name: "serializations", title: "BY SERIALIZATION", ofCalls: true, sections: one((*Report).comparison)},
	{name: methodsName, title: "METHODS", ofCalls: true, sections: one((*Report).rankingSection)},
	{name: "findings", title: "FINDINGS", sections: one((*Report).findingsSection)},
	{name: "composition", title: compositionTitle, ofCalls: true, sections: one((*Report).composition)},
	{name: "wire", title: wireTitle, sections: one((*Report).onTheWire)},
	{name: "pairs", title: pairsTitle, ofCalls: true, sections: one((*Report).pairs)},
	{name: "coverage", title: coverageTitle, sections: one((*Report).coverageSection)},
	{name: "details", title: "DETAILS", sections: (*Report).details},
}

const methodsName = "methods"

// SameMethodsName is the name of the section that compares serializations over the same methods.
const SameMethodsName = "same-methods"

func presetPart(p sizes.Preset) part {
	return part{name: string(p), title: worstTitles[p], ofCalls: true, sections: func(r *Report, s *Style) (list []Section) {
		for _, w := range r.Worst {
			if w.Preset == p {
				list = append(list, r.worst(w, s))
			}
		}
		return list
	}}
}

// one makes a list of a section, empty if the section is.
func one(section func(*Report, *Style) Section) func(*Report, *Style) []Section {
	return func(r *Report, s *Style) []Section { return appendSections(nil, section(r, s)) }
}

// of returns the sections of a part, nil if the report does not have it.
func (p *part) of(r *Report, s *Style) []Section {
	if p.ofCalls && r.Selected.Calls == 0 {
		return nil
	}
	return p.sections(r, s)
}

// SectionNames returns the names of the parts of a report in reading order.
func SectionNames() []string { return listOf(parts, func(p part) string { return p.name }) }

// document returns the report for a terminal or Markdown: the head, and the sections that the user named or all.
func (r *Report) document(s *Style) *Document {
	d := &Document{}
	r = r.once()
	if s.Sections == nil {
		d.Head = r.head(s)
		for _, p := range r.inOrder() {
			d.Sections = append(d.Sections, p.of(r, s)...)
		}
		return d
	}
	for _, name := range s.Sections {
		p := parts[slices.IndexFunc(parts, func(p part) bool { return p.name == name })]
		if p.name == headName {
			d.Head = r.head(s)
			continue
		}
		list := p.of(r, s)
		if list == nil {
			list = []Section{{Title: p.title, Notes: []string{r.whyEmpty()}}}
		}
		d.Sections = append(d.Sections, list...)
	}
	return d
}

// inOrder returns the parts without the head. The first preset ranks the methods, so these follow the calls of presets.
func (r *Report) inOrder() []part {
	list := slices.Clone(parts[1:])
	if !r.SameMethods {
		list = slices.DeleteFunc(list, func(p part) bool { return p.name == SameMethodsName })
	}
	if len(r.Worst) > 0 {
		is := func(name string) int { return slices.IndexFunc(list, func(p part) bool { return p.name == name }) }
		methods := list[is(methodsName)]
		list = slices.Delete(list, is(methodsName), is(methodsName)+1)
		list = slices.Insert(list, is("serializations"), methods)
	}
	return list
}

// whyEmpty explains a section that the user named and that has nothing.
func (r *Report) whyEmpty() string {
	switch {
	case r.Selected.Calls == 0:
		return "None: the report has no calls."
	case r.Saved:
		return "Not available: saved reports do not have it."
	}
	return "Not available for this grouping."
}
