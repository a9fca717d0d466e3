package report

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/sizes"
	"dubbo-wire/internal/term"
)

// DefaultTop is the default number of rows in a ranking.
const DefaultTop = 10

// Write prints the report as "table", "markdown" or "csv". CSV has the groups alone, one a row.
func (r *Report) Write(w io.Writer, format string, s Style) error {
	if format == "csv" {
		return r.writeCSV(w)
	}
	return r.document(&s).Write(w, format, s)
}

// appendSections appends the sections that are not empty.
func appendSections(list []Section, sections ...Section) []Section {
	for _, sec := range sections {
		if sec.Title != "" || len(sec.Columns) > 0 {
			list = append(list, sec)
		}
	}
	return list
}

// summary describes the input in one line.
func (r *Report) summary(s *Style) string {
	if r.Totals.Packets == 0 {
		return r.captureText(s)
	}
	return r.captureText(s) + ", " + r.trafficText(s)
}

// errorsText returns the share of errors in words as far as it is known, as a list because there is none without calls.
func errorsText(c *sizes.Group, s *Style) []string {
	switch {
	case c.Calls == 0:
		return nil
	case c.NothingAnswered() && c.OneWay == c.Calls:
		return []string{"all one-way"}
	case c.NothingAnswered():
		return []string{"no responses captured"}
	}
	text := percentText(c.Errors, c.Calls, s) + " errors"
	if c.Unknown == 0 {
		return []string{text}
	}
	unknown := "unknown for " + Plural(c.Unknown, "response")
	switch {
	case c.Errors > 0:
		return []string{"at least " + text + " (" + unknown + ")"}
	case c.Unknown+c.Unanswered+c.OneWay < c.Calls:
		return []string{"no errors seen (" + unknown + ")"}
	}
	return []string{"errors " + unknown}
}

func formatSeconds(f float64) string {
	if f < 9.9995 {
		return fmt.Sprintf("%.3f s", f)
	}
	return term.Group(fmt.Sprintf("%.1f", f)) + " s"
}

// nanos returns the duration of the capture, which rates are based on.
func (r *Report) nanos() int64 { return r.Totals.Span() }

// nanosOf returns the time that rates of the sum of groups are based on: the duration of the capture, or that of the groups' intervals if
// keys, which name the groups, contain the time. It is 0 if the intervals are unknown.
func (r *Report) nanosOf(keys []int, groups ...*sizes.Group) int64 {
	at := slices.IndexFunc(keys, func(k int) bool { return r.By.Keys[k] == sizes.Time })
	if at < 0 {
		return r.nanos()
	}
	intervals := make(map[string]struct{})
	for _, g := range groups {
		if g.Rest {
			return 0
		}
		intervals[g.Values[at]] = struct{}{}
	}
	step, n := max(int64(r.By.Step), 1), int64(len(intervals))
	if all := r.nanos(); n > all/step {
		return all
	}
	return n * step
}

const wireTitle = "ON THE WIRE"

// onTheWire returns the table of what the link carried. Its rows add up to the last one.
func (r *Report) onTheWire(s *Style) Section {
	t := r.Totals
	sec := Section{Title: wireTitle, Columns: []Column{
		{Name: "", least: len(wireTitle), Flex: true},
		{Name: "bytes", unit: volume},
		{Name: "share %", unit: percent},
		{Name: "Mbit/s", unit: mbit, drop: 1},
		{Name: "", Wrap: true},
	}}
	row := func(name string, n int64, note string) {
		sec.add(
			s, textCell(name), numberCell(n), ratioCell(n, t.LinkBytes), ratioCell(n, r.nanos()), textCell(note),
		)
	}
	other := int64(0)
	for _, n := range t.OtherTCP {
		other += n
	}
	row(r.RPCName(), t.RPCBytes, r.rpcNote(s))
	// What remains is the packets of Dubbo connections that belong to no message.
	notTCP := t.NotTCPBytes + t.FragmentBytes
	if rest := r.OtherLinkBytes() - other - notTCP; rest != 0 {
		note := "packets without payload (ACKs), stray bytes"
		if t.TCP.Duplicate > 0 {
			note = "packets without payload (ACKs), duplicate captures, stray bytes"
		}
		row(Overhead, rest, note)
	}
	if other != 0 {
		row("other TCP", other, portsNote(t.OtherTCP, s))
	}
	if notTCP != 0 {
		row("not TCP", notTCP, notTCPNote(t.NotTCP, t.Unread))
	}
	var twice []string
	if n := t.TCP.Repeated; n > 0 {
		twice = append(twice, bytesText(n, s)+" retransmitted")
	}
	if n := t.TCP.Duplicate; n > 0 {
		twice = append(twice, bytesText(n, s)+" of duplicate captures")
	}
	note := ""
	if len(twice) > 0 {
		note = strings.Join(twice, " and ") + " in " + bytesText(t.TCP.Payload, s) + " of TCP payload"
	}
	row("total", t.LinkBytes, note)
	return sec
}

func (r *Report) rpcNote(s *Style) string {
	t := r.Totals
	var notes []string
	if t.EventBytes > 0 {
		notes = append(notes, bytesText(t.EventBytes, s)+" of heartbeats and events")
	}
	if t.IncompleteBytes > 0 {
		notes = append(notes, bytesText(t.IncompleteBytes, s)+" of incomplete messages")
	}
	if len(notes) == 0 {
		return ""
	}
	return "including " + strings.Join(notes, " and ")
}

func portsNote(ports map[uint16]int64, s *Style) string {
	sorted := byCount(ports)
	var notes []string
	for i, p := range sorted {
		if i == 2 {
			notes = append(notes, Plural(int64(len(sorted)-2), "more port"))
			break
		}
		notes = append(notes, fmt.Sprintf(":%d %s", p, bytesText(ports[p], s)))
	}
	return strings.Join(notes, ", ")
}

// notTCPNote names the packets; those that could not be read are explained under coverage.
func notTCPNote(kinds, unread map[string]int64) string {
	sorted := byCount(kinds)
	var notes []string
	for i, k := range sorted {
		if i == 2 && len(sorted) > 3 {
			notes = append(notes, fmt.Sprintf("%d more protocols", len(sorted)-2))
			break
		}
		notes = append(notes, k+" "+Plural(kinds[k], "packet"))
	}
	n := int64(0)
	for _, v := range unread {
		n += v
	}
	return strings.Join(appendCount(notes, n, "packet", " that could not be read"), ", ")
}

// byCount returns the keys, the largest count first.
func byCount[K uint16 | uint8 | string](m map[K]int64) []K {
	return slices.SortedFunc(maps.Keys(m), func(a, b K) int {
		return cmp.Or(cmp.Compare(m[b], m[a]), cmp.Compare(a, b))
	})
}

// merge adds groups up over the given keys. Groups beyond the limit come last, as one. The result may have groups of the report, which must
// not be changed. Only over all keys it has bytes by path.
func (r *Report) merge(keys []int) []*sizes.Group {
	if len(keys) == len(r.By.Keys) {
		return slices.Clone(r.Groups) // their keys differ
	}
	var all, rest []*sizes.Group
	by := make(map[string]*sizes.Group)
	var m *sizes.Group // of the group before, which mostly has the same keys
	for _, g := range r.Groups {
		if g.Rest {
			sum := &sizes.Group{Rest: true, Groups: g.Groups}
			sum.MergeSizes(g)
			rest = append(rest[:0], sum)
			continue
		}
		if m == nil || !hasValues(m, g, keys) {
			values := listOf(keys, func(k int) string { return g.Values[k] })
			name := strings.Join(values, "\x00")
			if m = by[name]; m == nil {
				m = &sizes.Group{Values: values}
				by[name] = m
				all = append(all, m)
			}
		}
		m.MergeSizes(g)
	}
	return append(all, rest...)
}

// hasValues reports whether the values of m are those of g for keys.
func hasValues(m, g *sizes.Group, keys []int) bool {
	for i, k := range keys {
		if m.Values[i] != g.Values[k] {
			return false
		}
	}
	return true
}

// keyIndex returns the index of a key in the grouping, -1 if it is missing.
func (r *Report) keyIndex(k sizes.Key) int { return slices.Index(r.By.Keys, k) }

// labels are the columns that name a group by some of its keys.
type labels struct {
	columns []Column
	parts   [][]int // places in the keys, by column
}

// labels returns the columns that name a group by some of its keys. Protocol and serialization share a column, as do service and method.
func (r *Report) labels(keys []int) *labels {
	l := new(labels)
	for i := 0; i < len(keys); i++ {
		k := r.By.Keys[keys[i]]
		name, next := r.keyName(k), sizes.Key("")
		switch k {
		case sizes.Protocol:
			next = sizes.Serialization
		case sizes.Service:
			next = sizes.Method
		case sizes.DubboVersion:
			name = "Dubbo"
		case sizes.ResponseSerialization:
			name = "answered in"
		}
		part := []int{i}
		if next != "" && i+1 < len(keys) && r.By.Keys[keys[i+1]] == next {
			part = append(part, i+1)
			name += "/" + string(next)
			i++
		}
		col := Column{Name: name, Flex: true}
		switch {
		case k == sizes.Service:
			col.Names = true
		case len(part) == 2:
			col.shorten = dropCommon("/", 2)
		case k == sizes.Time:
			col.shorten = dropCommon("T", 1)
		}
		l.columns, l.parts = append(l.columns, col), append(l.parts, part)
	}
	return l
}

// cells returns the cells of a group. values are those of the keys.
func (l *labels) cells(values []string) []cell {
	row := make([]cell, len(l.parts))
	for i := range row {
		row[i] = textCell(l.text(i, values))
	}
	return row
}

// text returns the text of one cell.
func (l *labels) text(column int, values []string) string {
	part := l.parts[column]
	text := term.Clean(values[part[0]])
	if len(part) == 2 {
		if second := term.Clean(values[part[1]]); !isUnknown(text, second) {
			text += "/" + second
		}
	}
	return cmp.Or(text, "-")
}

// mayEnd reports whether the text of one cell may have this end. It makes no text, as there may be many cells.
func (l *labels) mayEnd(column int, values []string, end string) bool {
	part := l.parts[column]
	text := term.Clean(values[part[len(part)-1]])
	n := min(len(text), len(end))
	return text[len(text)-n:] == end[len(end)-n:]
}

// isUnknown reports whether the names are those of responses whose request was not captured.
func isUnknown(service, method string) bool { return service == call.Unknown && method == call.Unknown }

// Overhead is the row of the bytes of connections with messages that belong to no message.
const Overhead = "protocol overhead"

// RPCName names the protocols of the messages that were seen.
func (r *Report) RPCName() string {
	names := r.Totals.ProtocolNames()
	if k := slices.Index(r.By.Keys, sizes.Protocol); len(names) == 0 && k >= 0 { // of saved reports
		for _, g := range r.Groups {
			if !g.Rest && !slices.Contains(names, g.Values[k]) {
				names = append(names, g.Values[k])
			}
		}
		slices.Sort(names)
	}
	if len(names) == 0 {
		return "messages"
	}
	return strings.Join(names, ", ")
}
