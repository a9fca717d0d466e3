package screen

import (
	"fmt"
	"strings"

	"dubbo-wire/internal/live"
)

// emptyTable explains what a table without rows waits for, and what the user can check.
func (m *model) emptyTable(s *live.Snapshot, n int) []line {
	var texts []string
	where := clean(m.options.Title)
	var filterHint []string
	if filter := clean(m.options.Filter); filter != "" {
		filterHint = []string{`Only packets that match the filter "` + filter + `" are captured. Is it right?`}
	}
	switch {
	case s == nil:
		texts = append(texts, "Starting.")
	case m.settings.Filter != "" && (len(m.rows.all) > 0 || s.Groups > 0):
		texts = append(texts, fmt.Sprintf("Nothing here matches the filter %q (%s without it). Esc clears it.",
			clean(m.settings.Filter), plural(int64(max(s.Groups, len(m.rows.all))), "row")))
	case s.Packets == 0:
		texts = append(texts, "No packets yet"+onInterface(where)+".")
		texts = append(texts, broken(s)...)
		texts = append(texts, filterHint...)
		texts = append(texts, "Is this the right interface? `dubbo-wire interfaces` lists all; `any` captures on all.")
	case s.Calls == 0 && s.Heartbeats == 0 && s.OpenCalls == 0:
		texts = append(texts, fmt.Sprintf("No Dubbo traffic yet%s in %s.", onInterface(where), plural(s.Packets, "packet")))
		switch connections := plural(int64(s.Connections), "TCP connection"); {
		case s.Connections > 0 && len(s.OtherPorts) > 0:
			texts = append(texts, connections+" with data, on "+ports(s.OtherPorts)+".")
		case s.Connections > 0:
			texts = append(texts, connections+" with data of other protocols.")
		default:
			texts = append(texts, "No TCP connection with data is open now.")
		}
		texts = append(texts, filterHint...)
		texts = append(texts, "Connections that were open before the capture are read from their next message on.")
	case s.Calls == 0:
		texts = append(texts, fmt.Sprintf("Dubbo connections are alive (%s, %s), but no call has ended yet.",
			plural(s.Heartbeats, "heartbeat"), plural(int64(s.OpenCalls), "open call")))
	case s.Of != (live.Selection{}):
		texts = append(texts, fmt.Sprintf("No calls of %s in the last %s. Esc goes back.", clean(s.Of.String()), seconds(s.RowsWindow)))
	default:
		texts = append(texts, fmt.Sprintf("No calls in the last %s; %s since the start.", seconds(s.Window), plural(s.Calls, "call")))
	}
	var lines []line
	if n > 6 {
		lines = append(lines, nil)
	}
	for i, t := range texts {
		style := plain
		if i == 0 {
			style = strong
		}
		lines = append(lines, m.indented(t, style, n)...)
	}
	return lines[:min(len(lines), n)]
}

// indented breaks a text into at most most lines, two columns from the left.
func (m *model) indented(s string, l style, most int) []line {
	lines := wrapped(s, l, max(m.width-2, 1), 2, most)
	for i := range lines {
		lines[i] = append(text("  "), lines[i]...)
	}
	return lines
}

func onInterface(where string) string {
	if where == "" {
		return ""
	}
	return " on " + where
}

func ports(list []int) string {
	words := strings.ReplaceAll(strings.Trim(fmt.Sprint(list), "[]"), " ", ", ")
	noun := "ports "
	if len(list) == 1 {
		noun = "port "
	}
	return noun + words
}
