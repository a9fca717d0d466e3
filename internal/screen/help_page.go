package screen

import (
	"fmt"
	"strings"
)

// helpKeys describes the keys, helpWords the numbers.
var helpKeys = [][2]string{
	{"↑ ↓ j k", "move the cursor; PgUp, PgDn by a screen; Home goes to the first row and stays there, End to the last"},
	{"1 to 9", "sort by the column with that number, once more: the other way round; 0 sorts by name"},
	{"< > ← →", "sort by the column at the left or right, also by those without a number; r turns the order round"},
	{"g G", "group by the next, the one before: method, service, serialization, client, server, pair"},
	{"/", "filter: only rows with this text in their names (* and ? for any text, any letter); Esc clears it"},
	{"enter", "open a method: what its bytes are for, how sizes and latencies spread, its largest call explained; of a service: its methods"},
	{"Tab e", "in a method: the next section, the largest call; q, Esc or Backspace goes back"},
	{"space", "pause: the picture stands still, the capture goes on, and drops, ring and coverage are of now; rows can be sorted and filtered"},
	{"w", "record packets to a file, and stop that"},
	{"Ctrl-L", "draw everything again"},
	{"q Ctrl-C", "end the capture; the report of all that was seen follows"},
}

var helpWords = [][2]string{
	{"in, out", "what the interface receives and sends on the wire, against the speed of its link; the curves are the last seconds, both on one scale"},
	{"dubbo, other", "the messages' part of it with all headers, and the rest. With a filter in the kernel the rest is never seen: it comes from the interface's counters then, and is marked with *"},
	{"drops", "packets that the kernel threw away because the ring was full. From the first one on sizes are still right, sums are too low"},
	{"ring", "how much of the ring waits to be read; 100 % is followed by drops. Against both: a filter in the kernel (port 20880), a larger ring (--buffer), fewer bytes of each packet (-s)"},
	{"coverage", "the share of Dubbo's bytes that came in whole frames, since the start: the rest is missing in the capture, or was never understood"},
	{"Mbit/s, share%", "the row's messages on the wire both ways with all headers, and their share of all rows"},
	{"call/s", "calls per second; rows and rates are of the last seconds (the line above the table tells how many)"},
	{"request, response", "bytes of a body, without Dubbo's header of 16: mean, median, 99th percentile, largest. Means and largest are exact, the others within 1 %"},
	{"latency", "from the request's first byte to the response's last, where the capture stands"},
	{"err%", "calls answered with an error or an exception, of all calls"},
	{"k M G", "thousands, millions, thousands of millions, where a number is too wide for its column"},
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
	title("KEYS")
	for _, k := range helpKeys {
		entry(k[0], k[1])
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
