package report

import (
	"cmp"
	"fmt"
	"math/bits"
	"strings"

	"dubbo-wire/internal/sizes"
	"dubbo-wire/internal/term"
)

const (
	// detailed is the default number of methods with a block of their own.
	detailed = 5
	// maxBins is the maximum number of lines of a histogram, barWidth the length of its longest bar.
	maxBins, barWidth = 12, 30
	// shownPaths is the number of paths of a direction in a block.
	shownPaths = 12
)

// details returns a block for each of the top groups, if Details is set: histograms, composition of bodies, largest message.
func (r *Report) details(s *Style) []Section {
	if !r.Details {
		return nil
	}
	rows := r.ranked()
	n := s.Rows(detailed)
	var all []Section
	for i, m := range rows {
		if i == n || m.Rest {
			break
		}
		all = append(all, r.detail(i+1, m, s)...)
	}
	if note := r.SampleNote(); note != "" && len(all) > 0 {
		all[0].Notes = append(all[0].Notes, note)
	}
	if len(all) > 0 && len(rows) > n {
		last := &all[len(all)-1]
		last.Notes = append(last.Notes, fmt.Sprintf("Details of all %s: --details --top %d.", Plural(int64(len(rows)), "row"), len(rows)))
	}
	return all
}

func (r *Report) detail(rank int, m *sizes.Group, s *Style) []Section {
	names := listOf(r.labels(indexes(len(m.Values))).cells(m.Values), func(c cell) string { return c.text })
	title := fmt.Sprintf("%d  %s", rank, strings.Join(names, "  "))
	first := Section{Title: title, Notes: []string{fmt.Sprintf("%s, %s on the wire (%s of all), %s failed.",
		Plural(m.Calls, "call"), bytesText(m.WireBytes(), s), percentText(m.WireBytes(), r.Selected.WireBytes(), s), Count(m.Errors))}}
	all := []Section{first}
	in := cmp.Or(m.Anatomy, new(sizes.GroupAnatomy))
	all = appendSections(
		all, histogram("request body bytes", &m.Request.Body, s), histogram(ResponseSizesTitle(m), &m.ResponseOK.Body, s),
		histogram(FailedSizesTitle, &cmp.Or(m.NotOK, new(sizes.NotOK)).Error.Body, s),

		anatomy("requests", &in.Request, m.Request.Body.Count, s), FieldSection("requests", &in.Request, s),
		anatomy("responses", &in.Response, m.Response().Body.Count, s), FieldSection("responses", &in.Response, s),
	)
	if l := m.Largest; l.Frame > 0 {
		notes := []string{fmt.Sprintf("largest body: %s, frame %d", Plural(l.BodyBytes, "byte"), l.Frame)}
		if command := s.explain(l.Frame); command != "" {
			notes = append(notes, verbatim+command)
		}
		last := &all[len(all)-1]
		last.Notes = append(last.Notes, notes...)
	}
	return all
}

// ResponseSizesTitle returns the title of the distribution of a group's ResponseOK.
func ResponseSizesTitle(g *sizes.Group) string {
	if g.NotOK == nil {
		return "response body bytes"
	}
	return "response bytes of successful calls"
}

// FailedSizesTitle is the title of the distribution of the responses of failed calls.
const FailedSizesTitle = "response bytes of failed calls"

// bin is a line of a histogram: n numbers from low to high.
type bin struct{ low, high, n int64 }

// bins returns at most maxBins bins of a distribution. A bin is an octave, or a part of one if that is not too many bins.
func bins(stat *sizes.Stat) []bin {
	var list []bin
	for _, parts := range []int64{16, 8, 4, 2, 1} {
		list = list[:0]
		place := int64(0)
		stat.Buckets(func(low, high, n int64) {
			at := int64(-1)
			if low > 0 {
				octave := int64(bits.Len64(uint64(low)) - 1)
				at = octave*parts + (low-1<<octave)*parts>>octave
			}
			if len(list) > 0 && at == place {
				last := &list[len(list)-1]
				last.high, last.n = high, last.n+n
				return
			}
			list, place = append(list, bin{low, high, n}), at
		})
		if len(list) <= maxBins {
			return list
		}
	}
	// More octaves than lines: the smallest go together.
	for len(list) > maxBins {
		list[1].low, list[1].n = list[0].low, list[0].n+list[1].n
		list = list[1:]
	}
	return list
}

// histogram returns a table of bins; each line has the least and the greatest number in it. It has no columns if there are no numbers.
func histogram(name string, stat *sizes.Stat, s *Style) Section {
	if stat.Count == 0 {
		return Section{}
	}
	sec := Section{Columns: []Column{
		{Name: name, Right: true, least: len("response body bytes")},
		{Name: "count", unit: count},
		{Name: "%", unit: percent},
		{Name: ""},
	}}
	most := int64(0)
	list := bins(stat)
	for _, b := range list {
		most = max(most, b.n)
	}
	for _, b := range list {
		text := Count(b.low)
		if b.high > b.low {
			text += " to " + Count(b.high)
		}
		bar := int((b.n*barWidth + most - 1) / most)
		sec.add(s, textCell(text), numberCell(b.n), ratioCell(b.n, stat.Count), textCell(strings.Repeat("#", bar)))
	}
	if stat.Min == stat.Max {
		return sec
	}
	sec.Notes = []string{fmt.Sprintf("min %s, mean %s, p50 %s, p90 %s, p99 %s, max %s", Count(stat.Min), formatSize(stat.Mean(), false, s.Exact),
		Count(stat.Percentile(50)), Count(stat.Percentile(90)), Count(stat.Percentile(99)), Count(stat.Max))}
	return sec
}

// anatomy returns the composition of bodies by path, in mean bytes per sampled message. It has no columns if none was sampled.
func anatomy(name string, a *sizes.Anatomy, messages int64, s *Style) Section {
	if a.Messages == 0 {
		return Section{}
	}
	sec := Section{Columns: []Column{
		{Name: "bytes of " + name, Flex: true, least: len("bytes of responses")},
		{Name: "purpose"},
		{Name: "per message", unit: size},
		{Name: "%", unit: percent},
		{Name: "in %", unit: percent},
	}}
	paths := a.Paths()
	shown := paths
	if len(paths) > shownPaths+1 {
		shown = paths[:shownPaths]
	}
	for _, p := range shown {
		sec.add(
			s, textCell(term.Clean(p.Path)), textCell(p.Class.String()), ratioCell(p.Bytes, a.Messages), ratioCell(p.Bytes, a.Bytes), ratioCell(p.Messages, a.Messages),
		)
	}
	if rest := paths[len(shown):]; len(rest) > 0 {
		bytes := int64(0)
		for _, p := range rest {
			bytes += p.Bytes
		}
		sec.add(
			s, textCell(Plural(int64(len(rest)), "more path")), textCell(""), ratioCell(bytes, a.Messages), ratioCell(bytes, a.Bytes), cell{},
		)
	}
	if a.Messages < messages {
		sec.Notes = []string{fmt.Sprintf("From a sample of %s of %s.", Count(a.Messages), Plural(messages, "message"))}
	}
	return sec
}
