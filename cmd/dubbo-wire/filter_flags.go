package main

import (
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/exit"
	"dubbo-wire/internal/measure"
	"dubbo-wire/internal/report"
	"dubbo-wire/internal/sizes"
)

// filterFlags are the filters of calls. A filter selects calls: both frames of a call are selected together.
type filterFlags struct {
	call.Filter                                             // parse completes it
	all                                      *pflag.FlagSet // all filters, in the order of their definition
	service, method, serialization, protocol []string
	client, server, host, id, state, self    []string
	status, errorGlob, attachment            []string
	maxSize                                  int64
	since, until                             string
}

func (f *filterFlags) add(cmd *cobra.Command) {
	addFlags(cmd.Flags(), filterGroup, func(fs *pflag.FlagSet) {
		f.all = fs
		fs.StringSliceVar(&f.service, "service", nil, "only calls of services that match `GLOB` (the full name, or the part after the last dot)")
		fs.StringSliceVar(&f.method, "method", nil, "only calls of methods that match `GLOB` (method or Service/method)")
		fs.StringSliceVar(&f.serialization, "serialization", nil, "only requests in serializations that match `GLOB`")
		fs.StringSliceVar(&f.protocol, "protocol", nil, "only calls of protocols that match `GLOB`")
		fs.StringSliceVar(&f.client, "client", nil, "only calls from the client `ADDRESS` or address:port (glob)")
		fs.StringSliceVar(&f.server, "server", nil, "only calls to the server `ADDRESS` or address:port (glob)")
		fs.StringSliceVar(&f.host, "host", nil, "only calls with `ADDRESS` as client or server (glob)")
		fs.StringVar(&f.Side, "side", "", "only calls in which the capturing machine was `SIDE`: "+strings.Join(call.MachineSides, ", "))
		fs.StringSliceVar(&f.self, "self", nil, "the capturing machine has `ADDRESS` or the network (10.1.0.0/16), for --side; default: the addresses of interfaces in the capture")
		fs.IntSliceVar(&f.Ports, "port", nil, "only calls with `PORT` on the client or the server")
		fs.StringSliceVar(&f.id, "id", nil, "only calls with request `ID`")
		fs.StringSliceVar(&f.status, "status", nil, "only calls whose response has `STATUS`, a number or a name (20 is OK)")
		fs.StringSliceVar(&f.state, "state", nil, "only calls in `STATE`: "+strings.Join(call.States, ", "))
		fs.StringArrayVar(&f.errorGlob, "error", nil, "only failed calls whose status name, error text or exception class matches `GLOB`")
		fs.StringArrayVar(&f.attachment, "attachment", nil, "only calls with an attachment `KEY=GLOB`")
		fs.Var(&size{to: &f.MinSize}, "min-size", "only calls with a body of at least `SIZE` (2KB, 1MiB)")
		fs.Var(&size{to: &f.maxSize}, "max-size", "only calls with a body of at most `SIZE`")
		fs.Var(&size{to: &f.MinRequest}, "min-request", "only calls with a request body of at least `SIZE`")
		fs.Var(&size{to: &f.MinResponse}, "min-response", "only calls with a response body of at least `SIZE`")
		fs.DurationVar(&f.MinLatency, "min-latency", 0, "only calls that took at least `DURATION`")
		atLeast(fs, "min-latency", &f.MinLatency, 0)
		fs.StringVar(&f.since, "since", "", "only calls with a request at `TIME` or later (RFC 3339, or +30s from the first packet)")
		fs.StringVar(&f.until, "until", "", "only calls with a request at `TIME` or earlier")
	})
	flagValues(cmd, "state", call.States)
	flagValues(cmd, "side", call.MachineSides)
}

// parse returns the filter that the flags describe.
func (f *filterFlags) parse() (*measure.Filter, error) {
	c := f.Filter
	c.Service, c.Method, c.Serialization, c.Protocol = globs(f.service), globs(f.method), globs(f.serialization), globs(f.protocol)
	c.Client, c.Server, c.Host, c.Error = globs(f.client), globs(f.server), globs(f.host), globs(f.errorGlob)
	for _, p := range c.Ports {
		if p < 0 || p > 65535 {
			return nil, exit.Usagef("--port %d: must be from 0 to 65535", p)
		}
	}
	if c.Side != "" && !slices.Contains(call.MachineSides, c.Side) {
		return nil, exit.Usagef("--side %s: choose from %s", c.Side, strings.Join(call.MachineSides, ", "))
	}
	for _, s := range f.status {
		switch n, err := strconv.Atoi(s); {
		case statusName.MatchString(s):
			c.StatusNames = append(c.StatusNames, call.ParseGlob(strings.ToUpper(s)))
		case err != nil || n < 0 || n > 999:
			return nil, exit.Usagef("--status %s: must be a number from 0 to 999 (20 is OK), or a name such as SERVER_TIMEOUT", s)
		default:
			c.Status = append(c.Status, n)
		}
	}
	for _, s := range f.state {
		i := slices.Index(call.States, s)
		if i < 0 {
			return nil, exit.Usagef("--state %s: choose from %s", s, strings.Join(call.States, ", "))
		}
		c.States = append(c.States, call.State(i))
	}
	for _, s := range f.id {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			return nil, exit.Usagef("--id %s: must be a whole number of 64 bits", s)
		}
		c.IDs = append(c.IDs, n)
	}
	for _, s := range f.attachment {
		k, g, ok := strings.Cut(s, "=")
		if !ok || k == "" {
			return nil, exit.Usagef("--attachment %s: must be KEY=GLOB, such as traceid=*", s)
		}
		if c.Attachment == nil {
			c.Attachment = make(map[string]call.Glob)
		}
		c.Attachment[k] = call.ParseGlob(g)
	}
	if f.all.Lookup("max-size").Value.String() != "" {
		c.MaxSize = &f.maxSize // 0 selects empty bodies
	}
	fl := &measure.Filter{Filter: c, Groups: f.byKey()}
	fl.Flags, fl.OfCalls = f.given()
	var words []string
	for _, s := range f.self {
		p, err := netip.ParsePrefix(s)
		if a, e := netip.ParseAddr(s); e == nil {
			p, err = netip.PrefixFrom(a.WithZone(""), a.BitLen()), nil
		}
		if err != nil {
			return nil, exit.Usagef("--self %s: must be an IP address, or a network such as 10.1.0.0/16", s)
		}
		fl.Self = append(fl.Self, p)
	}
	for _, x := range fl.Flags {
		if x[0] == "--self" { // it selects nothing
			continue
		}
		words = append(words, x[0]+" "+report.ShellWord(x[1]))
	}
	fl.Text = strings.Join(words, " ")
	var err error
	if fl.Since, err = parseTime("--since", f.since); err != nil {
		return nil, err
	}
	if fl.Until, err = parseTime("--until", f.until); err != nil {
		return nil, err
	}
	return fl, nil
}

// statusName matches names of statuses, and globs for them.
var statusName = regexp.MustCompile(`^[A-Za-z*?][A-Za-z_*?]*$`)

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
			return measure.Bound{}, exit.Usagef("%s %s: must be a duration from the first packet, such as +30s or +1m30s", flag, s)
		}
		return measure.Bound{At: int64(d), Relative: true, Given: true}, nil
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return measure.Bound{}, exit.Usagef("%s %s: must be a time such as 2026-11-21T03:04:11Z, or a duration from the first packet such as +30s", flag, s)
	}
	return measure.Bound{At: t.UnixNano(), Given: true}, nil
}

// sides returns the values of the key side that --side selects.
func (f *filterFlags) sides() []string {
	if f.Side == "" {
		return nil
	}
	return []string{f.Side, call.BothSides}
}

// byKey returns the filters that groups have, by key.
func (f *filterFlags) byKey() map[sizes.Key][]call.Glob {
	return map[sizes.Key][]call.Glob{
		sizes.Service: globs(f.service), sizes.Method: globs(f.method),
		sizes.Serialization: globs(f.serialization), sizes.Protocol: globs(f.protocol),
		sizes.Side: globs(f.sides()),
	}
}

// given returns the given filters with their values, in the order of their definition, and the first flag that selects by
// something that groups do not have, or "".
func (f *filterFlags) given() (flags [][2]string, ofCalls string) {
	f.all.VisitAll(func(flag *pflag.Flag) {
		values := []string{flag.Value.String()}
		if list, ok := flag.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		} else if values[0] == "" || flag.Value.String() == "0s" {
			values = nil
		}
		for _, v := range values {
			flags = append(flags, [2]string{"--" + flag.Name, v})
			if ofCalls == "" && !slices.Contains([]string{"service", "method", "serialization", "protocol", "side", "self"}, flag.Name) {
				ofCalls = "--" + flag.Name
			}
		}
	})
	return flags, ofCalls
}
