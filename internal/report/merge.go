package report

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/sizes"
)

// Merge adds up reports whose inputs share no connection. The result is that of one report of all inputs, but frame numbers stay
// those of the single reports. Beyond maxGroups, groups that are not in an earlier report (by the time of its first packet) are
// summed in the row of the rest. Merge returns a one-line error that names reports by their Origin if they cannot be added up.
//
// The result takes over groups of the reports, which must not be used afterwards.
func Merge(list []*Report, maxGroups int) (*Report, error) {
	if len(list) == 1 {
		return list[0], nil
	}
	first := list[0]
	sum := &Report{
		Totals: new(pipeline.Totals), By: first.By, Filtered: first.Filtered, Filter: first.Filter, Parts: first.Parts, Saved: true,
		Side: first.Side,
	}
	offsets := make(map[*Report]int)
	for _, r := range list {
		if err := first.addsUpWith(r); err != nil {
			return nil, err
		}
		offsets[r] = len(sum.Inputs)
		sum.Inputs = append(sum.Inputs, r.Inputs...)
		sum.Connections += r.Connections
		sum.ConnectionsWithoutData += r.ConnectionsWithoutData
		addBooks(sum.Totals, r.Totals)
		sum.Stopped = append(sum.Stopped, r.Stopped...)
	}
	if err := checkOnce(list, sum.By); err != nil {
		return nil, err
	}
	if !slices.Contains(sum.By.Keys, sizes.Input) { // else each is counted alone
		var err error
		if sum.Remarks, err = checkShared(list); err != nil {
			return nil, err
		}
	}
	sum.addFingerprints(list)
	sum.setTimes(list)
	c := collector{by: sum.By, inputs: sum.Inputs, most: maxGroups}
	for _, r := range slices.SortedStableFunc(slices.Values(list), func(a, b *Report) int { return cmp.Compare(a.First, b.First) }) {
		for _, g := range r.Groups {
			g.Largest.File += offsets[r]
			if err := c.add(g.Values, g); err != nil {
				return nil, err
			}
		}
	}
	sum.Groups = c.groups()
	return sum, sum.sum()
}

// addsUpWith returns an error if another report cannot be added.
func (r *Report) addsUpWith(o *Report) error {
	cannot := func(format string, args ...any) error {
		return fmt.Errorf("%s and %s cannot be added up: "+format, append([]any{r.Origin, o.Origin}, args...)...)
	}
	switch {
	case r == o:
		return nil
	case slices.Contains(r.By.Keys, sizes.Connection):
		return cannot("connections are numbered in each; group by something else with --by")
	case !r.By.Equal(o.By):
		return cannot("one is grouped by %s, the other by %s; choose keys that both have with --by", r.ByText(), o.ByText())
	case r.Filter != o.Filter:
		return cannot("one has the calls of %s, the other those of %s", cmp.Or(r.Filter, "no filter"), cmp.Or(o.Filter, "no filter"))
	case strings.Contains(r.Filter, "--since +"), strings.Contains(r.Filter, "--until +"):
		return cannot("their filter counts from the first packet of each")
	case r.Parts != o.Parts && len(r.Groups) > 0 && len(o.Groups) > 0:
		return cannot("only one was made with --parts")
	case r.Totals.Packets > 0 && o.Totals.Packets > 0 && float64(max(r.Last, o.Last))-float64(min(r.First, o.First)) > math.MaxInt64/2:
		return cannot("more than a century lies between them")
	}
	return nil
}

// addFingerprints sets the fingerprints of all reports, or none if one does not have them.
func (r *Report) addFingerprints(list []*Report) {
	var prints []*pipeline.Fingerprints
	for _, o := range list {
		if o.Fingerprints == nil {
			return
		}
		prints = append(prints, o.Fingerprints)
	}
	r.Fingerprints = new(pipeline.Fingerprints)
	r.Fingerprints.Add(prints...)
}

// ByText returns the grouping as --by takes it.
func (r *Report) ByText() string { return strings.Join(r.keyNames(), ",") }

// checkOnce returns an error if two reports have the same input.
func checkOnce(list []*Report, by sizes.By) error {
	type content struct {
		packets, bytes int64
		first, last    timestamp
	}
	contents, names := make(map[content]*Report), make(map[string]*Report)
	for _, r := range list {
		for i := range r.Inputs {
			in := &r.Inputs[i]
			if in.Packets > 0 {
				c := content{in.Packets, in.Bytes, *in.First, *in.Last}
				if o := contents[c]; o != nil && o != r {
					return fmt.Errorf("%s cannot be added: its input %s (%s from %s on) is already among the others", r.Origin, in.File, Plural(in.Packets, "packet"), rfc3339(int64(*in.First)))
				}
				contents[c] = r
			}
			if o := names[in.File]; o != nil && o != r && slices.Contains(by.Keys, sizes.Input) {
				return fmt.Errorf("%s cannot be added: two inputs are named %s, which --by input cannot distinguish", r.Origin, in.File)
			}
			names[in.File] = r
		}
	}
	return nil
}

// addBooks adds the totals of another run.
func addBooks(t, o *pipeline.Totals) {
	sums := bookNumbers(t)
	for i, n := range bookNumbers(o) {
		*sums[i] += *n
	}
	addAll(&t.OtherTCP, o.OtherTCP)
	addAll(&t.NotTCP, o.NotTCP)
	addAll(&t.Unread, o.Unread)
	addAll(&t.UnknownIDs, o.UnknownIDs)
	addAll(&t.Contradicted, o.Contradicted)
	addAll(&t.Layouts, o.Layouts)
	addAll(&t.Causes, o.Causes)
	for name, n := range o.Control {
		t.AddControl(name, n.Calls, n.Bytes)
	}
	for name, n := range o.Other {
		if t.Other == nil {
			t.Other = make(map[string]*pipeline.Other)
		}
		if t.Other[name] == nil {
			t.Other[name] = new(pipeline.Other)
		}
		t.Other[name].Connections += n.Connections
		t.Other[name].Bytes += n.Bytes
		t.Other[name].Control = t.Other[name].Control || n.Control
		mergeHandshakes(t.Other[name], n)
	}
}

func addAll[K comparable](m *map[K]int64, o map[K]int64) {
	for k, n := range o {
		addTo(m, k, n)
	}
}

// setTimes sets the first and last packet of all reports and the time between them.
func (r *Report) setTimes(list []*Report) {
	begun, stepped := false, int64(0)
	for _, o := range list {
		if o.Totals.Packets == 0 {
			continue
		}
		if !begun {
			r.First, r.Last, begun = o.First, o.Last, true
		}
		r.First, r.Last = min(r.First, o.First), max(r.Last, o.Last)
		if o.Totals.ClockSteps > 0 {
			stepped += o.Last - o.First - o.Totals.Steady
		}
	}
	t := r.Totals
	t.FirstTime, t.LastTime = r.First, r.Last
	t.Steady = r.Last - r.First - stepped
	r.Seconds = float64(t.Span()) / 1e9
}

// collector sums groups by key.
type collector struct {
	by     sizes.By
	inputs []Input
	most   int
	byKey  map[string]*sizes.Group
	rest   *sizes.Group
}

var errOverflow = errors.New("the groups cannot be added up: their sums exceed 64 bits")

// add adds a group. The collector takes over the first group of a key.
func (c *collector) add(values []string, g *sizes.Group) error {
	to := &c.rest
	if !g.Rest {
		key := strings.Join(values, "\x00")
		have := c.byKey[key]
		if have == nil && len(c.byKey) < c.most {
			if c.byKey == nil {
				c.byKey = make(map[string]*sizes.Group)
			}
			g.Values = values
			c.byKey[key] = g
			return nil
		}
		if have != nil {
			to = &have
		} else {
			g.Rest, g.Groups, g.Values, g.SerializationID = true, 1, nil, -1
		}
	}
	if *to == nil {
		*to = g
		return nil
	}
	return c.join(*to, g)
}

// join adds a group to another one of the same key.
func (c *collector) join(to, g *sizes.Group) error {
	if err := checkSum(to, g); err != nil {
		return err
	}
	if to.SerializationID != g.SerializationID {
		to.SerializationID = -1
	}
	to.Groups += g.Groups
	// Of equal largest messages that of the earlier input wins, so that the order in which reports are merged does not matter.
	if to.Largest.BodyBytes == g.Largest.BodyBytes && to.Largest.Frame != 0 && g.Largest.Frame != 0 && c.begins(g) < c.begins(to) {
		to.Largest = g.Largest
	}
	to.Merge(g)
	return nil
}

// begins returns the time of the first packet of the input with the largest message of a group, 0 if it is unknown.
func (c *collector) begins(g *sizes.Group) timestamp {
	if g.Largest.File >= len(c.inputs) || c.inputs[g.Largest.File].First == nil {
		return 0
	}
	return *c.inputs[g.Largest.File].First
}

// checkSum returns an error if the distributions of two groups cannot be added up.
func checkSum(a, b *sizes.Group) error {
	others := statsOf(b)
	for i, t := range statsOf(a) {
		s := others[i]
		if t.Count > math.MaxInt64-s.Count || s.Total > 0 && t.Total > math.MaxInt64-s.Total || s.Total < 0 && t.Total < math.MinInt64-s.Total {
			return errOverflow
		}
	}
	return nil
}

func (c *collector) groups() []*sizes.Group {
	all := slices.Collect(maps.Values(c.byKey))
	if c.rest != nil {
		all = append(all, c.rest)
	}
	return all
}

// Regroup sums the groups by fewer keys, another order of keys, or a wider time step. It returns an error if the report lacks a key.
func (r *Report) Regroup(by sizes.By) error {
	if r.By.Equal(by) {
		return nil
	}
	places := make([]int, len(by.Keys))
	for i, k := range by.Keys {
		places[i] = r.keyIndex(k)
		if places[i] < 0 && k == sizes.Input {
			continue // the report is one input
		}
		if places[i] < 0 {
			return fmt.Errorf("%s is grouped by %s, and does not contain the %s of calls", r.Origin, r.ByText(), k)
		}
		if k == sizes.Time && by.Step%r.By.Step != 0 {
			return fmt.Errorf("%s is grouped by time:%s, and %s is not a multiple of that", r.Origin, r.By.Step, by.Step)
		}
	}
	c := collector{by: by, most: math.MaxInt}
	// Of equal largest messages the first one is to win.
	slices.SortStableFunc(r.Groups, func(a, b *sizes.Group) int { return cmp.Compare(a.Largest.Frame, b.Largest.Frame) })
	for _, g := range r.Groups {
		var values []string
		if !g.Rest {
			values = make([]string, len(places))
			for i, p := range places {
				if p < 0 {
					values[i] = r.asInput()
					continue
				}
				values[i] = g.Values[p]
				if by.Keys[i] == sizes.Time && by.Step != r.By.Step {
					values[i] = truncated(values[i], by.Step)
				}
			}
		}
		if err := c.add(values, g); err != nil {
			return err
		}
	}
	r.By, r.Groups = by, c.groups()
	return r.sum()
}

// asInput returns the name of a report that is one input among others.
func (r *Report) asInput() string {
	switch {
	case r.Label != "":
		return r.Label
	case len(r.Inputs) == 1:
		return r.Inputs[0].File
	}
	return r.Origin
}

func truncated(at string, step time.Duration) string {
	t, err := time.Parse(time.RFC3339Nano, at)
	if err != nil {
		return at
	}
	return t.UTC().Truncate(step).Format(time.RFC3339Nano)
}

// Select keeps the groups that match the globs of every key. It returns an error if the report lacks a key; it does not need that of side if it
// was saved with the same one. side is that of the filter, "" without one. text is the filter as users write it.
func (r *Report) Select(globs map[sizes.Key][]call.Glob, side, text string) error {
	for k, list := range globs {
		switch {
		case len(list) == 0 || r.keyIndex(k) >= 0, k == sizes.Side && r.Side == side:
		case k == sizes.Side && r.Side != "":
			return fmt.Errorf("%s was saved with --side %s; omit --side, or save it again", r.Origin, r.Side)
		default:
			return fmt.Errorf("%s is grouped by %s; --%s needs a report that is also grouped by %s", r.Origin, r.ByText(), k, k)
		}
	}
	for _, g := range r.Groups {
		if g.Rest {
			return fmt.Errorf("%s has %s beyond --max-groups, which no filter can select; save it again with the filter", r.Origin, Plural(g.Groups, "group"))
		}
	}
	r.Groups = slices.DeleteFunc(r.Groups, func(g *sizes.Group) bool {
		return !matches(r.By, g.Values, globs)
	})
	r.Filtered = true
	saved := r.Side
	r.Side = cmp.Or(side, saved)
	switch {
	case r.Filter == text: // saved with the same filter
	case saved != "" && saved == side && r.Filter == "--side "+side: // which the text has among the others
		r.Filter = text
	default:
		if saved == side {
			text = strings.Replace(" "+text, " --side "+side, "", 1)
		}
		r.Filter = strings.TrimSpace(r.Filter + " " + strings.TrimSpace(text))
	}
	return r.sum()
}

// OrderInputs sorts the inputs by their places, of which there is one per input. The sort is stable.
func (r *Report) OrderInputs(places []int) {
	order := make([]int, len(r.Inputs))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return places[a] - places[b] })
	inputs, now := make([]Input, len(order)), make([]int, len(order))
	for i, old := range order {
		inputs[i], now[old] = r.Inputs[old], i
	}
	r.Inputs = inputs
	for _, g := range append(slices.Clone(r.Groups), &r.Selected) {
		if g.Largest.File < len(now) {
			g.Largest.File = now[g.Largest.File]
		}
	}
}

// matches reports whether all parts of a key match their globs. Globs of other keys are ignored.
func matches(by sizes.By, values []string, globs map[sizes.Key][]call.Glob) bool {
	value := func(k sizes.Key) string {
		if i := slices.Index(by.Keys, k); i >= 0 {
			return values[i]
		}
		return ""
	}
	for i, k := range by.Keys {
		v, ok := values[i], false
		switch list := globs[k]; k {
		case sizes.Service:
			ok = call.MatchService(list, v)
		case sizes.Method:
			ok = call.MatchMethod(list, value(sizes.Service), v)
		case sizes.Serialization:
			ok = call.MatchSerialization(list, v)
		default:
			ok = len(list) == 0 || slices.ContainsFunc(list, func(glob call.Glob) bool { return glob.Match(v) })
		}
		if !ok {
			return false
		}
	}
	return true
}

// Readable replaces invalid UTF-8 in the names of groups by U+FFFD, because JSON has no other text, and sums groups whose names
// become equal.
func (r *Report) Readable() error {
	if !slices.ContainsFunc(r.Groups, func(g *sizes.Group) bool { return !utf8.ValidString(strings.Join(g.Values, " ")) }) {
		return nil
	}
	c := collector{by: r.By, most: math.MaxInt}
	for _, g := range r.Groups {
		values := slices.Clone(g.Values)
		for i, v := range values {
			if !utf8.ValidString(v) {
				values[i] = string([]rune(v))
			}
		}
		if err := c.add(values, g); err != nil {
			return err
		}
	}
	r.Groups = c.groups()
	return r.sum()
}

// sum sorts the groups and sums them in Selected. It returns an error if their sums exceed 64 bits.
func (r *Report) sum() error {
	r.By.Sort(r.Groups)
	r.Selected = sizes.Group{}
	for _, g := range r.Groups {
		if err := checkSum(&r.Selected, g); err != nil {
			return err
		}
		r.Selected.MergeSizes(g)
	}
	return nil
}

func addTo[K comparable](m *map[K]int64, k K, n int64) {
	if *m == nil {
		*m = make(map[K]int64)
	}
	(*m)[k] += n
}
