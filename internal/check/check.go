// Package check compares the sizes of a report with those of a golden file and with budgets: mean, p99 and maximum of request bodies
// and of the bodies of successful responses in the serialization of the request, by method. The result is printed as a table, Markdown,
// JSON, GitHub workflow commands or JUnit XML. Totals and counts are not compared, because they depend on the load and not on the code.
// The package reads and writes golden files. It does not change reports and copies the texts that it needs.
package check

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"dubbo-wire/internal/report"
	"dubbo-wire/internal/sizes"
)

// Tolerance is the allowed change of a size, as an exact fraction of the golden size.
type Tolerance struct{ part *big.Rat }

// decimal matches the numbers of reports and users. It bounds their length, because numbers are exact.
var decimal = regexp.MustCompile(`^-?[0-9]{1,20}(\.[0-9]{1,20})?$`)

// ParseTolerance reads a percentage: "5%", "0.5 %" or "5".
func ParseTolerance(s string) (Tolerance, error) {
	number := strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(s), "%"))
	if !decimal.MatchString(number) || strings.HasPrefix(number, "-") {
		return Tolerance{}, fmt.Errorf("tolerance %.40q: write a percentage from 0 up, such as 5%%", s)
	}
	part, _ := new(big.Rat).SetString(number)
	return Tolerance{part.Quo(part, big.NewRat(100, 1))}, nil
}

// String returns the percentage.
func (t Tolerance) String() string {
	if t.part == nil {
		return "0 %"
	}
	text := new(big.Rat).Mul(t.part, big.NewRat(100, 1)).FloatString(6)
	return strings.TrimRight(strings.TrimRight(text, "0"), ".") + " %"
}

// MarshalText writes the percentage, as JSON has it.
func (t Tolerance) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// JSON returns the percentage in the notation of golden files.
func (t Tolerance) JSON() json.RawMessage {
	return json.RawMessage(`"` + strings.ReplaceAll(t.String(), " ", "") + `"`)
}

// tolerates reports whether a size is within the tolerance of a golden one.
func (t Tolerance) tolerates(was, is *big.Rat) bool {
	far := new(big.Rat).Sub(is, was)
	far.Abs(far)
	allowed := new(big.Rat)
	if t.part != nil {
		allowed.Mul(t.part, new(big.Rat).Abs(was))
	}
	return far.Cmp(allowed) <= 0
}

// covers reports whether a change of so many percent is allowed.
func (t Tolerance) covers(percent *big.Rat) bool {
	change := new(big.Rat).Abs(percent)
	return t.part != nil && change.Quo(change, big.NewRat(100, 1)).Cmp(t.part) <= 0
}

// Terms are the tolerances of a golden file.
type Terms struct {
	All Tolerance
	// Of has the tolerances of single methods by "service/method".
	Of map[string]Tolerance
}

// TermsOf reads the tolerances, which are percentages as texts ("5%") or numbers (5).
func TermsOf(s *report.Summaries) (Terms, error) {
	read := func(raw json.RawMessage) (Tolerance, error) {
		text := strings.TrimSpace(string(raw))
		if strings.HasPrefix(text, `"`) {
			if err := json.Unmarshal(raw, &text); err != nil {
				return Tolerance{}, err
			}
		}
		return ParseTolerance(text)
	}
	var t Terms
	var err error
	if s.Tolerance != nil {
		if t.All, err = read(s.Tolerance); err != nil {
			return t, err
		}
	}
	for name, raw := range s.Tolerances {
		if t.Of == nil {
			t.Of = make(map[string]Tolerance)
		}
		if t.Of[name], err = read(raw); err != nil {
			return t, fmt.Errorf("%.100s: %w", name, err)
		}
	}
	return t, nil
}

// Result is the result of a check.
type Result struct {
	Golden string `json:"-"` // its file, "" without one
	Terms  Terms  `json:"-"`
	// Strict lets new methods and budgets without calls fail the check. GrowthOnly lets sizes shrink.
	Strict     bool `json:"-"`
	GrowthOnly bool `json:"-"`
	// Updated is set if the golden file is replaced.
	Updated bool `json:"updated"`
	// Numbers of methods by status.
	Over     int `json:"over"`
	Changed  int `json:"changed"`
	Under    int `json:"under"`
	Vanished int `json:"vanished"`
	New      int `json:"new"`
	Within   int `json:"within"`
	// LeftOut is the number of golden methods that the user's filter excludes.
	LeftOut int `json:"notAskedFor"`
	// Coverage and its required minimum, in percent.
	Coverage    float64  `json:"coveragePercent"`
	MinCoverage float64  `json:"minCoveragePercent"`
	Methods     []Method `json:"methods"` // drifted and new methods first
	Budgets     []Spent  `json:"budgets,omitempty"`
	// Unused are names in the golden file's tolerances without a method.
	Unused []string `json:"tolerancesOfNoMethod,omitempty"`
	// Explain is the command that shows a frame, without its number, or "".
	Explain string `json:"-"`
}

// statuses are all statuses, in the order of methods.
var statuses = []Status{Over, Changed, Under, Vanished, New, Within}

// count returns the number of methods of a status.
func (r *Result) count(s Status) *int {
	return map[Status]*int{Over: &r.Over, Changed: &r.Changed, Under: &r.Under, Vanished: &r.Vanished, New: &r.New, Within: &r.Within}[s]
}

// Status is the status of a method.
type Status string

// The statuses. Over: a size exceeds its tolerance. Changed: the requests use another serialization. Under: a size is below its
// tolerance and none exceeds it. New: the golden file lacks the method, or a direction of it.
const (
	Over     Status = "over"
	Changed  Status = "changed"
	Under    Status = "under"
	Vanished Status = "vanished"
	New      Status = "new"
	Within   Status = "within"
)

// Method is a method of the golden report, of the run, or of both.
type Method struct {
	Name    string `json:"name"` // service/method, and the other keys that differ
	Service string `json:"-"`
	Method  string `json:"-"`
	Status  Status `json:"status"`
	Failed  bool   `json:"failed"` // set by the JSON
	Known   bool   `json:"-"`      // to the golden report
	// From and To are the serializations of a changed method.
	From     string    `json:"goldenSerialization,omitempty"`
	To       string    `json:"serialization,omitempty"`
	Calls    int64     `json:"calls"` // in the run; in the golden report if it vanished
	Allowed  Tolerance `json:"allowed"`
	Measures []Measure `json:"measures"`
	Largest  *Largest  `json:"largest"` // nil where there is none

	// by and values are the keys in the name; group is that of the run. They choose the message to explain.
	by     sizes.By
	values []string
	group  *sizes.Group
}

// Largest is the message with the largest body.
type Largest struct {
	File      string `json:"file"`
	Frame     int64  `json:"frame"`
	BodyBytes int64  `json:"bodyBytes"`
}

// Measure is a number that is checked.
type Measure struct {
	Name string `json:"name"` // "request mean"
	// Was and Is are "" if there is no number.
	Was     report.Number `json:"golden"`
	Is      report.Number `json:"now"`
	Percent float64       `json:"changePercent"` // 0 where Was is 0 or missing
	Drift   bool          `json:"drift"`
	New     bool          `json:"-"` // the golden report lacks it
	over    bool
}

// Drifted reports whether a method fails the check.
func (r *Result) Drifted() bool {
	return slices.ContainsFunc(r.Methods, func(m Method) bool { return r.fails(&m) })
}

// Failed reports whether the check fails.
func (r *Result) Failed() bool { return r.Drifted() || r.overspent() || r.Low() }

// fails reports whether a method fails the check.
func (r *Result) fails(m *Method) bool {
	switch {
	case r.Updated || m.Status == Within:
		return false
	case m.Status == New:
		return r.Strict
	case m.Status == Vanished || !r.GrowthOnly:
		return true
	}
	return m.Status == Changed && !m.comparable() || slices.ContainsFunc(m.Measures, func(n Measure) bool {
		return n.fatal() || r.Strict && n.New
	})
}

// comparable reports whether a changed method had one serialization, so that its sizes can be compared.
func (m *Method) comparable() bool {
	return slices.ContainsFunc(m.Measures, func(n Measure) bool { return n.Was != "" })
}

// fatal reports whether --growth-only does not allow the drift of a measure: it grew, or its messages are gone.
func (n *Measure) fatal() bool { return n.Drift && (n.over || n.Is == "") }

// Low reports whether the coverage is below its minimum.
func (r *Result) Low() bool { return r.MinCoverage > 0 && r.Coverage < r.MinCoverage }

// Run checks a report that is grouped as the golden one is. It returns an error for invalid numbers in the golden report. Without a
// golden report (nil) only budgets are checked.
func Run(golden *report.Summaries, terms Terms, r *report.Report) (*Result, error) {
	res := &Result{Terms: terms, Coverage: r.Percent(), Methods: []Method{}}
	if golden == nil {
		return res, nil
	}
	var list []*pair
	pairs := make(map[string]*pair)
	at := func(values []string) *pair {
		key := strings.Join(values, "\x00")
		if pairs[key] == nil {
			pairs[key] = &pair{values: values}
			list = append(list, pairs[key])
		}
		return pairs[key]
	}
	for i := range golden.Groups {
		switch was := &golden.Groups[i]; {
		case was.Rest:
		case was.LeftOut:
			res.LeftOut++
		default:
			at(was.Values).was = was
		}
	}
	for _, g := range r.Groups {
		if !g.Rest {
			at(g.Values).is = g
		}
	}
	list = joinChanged(golden.By, list)
	named := namer(golden.By, list)
	for _, p := range list {
		by, values := named(p)
		m := Method{
			Name: report.KeyText(by, values), Service: valueOf(golden.By, p.values, sizes.Service), Method: valueOf(golden.By, p.values, sizes.Method),
			Allowed: terms.of(golden.By, p.values), Measures: []Measure{}, Known: p.was != nil, From: p.from, To: p.to,
			by: by, values: values, group: p.is,
		}
		if p.is == nil {
			m.Status, m.Calls = Vanished, p.was.Calls
		} else {
			was := p.was
			if was == nil {
				was = &report.SummaryGroup{}
			}
			if err := m.compare(golden.By, was, p.is); err != nil {
				return nil, fmt.Errorf("%s: %w", m.Name, err)
			}
			if m.Calls = p.is.Calls; !m.Known {
				m.Status = New
			} else if p.to != "" {
				m.Status = Changed
			}
			m.Largest = largestOf(r, p.is)
		}
		*res.count(m.Status)++
		res.Methods = append(res.Methods, m)
	}
	res.Unused = terms.unused(golden, r)
	order := func(m *Method) int { return slices.Index(statuses, m.Status) }
	slices.SortStableFunc(res.Methods, func(a, b Method) int {
		return cmp.Or(order(&a)-order(&b), cmp.Compare(b.worst(), a.worst()), cmp.Compare(a.Name, b.Name))
	})
	return res, nil
}

// pair is a group of the golden report and that of the run with the same key. One of them may be nil.
type pair struct {
	values []string
	was    *report.SummaryGroup
	is     *sizes.Group
	// from and to are set if the serialization changed, protocol if the protocol did, too: they then begin with it.
	from, to string
	protocol bool
}

// joinChanged replaces vanished and new groups that differ only in the serialization, or the protocol, by one pair. Sizes of several
// vanished groups cannot be added up, and bodies of two protocols not compared, so such pairs have no earlier sizes.
func joinChanged(by sizes.By, list []*pair) []*pair {
	at := slices.Index(by.Keys, sizes.Serialization)
	if at < 0 {
		return list
	}
	protocol := slices.Index(by.Keys, sizes.Protocol)
	type change struct{ gone, come []*pair }
	changes := make(map[string]*change)
	keyOf := func(p *pair) string {
		values := slices.Clone(p.values)
		values[at] = ""
		if protocol >= 0 {
			values[protocol] = ""
		}
		return strings.Join(values, "\x00")
	}
	for _, p := range list {
		if p.was != nil && p.is != nil {
			continue
		}
		c := changes[keyOf(p)]
		if c == nil {
			c = new(change)
			changes[keyOf(p)] = c
		}
		if p.is == nil {
			c.gone = append(c.gone, p)
		} else {
			c.come = append(c.come, p)
		}
	}
	serializations := func(list []*pair, withProtocol bool) string {
		var names []string
		for _, p := range list {
			name := p.values[at]
			if withProtocol {
				name = p.values[protocol] + "/" + name
			}
			names = append(names, name)
		}
		slices.Sort(names)
		return strings.Join(names, ", ")
	}
	return slices.DeleteFunc(list, func(p *pair) bool {
		c := changes[keyOf(p)]
		if p.was != nil && p.is != nil || len(c.gone) == 0 || len(c.come) == 0 {
			return false
		}
		if p != c.gone[0] {
			return true
		}
		p.protocol = protocol >= 0 && slices.ContainsFunc(slices.Concat(c.gone, c.come), func(o *pair) bool { return o.values[protocol] != p.values[protocol] })
		p.from, p.to = serializations(c.gone, p.protocol), serializations(c.come, p.protocol)
		if len(c.gone) > 1 || p.protocol {
			p.was = &report.SummaryGroup{}
		}
		if p.is = c.come[0].is; len(c.come) > 1 {
			p.is = new(sizes.Group)
			for _, n := range c.come {
				p.is.Merge(n.is)
			}
		}
		return false
	})
}

// worst returns the largest change of a method in percent.
func (m *Method) worst() float64 {
	most := 0.0
	for _, x := range m.Measures {
		if x.Drift {
			most = max(most, x.Percent, -x.Percent)
		}
	}
	return most
}

// largestOf returns the largest message of a group, nil if it is unknown.
func largestOf(r *report.Report, g *sizes.Group) *Largest {
	if l := g.Largest; l.Frame > 0 && l.File < len(r.Inputs) {
		return &Largest{r.Inputs[l.File].File, l.Frame, l.BodyBytes}
	}
	return nil
}

// measureNames are the numbers of a direction that are checked.
var measureNames = [...]string{"mean", "p99", "max"}

// responses returns the bodies of the responses that are checked: those of successful calls in the serialization of the request. If
// there are none, or if calls are grouped by the serialization of the response, it returns those in other serializations, too.
func responses(by sizes.By, g *sizes.Group) *sizes.Stat {
	if g.ResponseOK.Body.Count == 0 || slices.Contains(by.Keys, sizes.ResponseSerialization) {
		return &g.ResponseOKOrOther().Body
	}
	return &g.ResponseOK.Body
}

// summaryOf returns the numbers of a distribution as golden files have them.
func summaryOf(s *sizes.Stat) report.Summary {
	if s.Count == 0 {
		return report.Summary{}
	}
	return report.Summary{
		Mean: json.Number(strconv.FormatFloat(sizes.Round3(s.Mean()), 'f', -1, 64)),
		P99:  json.Number(strconv.FormatInt(s.Percentile(99), 10)),
		Max:  json.Number(strconv.FormatInt(s.Max, 10)),
	}
}

// compare sets the measures and the status.
func (m *Method) compare(by sizes.By, was *report.SummaryGroup, is *sizes.Group) error {
	m.Status = Within
	added, answers := false, responses(by, is)
	switch {
	case was.AllResponses:
		answers = &is.Response().Body
	case was.Response.Mean != "" && was.Response.P99 == "": // a full report, read as the sum of successful responses in any serialization
		answers = &is.ResponseOKOrOther().Body
	}
	for _, d := range []struct {
		name    string
		was, is report.Summary
	}{{"request", was.Request, summaryOf(&is.Request.Body)}, {"response", was.Response, summaryOf(answers)}} {
		was, is := [...]json.Number{d.was.Mean, d.was.P99, d.was.Max}, [...]json.Number{d.is.Mean, d.is.P99, d.is.Max}
		for i, name := range measureNames {
			n := Measure{Name: d.name + " " + name, Was: report.Number(was[i]), Is: report.Number(is[i])}
			if n.Was == "" && (n.Is == "" || was[0] != "") {
				continue // the latter: a p99 that a full report does not tell
			}
			if err := n.judge(m.Allowed); err != nil {
				return err
			}
			switch {
			case n.New:
				added = true
			case !n.Drift:
			case n.over:
				m.Status = Over
			case m.Status == Within:
				m.Status = Under
			}
			m.Measures = append(m.Measures, n)
		}
	}
	if added && m.Status == Within {
		m.Status = New
	}
	return nil
}

func (n *Measure) judge(allowed Tolerance) error {
	if n.Was != "" && !decimal.MatchString(string(n.Was)) {
		return fmt.Errorf("%s is %.40q, which is not a size", n.Name, n.Was)
	}
	if n.Was == "" || n.Is == "" {
		// A direction that the golden report lacks is new; one that the run lacks is drift.
		n.Drift, n.New = n.Was != "", n.Was == ""
		return nil
	}
	was, _ := new(big.Rat).SetString(string(n.Was))
	is, _ := new(big.Rat).SetString(string(n.Is))
	n.Drift, n.over = !allowed.tolerates(was, is), is.Cmp(was) > 0
	if was.Sign() != 0 {
		change := new(big.Rat).Sub(is, was)
		n.Percent, _ = change.Quo(change.Mul(change, big.NewRat(100, 1)), was).Float64()
	}
	return nil
}

func (t *Terms) of(by sizes.By, values []string) Tolerance {
	if own, ok := t.Of[writtenForm(by, values)]; ok {
		return own
	}
	return t.All
}

// writtenForm returns the name of a group's method in tolerances.
func writtenForm(by sizes.By, values []string) string {
	return strings.TrimPrefix(valueOf(by, values, sizes.Service)+"/"+valueOf(by, values, sizes.Method), "/")
}

// unused returns the names of tolerances without a group.
func (t *Terms) unused(golden *report.Summaries, r *report.Report) []string {
	if len(t.Of) == 0 {
		return nil
	}
	left := maps.Clone(t.Of)
	for i := range golden.Groups {
		if g := &golden.Groups[i]; !g.Rest {
			delete(left, writtenForm(golden.By, g.Values))
		}
	}
	for _, g := range r.Groups {
		if !g.Rest {
			delete(left, writtenForm(golden.By, g.Values))
		}
	}
	return slices.Sorted(maps.Keys(left))
}

// valueOf returns a part of a group's key, "" if the grouping lacks it.
func valueOf(by sizes.By, values []string, k sizes.Key) string {
	if i := slices.Index(by.Keys, k); i >= 0 {
		return values[i]
	}
	return ""
}

// namer returns a function that returns the keys that name a pair: service, method and the other keys that differ between pairs. A
// pair whose serialization changed is named without it.
func namer(by sizes.By, list []*pair) func(*pair) (sizes.By, []string) {
	firsts, differs := make([]string, len(by.Keys)), make([]bool, len(by.Keys))
	hidden := func(p *pair, k sizes.Key) bool {
		return p.to != "" && k == sizes.Serialization || p.protocol && k == sizes.Protocol
	}
	for n, k := range by.Keys {
		seen := false
		for _, p := range list {
			if hidden(p, k) {
				continue
			}
			if !seen {
				firsts[n], seen = p.values[n], true
			}
			differs[n] = differs[n] || p.values[n] != firsts[n]
		}
		differs[n] = differs[n] || k == sizes.Service || k == sizes.Method || len(by.Keys) == 1
	}
	return func(p *pair) (named sizes.By, values []string) {
		for i, k := range by.Keys {
			if differs[i] && !hidden(p, k) {
				named.Keys, values = append(named.Keys, k), append(values, p.values[i])
			}
		}
		return named, values
	}
}
