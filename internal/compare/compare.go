// Package compare compares reports: the sizes, latencies and errors of the same methods, and whether differences are more than noise.
// The comparison is printed as a table, Markdown, CSV or JSON. It refers to the reports and does not change them. Distributions are
// tested with the Mann-Whitney U test, shares of errors with Fisher's exact test.
package compare

import (
	"cmp"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"

	"dubbo-wire/internal/report"
	"dubbo-wire/internal/sizes"
)

// Side is a report with a label.
type Side struct {
	Label  string
	Report *report.Report
}

// Comparison compares the first side with each of the others.
type Comparison struct {
	Sides []Side
	By    sizes.By
	Alpha float64
	// Methods are in the first side and at least one other, Only are not in all sides.
	Methods, Only []*Method
	// Mix is the mean of the methods in all sides, weighted by the calls of the first side.
	Mix []Measure
	// MixMethods is the number of these methods.
	MixMethods int
	// frames is set if the sides have several protocols: one may have in the header what another one has in the body, so frames are
	// compared.
	frames bool
}

// Method is the groups of all sides with the same key.
type Method struct {
	Values   []string  `json:"key"`
	Name     string    `json:"name"`  // the key as text
	Calls    []int64   `json:"calls"` // by side
	Measures []Measure `json:"measures,omitempty"`
	impact   float64
}

// Unit is the unit of a measure.
type Unit string

// The units.
const (
	Bytes   Unit = "bytes"
	Nanos   Unit = "nanoseconds"
	Percent Unit = "percent"
)

// The measures.
const (
	Request     = "request"
	RequestP50  = "request p50"
	RequestP99  = "request p99"
	Response    = "response"
	ResponseP50 = "response p50"
	ResponseP99 = "response p99"
	Wire        = "on the wire"
	Latency     = "latency"
	LatencyP50  = "latency p50"
	LatencyP99  = "latency p99"
	Errors      = "errors"
	// The sizes of frames are measures if the sides have several protocols, Control is the control bytes per call.
	RequestFrame     = "request frame"
	RequestFrameP50  = "request frame p50"
	RequestFrameP99  = "request frame p99"
	ResponseFrame    = "response frame"
	ResponseFrameP50 = "response frame p50"
	ResponseFrameP99 = "response frame p99"
	Control          = "control"
)

// Measure is one number of a method on every side: a mean per call, unless its name says p50 or p99.
type Measure struct {
	Name   string   `json:"name"`
	Unit   Unit     `json:"unit"`
	Values []Number `json:"values"` // NaN where a side has none
	// Changes are from the first side to each of the others.
	Changes []Change `json:"changes"`
}

// Number is a number or, if there is none, NaN: null in JSON, an empty text in CSV.
type Number float64

func (n Number) String() string {
	if n.missing() {
		return ""
	}
	return strconv.FormatFloat(float64(n), 'f', -1, 64)
}

func (n Number) missing() bool { return math.IsNaN(float64(n)) }

var none = Number(math.NaN())

// MarshalJSON writes the number.
func (n Number) MarshalJSON() ([]byte, error) {
	if n.missing() {
		return []byte("null"), nil
	}
	return json.Marshal(float64(n))
}

// Change is from one number to another.
type Change struct {
	Verdict Verdict `json:"verdict"`
	// Ratio is after ÷ before, NaN if one is missing or only before is 0.
	Ratio Number `json:"ratio"`
	// P is the result of a test, NaN without a test. Of a distribution only the median has one, because the test compares ranks: it
	// does not tell whether means or p99 differ.
	P Number `json:"p"`
}

// Verdict is the significance of a change.
type Verdict string

// The verdicts.
const (
	Missing  Verdict = "missing"  // one side lacks the number
	Same     Verdict = "same"     // the numbers are equal
	Exact    Verdict = "exact"    // all calls of each side have one size
	Differs  Verdict = "differs"  // P is below alpha
	Noise    Verdict = "noise"    // P is not below alpha
	Few      Verdict = "few"      // too few calls for a P below alpha, or for a p99
	Untested Verdict = "untested" // the number has no test
)

// ErrNothing is returned if a side has no calls.
var ErrNothing = errors.New("nothing to compare")

// New compares at least two sides, which must be grouped by the same keys.
func New(sides []Side, alpha float64) (*Comparison, error) {
	c := &Comparison{Sides: sides, By: sides[0].Report.By, Alpha: alpha, frames: severalProtocols(sides)}
	byKey := make(map[string][]*sizes.Group)
	var keys []string
	for i, s := range sides {
		if s.Report.Selected.Calls == 0 {
			return nil, ErrNothing
		}
		for _, g := range s.Report.Groups {
			if g.Rest {
				continue
			}
			key := strings.Join(g.Values, "\x00")
			if byKey[key] == nil {
				byKey[key] = make([]*sizes.Group, len(sides))
				keys = append(keys, key)
			}
			byKey[key][i] = g
		}
	}
	slices.Sort(keys)
	var mix [][]*sizes.Group
	for _, key := range keys {
		groups := byKey[key]
		m := &Method{Values: strings.Split(key, "\x00"), Calls: make([]int64, len(sides))}
		m.Name = report.KeyText(c.By, m.Values)
		for i, g := range groups {
			if g != nil {
				m.Calls[i] = g.Calls
			}
		}
		if slices.Contains(groups, nil) {
			c.Only = append(c.Only, m)
		} else {
			mix = append(mix, groups)
		}
		if groups[0] != nil && slices.ContainsFunc(groups[1:], func(g *sizes.Group) bool { return g != nil }) {
			m.Measures = c.measures(groups)
			m.impact = impact(groups)
			c.Methods = append(c.Methods, m)
		}
	}
	c.Mix, c.MixMethods = c.sameMix(mix), len(mix)
	return c, nil
}

// severalProtocols reports whether the calls of the sides have more than one protocol.
func severalProtocols(sides []Side) bool {
	first := ""
	for _, s := range sides {
		for _, name := range s.Report.Protocols() {
			if first != "" && name != first {
				return true
			}
			first = name
		}
	}
	return false
}

// impact returns the change of a method in bytes on the wire, at the number of calls of the first side.
func impact(groups []*sizes.Group) float64 {
	most := 0.0
	for _, g := range groups[1:] {
		if g != nil && groups[0].Calls > 0 && g.Calls > 0 {
			most = max(most, math.Abs(perCall(g)-perCall(groups[0]))*float64(groups[0].Calls))
		}
	}
	return most
}

func perCall(g *sizes.Group) float64 { return ratio(float64(g.WireBytes()), float64(g.Calls)) }

// errorPercent returns the share of failed calls, NaN if no call was answered.
func errorPercent(g *sizes.Group) float64 {
	if g.NothingAnswered() {
		return math.NaN()
	}
	return 100 * ratio(float64(g.Errors), float64(g.Calls))
}

func ratio(n, d float64) float64 {
	if d == 0 {
		return math.NaN()
	}
	return n / d
}

// measures returns all measures of a method.
func (c *Comparison) measures(groups []*sizes.Group) []Measure {
	stat := func(pick func(*sizes.Group) *sizes.Stat) []*sizes.Stat {
		list := make([]*sizes.Stat, len(groups))
		for i, g := range groups {
			if g != nil && pick(g).Count > 0 {
				list[i] = pick(g)
			}
		}
		return list
	}
	plain := func(of func(*sizes.Group) float64) []Number {
		list := make([]Number, len(groups))
		for i, g := range groups {
			list[i] = none
			if g != nil {
				list[i] = Number(of(g))
			}
		}
		return list
	}
	request := stat(func(g *sizes.Group) *sizes.Stat { return &g.Request.Body })
	response := stat(func(g *sizes.Group) *sizes.Stat { return &g.ResponseOK.Body })
	latency := stat(func(g *sizes.Group) *sizes.Stat { return &g.Latency })
	list := c.tested(nil, Bytes, request, Request, RequestP50, RequestP99)
	list = c.tested(list, Bytes, response, Response, ResponseP50, ResponseP99)
	if c.frames {
		list = c.tested(list, Bytes, stat(func(g *sizes.Group) *sizes.Stat { return &g.Request.Frame }), RequestFrame, RequestFrameP50, RequestFrameP99)
		list = c.tested(list, Bytes, stat(func(g *sizes.Group) *sizes.Stat { return &g.ResponseOK.Frame }), ResponseFrame, ResponseFrameP50, ResponseFrameP99)
	}
	list = append(list, c.untested(Wire, Bytes, plain(perCall)))
	list = c.tested(list, Nanos, latency, Latency, LatencyP50, LatencyP99)
	return append(list, c.errors(groups, plain(errorPercent)))
}

// leastP99 is the number of calls below which the p99 is the largest number.
const leastP99 = 100

// tested appends the mean, the median and the p99 of distributions. The median has the result of the test.
func (c *Comparison) tested(list []Measure, unit Unit, stats []*sizes.Stat, mean, p50, p99 string) []Measure {
	m, med, p := Measure{Name: mean, Unit: unit}, Measure{Name: p50, Unit: unit}, Measure{Name: p99, Unit: unit}
	for i, s := range stats {
		mean, p50, p99 := none, none, none
		if s != nil {
			ps := s.Percentiles(50, 99)
			mean, p50, p99 = Number(s.Mean()), Number(ps[0]), Number(ps[1])
		}
		m.Values, med.Values, p.Values = append(m.Values, mean), append(med.Values, p50), append(p.Values, p99)
		if i == 0 {
			continue
		}
		verdict, prob := Missing, none
		if stats[0] != nil && s != nil {
			verdict, prob = c.judge(stats[0], s)
		}
		ofMean, ofP99 := verdict, verdict
		if verdict != Exact && verdict != Missing {
			ofMean, ofP99 = Untested, Untested
			if min(stats[0].Count, s.Count) < leastP99 {
				ofP99 = Few
			}
		}
		m.Changes = append(m.Changes, changeOf(m.Values[0], mean, ofMean, none))
		p.Changes = append(p.Changes, changeOf(p.Values[0], p99, ofP99, none))
		median := changeOf(med.Values[0], p50, verdict, prob)
		if median.Verdict == Same && m.Values[0] != mean { // the distributions differ
			median.Verdict = verdict
		}
		med.Changes = append(med.Changes, median)
	}
	return append(list, m, med, p)
}

func (c *Comparison) untested(name string, unit Unit, values []Number) Measure {
	m := Measure{Name: name, Unit: unit, Values: values}
	for _, v := range values[1:] {
		m.Changes = append(m.Changes, changeOf(values[0], v, Untested, none))
	}
	return m
}

// errors returns the share of failed calls. Its changes are tested with Fisher's exact test.
func (c *Comparison) errors(groups []*sizes.Group, values []Number) Measure {
	m := c.untested(Errors, Percent, values)
	for i := range m.Changes {
		if ch, a, b := &m.Changes[i], groups[0], groups[i+1]; ch.Verdict == Untested {
			ch.Verdict, ch.P = c.verdict(fisher(a.Errors, a.Calls, b.Errors, b.Calls))
		}
	}
	return m
}

func changeOf(before, after Number, verdict Verdict, p Number) Change {
	c := Change{Verdict: verdict, Ratio: Number(ratio(float64(after), float64(before))), P: p}
	switch {
	case before.missing() || after.missing():
		c.Verdict, c.Ratio = Missing, none
	case before == after:
		c.Verdict, c.Ratio = Same, 1
	}
	return c
}

// judge tests two distributions.
func (c *Comparison) judge(a, b *sizes.Stat) (Verdict, Number) {
	if a.Min == a.Max && b.Min == b.Max {
		return Exact, none
	}
	if a.Min == b.Min && a.Max == b.Max && a.Total == b.Total && a.Count == b.Count {
		return Noise, 1
	}
	return c.verdict(MannWhitney(a, b))
}

// verdict returns what a test says.
func (c *Comparison) verdict(t Test) (Verdict, Number) {
	switch {
	case t.P < c.Alpha:
		return Differs, Number(t.P)
	case t.Least >= c.Alpha:
		return Few, Number(t.P)
	}
	return Noise, Number(t.P)
}

// sameMix returns the means of all methods, weighted by the calls of the first side.
func (c *Comparison) sameMix(methods [][]*sizes.Group) []Measure {
	weighted := func(name string, unit Unit, weight func(*sizes.Group) int64, of func(*sizes.Group) float64) Measure {
		values := make([]Number, len(c.Sides))
		total := 0.0
		for _, groups := range methods {
			if slices.ContainsFunc(groups, func(g *sizes.Group) bool { return weight(g) == 0 }) {
				continue
			}
			w := float64(weight(groups[0]))
			total += w
			for i, g := range groups {
				values[i] += Number(w * of(g))
			}
		}
		for i := range values {
			values[i] = Number(ratio(float64(values[i]), total))
		}
		return c.untested(name, unit, values)
	}
	mean := func(name string, unit Unit, pick func(*sizes.Group) *sizes.Stat) Measure {
		return weighted(name, unit, func(g *sizes.Group) int64 { return pick(g).Count }, func(g *sizes.Group) float64 { return pick(g).Mean() })
	}
	calls := func(g *sizes.Group) int64 { return g.Calls }
	answered := func(g *sizes.Group) int64 {
		if g.NothingAnswered() {
			return 0
		}
		return g.Calls
	}
	latency := func(g *sizes.Group) *sizes.Stat { return &g.Latency }
	list := []Measure{
		mean(Request, Bytes, func(g *sizes.Group) *sizes.Stat { return &g.Request.Body }),
		mean(Response, Bytes, func(g *sizes.Group) *sizes.Stat { return &g.ResponseOK.Body }),
	}
	if c.frames {
		list = append(list, mean(RequestFrame, Bytes, func(g *sizes.Group) *sizes.Stat { return &g.Request.Frame }),
			mean(ResponseFrame, Bytes, func(g *sizes.Group) *sizes.Stat { return &g.ResponseOK.Frame }), c.control())
	}
	return append(
		list, weighted(Wire, Bytes, calls, perCall),
		mean(Latency, Nanos, latency),
		weighted(LatencyP50, Nanos, func(g *sizes.Group) int64 { return g.Latency.Count }, func(g *sizes.Group) float64 { return float64(g.Latency.Percentile(50)) }),
		weighted(Errors, Percent, answered, errorPercent),
	)
}

// control returns the control bytes per call of each side, whatever is selected of it.
func (c *Comparison) control() Measure {
	values := make([]Number, len(c.Sides))
	for i, s := range c.Sides {
		values[i] = Number(s.Report.ControlPerCall())
	}
	return c.untested(Control, Bytes, values)
}

// SortNames returns the names that Sort takes.
func SortNames() []string {
	return []string{"change", "key", "calls", Request, Response, "wire", Latency}
}

// Sort sorts the methods in descending order of their impact in bytes on the wire ("change" or ""), the calls of the first side, or the
// change of a measure in percent; or by key. ok is false for other names.
func (c *Comparison) Sort(name string) (ok bool) {
	by := func(of func(*Method) float64) bool {
		slices.SortStableFunc(c.Methods, func(a, b *Method) int { return cmp.Compare(of(b), of(a)) })
		return true
	}
	switch name {
	case "key":
		return true
	case "", "change":
		return by(func(m *Method) float64 { return m.impact })
	case "calls":
		return by(func(m *Method) float64 { return float64(m.Calls[0]) })
	case Request, Response, "wire", Latency:
		measure := cmp.Or(map[string]string{"wire": Wire, Latency: LatencyP99}[name], name)
		return by(func(m *Method) float64 {
			most := 0.0
			for _, x := range m.Measures {
				for _, ch := range x.Changes {
					if r := float64(ch.Ratio); x.Name == measure && !math.IsNaN(r) {
						most = max(most, math.Abs(r-1))
					}
				}
			}
			return most
		})
	}
	return false
}
