package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/sizes"
	"dubbo-wire/internal/term"
)

// sharedMethods is the groups of methods by serialization. Only sizes of the same methods can be compared between serializations.
type sharedMethods struct {
	sizeKind
	unknown bool     // there are calls whose serialization is not known
	names   []string // protocol/serialization, in the order of the comparison
	methods map[[2]string]map[string]*sizes.Group
	sorted  [][2]string // the keys of methods: sums of floating point numbers depend on the order
}

// shared returns the methods by serialization. ok is false if the report is not grouped by service, method and serialization.
func (r *Report) shared() (m sharedMethods, ok bool) {
	service, method := r.keyIndex(sizes.Service), r.keyIndex(sizes.Method)
	if service < 0 || method < 0 || r.keyIndex(sizes.Serialization) < 0 {
		return m, false
	}
	_, _, rows := r.compared()
	m.sizeKind = r.compares()
	for _, row := range rows {
		switch {
		case row.Rest:
		case isUnknownRow(row.Values):
			m.unknown = true
		default:
			m.names = append(m.names, comparisonName(row.Values))
		}
	}
	if len(rows) < 2 { // no method is in two of them, and there may be many
		return m, true
	}
	m.methods = make(map[[2]string]map[string]*sizes.Group)
	for _, g := range r.Groups {
		if g.Rest || isUnknown(g.Values[service], g.Values[method]) || r.serializationUnknown(g) {
			continue
		}
		key := [2]string{g.Values[service], g.Values[method]}
		if m.methods[key] == nil {
			m.methods[key] = make(map[string]*sizes.Group)
		}
		name := r.serializationOf(g)
		if sum := m.methods[key][name]; sum != nil {
			g = sumOf([]*sizes.Group{sum, g}) // the groups of the report are not changed
		}
		m.methods[key][name] = g
	}
	m.sorted = slices.SortedFunc(maps.Keys(m.methods), func(a, b [2]string) int {
		return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1]))
	})
	return m, true
}

// serializationOf returns the name of a group's row in the comparison.
func (r *Report) serializationOf(g *sizes.Group) string {
	var values []string
	for i, k := range r.By.Keys {
		if k == sizes.Protocol || k == sizes.Serialization {
			values = append(values, g.Values[i])
		}
	}
	return comparisonName(values)
}

// serializationUnknown reports whether a group has calls whose serialization is not known: those without a body.
func (r *Report) serializationUnknown(g *sizes.Group) bool {
	return g.Values[r.keyIndex(sizes.Serialization)] == call.Unknown
}

// isUnknownRow reports whether the row of the comparison with these values is of calls whose serialization is not known.
func isUnknownRow(values []string) bool {
	return slices.Contains(values, call.Unknown)
}

// paired compares two serializations over the methods that both have, weighted by the calls of the first one.
type paired struct {
	methods               int
	baseCalls, otherCalls int64
	request, response     ratio
	// requestBody and responseBody are the sums of bodies, also if the ratios are of frames.
	requestBody, responseBody ratio
}

// ratio sums bytes of a base and of another serialization, weighted by the calls of the base.
type ratio struct {
	calls       int64 // calls of the base with such a body
	base, other float64
}

func (q *ratio) add(base, other *sizes.Stat) {
	if base.Count == 0 || other.Count == 0 {
		return
	}
	q.calls += base.Count
	q.base += float64(base.Total)
	q.other += float64(base.Count) * float64(other.Total) / float64(other.Count)
}

func (q *ratio) text() string {
	if q.base == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f x", q.other/q.base)
}

// relative returns the mean bytes of a request and its response relative to those of the base. Without responses it is the
// largest number.
func (f *paired) relative() float64 {
	if f.response.base == 0 || f.request.base == 0 {
		return math.MaxFloat64
	}
	request, response := float64(f.request.calls), float64(f.response.calls)
	return (f.request.other/request + f.response.other/response) / (f.request.base/request + f.response.base/response)
}

// compare compares two serializations.
func (m *sharedMethods) compare(base, other string) paired {
	var f paired
	for _, key := range m.sorted {
		a, b := m.methods[key][base], m.methods[key][other]
		if a == nil || b == nil {
			continue
		}
		f.methods++
		f.baseCalls += a.Calls
		f.otherCalls += b.Calls
		f.request.add(m.of(&a.Request), m.of(&b.Request))
		f.response.add(m.of(&a.ResponseOK), m.of(&b.ResponseOK))
		f.requestBody.add(&a.Request.Body, &b.Request.Body)
		f.responseBody.add(&a.ResponseOK.Body, &b.ResponseOK.Body)
	}
	return f
}

// KeepSameMethods drops the groups of methods that occur in one serialization only. ok is false if the report is not grouped by
// service, method and serialization.
func (r *Report) KeepSameMethods() (ok bool) {
	m, ok := r.shared()
	if !ok {
		return false
	}
	service, method := r.keyIndex(sizes.Service), r.keyIndex(sizes.Method)
	var kept []*sizes.Group
	r.Selected = sizes.Group{}
	for _, g := range r.Groups {
		if g.Rest || r.serializationUnknown(g) || len(m.methods[[2]string{g.Values[service], g.Values[method]}]) < 2 {
			continue
		}
		kept = append(kept, g)
		r.Selected.MergeSizes(g)
	}
	r.Groups, r.SameMethods = kept, true
	return true
}

// sameMethods returns notes about whether the rows of the comparison have the same methods, and the ratios for those.
func (r *Report) sameMethods() []string {
	const text = "The rows contain different calls, so their means do not compare serializations."
	m, ok := r.shared()
	switch {
	case !ok:
		return []string{text}
	case len(m.names) < 2 && m.unknown: // the other row has calls without a body
		return nil
	case len(m.names) < 2:
		return []string{text}
	}
	all, several := 0, 0
	for _, in := range m.methods {
		if len(in) == len(m.names) {
			all++
		}
		if len(in) > 1 {
			several++
		}
	}
	switch {
	case several == 0:
		return []string{text + " No method was seen in more than one of them."}
	case len(m.names) > 3:
		inAll := "none"
		if all > 0 {
			inAll = Count(int64(all))
		}
		return []string{fmt.Sprintf("%s %s in more than one of them, %s in all %d. Compare the same methods: --same-methods",
			text, methodsSeen(several), inAll, len(m.names))}
	}
	var notes []string
	for i, base := range m.names {
		for _, other := range m.names[i+1:] {
			f := m.compare(base, other)
			short := func(s string) string {
				if m.frames {
					return s
				}
				_, s, _ = strings.Cut(s, "/")
				return s
			}
			if f.methods == 0 {
				notes = append(notes, fmt.Sprintf("No method was seen in both %s and %s.", short(base), short(other)))
				continue
			}
			notes = append(notes, fmt.Sprintf("%s in both %s and %s: against %s, %s has %s of %s and %s of %s.",
				methodsSeen(f.methods), short(base), short(other), short(base), short(other), m.messages("request"), f.request.text(), m.messages("response"), f.response.text()))
		}
	}
	notes[0] = text + " " + notes[0]
	if !r.SameMethods {
		notes[len(notes)-1] += " Compare the same methods: --same-methods"
	}
	return notes
}

// messages returns the plural of a direction as ratios name it: requests, or request frames.
func (k sizeKind) messages(direction string) string {
	if k.frames {
		direction += " frame"
	}
	return direction + "s"
}

func methodsSeen(n int) string { return plural(int64(n), "method was seen", "methods were seen") }

// sameMethodsSections returns tables that compare the serializations over the methods that they have in common.
func (r *Report) sameMethodsSections(s *Style) []Section {
	m, ok := r.shared()
	if !ok {
		return nil
	}
	several := func(key [2]string) bool { return len(m.methods[key]) > 1 }
	if !slices.ContainsFunc(m.sorted, several) {
		return []Section{{Title: "SAME METHODS", Notes: []string{"No method was seen in more than one serialization."}}}
	}
	return []Section{r.sameCalls(&m, s), r.methodSizes(&m, s)}
}

// sameCalls compares each serialization with the first one, over the methods that both have.
func (r *Report) sameCalls(m *sharedMethods, s *Style) Section {
	base := m.names[0]
	sec := Section{Title: "SAME METHODS, against " + base, Columns: []Column{
		{Name: "serialization", Flex: true},
		{Name: "methods", unit: count, drop: 1},
		{Group: "calls", Name: "this", unit: count, drop: 2},
		{Group: "calls", Name: "base", unit: count, drop: 3},
		{Group: "request " + m.String() + " bytes", Name: "base", unit: size},
		{Group: "request " + m.String() + " bytes", Name: "this", unit: size},
		{Group: "request " + m.String() + " bytes", Name: "ratio", Right: true},
		{Group: "response " + m.String() + " bytes", Name: "base", unit: size},
		{Group: "response " + m.String() + " bytes", Name: "this", unit: size},
		{Group: "response " + m.String() + " bytes", Name: "ratio", Right: true},
	}}
	if m.frames {
		for _, group := range []string{"request body bytes", "response body bytes"} {
			sec.Columns = append(sec.Columns, Column{Group: group, Name: "base", unit: size, drop: 4}, Column{Group: group, Name: "this", unit: size, drop: 4})
		}
	}
	mean := func(sum float64, n int64) cell {
		if n == 0 {
			return cell{}
		}
		return ratioCell(int64(sum*1000/float64(n)+0.5), 1000)
	}
	for _, other := range m.names[1:] {
		f := m.compare(base, other)
		if f.methods == 0 {
			continue
		}
		row := []cell{textCell(other), numberCell(int64(f.methods)), numberCell(f.otherCalls), numberCell(f.baseCalls)}
		for _, q := range []*ratio{&f.request, &f.response} {
			row = append(row, mean(q.base, q.calls), mean(q.other, q.calls), textCell(q.text()))
		}
		if m.frames {
			for _, q := range []*ratio{&f.requestBody, &f.responseBody} {
				row = append(row, mean(q.base, q.calls), mean(q.other, q.calls))
			}
		}
		sec.add(s, row...)
	}
	sec.note("Each row compares the methods seen both in it and in the base, %s. Sizes are mean %s bytes per call, with each method weighted by its calls in the base.", base, m)
	if m.frames {
		sec.note(framesNote)
	}
	sec.note(comparedResponsesNote)
	return sec
}

// comparedResponsesNote explains which responses are compared.
const comparedResponsesNote = "Responses are those of successful calls in the request's serialization."

// framesNote explains why frames are compared.
const framesNote = "Frames are compared because the protocols differ in what is in headers and what in bodies."

// methodSizes returns the mean sizes of each method in each serialization.
func (r *Report) methodSizes(m *sharedMethods, s *Style) Section {
	sec := Section{Title: "METHODS, in each serialization", Columns: []Column{
		{Name: "service/method", Names: true},
		{Name: "serialization", Flex: true, shorten: dropCommon("/", 1)},
		{Name: "calls", unit: count, drop: 1},
		{Name: "failed", unit: count, Wide: true},
		{Name: "answered in another", unit: count, Wide: true},
		{Group: "request " + m.String(), Name: "mean", unit: size},
		{Group: "request " + m.String(), Name: "ratio", Right: true},
		{Group: "response " + m.String(), Name: "mean", unit: size},
		{Group: "response " + m.String(), Name: "ratio", Right: true},
	}}
	if m.frames {
		sec.Columns = append(sec.Columns, Column{Group: "mean body", Name: "request", unit: size, drop: 2}, Column{Group: "mean body", Name: "response", unit: size, drop: 2})
	}
	for _, key := range m.sorted {
		in := m.methods[key]
		if len(in) < 2 {
			continue
		}
		var first *sizes.Group
		method := methodName(key[0], key[1])
		for _, name := range m.names {
			g := in[name]
			if g == nil {
				continue
			}
			row := []cell{textCell(method), textCell(term.Clean(name)), numberCell(g.Calls), numberCell(g.Errors), numberCell(g.OtherAnswers)}
			if first == nil {
				first = g
			}
			for _, d := range [][2]*sizes.Direction{{&first.Request, &g.Request}, {&first.ResponseOK, &g.ResponseOK}} {
				var q ratio
				q.add(m.of(d[0]), m.of(d[1]))
				text := q.text()
				if first == g {
					text = ""
				}
				row = append(row, ratioCell(m.of(d[1]).Total, m.of(d[1]).Count), textCell(text))
			}
			if m.frames {
				for _, d := range []*sizes.Direction{&g.Request, &g.ResponseOK} {
					row = append(row, ratioCell(d.Body.Total, d.Body.Count))
				}
			}
			sec.add(s, row...)
		}
	}
	sec.note("Sizes are mean %s bytes; ratios are to the first row of the method. %s", m, comparedResponsesNote)
	return sec
}
