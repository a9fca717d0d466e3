// Package check compares the sizes of a report with those of a golden one: mean, p99 and maximum of request and response bodies, by
// method. The result is printed as a table, Markdown, JSON, GitHub workflow commands or JUnit XML. Totals and counts are not compared,
// because they depend on the load and not on the code. The package changes neither report and copies the texts that it needs.
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
	Golden string `json:"-"` // its file
	Terms  Terms  `json:"-"`
	Strict bool   `json:"-"`
	// Updated is set if the golden file is replaced.
	Updated bool `json:"updated"`
	// Numbers of methods by status. Over, Under and Vanished are drift.
	Over     int `json:"over"`
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
	// Unused are names in the golden file's tolerances without a method.
	Unused []string `json:"tolerancesOfNoMethod,omitempty"`
	// Explain is the command that shows a frame, without its number, or "".
	Explain string `json:"-"`
}

// statuses are all statuses, in the order of methods.
var statuses = []Status{Over, Under, Vanished, New, Within}

// count returns the number of methods of a status.
func (r *Result) count(s Status) *int {
	return map[Status]*int{Over: &r.Over, Under: &r.Under, Vanished: &r.Vanished, New: &r.New, Within: &r.Within}[s]
}

// Status is the status of a method.
type Status string

// The statuses. Over: a size exceeds its tolerance. Under: a size is below its tolerance and none exceeds it. New: the golden file
// lacks the method, or a direction of it.
const (
	Over     Status = "over"
	Under    Status = "under"
	Vanished Status = "vanished"
	New      Status = "new"
	Within   Status = "within"
)

// Method is a method of the golden report, of the run, or of both.
type Method struct {
	Name     string    `json:"name"` // service/method, and the other keys that differ
	Service  string    `json:"-"`
	Method   string    `json:"-"`
	Status   Status    `json:"status"`
	Known    bool      `json:"-"`     // to the golden report
	Calls    int64     `json:"calls"` // in the run; in the golden report if it vanished
	Allowed  Tolerance `json:"allowed"`
	Measures []Measure `json:"measures"`
	Largest  *Largest  `json:"largest"` // nil where there is none
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

// Drifted reports whether the check fails because of sizes, or because of new methods with --strict.
func (r *Result) Drifted() bool {
	return r.Over+r.Under+r.Vanished > 0 || r.Strict && r.New > 0
}

// Low reports whether the coverage is below its minimum.
func (r *Result) Low() bool { return r.MinCoverage > 0 && r.Coverage < r.MinCoverage }

// Run checks a report that is grouped as the golden one is. It returns an error for invalid numbers in the golden report.
func Run(golden *report.Summaries, terms Terms, r *report.Report) (*Result, error) {
	res := &Result{Terms: terms, Coverage: r.Percent(), Methods: []Method{}}
	names := namer(golden, r)
	method := func(values []string) Method {
		return Method{
			Name: names(values), Service: valueOf(golden.By, values, sizes.Service), Method: valueOf(golden.By, values, sizes.Method),
			Allowed: terms.of(golden.By, values), Measures: []Measure{},
		}
	}
	add := func(m Method) {
		*res.count(m.Status)++
		res.Methods = append(res.Methods, m)
	}
	groups := make(map[string]*sizes.Group)
	for _, g := range r.Groups {
		if !g.Rest {
			groups[strings.Join(g.Values, "\x00")] = g
		}
	}
	for i := range golden.Groups {
		was := &golden.Groups[i]
		if was.Rest {
			continue
		}
		if was.LeftOut {
			res.LeftOut++
			continue
		}
		key := strings.Join(was.Values, "\x00")
		m := method(was.Values)
		m.Known = true
		is := groups[key]
		if is == nil {
			m.Status, m.Calls = Vanished, was.Calls
			add(m)
			continue
		}
		delete(groups, key)
		if err := m.compare(was, is); err != nil {
			return nil, fmt.Errorf("%s: %w", m.Name, err)
		}
		m.largest(r, is)
		add(m)
	}
	for _, g := range groups {
		m := method(g.Values)
		_ = m.compare(&report.SummaryGroup{}, g) // nothing to read
		m.Status = New
		m.largest(r, g)
		add(m)
	}
	res.Unused = terms.unused(golden, r)
	order := func(m *Method) int { return slices.Index(statuses, m.Status) }
	slices.SortStableFunc(res.Methods, func(a, b Method) int {
		return cmp.Or(order(&a)-order(&b), cmp.Compare(b.worst(), a.worst()), cmp.Compare(a.Name, b.Name))
	})
	return res, nil
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

func (m *Method) largest(r *report.Report, g *sizes.Group) {
	m.Calls = g.Calls
	if l := g.Largest; l.Frame > 0 && l.File < len(r.Inputs) {
		m.Largest = &Largest{r.Inputs[l.File].File, l.Frame, l.BodyBytes}
	}
}

// compare sets the measures and the status.
func (m *Method) compare(was *report.SummaryGroup, is *sizes.Group) error {
	m.Status = Within
	added := false
	for _, d := range []struct {
		name string
		was  *report.Summary
		is   *sizes.Stat
	}{{"request", &was.Request, &is.Request.Body}, {"response", &was.Response, &is.ResponseOK.Body}} {
		was, is := [...]json.Number{d.was.Mean, d.was.P99, d.was.Max}, [3]string{}
		if d.is.Count > 0 {
			is[0] = strconv.FormatFloat(sizes.Round3(d.is.Mean()), 'f', -1, 64)
			is[1] = strconv.FormatInt(d.is.Percentile(99), 10)
			is[2] = strconv.FormatInt(d.is.Max, 10)
		}
		for i, name := range [...]string{"mean", "p99", "max"} {
			n := Measure{Name: d.name + " " + name, Was: report.Number(was[i]), Is: report.Number(is[i])}
			if n.Was == "" && n.Is == "" {
				continue
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
		return fmt.Errorf("%s is %.40q, which is no size", n.Name, n.Was)
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

// namer returns a function that names groups by service, method and the other keys that differ between groups.
func namer(golden *report.Summaries, r *report.Report) func([]string) string {
	first, differs := []string(nil), make([]bool, len(golden.By.Keys))
	see := func(values []string) {
		if first == nil {
			first = values
		}
		for i, v := range values {
			differs[i] = differs[i] || v != first[i]
		}
	}
	for i := range golden.Groups {
		see(golden.Groups[i].Values)
	}
	for _, g := range r.Groups {
		see(g.Values)
	}
	var by sizes.By
	var places []int
	for i, k := range golden.By.Keys {
		if k == sizes.Service || k == sizes.Method || differs[i] || len(golden.By.Keys) == 1 {
			by.Keys, places = append(by.Keys, k), append(places, i)
		}
	}
	return func(values []string) string {
		own := make([]string, len(places))
		for i, p := range places {
			own[i] = values[p]
		}
		return report.KeyText(by, own)
	}
}
