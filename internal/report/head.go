package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"dubbo-wire/internal/sizes"
	"dubbo-wire/internal/term"
)

// HeadLine is one answer at the start of a report.
type HeadLine struct {
	// Label is "" if the line continues the one above.
	Label string
	// Texts are the answer in several lengths, longest first. A terminal prints the first that fits in a line; if none does, it wraps
	// the last.
	Texts []string
	// two lets the shortest text have two lines rather than be chosen because it fits in one.
	two bool
	// Brief is the answer if the head has too many lines; "" cuts the text.
	Brief string
	// Command is printed instead of Texts, neither wrapped nor cut.
	Command string
}

const (
	// headLines is the maximum number of lines of the head in a terminal of 60 columns or more, headLabel the width of labels.
	headLines, headLabel = 8, 10
	// longFile is the width of a file name that is never cut, afterFile the width of what follows it: time, seconds and coverage.
	longFile, afterFile = 20, 48
)

// head returns the answer of the report in a few lines: what was captured and how completely, what fills the wire, how large messages
// are in each serialization, and the worst finding.
func (r *Report) head(s *Style) []HeadLine {
	lines := []HeadLine{{Label: "Capture", Texts: []string{r.captureText(s)}}}
	if r.Totals.Packets == 0 {
		return lines
	}
	calls := r.trafficText(s)
	lines = append(lines, HeadLine{Label: "Traffic", Texts: []string{calls + r.orphansText()}, Brief: calls})
	for _, h := range []HeadLine{{Texts: r.lossTexts(s), Label: "Coverage"}, r.heaviest(s), r.sizes(s), {Texts: r.sameMethodTexts()}} {
		if len(h.Texts) > 0 {
			lines = append(lines, h)
		}
	}
	return append(lines, r.worstFinding(s)...)
}

// captureText names the input and its time. If nothing was lost, it has the coverage, too.
func (r *Report) captureText(s *Style) string {
	name := ""
	switch n := len(r.Inputs); {
	case len(r.AddedUp) > 0:
		name = term.Clean(strings.Join(r.AddedUp, " + ")) + " added up"
	case n == 1:
		name = r.inputName()
		if s.Width > 0 {
			name = term.CutLeft(name, max(longFile, s.Width-headLabel-afterFile))
		}
	case n > 1:
		name = Plural(int64(n), "file")
	}
	words := []string{name, "no packets"}
	if r.Totals.Packets > 0 {
		words[1] = formatTime(r.First, "", s.Local) + " + " + formatSeconds(r.Seconds)
		if r.complete() && r.Totals.Frames > 0 {
			words = append(words, "coverage "+formatCoverage(r.Percent(), s.Exact))
		}
	}
	if name == "" {
		words = words[1:]
	}
	return strings.Join(words, ", ")
}

// trafficText counts the calls and says how many failed or have no response.
func (r *Report) trafficText(s *Style) string {
	t, c := r.Totals, &r.Selected
	if t.Frames == 0 && t.Calls == 0 {
		return r.noFrames(s)
	}
	connections := Plural(r.Connections, "connection")
	text := Plural(c.Calls, "call") + " on " + connections
	if r.Filtered || r.SameMethods {
		text = Count(c.Calls) + " of " + Plural(t.Calls, "call") + " selected, " + connections
	}
	words := append([]string{text}, errorsText(c, s)...)
	if c.Unanswered > 0 && !c.NothingAnswered() {
		words = append(words, Count(c.Unanswered)+" unanswered")
	}
	return strings.Join(words, ", ")
}

// orphansText counts the responses without request, unless some calls were selected.
func (r *Report) orphansText() string {
	if n := r.Totals.Orphans; n > 0 && r.Selected.Calls == r.Totals.Calls {
		return ", " + Plural(n, "response") + " without request"
	}
	return ""
}

// lossTexts say what of Dubbo's traffic the capture lacks, in several lengths; nil if nothing.
func (r *Report) lossTexts(s *Style) []string {
	losses := r.losses(s)
	if len(losses) == 0 {
		return nil
	}
	start := ""
	if r.Totals.Frames > 0 {
		start = formatCoverage(r.Percent(), s.Exact) + ": "
		if r.Percent() == 100 {
			start = "100 %, but "
		}
	}
	return shorter(start, losses, ", ", func(left int64) string { return plural(left, "other loss", "other losses") })
}

// losses lists what of Dubbo's traffic the capture lacks, or may lack.
func (r *Report) losses(s *Style) (list []string) {
	t := r.Totals
	switch {
	case t.NoResponses():
		list = append(list, "only packets from the clients")
	case t.NoRequests():
		list = append(list, "only packets from the servers")
	}
	dropped, damaged, unreadable := int64(0), int64(0), int64(0)
	for i := range r.Inputs {
		in := &r.Inputs[i]
		if in.Dropped != nil {
			dropped += *in.Dropped
		}
		damaged += int64(len(in.Damage)) + in.DamageLeftOut
		if in.Err != "" {
			unreadable++
		}
	}
	list = appendCount(list, dropped, "packet", " dropped by the kernel")
	if t.LostBytes > 0 {
		list = append(list, bytesText(t.LostBytes, s)+" lost in "+Plural(t.LostGaps, "gap"))
	}
	if cut := t.Gap - t.LostBytes; cut > 0 {
		list = append(list, bytesText(cut, s)+" cut off by the snap length")
	} else {
		list = appendCount(list, r.cutPackets(), "packet", " cut by the snap length")
	}
	if t.Skipped > 0 {
		list = append(list, bytesText(t.Skipped, s)+" skipped")
	}
	list = appendCount(list, t.Incomplete, "incomplete frame", "")
	list = appendCount(list, t.NegativeLengths, "frame", " of impossible length")
	list = appendCount(list, t.TCP.Joined, "connection", " joined midway")
	list = appendCount(list, t.Unnamed+t.WithoutStatus, "message", " of unknown method or status")
	list = appendCount(list, unreadable, "file", " not read")
	list = appendCount(list, damaged, "damaged place", "")
	unread := int64(0)
	for _, n := range t.Unread {
		unread += n
	}
	return appendCount(list, unread, "packet", " that could not be read")
}

// mostListed is the maximum number of serializations or losses in the head.
const mostListed = 12

// shorter returns texts that list as many items as the head may have, one less, and so on down to one. more counts what is left out.
func shorter(start string, items []string, sep string, more func(left int64) string) (texts []string) {
	for n := min(len(items), mostListed); n > 0; n-- {
		text := start + strings.Join(items[:n], sep)
		if left := len(items) - n; left > 0 {
			text += sep + more(int64(left))
		}
		texts = append(texts, text)
	}
	return texts
}

func countMore(left int64) string { return Count(left) + " more" }

// heaviest names the row with most bytes on the wire, and who sends them. The row is a method if calls are grouped by method.
func (r *Report) heaviest(s *Style) (line HeadLine) {
	all := r.Selected.WireBytes()
	if all == 0 {
		return line
	}
	var keys []int
	for _, k := range []sizes.Key{sizes.Service, sizes.Method} {
		if i := r.keyIndex(k); i >= 0 {
			keys = append(keys, i)
		}
	}
	slices.Sort(keys)
	if len(keys) == 0 {
		keys = r.rankedKeys()
	}
	rows, top, bytes := r.mostBytes(keys)
	if len(rows) == 0 {
		return line
	}
	label := r.labels(keys)
	var values []string
	valuesOf := func(row int) []string {
		values = values[:0]
		for _, k := range keys {
			values = append(values, rows[row].Values[k])
		}
		return values
	}
	var name, short []string
	for i, column := range label.columns {
		text := label.text(i, valuesOf(top))
		if column.Names && r.keyIndex(sizes.Method) >= 0 {
			name, short = append(name, text), append(short, shortName(len(rows), top, func(row int, end string) string {
				if !label.mayEnd(i, valuesOf(row), end) {
					return ""
				}
				return label.text(i, valuesOf(row))
			}))
			continue
		}
		text = column.Name + " " + text
		name, short = append(name, text), append(short, text)
	}
	share := percentText(bytes, all, s)
	of, least, rate := ", "+share+" of bytes", " "+share, ""
	if 20*r.Totals.IncompleteBytes > r.Totals.RPCBytes {
		least = ", " + share + " of complete frames"
		of = ", " + share + " of the bytes of complete frames"
	}
	if nanos := r.nanosOf(keys, &sizes.Group{Values: slices.Clone(valuesOf(top))}); nanos > 0 {
		rate = " (" + formatRate(float64(bytes)*8000/float64(nanos), s.Exact) + " Mbit/s)"
	}
	full, brief := strings.Join(name, ", "), strings.Join(short, ", ")
	pair, briefPair := r.pairText(keys, valuesOf(top), bytes, s)
	return HeadLine{Label: "Heaviest", Brief: brief + least, Texts: []string{
		full + of + rate + pair, brief + of + rate + pair, brief + of + pair, brief + of + briefPair, brief + least + briefPair,
	}}
}

// mostBytes returns a group for each combination of values that groups have for some keys, in their order and without those beyond the
// limit, the index of the first one with most bytes on the wire, and the bytes of all groups with its values. Nothing else is added up:
// there may be many groups.
func (r *Report) mostBytes(keys []int) (rows []*sizes.Group, top int, bytes int64) {
	apart := true // the keys tell all groups apart
	for i := range r.By.Keys {
		apart = apart && (slices.Contains(keys, i) || !r.varies(i))
	}
	beyond := func(g *sizes.Group) bool { return g.Rest }
	rows = r.Groups
	if slices.ContainsFunc(rows, beyond) {
		rows = slices.DeleteFunc(slices.Clone(rows), beyond)
	}
	bytesOf := func(row int) int64 { return rows[row].WireBytes() }
	if !apart {
		var sums []int64
		var firsts []*sizes.Group
		at := make(map[string]int)
		for _, g := range rows {
			name := strings.Join(listOf(keys, func(k int) string { return g.Values[k] }), "\x00")
			i, ok := at[name]
			if !ok {
				i = len(sums)
				at[name], firsts, sums = i, append(firsts, g), append(sums, 0)
			}
			sums[i] += g.WireBytes()
		}
		rows, bytesOf = firsts, func(row int) int64 { return sums[row] }
	}
	for i := range rows {
		if n := bytesOf(i); i == 0 || n > bytes {
			top, bytes = i, n
		}
	}
	return rows, top, bytes
}

// pairText names the client and the server that exchange most bytes of a method, if they exchange half of them also in brief.
func (r *Report) pairText(keys []int, values []string, all int64, s *Style) (text, brief string) {
	if r.Pairs == nil || r.keyIndex(sizes.Method) < 0 {
		return "", ""
	}
	pair, bytes, pairs := r.Pairs.BusiestOf(func(service, method string) bool {
		for i, k := range keys {
			if name := map[sizes.Key]string{sizes.Service: service, sizes.Method: method}[r.By.Keys[k]]; name != values[i] {
				return false
			}
		}
		return true
	})
	if pair == nil {
		return "", ""
	}
	ends := term.Clean(pair.Client + " > " + pair.Server)
	switch {
	case bytes == all:
		text = ", all " + ends
	case 2*bytes >= all:
		text = ", mostly " + ends
	default:
		brief = ", spread over " + Plural(int64(pairs), "pair")
		return brief + ", most by " + ends + " (" + percentText(bytes, all, s) + ")", brief
	}
	return text, text
}

// sizes gives the mean body sizes of each serialization, those with most bytes on the wire first.
func (r *Report) sizes(s *Style) HeadLine {
	line := HeadLine{Label: "Sizes"}
	if r.Selected.Calls == 0 {
		return line
	}
	_, apart, rows := r.compared()
	rows = slices.DeleteFunc(rows, func(g *sizes.Group) bool { return g.Rest })
	mean := func(g *sizes.Group, of func(*groupRow) *sizes.Stat) (text string, ok bool) {
		c := meanOf(of)(&groupRow{report: r, Group: g})
		return c.format(size, s.Exact), c.kind == number
	}
	both := func(g *sizes.Group) string {
		var words []string
		if text, ok := mean(g, requestBody); ok {
			words = append(words, text+" B request")
		}
		if text, ok := mean(g, responseBody); ok {
			words = append(words, text+" B response")
		}
		return strings.Join(words, ", ")
	}
	if !apart || len(rows) == 1 {
		name := ""
		if apart {
			name = r.serializationNames(rows)[0] + " "
		}
		if text := both(&r.Selected); text != "" {
			line.Texts, line.Brief = []string{name + "mean " + text}, name+text
		}
		return line
	}
	var items []string
	names := r.serializationNames(rows)
	for i, g := range rows[:min(len(rows), maxCompared)] {
		share := " (" + percentText(g.WireBytes(), r.Selected.WireBytes(), s) + ")"
		if i == 0 {
			items = append(items, names[i]+" mean "+both(g)+strings.Replace(share, ")", " of bytes)", 1))
			continue
		}
		request, _ := mean(g, requestBody)
		response, _ := mean(g, responseBody)
		items = append(items, names[i]+" "+bytesOrNone(request)+", "+bytesOrNone(response)+share)
	}
	line.Texts, line.Brief, line.two = shorter("", items, "; ", countMore), fmt.Sprintf("%s %s; %s more", names[0], both(rows[0]), Count(int64(len(rows)-1))), true
	return line
}

func bytesOrNone(text string) string {
	if text == "-" {
		return text
	}
	return text + " B"
}

// serializationNames returns the names of rows of the comparison, without the protocol if they share it.
func (r *Report) serializationNames(rows []*sizes.Group) []string {
	return dropCommon("/", 2)(listOf(rows, func(g *sizes.Group) string { return comparisonName(g.Values) }), 2)
}

// maxCompared is the maximum number of serializations that the head compares. Protocols have fewer, but saved reports may say anything.
const maxCompared = 64

// sameMethodTexts compare the serializations with the heaviest one over the methods that both have. They are nil if the report does not
// have methods in several serializations.
func (r *Report) sameMethodTexts() []string {
	m, ok := r.shared()
	if !ok || len(m.names) < 2 {
		return nil
	}
	names := dropCommon("/", 2)(m.names, 2)
	type compared struct {
		name string
		paired
	}
	var others []compared
	for i, other := range m.names[1:min(len(m.names), maxCompared)] {
		if f := m.compare(m.names[0], other); f.request.base > 0 || f.response.base > 0 {
			others = append(others, compared{names[i+1], f})
		}
	}
	// The smallest of those with the most methods comes first.
	slices.SortStableFunc(others, func(a, b compared) int {
		return cmp.Or(cmp.Compare(b.methods, a.methods), cmp.Compare(a.relative(), b.relative()))
	})
	var spelled, plain []string
	methods := 0
	for _, f := range others {
		methods = f.methods
		plain = append(plain, fmt.Sprintf("%s %s, %s", f.name, f.request.text(), f.response.text()))
		spelled = append(spelled, strings.Replace(plain[len(plain)-1], ", ", " requests, ", 1)+" responses")
	}
	what := ""
	if m.frames {
		what = "frames "
	}
	if len(m.names) == 2 {
		if len(plain) == 0 {
			return []string{"no method is in both: these means do not compare serializations"}
		}
		start := fmt.Sprintf("same %s, %sagainst %s: ", strings.TrimPrefix(Plural(int64(methods), "method"), "1 "), what, names[0])
		return []string{start + spelled[0], start + plain[0]}
	}
	if len(plain) == 0 {
		return []string{fmt.Sprintf("no method of %s is in another one: these means do not compare serializations", names[0])}
	}
	start := "same methods, " + what + "against " + names[0] + ": "
	short := shorter(start, plain, "; ", countMore)
	plain[0] = spelled[0]
	return append(shorter(start, plain, "; ", countMore), short[len(short)-1])
}

// worstFinding returns the first finding and the command that shows it; nil if rules did not run.
func (r *Report) worstFinding(s *Style) []HeadLine {
	b := r.Basis
	if b == nil || b.Calls == 0 && len(r.Findings) == 0 {
		return nil
	}
	if len(r.Findings) == 0 {
		return []HeadLine{{Label: "Findings", Texts: []string{fmt.Sprintf("none (%s; %s, %s sampled)",
			Plural(int64(b.Rules), "rule"), Plural(b.Calls, "call"), plural(b.Sampled, "body", "bodies"))}}}
	}
	f := &r.Findings[0]
	text := term.Clean(f.Text)
	if name := subjects([]*Finding{f})[0]; name != "" {
		text = name + ": " + text
	}
	command := r.Command(f, s.Explain)
	if command == "" && f.Frame > 0 {
		text += fmt.Sprintf(" (frame %s)", formatFrame(f.Frame))
	}
	lines := []HeadLine{{Label: "Worst", Texts: []string{text}}}
	if command != "" {
		lines = append(lines, HeadLine{Command: term.Clean(command)})
	}
	return lines
}

// layOutHead returns the lines of a head for a terminal: labels, and texts that begin in the same column.
func layOutHead(head []HeadLine, s *Style) (lines []string) {
	room := proseWidth - headLabel
	if s.Width > 0 {
		room = max(s.Width-headLabel, 1)
	}
	texts := listOf(head, func(h HeadLine) []string {
		if h.Command != "" {
			return []string{h.Command}
		}
		last := len(h.Texts) - 1
		for i, t := range h.Texts {
			if term.Width(t) <= room && (i < last || i == 0 || !h.two) {
				return []string{t}
			}
		}
		for i, t := range h.Texts {
			if w := term.Wrap(t, room); i == last || h.two && len(w) == 2 {
				return w
			}
		}
		return nil
	})
	over := -headLines
	for _, t := range texts {
		over += len(t)
	}
	for i := len(texts) - 1; i >= 0; i-- {
		n := len(texts[i])
		if cut := min(over, n-1); cut > 0 {
			texts[i] = texts[i][:n-cut]
			if brief := head[i].Brief; brief != "" && term.Width(brief) <= room {
				texts[i] = []string{brief}
			} else {
				texts[i][n-cut-1] = term.Cut(texts[i][n-cut-1]+" …", room)
			}
			over -= n - len(texts[i])
		}
	}
	for i, t := range texts {
		for k, line := range t {
			label := strings.Repeat(" ", headLabel)
			if k == 0 && head[i].Label != "" {
				label = heading(head[i].Label, s) + label[len(head[i].Label):]
			}
			lines = append(lines, label+line)
		}
	}
	return lines
}
