package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/sizes"
)

// Limits of what is read of a saved report, which may be anybody's.
const (
	// maxSavedValue is the most bytes of one group, one input, or one of the other objects.
	maxSavedValue = 16 << 20
	// maxSavedGroups and maxSavedInputs are how many there may be.
	maxSavedGroups = 1 << 20
	maxSavedInputs = 1 << 16
	// maxSavedDepth is how deeply values may nest that are passed over.
	maxSavedDepth = 100
	// maxSavedNumber bounds every count and sum of bytes, so that no sum of reports overflows.
	maxSavedNumber = 1 << 53
)

// Read reads a report back that WriteJSON wrote with buckets, group by group. It fails, in one line without the file's
// name, where the report is cut, not of this schema, without buckets, or contradicts itself.
func Read(r io.Reader) (*Report, error) {
	rep := &Report{Saved: true}
	groups := make(map[string]*sizes.Group)
	d := newSavedReader(r)
	d.group = func(g *savedGroup) error {
		out, err := rep.restore(g)
		if err == nil {
			err = checkCounts(out)
		}
		if err != nil {
			return err
		}
		key := strings.Join(out.Values, "\x00")
		if g.Rest {
			key = "\x00rest"
		}
		if have := groups[key]; have != nil {
			have.Merge(out) // names that were no UTF-8 may have become equal
			return nil
		}
		groups[key] = out
		rep.Groups = append(rep.Groups, out)
		return nil
	}
	d.begin = func() error {
		rep.By = d.by
		return rep.restoreInputs(d.inputs)
	}
	if err := d.read(); err != nil {
		return nil, err
	}
	if err := rep.restoreBooks(d); err != nil {
		return nil, err
	}
	rep.sum()
	return rep, rep.checkSums()
}

// Summaries is what a golden file holds the sizes of methods to: a JSON report, with or without buckets.
type Summaries struct {
	By     sizes.By
	Groups []SummaryGroup
	// Tolerance and Tolerances are as they stand in the file, nil where they do not.
	Tolerance  json.RawMessage
	Tolerances map[string]json.RawMessage
}

// SummaryGroup is one group of them.
type SummaryGroup struct {
	Values            []string
	Rest              bool
	Calls             int64
	Request, Response Summary // body bytes
	// LeftOut: it is not asked for.
	LeftOut bool
}

// Select leaves the groups out whose key does not match: each list of globs is for one key, and does not matter where the
// report is not grouped by that. It returns how many these are.
func (s *Summaries) Select(globs map[sizes.Key][]call.Glob) (leftOut int) {
	for i := range s.Groups {
		g := &s.Groups[i]
		if !g.Rest && !matches(s.By, g.Values, globs) {
			g.LeftOut = true
			leftOut++
		}
	}
	return leftOut
}

// Summary is a distribution's printed numbers; Mean, P99 and Max are "" where Count is 0.
type Summary struct {
	Count          int64
	Mean, P99, Max json.Number
}

// ReadSummaries reads the sizes of a JSON report.
func ReadSummaries(r io.Reader) (*Summaries, error) {
	s := new(Summaries)
	seen := make(map[string]bool)
	d := newSavedReader(r)
	d.group = func(g *savedGroup) error {
		values, err := g.values(d.by)
		if err != nil {
			return err
		}
		key := strings.Join(values, "\x00")
		if seen[key] && !g.Rest {
			return fmt.Errorf("(%s) is there twice; keep one of them", KeyText(d.by, values))
		}
		seen[key] = true
		out := SummaryGroup{Values: values, Rest: g.Rest, Calls: g.Calls}
		for _, p := range []struct {
			to   *Summary
			from *savedDirection
		}{{&out.Request, &g.Request}, {&out.Response, &g.Response}} {
			b := &p.from.BodyBytes
			*p.to = Summary{Count: p.from.Count, Mean: json.Number(b.Mean), P99: json.Number(b.P99), Max: json.Number(b.Max)}
			if b.Max == "" {
				*p.to = Summary{}
			} else if b.Mean == "" || b.P99 == "" {
				return errors.New("has bodyBytes without mean or p99")
			}
		}
		s.Groups = append(s.Groups, out)
		return nil
	}
	if err := d.read(); err != nil {
		return nil, err
	}
	s.By, s.Tolerance, s.Tolerances = d.by, d.tolerance, d.tolerances
	return s, nil
}

// savedReader reads the top level of a JSON report, one value at a time.
type savedReader struct {
	dec    *json.Decoder
	budget *budget
	// begin is called before the first group, group with each.
	begin func() error
	group func(*savedGroup) error

	schema     string
	by         sizes.By
	inputs     []savedInput
	wire       *savedWire
	coverage   *savedCoverage
	saved      map[string]json.RawMessage
	tolerance  json.RawMessage
	tolerances map[string]json.RawMessage
	groups     bool // were met
}

// budget lets only so many bytes through until it is filled again.
type budget struct {
	r    io.Reader
	left int
	all  int64
}

var errTooLarge = fmt.Errorf("has a value of more than %d MiB", maxSavedValue>>20)

func (b *budget) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errTooLarge
	}
	n, err := b.r.Read(p[:min(len(p), b.left)])
	b.left -= n
	b.all += int64(n)
	return n, err
}

func newSavedReader(r io.Reader) *savedReader {
	b := &budget{r: r, left: maxSavedValue}
	return &savedReader{dec: json.NewDecoder(b), budget: b, begin: func() error { return nil }}
}

// read reads all of it.
func (d *savedReader) read() error {
	err := d.top()
	syntax, isSyntax := errors.AsType[*json.SyntaxError](err)
	kind, isType := errors.AsType[*json.UnmarshalTypeError](err)
	switch {
	case err == nil:
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("ends inside the report, after %d bytes; copy or save it again", d.budget.all)
	case isSyntax:
		return fmt.Errorf("is no JSON at byte %d: %v", d.dec.InputOffset(), syntax)
	case isType:
		article := "a"
		if strings.ContainsAny(kind.Value[:1], "ao") { // array, object
			article = "an"
		}
		return fmt.Errorf("is no report as analyze writes it: %s is %s %s", jsonPath(kind.Field), article, kind.Value)
	}
	return err
}

// jsonPath is a path of members as files have them, of one by the fields that they are read into.
func jsonPath(fields string) string {
	names := strings.Split(fields, ".")
	for i, n := range names {
		up := 0 // capital letters in front; the last of several begins the next word
		for up < len(n) && 'A' <= n[up] && n[up] <= 'Z' {
			up++
		}
		if up > 1 && up < len(n) {
			up--
		}
		names[i] = strings.ToLower(n[:up]) + n[up:]
	}
	return strings.Join(names, ".")
}

func (d *savedReader) top() error {
	if t, err := d.dec.Token(); err != nil {
		return err
	} else if t != json.Delim('{') {
		return errors.New("is no JSON object")
	}
	for d.dec.More() {
		d.budget.left = maxSavedValue
		t, err := d.dec.Token()
		if err != nil {
			return err
		}
		name := t.(string) // names are strings
		if err := d.member(name); err != nil {
			if kind, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
				kind.Field = strings.TrimSuffix(name+"."+kind.Field, ".")
			}
			return err
		}
	}
	if _, err := d.dec.Token(); err != nil {
		return err
	}
	switch {
	case d.schema == "":
		return errNoReport
	case !d.groups:
		return errors.New(`is no report: it has no "groups"`)
	}
	if _, err := d.dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("has something behind the end of the report")
	}
	return nil
}

var errNoReport = fmt.Errorf(`is no report: its "schema" is not %q`, Schema)

func (d *savedReader) member(name string) error {
	switch name {
	case "schema":
		if err := d.dec.Decode(&d.schema); err != nil {
			return err
		}
		if d.schema != Schema {
			return fmt.Errorf("has the schema %.60q, this program reads %q", d.schema, Schema)
		}
		return nil
	case "by":
		return d.readBy()
	case "inputs":
		return d.each(maxSavedInputs, "inputs", func() error {
			var in savedInput
			err := d.dec.Decode(&in)
			d.inputs = append(d.inputs, in)
			return err
		})
	case "wire":
		return d.dec.Decode(&d.wire)
	case "coverage":
		return d.dec.Decode(&d.coverage)
	case "saved":
		return d.dec.Decode(&d.saved)
	case "tolerance":
		return d.dec.Decode(&d.tolerance)
	case "tolerances":
		return d.dec.Decode(&d.tolerances)
	case "groups":
		return d.readGroups()
	}
	return d.skip()
}

func (d *savedReader) readBy() error {
	var names []string
	if err := d.dec.Decode(&names); err != nil {
		return err
	}
	if len(names) == 0 || len(names) > 32 {
		return errors.New(`has no keys in "by"`)
	}
	by, err := sizes.ParseBy(strings.Join(names, ","))
	if err != nil {
		return fmt.Errorf(`is grouped by what this program does not know: "by": %.100q`, names)
	}
	d.by = by
	return nil
}

func (d *savedReader) readGroups() error {
	switch {
	case d.groups:
		return errors.New(`has "groups" twice`)
	case d.schema == "":
		return errNoReport
	case len(d.by.Keys) == 0:
		return errors.New(`has "groups" without "by" before them`)
	}
	d.groups = true
	if err := d.begin(); err != nil {
		return err
	}
	n := 0
	return d.each(maxSavedGroups, "groups", func() error {
		n++
		var g savedGroup
		if err := d.dec.Decode(&g); err != nil {
			if kind, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
				kind.Field = strings.TrimSuffix(strconv.Itoa(n)+"."+kind.Field, ".")
			}
			return err
		}
		if err := d.group(&g); err != nil {
			return fmt.Errorf("group %d %w", n, err)
		}
		return nil
	})
}

// each calls f before every element of a list.
func (d *savedReader) each(most int, what string, f func() error) error {
	if t, err := d.dec.Token(); err != nil {
		return err
	} else if t != json.Delim('[') {
		return fmt.Errorf("has %q that are no list", what)
	}
	for n := 0; d.dec.More(); n++ {
		if n == most {
			return fmt.Errorf("has more than %d %s", most, what)
		}
		d.budget.left = maxSavedValue
		if err := f(); err != nil {
			return err
		}
	}
	_, err := d.dec.Token()
	return err
}

// skip passes over a value of any size.
func (d *savedReader) skip() error {
	for depth := 0; ; {
		d.budget.left = maxSavedValue
		t, err := d.dec.Token()
		if err != nil {
			return err
		}
		switch t {
		case json.Delim('{'), json.Delim('['):
			if depth++; depth > maxSavedDepth {
				return fmt.Errorf("nests deeper than %d", maxSavedDepth)
			}
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 {
			return nil
		}
	}
}

// restore makes a group again.
func (r *Report) restore(g *savedGroup) (*sizes.Group, error) {
	values, err := g.values(r.By)
	if err != nil {
		return nil, err
	}
	out := &sizes.Group{Values: values, Rest: g.Rest, Groups: g.Groups, SerializationID: -1}
	if g.SerializationID != nil {
		out.SerializationID = *g.SerializationID
	}
	for _, n := range []struct {
		from int64
		to   *int64
	}{
		{g.Calls, &out.Calls},
		{g.OneWay, &out.OneWay},
		{g.Errors, &out.Errors},
		{g.Exceptions, &out.Exceptions},
		{g.Unanswered, &out.Unanswered},
		{g.AnsweredInOther, &out.OtherAnswers},
		{g.Groups, &out.Groups},
	} {
		if n.from < 0 || n.from > maxSavedNumber {
			return nil, fmt.Errorf("has the impossible number %d", n.from)
		}
		*n.to = n.from
	}
	for _, s := range []struct {
		name string
		from *savedStat
		to   *sizes.Stat
		unit int64
	}{
		{"request.bodyBytes", &g.Request.BodyBytes, &out.Request.Body, 1},
		{"request.frameBytes", &g.Request.FrameBytes, &out.Request.Frame, 1},
		{"request.wireBytes", &g.Request.WireBytes, &out.Request.Wire, 1},
		{"response.bodyBytes", &g.Response.BodyBytes, &out.Response.Body, 1},
		{"response.frameBytes", &g.Response.FrameBytes, &out.Response.Frame, 1},
		{"response.wireBytes", &g.Response.WireBytes, &out.Response.Wire, 1},
		{"latencyMicros", &g.LatencyMicros, &out.Latency, 1000},
		{"waitMicros", &g.WaitMicros, &out.Wait, 1000},
	} {
		if *s.to, err = s.from.restore(s.unit); err != nil {
			return nil, fmt.Errorf("%s: %w", s.name, err)
		}
	}
	if out.Request.Body.Count != g.Request.Count || out.Response.Body.Count != g.Response.Count {
		return nil, errors.New("has other counts than its buckets")
	}
	out.Answers = sizes.Answers{Count: out.Response.Body.Count, Bytes: out.Response.Body.Total}
	if a := g.Answers; a != nil {
		if a.Responses < 0 || a.BodyBytes < 0 || a.Responses > out.Response.Body.Count || a.BodyBytes > out.Response.Body.Total {
			return nil, fmt.Errorf("has more answers than responses")
		}
		out.Answers = sizes.Answers{Count: a.Responses, Bytes: a.BodyBytes}
	}
	if err := r.restoreParts(g, out); err != nil {
		return nil, err
	}
	return out, r.restoreLargest(g, out)
}

// values are the parts of the group's key.
func (g *savedGroup) values(by sizes.By) ([]string, error) {
	if g.Rest {
		return nil, nil
	}
	values := make([]string, len(by.Keys))
	for i, k := range by.Keys {
		v := g.value(k)
		if v == nil {
			return nil, fmt.Errorf("lacks its %s", k)
		}
		values[i] = *v
	}
	return values, nil
}

var (
	errNoBuckets = errors.New("has no buckets; save reports with --buckets")
	errNumber    = errors.New("has a number that no report has")
)

// restore makes a distribution again; unit multiplies its numbers.
func (s *savedStat) restore(unit int64) (sizes.Stat, error) {
	if s.Max == "" {
		if s.Total != "0" || len(s.Buckets) > 0 {
			return sizes.Stat{}, errNumber
		}
		return sizes.Stat{}, nil
	}
	if len(s.Buckets) == 0 {
		return sizes.Stat{}, errNoBuckets
	}
	var numbers [3]int64
	for i, n := range []savedNumber{s.Total, s.Min, s.Max} {
		var ok bool
		if numbers[i], ok = fixed(string(n), unit); !ok {
			return sizes.Stat{}, errNumber
		}
	}
	list := make([]sizes.Bucket, len(s.Buckets))
	for i, b := range s.Buckets {
		upper, ok := fixed(string(b[0]), unit)
		n, err := strconv.ParseInt(string(b[1]), 10, 64)
		if !ok || err != nil {
			return sizes.Stat{}, errNumber
		}
		list[i] = sizes.Bucket{Upper: upper, Count: n}
	}
	return sizes.Restore(numbers[0], numbers[1], numbers[2], list)
}

// fixed reads a decimal number exactly, as a whole number of 1/unit; unit is 1 or 1000.
func fixed(s string, unit int64) (int64, bool) {
	whole, fraction, point := strings.Cut(s, ".")
	digits := 0
	if unit == 1000 {
		digits = 3
	}
	if point && (fraction == "" || len(fraction) > digits) || strings.ContainsAny(s, "eE+") {
		return 0, false
	}
	n, err := strconv.ParseInt(whole+fraction+strings.Repeat("0", digits-len(fraction)), 10, 64)
	return n, err == nil
}

// decimalOf is n/unit as a decimal number, exactly; unit is 1 or 1000.
func decimalOf(n, unit int64) json.Number {
	if n%unit == 0 {
		return json.Number(strconv.FormatInt(n/unit, 10))
	}
	sign := ""
	if n < 0 {
		sign = "-"
	}
	rest := n % unit
	text := fmt.Sprintf("%s%d.%03d", sign, max(n/unit, -(n/unit)), max(rest, -rest))
	return json.Number(strings.TrimRight(text, "0"))
}
