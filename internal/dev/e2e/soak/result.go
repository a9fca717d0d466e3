package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"dubbo-wire/internal/dev/bench"
	"dubbo-wire/internal/dev/e2e"
)

// growth is the most that memory at the end may be of that after two minutes.
const growth = 1.1

// result is what a soak has shown.
type result struct {
	Date    string   `json:"date"`
	Machine string   `json:"machine"`
	Kernel  string   `json:"kernel"`
	Seconds float64  `json:"seconds"`
	Args    []string `json:"captureFlags"`
	Threads int      `json:"threads"`

	Gigabytes        float64 `json:"gigabytes"` // 10^9 bytes on the interface, both ways
	Packets          int64   `json:"packets"`
	PacketsPerSecond float64 `json:"packetsPerSecond"`
	MbitPerSecond    float64 `json:"mbitPerSecond"`
	Calls            int64   `json:"calls"`
	Connections      int64   `json:"connections"`
	Unanswered       int64   `json:"unanswered"`
	Coverage         float64 `json:"coveragePercent"`
	Dropped          int64   `json:"droppedPackets"`

	BaseSeconds [2]float64 `json:"baseSeconds"` // when the base was measured
	BaseKiB     float64    `json:"baseKiB"`
	EndSeconds  [2]float64 `json:"endSeconds"`
	EndKiB      float64    `json:"endKiB"`
	BaseAnonKiB float64    `json:"baseAnonKiB"` // the process's own, without the ring
	EndAnonKiB  float64    `json:"endAnonKiB"`
	PeakKiB     int64      `json:"peakKiB"`
	Growth      float64    `json:"growth"`

	CPUPerGB float64 `json:"cpuSecondsPerGB"`
	// Both captured these at the same time.
	BothSeconds  float64 `json:"bothSeconds"`
	BothGB       float64 `json:"bothGigabytes"`
	WirePerGB    float64 `json:"bothCPUSecondsPerGB"`
	TcpdumpPerGB float64 `json:"bothTcpdumpCPUSecondsPerGB"`
	TcpdumpSays  string  `json:"tcpdumpSays"`

	Failed  []string `json:"failed"`
	Samples []sample `json:"samples"`
}

// machine notes where it was.
func (r *result) machine() {
	r.Date = time.Now().UTC().Format(time.DateOnly)
	r.Machine = fmt.Sprintf("%s, %d processors", bench.CPUModel(), runtime.NumCPU())
	b, _ := os.ReadFile("/proc/sys/kernel/osrelease")
	r.Kernel = strings.TrimSpace(string(b))
}

// sum makes figures of the samples and says what failed. both are samples at the begin and the end of tcpdump's time.
func (r *result) sum(first, last sample, both [2]sample, report *e2e.Report, code int) {
	fail := func(format string, a ...any) { r.Failed = append(r.Failed, fmt.Sprintf(format, a...)) }
	r.Gigabytes, r.Packets = float64(last.Bytes-first.Bytes)/1e9, last.Packets-first.Packets
	d := last.Seconds - first.Seconds
	r.PacketsPerSecond, r.MbitPerSecond = float64(r.Packets)/d, r.Gigabytes*8e3/d
	r.CPUPerGB = (last.CPU - first.CPU) / r.Gigabytes
	r.BothSeconds, r.BothGB = both[1].Seconds-both[0].Seconds, float64(both[1].Bytes-both[0].Bytes)/1e9
	r.WirePerGB = (both[1].CPU - both[0].CPU) / r.BothGB
	r.TcpdumpPerGB = (both[1].Tcpdump - both[0].Tcpdump) / r.BothGB

	for _, g := range report.Groups {
		r.Calls += g.Calls
	}
	r.Connections, r.Unanswered, r.Coverage = report.Coverage.Connections, report.Coverage.RequestsWithoutResponse, report.Coverage.Percent
	for _, in := range report.Inputs {
		if in.Dropped == nil {
			fail("the report does not say how many packets the kernel dropped")
		} else {
			r.Dropped += *in.Dropped
		}
	}
	if code != 0 {
		fail("dubbo-wire ended with %d", code)
	}
	if r.Dropped > 0 {
		fail("%d packets were dropped", r.Dropped)
	}

	// Memory after two minutes against memory at the end; both a mean, because a collector makes it go up and down. Trials
	// that are shorter begin after a third of their time.
	length := time.Duration(r.Seconds * float64(time.Second))
	base, window := 2*time.Minute, time.Minute
	if length < 6*time.Minute {
		base, window = length/3, length/6
	}
	var begun, ended bool
	r.BaseKiB, r.BaseAnonKiB, begun = mean(r.Samples, base, base+window)
	r.EndKiB, r.EndAnonKiB, ended = mean(r.Samples, length-window, length+time.Minute)
	r.BaseSeconds, r.EndSeconds = [2]float64{base.Seconds(), (base + window).Seconds()}, [2]float64{(length - window).Seconds(), length.Seconds()}
	r.PeakKiB = last.PeakKiB
	if !begun || !ended {
		fail("too few looks to compare memory")
		return
	}
	if r.Growth = r.EndKiB / r.BaseKiB; r.Growth > growth {
		fail("memory at the end is %.2f times that after %v", r.Growth, base)
	}
}

// markdown is the result as it may stand in a document.
func (r *result) markdown() string {
	var b strings.Builder
	row := func(what, format string, a ...any) { fmt.Fprintf(&b, "| %s | %s |\n", what, fmt.Sprintf(format, a...)) }
	fmt.Fprintf(&b, "%s, Linux %s, %s; %v of load by %d threads, `dubbo-wire capture` %s\n\n", r.Machine, r.Kernel, r.Date,
		time.Duration(r.Seconds)*time.Second, r.Threads, strings.Join(r.Args, " "))
	b.WriteString("| | |\n| --- | --- |\n")
	row("captured", "%.2f GB, %d packets: %.0f packets and %.1f Mbit a second", r.Gigabytes, r.Packets, r.PacketsPerSecond, r.MbitPerSecond)
	row("found", "%d calls, %d of them unanswered, %d connections; coverage %.4f %%", r.Calls, r.Unanswered, r.Connections, r.Coverage)
	row("packets dropped", "%d", r.Dropped)
	row(fmt.Sprintf("memory, second %.0f to %.0f", r.BaseSeconds[0], r.BaseSeconds[1]), "%.1f MiB, %.1f of them its own, without the ring", r.BaseKiB/1024, r.BaseAnonKiB/1024)
	row(fmt.Sprintf("memory, second %.0f to %.0f", r.EndSeconds[0], r.EndSeconds[1]), "%.1f MiB, %.1f of them its own: %.2f times that in all (at most %.1f)", r.EndKiB/1024, r.EndAnonKiB/1024, r.Growth, growth)
	row("highest memory", "%.1f MiB", float64(r.PeakKiB)/1024)
	row("CPU of dubbo-wire", "%.2f s a GB", r.CPUPerGB)
	row("beside tcpdump", "%.0f s, %.2f GB: dubbo-wire %.2f s a GB, `tcpdump -w /dev/null` %.2f s a GB (%s)", r.BothSeconds, r.BothGB, r.WirePerGB, r.TcpdumpPerGB, r.TcpdumpSays)
	result := "passed"
	if len(r.Failed) > 0 {
		result = "failed: " + strings.Join(r.Failed, "; ")
	}
	row("result", "%s", result)
	return b.String()
}

// write leaves FILE.json and FILE.md.
func (r *result) write(file string) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	j, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(file+".json", append(j, '\n'), 0o644); err != nil {
		return err
	}
	return os.WriteFile(file+".md", []byte(r.markdown()), 0o644)
}
