package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// ticks per second in /proc/PID/stat: USER_HZ, which is 100 on all of Linux's architectures but Alpha.
const ticks = 100

// used reads the memory and the CPU time of a process from /proc.
func used(pid int) (u sample, err error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return u, err
	}
	memory := map[string]*int64{"VmRSS:": &u.RSSKiB, "RssAnon:": &u.AnonKiB, "VmHWM:": &u.PeakKiB}
	for line := range strings.Lines(string(status)) {
		f := strings.Fields(line)
		if len(f) < 2 {
			continue
		}
		if to := memory[f[0]]; to != nil {
			if *to, err = strconv.ParseInt(f[1], 10, 64); err != nil {
				return u, err
			}
		}
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return u, err
	}
	// The name, in parentheses, may have blanks; after it is field 3.
	f := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	if len(f) < 13 {
		return u, fmt.Errorf("/proc/%d/stat has %d fields", pid, len(f)+2)
	}
	for _, field := range f[11:13] { // utime, stime
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return u, err
		}
		u.CPU += float64(n) / ticks
	}
	return u, nil
}

// sample is one look at everything.
type sample struct {
	Seconds float64 `json:"seconds"` // since the capture began
	RSSKiB  int64   `json:"rssKiB"`
	AnonKiB int64   `json:"anonKiB"`    // of its own memory: all but files and the ring that it shares with the kernel
	PeakKiB int64   `json:"peakKiB"`    // the highest so far
	CPU     float64 `json:"cpuSeconds"` // user and system, so far
	Packets int64   `json:"packets"`    // on the interface, both ways
	Bytes   int64   `json:"bytes"`
	Tcpdump float64 `json:"tcpdumpCPUSeconds,omitempty"`
}

// mean is the mean memory of the samples between two times, in KiB: all of it, and the process's own.
func mean(all []sample, from, to time.Duration) (rss, anon float64, ok bool) {
	n := 0.0
	for _, s := range all {
		if s.Seconds >= from.Seconds() && s.Seconds <= to.Seconds() {
			rss += float64(s.RSSKiB)
			anon += float64(s.AnonKiB)
			n++
		}
	}
	return rss / max(n, 1), anon / max(n, 1), n > 0
}
