package live

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/report"
)

// payloadLimit is Dubbo's default limit of a body in bytes. It refuses larger ones with "Data length too large".
const payloadLimit = 8 << 20

// remarks returns what a user should know first and the screen does not show elsewhere.
func remarks(s *Snapshot, progress *pipeline.Progress) []string {
	var all []string
	add := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	var largest, failing *Row
	most := func(r *Row) float64 { return max(r.Number("request max"), r.Number("response max")) }
	failed := func(r *Row) float64 { return r.Number("errors") * float64(r.Calls) }
	for i := range s.Rows {
		r := &s.Rows[i]
		if m := most(r); m > payloadLimit/2 && (largest == nil || m > most(largest)) {
			largest = r
		}
		if r.Number("errors") >= 10 && r.Calls >= 10 && (failing == nil || failed(r) > failed(failing)) {
			failing = r
		}
	}
	if largest != nil {
		what := "response"
		if largest.Number("request max") > largest.Number("response max") {
			what = "request"
		}
		n := most(largest)
		add("%s: largest %s %s bytes = %.0f %% of Dubbo's payload limit", shortName(largest.Name), what, report.Count(int64(n)), 100*n/payloadLimit)
	}
	if failing != nil {
		add("%s: %.0f %% of the calls fail", shortName(failing.Name), failing.Number("errors"))
	}
	if s.Coverage < 99 && progress.Frames > 0 {
		add("%s bytes are missing from Dubbo's streams, %s belong to no frame", report.Count(s.Gap), report.Count(s.Skipped))
	}
	return all
}

// busiestPorts returns the ports of connections without messages, by bytes.
func busiestPorts(progress *pipeline.Progress) []int {
	list := slices.SortedFunc(maps.Keys(progress.OtherTCP), func(a, b uint16) int {
		return cmp.Or(cmp.Compare(progress.OtherTCP[b], progress.OtherTCP[a]), cmp.Compare(a, b))
	})
	var ports []int
	for _, p := range list[:min(len(list), 5)] {
		ports = append(ports, int(p))
	}
	return ports
}

// shortName removes the package of a service; the screen shows the full name elsewhere.
func shortName(name string) string {
	service, method, ok := strings.Cut(name, "/")
	if !ok {
		return name
	}
	return service[strings.LastIndexByte(service, '.')+1:] + "/" + method
}
