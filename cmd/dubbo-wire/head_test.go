package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// headOf returns the lines before the first empty one.
func headOf(text string) string {
	head, _, _ := strings.Cut(text, "\n\n")
	return strings.TrimSuffix(head, "\n") + "\n"
}

// headGroup is what this test reads of a group.
type headGroup struct {
	Protocol                          string
	Serialization, Service, Method    string
	Calls, OneWay, Errors, Unanswered int64
	StatusUnknown                     int64
	Request, Response                 direction
	ResponseOk                        *direction
}

func (g *headGroup) wire() float64 { return g.Request.WireBytes.Total + g.Response.WireBytes.Total }

func (g *headGroup) ok() *direction { return cmp.Or(g.ResponseOk, &g.Response) }

// headAgrees computes the numbers of the head from the JSON report.
func headAgrees(t *testing.T, p *printed) {
	var r struct {
		jsonReport
		Groups []headGroup
	}
	require.NoError(t, json.Unmarshal([]byte(p.must(t, "analyze", "--format", "json")), &r))
	texts := p.together(t, []string{"txt", "md"}, "analyze")
	require.LessOrEqual(t, strings.Count(headOf(texts[0]), "\n"), 8)

	// Markdown has the longest texts. The notes of Sizes are a line without a label.
	lines := make(map[string]string)
	for line := range strings.Lines(headMarkdown(texts[1])) {
		line = unescape(strings.TrimSuffix(line, "\n"))
		if label, text, ok := strings.Cut(strings.TrimPrefix(line, "- "), ": "); ok && strings.HasPrefix(line, "- ") {
			lines[strings.Trim(label, "*")] = text
		} else if strings.HasPrefix(line, "  (") {
			lines["same"] = strings.Trim(line, " ()")
		}
	}
	calls, oneWay, errors, unanswered, unknown, wire := int64(0), int64(0), int64(0), int64(0), int64(0), 0.0
	for i := range r.Groups {
		g := &r.Groups[i]
		calls, oneWay, errors, unanswered, wire = calls+g.Calls, oneWay+g.OneWay, errors+g.Errors, unanswered+g.Unanswered, wire+g.wire()
		unknown += g.StatusUnknown
	}
	require.Equal(t, r.Coverage.RequestsWithoutResponse, unanswered)
	want := fmt.Sprintf("%s on %s", counted(calls, "call"), counted(r.Coverage.Connections, "connection"))
	switch {
	case errors == 0 && unanswered+oneWay == calls && unanswered == 0:
		want += ", all one-way"
	case errors == 0 && unanswered+oneWay == calls:
		want += ", no responses captured"
	case unknown == 0:
		want += ", " + share(float64(errors), float64(calls)) + " errors"
	case errors > 0:
		want += ", at least " + share(float64(errors), float64(calls)) + " errors (unknown for " + counted(unknown, "response") + ")"
	case unknown+unanswered+oneWay == calls:
		want += ", errors unknown for " + counted(unknown, "response")
	default:
		want += ", no errors seen (unknown for " + counted(unknown, "response") + ")"
	}
	if unanswered > 0 && (errors > 0 || unanswered+oneWay < calls) {
		want += ", " + grouped(unanswered) + " unanswered"
	}
	if n := r.Coverage.ResponsesWithoutRequest; n > 0 {
		want += ", " + counted(n, "response") + " without request"
	}
	require.Equal(t, want, lines["Traffic"])

	coverage := strconv.FormatFloat(math.Floor(r.Coverage.Percent*100+1e-6)/100, 'f', -1, 64) + " %"
	if lines["Coverage"] == "" {
		require.Contains(t, lines["Capture"], "coverage "+coverage)
		require.Zero(t, r.Coverage.GapBytes+r.Coverage.SkippedBytes+r.Coverage.FramesIncomplete+r.Coverage.ConnectionsJoinedMidway)
	} else {
		require.Regexp(t, "^"+regexp.QuoteMeta(coverage)+"(: |, but )", lines["Coverage"])
	}

	methods, serializations := make(map[string]float64), make(map[string]*headGroup)
	var names []string
	protocols := make(map[string]bool)
	for i := range r.Groups {
		protocols[r.Groups[i].Protocol] = true
	}
	if len(protocols) > 1 {
		for i := range r.Groups {
			r.Groups[i].Serialization = r.Groups[i].Protocol + "/" + r.Groups[i].Serialization
		}
	}
	for i := range r.Groups {
		g := &r.Groups[i]
		name := g.Service + "/" + g.Method
		if name == "?/?" {
			name = "?"
		}
		methods[name] += g.wire()
		s := serializations[g.Serialization]
		if s == nil {
			s = &headGroup{ResponseOk: new(direction)}
			serializations[g.Serialization] = s
			names = append(names, g.Serialization)
		}
		s.add(g)
	}
	if heaviest, _, ok := strings.Cut(lines["Heaviest"], ", "); ok {
		for name, bytes := range methods {
			require.LessOrEqual(t, bytes, methods[heaviest], name)
		}
		require.Contains(t, lines["Heaviest"], share(methods[heaviest], wire)+" of ")
	} else {
		require.Zero(t, wire)
	}

	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(serializations[b].wire(), serializations[a].wire()) })
	items := strings.Split(lines["Sizes"], "; ")
	for i, item := range items {
		if i == 12 || lines["Sizes"] == "" {
			break
		}
		s := serializations[names[i]]
		request, response := mean(&s.Request), mean(s.ResponseOk)
		var sizes []string
		for _, part := range [][2]string{{request, " B request"}, {response, " B response"}} {
			if part[0] != "-" {
				sizes = append(sizes, part[0]+part[1])
			}
		}
		want := fmt.Sprintf("%s mean %s (%s of bytes)", names[i], strings.Join(sizes, ", "), share(s.wire(), wire))
		switch {
		case len(names) == 1:
			want = strings.TrimSuffix(want, " ("+share(s.wire(), wire)+" of bytes)")
		case i > 0:
			want = strings.ReplaceAll(fmt.Sprintf("%s %s B, %s B (%s)", names[i], request, response, share(s.wire(), wire)), "- B", "-")
		}
		require.Equal(t, want, item)
	}

	base := names[0]
	for _, item := range regexp.MustCompile(`(?:: |; )([^;:]+?) ([0-9.]+ x|-)(?: requests)?, ([0-9.]+ x|-)`).FindAllStringSubmatch(lines["same"], -1) {
		for i, direction := range []func(*headGroup) *direction{func(g *headGroup) *direction { return &g.Request }, (*headGroup).ok} {
			require.Equal(t, sameMethodRatio(r.Groups, base, item[1], direction), item[2+i], item[0])
		}
	}
}

func headMarkdown(text string) string {
	head, _, _ := strings.Cut(text, "\n## ")
	return head
}

func (g *headGroup) add(o *headGroup) {
	for _, d := range [][2]*direction{{&g.Request, &o.Request}, {&g.Response, &o.Response}, {g.ResponseOk, o.ok()}} {
		d[0].Count += d[1].Count
		d[0].BodyBytes.Total += d[1].BodyBytes.Total
		d[0].FrameBytes.Total += d[1].FrameBytes.Total
		d[0].WireBytes.Total += d[1].WireBytes.Total
	}
}

// sameMethodRatio weighs each method of both serializations by the messages of the first.
func sameMethodRatio(groups []headGroup, base, other string, of func(*headGroup) *direction) string {
	in := map[string]map[string]*headGroup{base: {}, other: {}}
	for i := range groups {
		g := &groups[i]
		if m := in[g.Serialization]; m != nil && g.Service != "?" {
			name := g.Service + "/" + g.Method
			if m[name] == nil {
				m[name] = &headGroup{ResponseOk: new(direction)}
			}
			m[name].add(g)
		}
	}
	was, is := 0.0, 0.0
	for name, a := range in[base] {
		b := in[other][name]
		if b == nil || of(a).Count == 0 || of(b).Count == 0 {
			continue
		}
		bytes := func(g *headGroup) float64 {
			if strings.Contains(base, "/") { // bodies of different protocols do not hold the same
				return of(g).FrameBytes.Total
			}
			return of(g).BodyBytes.Total
		}
		was += bytes(a)
		is += bytes(b) / float64(of(b).Count) * float64(of(a).Count)
	}
	if was == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f x", is/was)
}

func mean(d *direction) string {
	if d.Count == 0 {
		return "-"
	}
	m := d.BodyBytes.Total / float64(d.Count)
	if m < 9.95 && m != math.Trunc(m) {
		return strconv.FormatFloat(m, 'f', 1, 64)
	}
	return grouped(int64(math.Round(m)))
}

func share(n, of float64) string {
	f := 100 * n / of
	switch {
	case n == 0:
		return "0 %"
	case n == of:
		return "100 %"
	case f < 0.05:
		return "<0.1 %"
	case f >= 99.95:
		return ">99.9 %"
	}
	return strconv.FormatFloat(f, 'f', 1, 64) + " %"
}

func counted(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return grouped(n) + " " + noun + "s"
}

// grouped prints a number with thousands separators.
func grouped(n int64) string {
	text := strconv.FormatInt(n, 10)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
