package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/sizes"
)

// Limits for saved reports, which are untrusted input.
const (
	// maxSavedValue is the maximum size of a group, an input or another member, in bytes.
	maxSavedValue = 16 << 20
	// maxSavedGroups and maxSavedInputs are the maximum numbers of groups and inputs.
	maxSavedGroups = 1 << 20
	maxSavedInputs = 1 << 16
	// maxSavedDepth is the maximum depth of values that are skipped.
	maxSavedDepth = 100
	// maxSavedNumber is the maximum count or number of bytes, so that sums of reports cannot overflow.
	maxSavedNumber = 1 << 53
)

// Read reads a report that WriteJSON wrote with buckets. It returns a one-line error without the file's name if the report is cut,
// has another schema or no buckets, or contradicts itself.
func Read(r io.Reader) (*Report, error) {
	rep := &Report{Saved: true}
	groups := make(map[string]*sizes.Group)
	d := newSavedReader(r)
	d.group = func(g *jsonGroup, out *sizes.Group) error {
		if err := rep.restore(g, out); err != nil {
			return err
		}
		key := strings.Join(out.Values, "\x00")
		if g.Rest {
			key = "\x00rest"
		}
		if have := groups[key]; have != nil {
			have.Merge(out) // invalid UTF-8 in names may have made them equal
			return nil
		}
		groups[key] = out
		rep.Groups = append(rep.Groups, out)
		return nil
	}
	d.begin = func() error {
		rep.By, rep.Inputs = d.by, d.head.Inputs
		return rep.checkInputs()
	}
	if err := d.read(); err != nil {
		return nil, err
	}
	if err := rep.restoreBooks(&d.head); err != nil {
		return nil, err
	}
	if err := rep.sum(); err != nil {
		return nil, err
	}
	return rep, rep.checkSums()
}

// Summaries is the content of a golden file: a JSON report, with or without buckets.
type Summaries struct {
	By     sizes.By
	Groups []SummaryGroup
	Golden
}

// SummaryGroup is one group of a golden file.
type SummaryGroup struct {
	Values            []string
	Rest              bool
	Calls             int64
	Request, Response Summary // body bytes; responses of successful calls
	// AllResponses is set if Response has failed calls, too, because an earlier version wrote the report.
	AllResponses bool
	// LeftOut is set if the user's filter does not match.
	LeftOut bool
}

// Select sets LeftOut of groups that do not match the globs of a key, and returns their number. Globs of keys that the report is
// not grouped by are ignored.
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

// Summary is the printed numbers of a distribution, "" if it is empty.
type Summary struct{ Mean, P99, Max json.Number }

// ReadSummaries reads the sizes of a JSON report.
func ReadSummaries(r io.Reader) (*Summaries, error) {
	s := new(Summaries)
	seen := make(map[string]bool)
	d := newSavedReader(r)
	d.group = func(g *jsonGroup, sums *sizes.Group) error {
		values, err := g.values(d.by)
		if err != nil {
			return err
		}
		key := strings.Join(values, "\x00")
		if seen[key] && !g.Rest {
			return fmt.Errorf("(%s) appears twice; keep one of them", KeyText(d.by, values))
		}
		seen[key] = true
		out := SummaryGroup{Values: values, Rest: g.Rest, Calls: sums.Calls}
		out.AllResponses = g.ResponseOK == nil && g.Answers != nil
		if out.Request, err = g.Request.BodyBytes.summary(); err != nil {
			return err
		}
		if out.Response, err = g.responses(); err != nil {
			return err
		}
		s.Groups = append(s.Groups, out)
		return nil
	}
	if err := d.read(); err != nil {
		return nil, err
	}
	s.By, s.Golden = d.by, d.head.Golden
	return s, nil
}

// responses returns the sizes of the responses of successful calls. If some use another serialization, their p99 is unknown.
func (j *jsonGroup) responses() (Summary, error) {
	if j.ResponseOK == nil {
		return j.Response.BodyBytes.summary()
	}
	ok, err := j.ResponseOK.BodyBytes.summary()
	if err != nil || j.ResponseOther == nil {
		return ok, err
	}
	other, err := j.ResponseOther.BodyBytes.summary()
	switch {
	case err != nil || other.Max == "":
		return ok, err
	case ok.Max == "":
		return other, nil
	case j.ResponseOK.Count == nil || j.ResponseOther.Count == nil:
		return ok, errors.New("has responses without a count")
	}
	number := func(n Number) int64 {
		i, fine := n.fixed(1)
		if !fine || i < 0 || i > maxSavedNumber {
			err = fmt.Errorf("has the impossible number %.40s", n)
		}
		return i
	}
	n := number(Number(strconv.FormatInt(*j.ResponseOK.Count, 10))) + number(Number(strconv.FormatInt(*j.ResponseOther.Count, 10)))
	total := number(j.ResponseOK.BodyBytes.Total) + number(j.ResponseOther.BodyBytes.Total)
	most := max(number(j.ResponseOK.BodyBytes.Max), number(j.ResponseOther.BodyBytes.Max))
	if err == nil && n == 0 {
		err = errors.New("has sizes of responses, but a count of 0")
	}
	if err != nil {
		return ok, err
	}
	mean := strconv.FormatFloat(sizes.Round3(float64(total)/float64(n)), 'f', -1, 64)
	return Summary{Mean: json.Number(mean), Max: json.Number(strconv.FormatInt(most, 10))}, nil
}

// summary returns the numbers that are compared.
func (s *jsonStat) summary() (Summary, error) {
	switch {
	case s.Max == "":
		return Summary{}, nil
	case s.Mean == "" || s.P99 == "":
		return Summary{}, errors.New("has bodyBytes without mean or p99")
	}
	return Summary{Mean: json.Number(s.Mean), P99: json.Number(s.P99), Max: json.Number(s.Max)}, nil
}

// savedReader reads the top level of a JSON report, one value at a time.
type savedReader struct {
	dec    *json.Decoder
	budget *budget
	// begin is called before the first group, group with each one. sums has the counts of g.
	begin func() error
	group func(g *jsonGroup, sums *sizes.Group) error

	head   jsonHead
	by     sizes.By
	groups bool // "groups" was read
}

// budget limits the bytes that can be read until left is set again.
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

// read reads the report and words errors of the decoder.
func (d *savedReader) read() error {
	err := d.top()
	syntax, isSyntax := errors.AsType[*json.SyntaxError](err)
	kind, isType := errors.AsType[*json.UnmarshalTypeError](err)
	switch {
	case err == nil:
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("ends inside the report, after %s; copy or save it again", Plural(d.budget.all, "byte"))
	case isSyntax:
		return fmt.Errorf("invalid JSON at byte %d: %v", d.dec.InputOffset(), syntax)
	case isType:
		article := "a"
		if strings.ContainsAny(kind.Value[:1], "ao") { // array, object
			article = "an"
		}
		return fmt.Errorf("is not a report of analyze: %s is %s %s", kind.Field, article, kind.Value)
	}
	return err
}

func (d *savedReader) top() error {
	if t, err := d.dec.Token(); err != nil {
		return err
	} else if t != json.Delim('{') {
		return errors.New("is not a JSON object")
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
	case d.head.Schema == "":
		return errNoReport
	case !d.groups:
		return errors.New(`is not a report: it has no "groups"`)
	}
	if _, err := d.dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("has data after the end of the report")
	}
	return nil
}

var errNoReport = fmt.Errorf(`is not a report: its "schema" is not %q`, Schema)

func (d *savedReader) member(name string) error {
	switch name {
	case "schema":
		if err := d.dec.Decode(&d.head.Schema); err != nil {
			return err
		}
		if d.head.Schema == "dubbo-wire/sizes/1" {
			return errors.New("is a golden file and contains only what check compares; write one that analyze and compare can read with: check --update --buckets")
		}
		if d.head.Schema != Schema {
			return fmt.Errorf("has the schema %.60q, but this version reads %q", d.head.Schema, Schema)
		}
		return nil
	case "by":
		return d.readBy()
	case "inputs":
		return d.each(maxSavedInputs, "inputs", func() error {
			var in Input
			err := d.dec.Decode(&in)
			d.head.Inputs = append(d.head.Inputs, in)
			return err
		})
	case "groups":
		return d.readGroups()
	}
	to := map[string]any{
		"wire": &d.head.Wire, "coverage": &d.head.Coverage, "saved": &d.head.Saved,
		"tolerance": &d.head.Tolerance, "tolerances": &d.head.Tolerances,
	}[name]
	if to != nil {
		return d.dec.Decode(to)
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
		return fmt.Errorf(`is grouped by unknown keys: "by": %.100q`, names)
	}
	d.by = by
	return nil
}

func (d *savedReader) readGroups() error {
	switch {
	case d.groups:
		return errors.New(`has "groups" twice`)
	case d.head.Schema == "":
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
		var sums sizes.Group
		g := bindGroup(&sums)
		if err := d.dec.Decode(&g); err != nil {
			if kind, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
				kind.Field = strings.TrimSuffix(strconv.Itoa(n)+"."+kind.Field, ".")
			}
			return err
		}
		if err := d.group(&g, &sums); err != nil {
			return fmt.Errorf("group %d %w", n, err)
		}
		return nil
	})
}

// each calls f to decode every element of a list.
func (d *savedReader) each(most int, what string, f func() error) error {
	if t, err := d.dec.Token(); err != nil {
		return err
	} else if t != json.Delim('[') {
		return fmt.Errorf("has %q that are not a list", what)
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

// skip skips a value of any size.
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
				return fmt.Errorf("is nested deeper than %d levels", maxSavedDepth)
			}
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 {
			return nil
		}
	}
}

// restore completes a group from its JSON; the counts are already set.
func (r *Report) restore(g *jsonGroup, out *sizes.Group) (err error) {
	if out.Values, err = g.values(r.By); err != nil {
		return err
	}
	out.Rest, out.SerializationID = g.Rest, -1
	if g.SerializationID != nil {
		out.SerializationID = *g.SerializationID
	}
	for _, n := range []int64{out.Groups, out.Calls, out.OneWay, out.Errors, out.Exceptions, out.Unanswered, out.Unknown, out.OtherAnswers} {
		if n < 0 || n > maxSavedNumber {
			return fmt.Errorf("has the impossible number %d", n)
		}
	}
	if err := g.Request.restore("request", &out.Request); err != nil {
		return err
	}
	if err := g.restoreResponses(out); err != nil {
		return err
	}
	for i, s := range g.times() {
		if *[]*sizes.Stat{&out.Latency, &out.Wait}[i], err = s.json.restore(s.unit); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	if err := r.restoreParts(g, out); err != nil {
		return err
	}
	if l := g.Largest; l != nil {
		i := slices.IndexFunc(r.Inputs, func(in Input) bool { return in.File == l.File })
		if i < 0 {
			return fmt.Errorf("has its largest message in %.100q, which is not an input", l.File)
		}
		out.Largest.File = i
		out.Largest.Frame, _ = l.Frame.fixed(1)
		out.Largest.BodyBytes, _ = l.BodyBytes.fixed(1)
	}
	return checkCounts(out)
}

// restore sets a direction.
func (d *jsonDirection) restore(name string, out *sizes.Direction) (err error) {
	to := directionStats(out)
	for i, s := range d.stats(name) {
		if *to[i], err = s.json.restore(s.unit); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	if u := d.UncompressedBytes; u != nil {
		all, err := u.restore(1)
		if err != nil {
			return fmt.Errorf("%s.uncompressedBytes: %w", name, err)
		}
		if all.Count > out.Body.Count {
			return errors.New("has more uncompressed bodies than bodies")
		}
		out.Uncompressed = &all
	}
	if n := out.Body.Count; d.Count == nil && n != 0 || d.Count != nil && *d.Count != n {
		return errors.New("has counts that differ from its buckets")
	}
	return nil
}

// restoreResponses sets the responses by kind, which must add up to all responses.
func (j *jsonGroup) restoreResponses(out *sizes.Group) error {
	if j.ResponseOK == nil && j.ResponseOther == nil && j.ResponseError == nil {
		if j.Answers != nil {
			return errors.New("does not separate the responses of failed calls, because an earlier version saved it; save it again")
		}
		return j.Response.restore("response", &out.ResponseOK)
	}
	if j.ResponseOK == nil || j.ResponseOther == nil || j.ResponseError == nil {
		return errors.New("does not have all of responseOk, responseOther and responseError")
	}
	var all sizes.Direction
	out.NotOK = new(sizes.NotOK)
	for _, d := range []struct {
		name string
		json *jsonDirection
		out  *sizes.Direction
	}{
		{"response", &j.Response, &all},
		{"responseOk", j.ResponseOK, &out.ResponseOK},
		{"responseOther", j.ResponseOther, &out.NotOK.Other},
		{"responseError", j.ResponseError, &out.NotOK.Error},
	} {
		if err := d.json.restore(d.name, d.out); err != nil {
			return err
		}
	}
	sums := directionStats(out.Response())
	for i, s := range directionStats(&all) {
		if !s.Equal(sums[i]) {
			return errors.New("has a response that is not the sum of responseOk, responseOther and responseError")
		}
	}
	return nil
}

func (r *Report) restoreParts(g *jsonGroup, out *sizes.Group) error {
	if g.Parts == nil || g.Sampled != nil { // parts of some bodies cannot be added to those of all
		if r.Parts {
			return errors.New("has no parts, but other groups do")
		}
		return nil
	}
	r.Parts = true
	parts := *out.Parts()
	for _, p := range g.Parts {
		known := false
		for c := range decode.ClassMissing {
			if decode.Class(c).String() == p.Path {
				parts[c], known = p.Bytes, p.Bytes >= 0 && p.Bytes <= maxSavedNumber
			}
		}
		if !known {
			return fmt.Errorf("has the unknown part %.40q", p.Path)
		}
	}
	out.SetParts(&parts)
	return nil
}

// checkCounts checks that a group does not have more errors or times than calls. A streaming call may have many messages.
func checkCounts(g *sizes.Group) error {
	all := g.Response()
	for _, n := range []struct {
		what  string
		n     int64
		whole string
		of    int64
	}{
		{"errors", g.Errors, "calls", g.Calls},
		{"exceptions", g.Exceptions, "errors", g.Errors},
		{"errors or calls of unknown status", g.Errors + g.Unknown, "calls", g.Calls},
		{"one-way or unanswered calls", g.OneWay + g.Unanswered, "calls", g.Calls},
		{"wire sizes of requests", g.Request.Wire.Count, "requests", g.Request.Body.Count},
		{"wire sizes of responses", all.Wire.Count, "responses", all.Body.Count},
		{"latencies", g.Latency.Count, "calls", g.Calls},
		{"waits", g.Wait.Count, "calls", g.Calls},
	} {
		if n.n > n.of {
			return fmt.Errorf("has %d %s of %d %s; save it again", n.n, n.what, n.of, n.whole)
		}
	}
	if g.Request.Frame.Count != g.Request.Body.Count || all.Frame.Count != all.Body.Count {
		return errors.New("has different counts of frames and bodies; save it again")
	}
	return nil
}

// checkInputs checks that inputs with packets have times.
func (r *Report) checkInputs() error {
	for i := range r.Inputs {
		in := &r.Inputs[i]
		if in.Packets <= 0 {
			in.First, in.Last = nil, nil
		} else if in.First == nil || in.Last == nil {
			return fmt.Errorf("has packets of %.100q without their times", in.File)
		}
	}
	return nil
}

// restoreBooks sets the totals from "wire", "coverage" and "saved".
func (r *Report) restoreBooks(h *jsonHead) error {
	w, c, saved := h.Wire, h.Coverage, h.Saved
	switch {
	case saved == nil:
		return errNoBuckets
	case w == nil || c == nil:
		return errors.New(`is not a complete report: "wire" or "coverage" is missing`)
	}
	t := new(pipeline.Totals)
	r.Totals = t
	read, _, _ := bookCounts(w, c)
	wire, coverage, rest := bindBooks(t)
	counts, _, _ := bookCounts(wire, coverage)
	readSaved, names, must := bookCounts(saved)
	countsSaved, _, _ := bookCounts(rest)
	for i, n := range readSaved {
		if *n == nil && must[i] {
			return fmt.Errorf(`has no %q in "saved"`, names[i])
		}
	}
	counts = append(counts, countsSaved...)
	for i, n := range append(read, readSaved...) {
		if *n != nil {
			**counts[i] = **n
		}
	}
	for _, p := range w.OtherTCP {
		addTo(&t.OtherTCP, p.Port, p.Bytes)
	}
	for _, k := range c.Control {
		if k.Calls < 0 || k.Calls > maxSavedNumber || k.Bytes < 0 || k.Bytes > maxSavedNumber {
			return fmt.Errorf("has impossible control bytes of %.40q", k.Protocol)
		}
		t.AddControl(k.Protocol, k.Calls, k.Bytes)
	}
	for _, o := range c.Other {
		if t.Other == nil {
			t.Other = make(map[string]*pipeline.Other)
		}
		t.Other[o.Protocol] = &pipeline.Other{Connections: o.Connections, Bytes: o.Bytes, Control: o.Control}
		if err := restoreHandshakes(t.Other[o.Protocol], o.Handshakes); err != nil {
			return err
		}
	}
	for _, k := range c.HeadersContradicted {
		addTo(&t.Contradicted, pipeline.Contradiction{HeaderID: k.SerializationID, Header: k.Header, Body: k.Body}, k.Frames)
	}
	for _, l := range c.Layouts {
		addTo(&t.Layouts, l.Layout, l.Requests)
	}
	for _, u := range c.UnknownSerializations {
		addTo(&t.UnknownIDs, u.SerializationID, u.Frames)
	}
	for _, u := range c.PacketsUnread {
		addTo(&t.Unread, u.Cause, u.Packets)
	}
	for _, k := range saved.NotTCP {
		addTo(&t.NotTCP, k.Protocol, k.Packets)
	}
	t.Steady, _ = saved.SteadyNanos.fixed(1)
	for i, n := range saved.SnapLengths[:min(len(saved.SnapLengths), len(r.Inputs))] {
		r.Inputs[i].CutTo = n
	}
	if saved.Fingerprints != nil {
		list, err := decodePrints(*saved.Fingerprints)
		if err != nil || saved.FingerprintsAbove < 0 || saved.FingerprintsAbove > maxSavedNumber {
			return errPrints
		}
		r.Fingerprints = &pipeline.Fingerprints{List: list, Above: saved.FingerprintsAbove}
	}
	if !slices.Contains(append(call.MachineSides, ""), saved.Side) {
		return fmt.Errorf("has the unknown side %.40q", saved.Side)
	}
	r.Side, r.Stopped = saved.Side, saved.Stopped
	r.Filter, r.Filtered = saved.Filter, saved.Filter != ""
	r.Connections, r.ConnectionsWithoutData = t.TCP.Connections, t.TCP.WithoutData
	t.TCP.Connections += t.TCP.WithoutData
	t.Expired -= t.ExpiredByTime
	for _, n := range bookNumbers(t) {
		if *n < 0 || *n > maxSavedNumber {
			return fmt.Errorf("has the impossible number %d in wire, coverage or saved", *n)
		}
	}
	return r.restoreTimes()
}

// restoreTimes sets the times of the first and last packet.
func (r *Report) restoreTimes() error {
	begun := false
	for i := range r.Inputs {
		in := &r.Inputs[i]
		if in.Packets <= 0 {
			continue
		}
		first, last := int64(*in.First), int64(*in.Last)
		if !begun {
			r.First, r.Last, begun = first, last, true
		}
		r.First, r.Last = min(r.First, first), max(r.Last, last)
	}
	r.Totals.FirstTime, r.Totals.LastTime = r.First, r.Last
	if span := r.Totals.Span(); span < 0 || span > math.MaxInt64/2 {
		return errors.New("ends before it starts")
	}
	r.Seconds = float64(r.Totals.Span()) / 1e9
	return nil
}

// checkSums checks that the totals of a report add up.
func (r *Report) checkSums() error {
	t := r.Totals
	messages := r.Selected.WireBytes() + t.EventBytes + t.IncompleteBytes
	switch {
	case t.TCP.Stream != t.FrameBytes+t.OtherBytes()+t.Skipped, t.CompleteBytes > t.FrameBytes, t.RPCBytes > t.LinkBytes,
		messages > t.RPCBytes, !r.Filtered && messages != t.RPCBytes:
		return errors.New("has parts that do not add up to their sums; save it again")
	}
	return nil
}
