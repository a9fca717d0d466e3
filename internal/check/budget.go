package check

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/report"
	"dubbo-wire/internal/sizes"
	"dubbo-wire/internal/term"
)

// Budget is a limit of a size, for every method that matches a pattern.
type Budget struct {
	// Pattern is a glob of service/method, Size is "response max", and Limit is in bytes.
	Pattern, Size string
	Limit         int64
	glob          call.Glob
}

// budgetRule matches a budget: a pattern, which may have spaces, and a rule.
var budgetRule = regexp.MustCompile(`^\s*(\S|\S.*\S)\s+(request|response)\s+(mean|p99|max)\s*<=\s*(.*\S)\s*$`)

// ParseBudget parses a budget, such as "UserService/* response max<=64KB".
func ParseBudget(s string) (Budget, error) {
	m := budgetRule.FindStringSubmatch(s)
	if m == nil {
		return Budget{}, fmt.Errorf("%.200q is not a budget; write 'SERVICE/METHOD request|response mean|p99|max<=SIZE', such as 'UserService/* response max<=64KB'", s)
	}
	limit, err := term.ParseBytes(m[4])
	if err != nil {
		return Budget{}, fmt.Errorf("%.200q: %.40q is not a size: %w", s, m[4], err)
	}
	return Budget{m[1], m[2] + " " + m[3], limit, call.ParseGlob(m[1])}, nil
}

// ReadBudgets reads one budget per line. Empty lines and lines that start with # are comments.
func ReadBudgets(r io.Reader) (list []Budget, err error) {
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		text := strings.TrimSpace(lines.Text())
		if text == "" || text[0] == '#' {
			continue
		}
		b, err := ParseBudget(text)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		list = append(list, b)
	}
	switch err := lines.Err(); {
	case err != nil:
		return nil, err
	case list == nil:
		return nil, errors.New("has no budgets; write one per line, such as: UserService/* response max<=64KB")
	}
	return list, nil
}

// matches reports whether the budget is for a method. A pattern can omit the package, and without a slash also the service.
func (b *Budget) matches(service, method string) bool {
	last := call.LastPart(service)
	return b.glob.Match(service+"/"+method) || b.glob.Match(last+"/"+method) || !strings.Contains(b.Pattern, "/") && b.glob.Match(method)
}

// String returns the budget as users write it, with its limit in bytes.
func (b *Budget) String() string {
	return b.Pattern + " " + b.Size + "<=" + strconv.FormatInt(b.Limit, 10)
}

// Spent is the result of a budget.
type Spent struct {
	Pattern string `json:"pattern"`
	Size    string `json:"size"`
	Limit   int64  `json:"limitBytes"`
	Status  Status `json:"status"` // Within, Over or NoCalls
	// Within and Over are the numbers of methods; Methods has those over the budget.
	Within  int          `json:"within"`
	Over    int          `json:"over"`
	Methods []overBudget `json:"methods"`
}

// NoCalls is the status of a budget that no call meets.
const NoCalls Status = "noCalls"

// overBudget is a method over a budget.
type overBudget struct {
	Name    string        `json:"name"`
	Calls   int64         `json:"calls"`
	Now     report.Number `json:"now"`
	Percent float64       `json:"changePercent"` // 0 if the limit is 0
	Largest *Largest      `json:"largest"`

	method Method // for the command that shows it
}

// CheckBudgets adds the results of budgets. The report must be grouped by service and method.
func (r *Result) CheckBudgets(budgets []Budget, rep *report.Report) {
	var list []*pair
	for _, g := range rep.Groups {
		if !g.Rest {
			list = append(list, &pair{values: g.Values, is: g})
		}
	}
	named := namer(rep.By, list)
	for _, b := range budgets {
		s := Spent{Pattern: b.Pattern, Size: b.Size, Limit: b.Limit, Status: NoCalls, Methods: []overBudget{}}
		for _, p := range list {
			service, method := valueOf(rep.By, p.values, sizes.Service), valueOf(rep.By, p.values, sizes.Method)
			if !b.matches(service, method) {
				continue
			}
			now, is, ok := b.measure(rep.By, p.is)
			switch {
			case !ok:
				continue
			case is <= float64(b.Limit):
				s.Within++
				continue
			}
			s.Over++
			by, values := named(p)
			o := overBudget{Name: report.KeyText(by, values), Calls: p.is.Calls, Now: now, Largest: largestOf(rep, p.is)}
			if b.Limit > 0 {
				o.Percent = (is/float64(b.Limit) - 1) * 100
			}
			o.method = Method{Status: Over, Largest: o.Largest, Measures: []Measure{{Name: b.Size, Is: now, Drift: true, over: true}}, by: by, values: values, group: p.is}
			s.Methods = append(s.Methods, o)
		}
		if s.Over > 0 {
			s.Status = Over
		} else if s.Within > 0 {
			s.Status = Within
		}
		r.Budgets = append(r.Budgets, s)
	}
}

// measure returns the size that the budget limits; ok is false if the group has no such messages.
func (b *Budget) measure(by sizes.By, g *sizes.Group) (text report.Number, is float64, ok bool) {
	direction, name, _ := strings.Cut(b.Size, " ")
	stat := &g.Request.Body
	if direction == "response" {
		stat = responses(by, g)
	}
	if stat.Count == 0 {
		return "", 0, false
	}
	sum := summaryOf(stat)
	switch name {
	case "p99":
		return report.Number(sum.P99), float64(stat.Percentile(99)), true
	case "max":
		return report.Number(sum.Max), float64(stat.Max), true
	}
	if is = stat.Mean(); sizes.Round3(is) <= float64(b.Limit) && is > float64(b.Limit) {
		return report.Number(strconv.FormatFloat(is, 'f', -1, 64)), is, true // rounded, it would look as if it were within
	}
	return report.Number(sum.Mean), is, true
}

// budgets returns the number of budgets with a status.
func (r *Result) budgets(s Status) (n int64) {
	for i := range r.Budgets {
		if r.Budgets[i].Status == s {
			n++
		}
	}
	return n
}

// overspent reports whether a budget fails the check.
func (r *Result) overspent() bool { return r.budgets(Over) > 0 || r.Strict && r.budgets(NoCalls) > 0 }

// Reasons returns what fails the check, apart from the coverage: nothing if it passes.
func (r *Result) Reasons() (list []string) {
	if r.Drifted() {
		list = append(list, "sizes drifted from "+r.Golden)
	}
	if n := r.budgets(Over); n > 0 {
		list = append(list, fmt.Sprintf("%s of %s exceeded", report.Count(n), report.Plural(int64(len(r.Budgets)), "budget")))
	}
	if n := r.budgets(NoCalls); n > 0 && r.Strict {
		list = append(list, report.Plural(n, "budget")+" without calls (--strict)")
	}
	return list
}

// noCalls is the warning about a budget that no call meets.
const noCalls = "no call meets this budget"

// sentence describes a method over a budget in one line.
func (o *overBudget) sentence(s *Spent) string {
	text := fmt.Sprintf("%s %s, budget %s", s.Size, grouped(o.Now), report.Count(s.Limit))
	if change := o.change(); change != "" {
		text += " (" + change + ")"
	}
	return text
}

// change returns how far the size is above the limit, "" if the limit is 0.
func (o *overBudget) change() string {
	if o.Percent == 0 {
		return ""
	}
	n := Measure{Was: "1", Is: o.Now, Percent: o.Percent, Drift: true}
	return n.change(Tolerance{})
}

// text returns the budget in one line.
func (s *Spent) text() string {
	return term.Clean(s.Pattern) + " " + s.Size + " <= " + report.Count(s.Limit)
}
