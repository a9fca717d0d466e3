package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/exit"
	"dubbo-wire/internal/measure"
	"dubbo-wire/internal/sizes"
)

// filterFlags are the filters that every command has. A filter selects calls: both frames of a call stay or go
// together.
type filterFlags struct {
	service, method, serialization, protocol []string
	client, server, host                     []string
	port, status                             []int
	id                                       []string
	errorGlob, attachment                    []string
	minSize, maxSize, minRequest, minResp    string
	minLatency                               time.Duration
	since, until                             string
}

func (f *filterFlags) add(cmd *cobra.Command) {
	addFlags(cmd.Flags(), filterGroup, func(fs *pflag.FlagSet) {
		fs.StringSliceVar(&f.service, "service", nil, "only calls of services that match `GLOB`")
		fs.StringSliceVar(&f.method, "method", nil, "only calls of methods that match `GLOB`")
		fs.StringSliceVar(&f.serialization, "serialization", nil, "only requests in serializations that match `GLOB`")
		fs.StringSliceVar(&f.protocol, "protocol", nil, "only calls of protocols that match `GLOB`")
		fs.StringSliceVar(&f.client, "client", nil, "only calls asked from `ADDRESS` or address:port (glob)")
		fs.StringSliceVar(&f.server, "server", nil, "only calls answered at `ADDRESS` or address:port (glob)")
		fs.StringSliceVar(&f.host, "host", nil, "only calls with `ADDRESS` at either end (glob)")
		fs.IntSliceVar(&f.port, "port", nil, "only calls with `PORT` at either end")
		fs.StringSliceVar(&f.id, "id", nil, "only calls with request `ID`")
		fs.IntSliceVar(&f.status, "status", nil, "only calls answered with `STATUS` (20 is OK)")
		fs.StringArrayVar(&f.errorGlob, "error", nil, "only failed calls whose error text or exception class matches `GLOB`")
		fs.StringArrayVar(&f.attachment, "attachment", nil, "only calls with an attachment `KEY=GLOB`")
		fs.StringVar(&f.minSize, "min-size", "", "only calls with a body of at least `SIZE` (2KB, 1MiB)")
		fs.StringVar(&f.maxSize, "max-size", "", "only calls with a body of at most `SIZE`")
		fs.StringVar(&f.minRequest, "min-request", "", "only calls with a request body of at least `SIZE`")
		fs.StringVar(&f.minResp, "min-response", "", "only calls with a response body of at least `SIZE`")
		fs.DurationVar(&f.minLatency, "min-latency", 0, "only calls that took at least `DURATION`")
		fs.StringVar(&f.since, "since", "", "only calls asked at `TIME` or later (RFC 3339, or +30s from the first packet)")
		fs.StringVar(&f.until, "until", "", "only calls asked at `TIME` or earlier")
	})
}

// parse makes the filter.
func (f *filterFlags) parse() (*measure.Filter, error) {
	c := call.Filter{
		Service: globs(f.service), Method: globs(f.method), Serialization: globs(f.serialization),
		Protocol: globs(f.protocol), Client: globs(f.client), Server: globs(f.server), Host: globs(f.host),
		Ports: f.port, Status: f.status, Error: globs(f.errorGlob), MinLatency: f.minLatency,
	}
	for _, p := range f.port {
		if p < 0 || p > 65535 {
			return nil, exit.Usagef("--port %d: ports are numbers up to 65535", p)
		}
	}
	for _, s := range f.status {
		if s < 0 || s > 255 {
			return nil, exit.Usagef("--status %d: a status is one byte, 0 to 255; 20 is OK", s)
		}
	}
	if f.minLatency < 0 {
		return nil, exit.Usagef("--min-latency %v: write a duration from 0 up", f.minLatency)
	}
	for _, s := range f.id {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			return nil, exit.Usagef("--id %s: a request id is a whole number of 64 bits", s)
		}
		c.IDs = append(c.IDs, n)
	}
	for _, s := range f.attachment {
		k, g, ok := strings.Cut(s, "=")
		if !ok || k == "" {
			return nil, exit.Usagef("--attachment %s: write KEY=GLOB, like traceid=*", s)
		}
		if c.Attachment == nil {
			c.Attachment = make(map[string]call.Glob)
		}
		c.Attachment[k] = call.ParseGlob(g)
	}
	var maxSize int64
	for _, b := range []struct {
		flag, text string
		to         *int64
	}{
		{"--min-size", f.minSize, &c.MinSize},
		{"--max-size", f.maxSize, &maxSize},
		{"--min-request", f.minRequest, &c.MinRequest},
		{"--min-response", f.minResp, &c.MinResponse},
	} {
		if b.text == "" {
			continue
		}
		n, err := parseSize(b.text)
		if err != nil {
			return nil, exit.Usagef("%s %s: %v", b.flag, b.text, err)
		}
		*b.to = n
	}
	if f.maxSize != "" {
		c.MaxSize = &maxSize // 0 is a bound: empty bodies
	}
	fl := &measure.Filter{Filter: c, Text: f.text(), OfCalls: f.ofCalls(), Groups: f.byKey()}
	var err error
	if fl.Since, err = parseTime("--since", f.since); err != nil {
		return nil, err
	}
	if fl.Until, err = parseTime("--until", f.until); err != nil {
		return nil, err
	}
	return fl, nil
}

func globs(list []string) []call.Glob {
	var out []call.Glob
	for _, s := range list {
		out = append(out, call.ParseGlob(s))
	}
	return out
}

func parseTime(flag, s string) (measure.Bound, error) {
	if s == "" {
		return measure.Bound{}, nil
	}
	if rel, ok := strings.CutPrefix(s, "+"); ok {
		d, err := time.ParseDuration(rel)
		if err != nil {
			return measure.Bound{}, exit.Usagef("%s %s: write +30s or +1m30s, counted from the first packet", flag, s)
		}
		return measure.Bound{At: int64(d), Relative: true, Given: true}, nil
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return measure.Bound{}, exit.Usagef("%s %s: write RFC 3339 (2026-11-21T03:04:11Z) or +30s", flag, s)
	}
	return measure.Bound{At: t.UnixNano(), Given: true}, nil
}

// sizeUnits are what sizes may be written in: decimal, and binary with an i.
var sizeUnits = []struct {
	suffix string
	bytes  float64
}{
	{"KiB", 1 << 10},
	{"MiB", 1 << 20},
	{"GiB", 1 << 30},
	{"KB", 1e3},
	{"kB", 1e3},
	{"MB", 1e6},
	{"GB", 1e9},
	{"B", 1},
}

// parseSize reads a number of bytes like 512, 2KB or 1.5MiB.
func parseSize(s string) (int64, error) {
	unit, number := 1.0, s
	for _, u := range sizeUnits {
		if n, ok := strings.CutSuffix(s, u.suffix); ok {
			unit, number = u.bytes, n
			break
		}
	}
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil || !(v >= 0) || v*unit > 1<<62 {
		return 0, fmt.Errorf("write a number of bytes, with KB, MB, GB (1000) or KiB, MiB, GiB (1024) if you like")
	}
	return int64(v * unit), nil
}

// ofCalls is the name of a filter that was given and that needs calls; "" where all are of groups.
func (f *filterFlags) ofCalls() string {
	for _, g := range f.given() {
		if !g.ofGroups {
			return g.name
		}
	}
	return ""
}

// byKey are the filters of groups.
func (f *filterFlags) byKey() map[sizes.Key][]call.Glob {
	return map[sizes.Key][]call.Glob{
		sizes.Service: globs(f.service), sizes.Method: globs(f.method),
		sizes.Serialization: globs(f.serialization), sizes.Protocol: globs(f.protocol),
	}
}

// text is the filters as they were given, in a fixed order.
func (f *filterFlags) text() string {
	var words []string
	for _, g := range f.given() {
		for _, v := range g.values {
			if strings.ContainsAny(v, " '\"\\*?$&|;<>()") {
				v = "'" + strings.ReplaceAll(v, "'", `'\''`) + "'"
			}
			words = append(words, g.name+" "+v)
		}
	}
	return strings.Join(words, " ")
}

// givenFilter is a filter that was given.
type givenFilter struct {
	name     string
	values   []string
	ofGroups bool // it selects by what groups may be grouped by
}

func (f *filterFlags) given() []givenFilter {
	var list []givenFilter
	add := func(name string, ofGroups bool, values ...string) {
		var set []string
		for _, v := range values {
			if v != "" {
				set = append(set, v)
			}
		}
		if len(set) > 0 {
			list = append(list, givenFilter{name, set, ofGroups})
		}
	}
	add("--service", true, f.service...)
	add("--method", true, f.method...)
	add("--serialization", true, f.serialization...)
	add("--protocol", true, f.protocol...)
	add("--client", false, f.client...)
	add("--server", false, f.server...)
	add("--host", false, f.host...)
	add("--port", false, texts(f.port)...)
	add("--id", false, f.id...)
	add("--status", false, texts(f.status)...)
	add("--error", false, f.errorGlob...)
	add("--attachment", false, f.attachment...)
	add("--min-size", false, f.minSize)
	add("--max-size", false, f.maxSize)
	add("--min-request", false, f.minRequest)
	add("--min-response", false, f.minResp)
	if f.minLatency > 0 {
		add("--min-latency", false, f.minLatency.String())
	}
	add("--since", false, f.since)
	add("--until", false, f.until)
	return list
}

func texts(list []int) []string {
	out := make([]string, len(list))
	for i, n := range list {
		out[i] = fmt.Sprint(n)
	}
	return out
}
