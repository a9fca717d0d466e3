package live

import (
	"fmt"

	"dubbo-wire/internal/pipeline"
)

// payloadLimit is Dubbo's default limit of a body in bytes: what is larger is refused with "Data length too large".
const payloadLimit = 8 << 20

// findings are what somebody who looks at the screen should know first.
func findings(s *Snapshot, look *pipeline.Look) []string {
	var all []string
	add := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	for _, i := range s.Interfaces {
		switch {
		case i.Gone:
			add("%s is gone; packets come again when it is back", i.Name)
		case !i.Up:
			add("%s is down; packets come again when it is up", i.Name)
		}
	}
	if s.RecentDrops > 0 {
		add("the kernel dropped %d packets in the last seconds: give a filter (port 20880), a larger --buffer, or fewer bytes (-s)", s.RecentDrops)
	}
	if s.RecordError != "" {
		add("recording stopped: %s", s.RecordError)
	}
	var largest, failing *Row
	for i := range s.Rows {
		r := &s.Rows[i]
		if m := max(r.Request.Max, r.Response.Max); m > payloadLimit/2 && (largest == nil || m > max(largest.Request.Max, largest.Response.Max)) {
			largest = r
		}
		if r.ErrorPercent >= 10 && r.Calls >= 10 && (failing == nil || r.ErrorPercent*float64(r.Calls) > failing.ErrorPercent*float64(failing.Calls)) {
			failing = r
		}
	}
	if largest != nil {
		what, n := "response", largest.Response.Max
		if largest.Request.Max > n {
			what, n = "request", largest.Request.Max
		}
		add("%s: largest %s %d bytes = %.0f %% of Dubbo's payload limit", largest.Name, what, n, 100*float64(n)/payloadLimit)
	}
	if failing != nil {
		add("%s: %.0f %% of its calls fail", failing.Name, failing.ErrorPercent)
	}
	if s.Coverage < 99 && look.Frames > 0 {
		add("%.1f %% of Dubbo's bytes are in whole frames: %d bytes are missing, %d belong to no frame", s.Coverage, s.Gap, s.Skipped)
	}
	if look.Frames == 0 && look.Packets > 0 {
		if look.TCP.Connections == 0 {
			add("no TCP seen yet, %d packets of other kinds", look.Packets)
		} else {
			add("no Dubbo frame seen yet on %d TCP connections", look.TCP.Connections)
		}
	}
	return all
}
