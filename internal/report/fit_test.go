package report

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"dubbo-wire/internal/term"
)

// A narrow table drops columns by rank before it cuts names; names are cut at the left, numbers never.
func TestColumnsAreDroppedBeforeNamesAreCut(t *testing.T) {
	sec := Section{Title: "T", Columns: []Column{
		{Name: "service/method", Names: true},
		{Name: "calls", unit: count},
		{Group: "request", Name: "mean", unit: size, drop: 1},
		{Group: "request", Name: "p99", unit: size, drop: 3},
		{Name: "latency", unit: elapsed, drop: 2},
	}}
	sec.add(&Style{}, textCell("com.acme.user.UserService/findByName"), numberCell(1_000_000), numberCell(100), numberCell(2_000), numberCell(5_000_000))
	sec.add(&Style{}, textCell("com.acme.item.ItemService/get"), numberCell(1), numberCell(100), numberCell(2_000), numberCell(5_000_000))
	for width, want := range map[int][2]string{
		80: {"mean    p99", "com.acme.user.UserService/findByName  1,000,000   100  2,000  5.00 ms"},
		64: {"mean    p99", "c.a.u.UserService/findByName  1,000,000   100  2,000  5.00 ms"},
		56: {"mean   p99", "UserService/findByName 1,000,000  100 2,000 5.00 ms"},
		50: {"mean latency", "UserService/findByName 1,000,000     100 5.00 ms"},
		44: {"calls    mean", "UserService/findByName 1,000,000     100"},
		36: {"calls", "UserService/findByName 1,000,000"},
		30: {"calls", "…ervice/findByName 1,000,000"},
	} {
		var b strings.Builder
		assert.NoError(t, (&Document{Sections: []Section{sec}}).writeText(&b, &Style{Width: width}))
		text := b.String()
		for _, part := range want {
			assert.Contains(t, text, part, "%d\n%s", width, text)
		}
		for line := range strings.Lines(text) {
			assert.LessOrEqual(t, term.Width(strings.TrimSuffix(line, "\n")), width, text)
		}
	}
}

// A group of columns that is too wide by itself is split.
func TestWideGroupIsSplit(t *testing.T) {
	sec := Section{Title: "T", Columns: []Column{{Name: "name", Flex: true}}}
	for _, name := range []string{"values", "attachments", "envelope", "overhead"} {
		sec.Columns = append(sec.Columns, Column{Group: "% of body bytes", Name: name, unit: percent})
	}
	sec.add(&Style{}, textCell("dubbo/hessian2"), ratioCell(1, 4), ratioCell(1, 4), ratioCell(1, 4), ratioCell(1, 4))
	var b strings.Builder
	assert.NoError(t, (&Document{Sections: []Section{sec}}).writeText(&b, &Style{Width: 34}))
	for line := range strings.Lines(b.String()) {
		assert.LessOrEqual(t, term.Width(strings.TrimSuffix(line, "\n")), 34, b.String())
	}
	for _, name := range []string{"values", "attachments", "envelope", "overhead"} {
		assert.Equal(t, 1, strings.Count(b.String(), name), b.String())
	}
}

// The head has at most eight lines of the given width, and prefers whole answers to longer ones.
func TestHeadIsLaidOut(t *testing.T) {
	head := []HeadLine{
		{Label: "Capture", Texts: []string{"trace.pcap, 2026-11-21T03:04:11Z + 62.4 s, coverage 100 %"}},
		{Label: "Traffic", Texts: []string{"1,204,332 calls on 2,104 connections, 0.3 % errors, 402 unanswered, 3 responses without request"}, Brief: "1,204,332 calls"},
		{Label: "Heaviest", Texts: []string{"com.acme.OrderQuery/listByBuyer, 58.2 % of bytes, mostly a > b", "OrderQuery/listByBuyer, 58.2 %"}},
		{Label: "Sizes", Texts: []string{"hessian2 mean 696 B request, 6,105 B response (95.9 %); kryo 268 B, 1,904 B (3.9 %)", "hessian2 mean 696 B request, 6,105 B response (95.9 %); 1 more"}, two: true},
		{Texts: []string{"same 41 methods, against hessian2: kryo 0.52 x requests, 0.58 x responses"}},
		{Label: "Worst", Texts: []string{strings.Repeat("word ", 60)}},
		{Command: "dubbo-wire explain " + strings.Repeat("long-name/", 12) + " --frame 1"},
	}
	for width, want := range map[int]string{
		200: "Heaviest  com.acme.OrderQuery/listByBuyer, 58.2 % of bytes, mostly a > b",
		60:  "Heaviest  OrderQuery/listByBuyer, 58.2 %",
	} {
		lines := layOutHead(head, &Style{Width: width})
		assert.LessOrEqual(t, len(lines), 8)
		assert.Contains(t, lines, want)
		for _, line := range lines[:len(lines)-1] {
			assert.LessOrEqual(t, term.Width(line), width)
		}
		assert.Equal(t, head[6].Command, strings.TrimSpace(lines[len(lines)-1]))
	}
	assert.Empty(t, layOutHead(nil, &Style{}))
}
