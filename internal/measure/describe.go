package measure

import (
	"fmt"
	"io"
	"strings"
	"time"

	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/report"
	"dubbo-wire/internal/term"
)

// Describe prints what --verbose prints about a run: each input, the speed, the number of workers, and the limits that were
// reached. read is the number of bytes read from disk, or 0.
func Describe(w io.Writer, inputs []capture.Input, t *pipeline.Totals, read int64, jobs int, took time.Duration) {
	line := func(format string, args ...any) { fmt.Fprintf(w, "dubbo-wire: "+format+"\n", args...) }
	for i := range inputs {
		line("%s: %s", inputs[i].File, inputText(&inputs[i]))
	}
	seconds := took.Seconds()
	rate := func(n int64) string { return report.Volume(int64(float64(n)/max(seconds, 1e-6))) + "/s" }
	speed := fmt.Sprintf("read %s, %s on the wire, in %s", term.Counted(t.Packets, "packet"), report.Volume(t.LinkBytes), tookText(took))
	if read > 0 {
		speed += fmt.Sprintf(": %s from disk, %s", report.Volume(read), rate(read))
	}
	line("%s; %s; %s", speed, term.Counted(t.Frames, "frame"), term.Counted(int64(jobs), "worker"))
	for _, text := range limitsReached(t) {
		line("%s", text)
	}
}

// inputText describes one input in a line.
func inputText(in *capture.Input) string {
	if in.Err != nil {
		return "not read"
	}
	parts := []string{in.Format}
	if in.Compression != "" {
		parts[0] += " (" + in.Compression + ")"
	}
	links := make([]string, len(in.LinkTypes))
	for i, l := range in.LinkTypes {
		links[i] = l.String()
	}
	if len(links) > 0 {
		parts = append(parts, "link type "+strings.Join(links, ", "))
	}
	parts = append(parts, term.Counted(in.Packets, "packet")+" of "+report.Volume(in.Bytes))
	if in.Packets > 0 {
		parts = append(parts, fmt.Sprintf("from %s for %s", time.Unix(0, in.FirstTime).UTC().Format("2006-01-02T15:04:05.000Z"), tookText(time.Duration(in.LastTime-in.FirstTime))))
	}
	if in.SnapLen > 0 {
		parts = append(parts, "snap length "+report.Count(int64(in.SnapLen)))
	}
	if in.TruncatedPackets > 0 {
		parts = append(parts, term.Counted(in.TruncatedPackets, "packet")+" truncated")
	}
	if in.Dropped >= 0 {
		parts = append(parts, term.Counted(in.Dropped, "packet")+" dropped during recording")
	}
	if in.Filter != "" {
		parts = append(parts, fmt.Sprintf("recorded with the filter %q", in.Filter))
	}
	if n := int64(len(in.Damage)) + in.DamageLeftOut; n > 0 {
		parts = append(parts, "damaged at "+term.Counted(n, "place"))
	} else {
		parts = append(parts, "no damage")
	}
	return strings.Join(parts, "; ")
}

// limitsReached describes the limits that a run reached, one per line.
func limitsReached(t *pipeline.Totals) []string {
	var out []string
	for _, l := range []struct {
		n          int64
		flag, what string
	}{
		{t.TCP.Expired - t.TCP.Idle, "--max-connections", "connections were dropped while in use"},
		{t.TCP.Forgotten, "--max-connections", "connections without payload were dropped"},
		{t.TCP.Idle, "--idle-timeout", "connections were dropped as idle"},
		{t.Expired, "--max-open-calls", "requests were counted as unanswered"},
		{t.ExpiredByTime, "--call-timeout", "requests were counted as unanswered"},
	} {
		if l.n > 0 {
			out = append(out, fmt.Sprintf("limit %s reached: %s %s", l.flag, report.Count(l.n), l.what))
		}
	}
	if out == nil {
		out = []string{"no limit was reached"}
	}
	return out
}

// tookText formats a duration with three digits.
func tookText(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return fmt.Sprintf("%d µs", d.Microseconds())
	case d < time.Second:
		return fmt.Sprintf("%.3g ms", float64(d)/1e6)
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}
