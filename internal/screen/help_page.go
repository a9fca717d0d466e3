package screen

import (
	"fmt"
	"strings"
)

// kindNames are the kinds of pages in the heading of their keys.
var kindNames = map[pageKind]string{
	topTable: "in the table", innerTable: "in the table of a row", errorList: "in the list of failed calls", methodPage: "on the page of a method",
}

// helpWords describes the numbers.
var helpWords = [][2]string{
	{"in, out", "what the interface receives and sends, and how much of the link's speed that is; the curves show the last seconds, both on one scale"},
	{"dubbo, other", "the messages with all headers, and the rest; with a filter in the kernel the rest comes from the interface's counters and is marked with *"},
	{"drops", "packets that the kernel dropped because the ring was full; sizes stay right, sums are too low"},
	{"ring", "how much of the ring waits to be read; 100 % is followed by drops; a kernel filter (port 20880), a larger --buffer or -s with fewer bytes per packet help"},
	{"coverage", "the share of Dubbo's bytes in complete frames since the start; the rest is missing in the capture or was not understood"},
	{"Mbit/s, share%", "the row's messages on the wire in both directions with all headers, and their share of all rows"},
	{"call/s", "calls per second; rows and rates cover the last seconds (the line above the table says how many)"},
	{"request, response", "bytes of a body without Dubbo's header of 16 bytes; responses of successful calls in the serialization of the request; mean and max are exact, p50 (the median) and p99 within 1 %"},
	{"latency", "from the first byte of the request to the last byte of the response, at the place of the capture"},
	{"err%", "calls that failed, of all calls: a status other than OK, an exception, a reset"},
	{"-", "nothing to count: no response was captured"},
	{"k M G", "thousands, millions, billions, for a number that is too wide for its column"},
}

// help returns the text of the help page: keys, numbers, findings, and earlier messages.
func (m *model) help() []line {
	var lines []line
	title := func(s string) {
		if len(lines) > 0 {
			lines = append(lines, nil)
		}
		lines = append(lines, styled(s, strong))
	}
	const indent = 20
	entry := func(name, what string) {
		texts := wrapped(what, plain, min(max(m.width-indent, 10), 100), 0, 99)
		for i, t := range texts {
			head := ""
			if i == 0 {
				head = "  " + name
			}
			lines = append(lines, append(line{{left(head, indent), strong}}, t...))
		}
	}
	title("KEYS " + kindNames[m.kind()])
	for _, b := range bindings {
		if b.on&m.kind() != 0 {
			entry(b.keys, b.what)
		}
	}
	title("NUMBERS")
	for _, w := range helpWords {
		entry(w[0], w[1])
	}
	if s := m.snap; s != nil && len(s.Findings) > 0 {
		title("FINDINGS")
		for _, f := range s.Findings {
			lines = append(lines, m.indented(clean(f), plain, 9)...)
		}
	}
	title("MESSAGES")
	for i := len(m.notices) - 1; i >= 0; i-- {
		n := m.notices[i]
		ago := "  now"
		if d := m.now.Sub(n.at); d >= 1e9 {
			ago = fmt.Sprintf("  %s ago", seconds(d))
		}
		entry(strings.TrimSpace(ago), n.text)
	}
	if len(m.notices) == 0 {
		lines = append(lines, styled("  none", faint))
	}
	return lines
}

func (m *model) helpLines() []line {
	l := m.layout()
	help := m.help()
	all := append([]line{m.status()}, visible(help, m.helpScroll, l.body)...)
	keys := m.keysLine()
	if below := len(help) - m.helpScroll - l.body; below > 0 {
		keys = spread(keys, styled("↓ "+plural(int64(below), "line"), faint), m.width)
	}
	return append(all, keys)
}
