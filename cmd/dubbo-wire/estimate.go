package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"dubbo-wire/internal/estimate"
	"dubbo-wire/internal/estimate/print"
	"dubbo-wire/internal/estimate/releases"
	"dubbo-wire/internal/exit"
	"dubbo-wire/internal/measure"
	"dubbo-wire/internal/output"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/report"
	"dubbo-wire/internal/sizes"
	"dubbo-wire/internal/term"
)

// estimateFlags are the flags of estimate.
type estimateFlags struct {
	in     inputFlags
	filter filterFlags
	out    outputFlags

	as         []string
	asGiven    bool // on the command line
	release    string
	by, sample string
	top        int
	java       estimate.Java
	noTiming   bool
	printPOM   bool
	gzip, zstd levels
	snappy     bool
	without    []string
	triple     bool
}

func newEstimate(s *streams) *cobra.Command {
	var f estimateFlags
	cmd := &cobra.Command{
		Use:     "estimate FILE...",
		GroupID: "measure",
		Short:   "Estimate what the same calls would weigh, and cost, in other serializations",
		Long: `estimate encodes the values of captured calls again, in other serializations, and compares the sizes with what was
observed. Dubbo's own serializers do this, in a Java virtual machine, with the classes of the application. The jars of
Dubbo are those of --jars or in the class path, or those that your Maven finds (--maven).

Compression, attachments and the headers of Triple are estimated without Java. They are what estimate shows without
--as.`,
		Example: `  dubbo-wire estimate trace.pcap
  dubbo-wire estimate trace.pcap --gzip --without-attachment traceid
  dubbo-wire estimate trace.pcap --classpath app.jar --maven --as all
  dubbo-wire estimate trace.pcap --classpath app.jar --jars lib --as kryo,fst
  dubbo-wire estimate trace.pcap --maven --as fastjson2 -o calls.jsonl
  dubbo-wire estimate --print-pom --release 2.7.23 --as kryo,fst`,
		Args: func(cmd *cobra.Command, args []string) error {
			if f.printPOM && f.release != "" && len(args) == 0 {
				return nil // captures are not read
			}
			return needFiles(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			f.asGiven = cmd.Flags().Changed("as")
			return f.run(s, args)
		},
	}
	f.in.add(cmd)
	f.filter.add(cmd)
	f.out.add(cmd, "table", "markdown", "csv", "json", "jsonl", "html")
	addFlags(cmd.Flags(), chooseGroup, func(fs *pflag.FlagSet) {
		fs.StringSliceVar(&f.as, "as", nil, "estimate these `SERIALIZATIONS`, separated by commas, or all; \"kryo registered\" is kryo with the classes of --register or --optimizer, triple/hessian2 is hessian2 in Triple")
		fs.StringVar(&f.by, "by", "", "group by `KEYS`, separated by commas: service, method, protocol, serialization, version, client, server, connection, status, input, dubboVersion, responseSerialization, encoding, product, side, time:10s")
		fs.IntVar(&f.top, "top", 0, "print the first `N` groups in tables (default 10); csv and json contain all groups")
		atLeast(fs, "top", &f.top, 0)
		fs.StringVar(&f.sample, "sample", "", "estimate `N` calls of each method, or all; the default is all of up to 10,000 calls, else as many of each method")
	})
	addFlags(cmd.Flags(), javaGroup, func(fs *pflag.FlagSet) {
		fs.StringVar(&f.release, "release", "", "encode as Dubbo `VERSION` does, such as 2.7.23 or 3.2 (default: the capture's, or that of --jars)")
		fs.StringVar(&f.java.Jars, "jars", "", "take Dubbo and the libraries of its serializations from the folder `DIR`")
		fs.BoolVar(&f.java.Maven, "maven", false, "let your Maven find the jars of Dubbo; it may download them")
		fs.BoolVar(&f.printPOM, "print-pom", false, "print the pom that --maven uses, and exit")
		fs.StringVar(&f.java.Program, "java", "", "run `PROGRAM`, or the java of that JDK (default: java in PATH)")
		fs.BoolVar(&f.noTiming, "no-timing", false, "do not measure CPU time")
	})
	addFlags(cmd.Flags(), plainGroup, func(fs *pflag.FlagSet) {
		fs.Var(&f.gzip, "gzip", "compress bodies with gzip, each alone and those of a connection as one stream; --gzip=9 sets the level")
		fs.Var(&f.zstd, "zstd", "compress bodies with zstd in the same ways; --zstd=19 sets the level")
		fs.Lookup("gzip").NoOptDefVal, fs.Lookup("zstd").NoOptDefVal = "true", "true"
		fs.BoolVar(&f.snappy, "snappy", false, "compress bodies with snappy, each alone")
		fs.StringArrayVar(&f.without, "without-attachment", nil, "leave out the attachment `KEY`; may be repeated")
		fs.BoolVar(&f.triple, "triple", false, "put the values as they are into the frames and headers of Triple")
	})
	flagValues(cmd, "as", estimate.Names())
	return cmd
}

// levels is a flag that takes levels of compression, or none for the usual one.
type levels []int

func (l *levels) String() string { return "" }
func (l *levels) Type() string   { return "bool" } // help prints no value

func (l *levels) Set(text string) error {
	if text == "true" {
		*l = append(*l, 0)
		return nil
	}
	for part := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(part)
		if err != nil || n < 1 {
			return wrongValue(text + ": must be a level, such as 6")
		}
		*l = append(*l, n)
	}
	return nil
}

// options checks the flags, and returns what to collect.
func (f *estimateFlags) options() (opt estimate.Options, err error) {
	if f.by != "" {
		if opt.By, err = sizes.ParseBy(f.by); err != nil {
			return opt, exit.Usagef("%v", err)
		}
	}
	switch f.sample {
	case "":
	case "all":
		opt.Sample = estimate.All
	default:
		if opt.Sample, err = strconv.Atoi(f.sample); err != nil || opt.Sample < 1 {
			return opt, exit.Usagef("--sample %s: must be a number of calls of each method, or all", f.sample)
		}
	}
	if f.asGiven && len(f.as) == 0 {
		return opt, exit.Usagef("--as: name a serialization, or all")
	}
	for i, name := range f.as {
		name = strings.TrimSpace(name)
		f.as[i] = name
		if estimate.Known(name) || name == "all" {
			continue
		}
		if near := nearest(name, estimate.Names()); near != "" {
			return opt, exit.Usagef("--as: %q is not a serialization; did you mean %s?", name, near)
		}
		return opt, exit.Usagef("--as: %q is not a serialization; choose from %s", name, strings.Join(estimate.Names(), ", "))
	}
	if f.release != "" {
		if f.release, err = releases.Find(f.release); err != nil {
			return opt, exit.Usagef("--release: %v", err)
		}
	}
	plain := len(f.gzip)+len(f.zstd)+len(f.without) > 0 || f.snappy || f.triple
	if len(f.as) == 0 && !plain { // what costs nothing to show
		f.gzip, f.zstd, f.snappy, f.triple = levels{0}, levels{0}, true, true
	}
	for _, kind := range []struct {
		name   string
		levels levels
	}{{"gzip", f.gzip}, {"zstd", f.zstd}} {
		for _, level := range kind.levels {
			opt.Compress = append(opt.Compress, estimate.Compression{Name: kind.name, Level: level}, estimate.Compression{Name: kind.name, Level: level, Connection: true})
		}
	}
	if f.snappy {
		opt.Compress = append(opt.Compress, estimate.Compression{Name: "snappy"})
	}
	for _, c := range opt.Compress {
		if err := c.Check(); err != nil {
			return opt, exit.Usagef("%v", err)
		}
	}
	if slices.Contains(f.without, "") {
		return opt, exit.Usagef("--without-attachment: name an attachment")
	}
	slices.Sort(f.without)
	opt.Without = slices.Compact(f.without)
	opt.Wrapped, opt.Values = f.triple, len(f.as) > 0
	opt.Triple = f.triple || slices.ContainsFunc(f.as, func(s string) bool { return s == "all" || strings.HasPrefix(s, "triple/") })
	return opt, nil
}

func (f *estimateFlags) run(s *streams, args []string) error {
	opt, err := f.options()
	if err != nil {
		return err
	}
	if f.printPOM {
		return f.pom(s, args)
	}
	f.java.Release, f.java.UserPath = f.release, f.in.ClassFiles()
	if opt.Values {
		if err := f.java.Check(); err != nil {
			return exit.Usagef("%v", err)
		}
	}
	fl, err := f.filter.parse()
	if err != nil {
		return err
	}
	f.in.Filter = fl
	targets, src, err := open(s, &f.in, &f.out, args)
	if err != nil {
		return err
	}
	defer src.Close()
	opt.Inputs = src.Names()
	var run pipeline.Options
	c := estimate.NewCollector(opt, &run)
	defer c.Close()
	fl.Apply(&run)
	if err := src.Separate(&run, opt.By); err != nil {
		output.Discard(targets)
		return err
	}
	totals, readErr := src.Run(run, c, nil)
	if verdict := f.in.Verdict(totals, c.Calls(), !fl.Empty(), readErr); verdict != nil && c.Calls() == 0 {
		output.Discard(targets)
		return verdict
	}
	r, err := f.estimate(s, src, c, float64(totals.Span())/1e9)
	if err != nil {
		output.Discard(targets)
		return err
	}
	if err := f.out.Print(targets, func(t *output.Target, st report.Style) error {
		st.Top = f.top
		return print.Write(t.W, t.Format, r, st)
	}); err != nil {
		return err
	}
	if r.Stopped && readErr == nil {
		readErr = exit.Errorf(exit.Partly, "stopped; the estimate covers what was done so far")
	}
	if err := f.in.Verdict(totals, c.Calls(), !fl.Empty(), readErr); err != nil {
		return err
	}
	if cause := r.Nothing(); cause != "" {
		text := "no call could be encoded: " + term.Clean(cause)
		if estimate.LibraryMissing(cause) {
			text += "; a library is missing: add --maven"
		}
		return exit.Errorf(exit.Nothing, "%s", text)
	}
	return nil
}

// whileStopping is how long encoding may take after a signal has ended reading.
const whileStopping = 10 * time.Second

// estimate encodes what was collected.
func (f *estimateFlags) estimate(s *streams, src *measure.Files, c *estimate.Collector, seconds float64) (*estimate.Result, error) {
	setup := &estimate.Setup{Seconds: seconds, Timing: !f.noTiming}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if stopped := src.Stopped(); stopped {
		setup.Timing = false
		ctx, cancel = context.WithTimeout(ctx, whileStopping)
		defer cancel()
	} else {
		ended := make(chan struct{})
		defer close(ended)
		go func() {
			for !src.Stopped() {
				select {
				case <-ended:
					return
				case <-time.After(100 * time.Millisecond):
				}
			}
			cancel()
		}()
	}
	status := output.NewStatus(s.err, f.in.NoProgress)
	defer status.Show("")
	if len(f.as) > 0 {
		f.java.Registered, f.java.Schemas = f.in.RegisteredClasses(), f.in.Schemas()
		setup.Registered, setup.Usable, setup.Runner = len(f.java.Registered) > 0, f.java.Usable, &f.java
		if slices.ContainsFunc(f.as, func(s string) bool { return strings.HasSuffix(s, " registered") }) && !setup.Registered {
			return nil, exit.Usagef("--as %s: name the registered classes with --register FILE or --optimizer CLASS", strings.Join(f.as, ","))
		}
		setup.Plan = c.Plan(f.as, f.java.Release, setup.Registered, f.java.Usable)
		setup.Prepare = func(targets map[string][]string) error {
			return f.java.Resolve(ctx, targets, func(text string) { status.Show(text) })
		}
		last := time.Time{}
		setup.Progress = func(done, all int) {
			if now := time.Now(); now.Sub(last) > 200*time.Millisecond {
				last = now
				status.Show(fmt.Sprintf("encoding: %s of %s bodies (%d %%)", term.Count(int64(done)), term.Count(int64(all)), 100*done/all))
			}
		}
	}
	r, err := c.Estimate(ctx, setup)
	if err != nil {
		return nil, exit.Usagef("%v", err)
	}
	return r, nil
}

// pom prints the pom of a release.
func (f *estimateFlags) pom(s *streams, args []string) error {
	release := f.release
	if len(args) > 0 && release == "" {
		f.in.complete(s)
		src, err := f.in.Open(args)
		if err != nil {
			return err
		}
		defer src.Close()
		var run pipeline.Options
		c := estimate.NewCollector(estimate.Options{Sample: 1}, &run)
		defer c.Close()
		totals, readErr := src.Run(run, c, nil)
		if c.Calls() == 0 {
			return f.in.Verdict(totals, 0, false, readErr)
		}
		release = c.Release()
	}
	text, err := estimate.POM(release, f.as)
	if err != nil {
		return exit.Usagef("%v", err)
	}
	_, err = fmt.Fprint(s.out, text)
	return err
}
