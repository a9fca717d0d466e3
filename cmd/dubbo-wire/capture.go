package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/exit"
	"dubbo-wire/internal/metrics"
	"dubbo-wire/internal/output"
	"dubbo-wire/internal/session"
	"dubbo-wire/internal/term"
)

// captureFlags are the flags that only capture has.
type captureFlags struct {
	session.Config
	fileSize, rotate int // millions of bytes, seconds
	maxDisk          int64
	readFile         string
}

func newCapture(s *streams) *cobra.Command {
	var a analyzeFlags
	var in inputFlags
	var c captureFlags
	cmd := &cobra.Command{
		Use:     "capture [-i] IFACE [EXPRESSION] [-- COMMAND]",
		GroupID: "measure",
		Short:   "Capture live from a network interface",
		Long: `capture reads packets from a network interface (several: eth0,eth1; all: any) and shows what uses the bandwidth. On a
terminal it shows a full screen (? lists the keys), otherwise a table every --interval. It ends with Ctrl-C, at a limit,
or when COMMAND ends, and prints the report of analyze.

EXPRESSION is a kernel filter in the language of tcpdump: port 20880 and host 10.0.0.7. Packets that it excludes are not
counted at all. The filter flags, such as --service and --method, select calls among the captured packets.

capture needs the right to capture packets, and drops all other privileges. Run it as root, or grant this right to the
program once: sudo setcap cap_net_raw+ep $(command -v dubbo-wire)`,
		Example: `  sudo dubbo-wire capture eth0
  sudo dubbo-wire capture any port 20880 --user $USER -w trace.pcapng
  sudo dubbo-wire capture lo --duration 30s --format json -o sizes.json
  sudo dubbo-wire capture eth0 --side server
  sudo dubbo-wire capture eth0 -o 'calls-%Y%m%d-%H%M.parquet' -G 3600
  sudo dubbo-wire capture eth0 port 20880 --metrics :9464 --plain --interval 0
  sudo dubbo-wire capture lo port 20880 -- mvn verify`,
		Args: func(cmd *cobra.Command, args []string) error { return c.arguments(cmd, args) },
		RunE: func(cmd *cobra.Command, args []string) error {
			usualCollections.set() // a capture that runs for long has the memory that it needs in the end
			c.IntervalGiven = cmd.Flags().Changed("interval")
			var err error
			if c.Measure, c.Print, err = a.complete(); err == nil {
				err = c.takeCallFiles(&a.output.Options)
			}
			if err == nil {
				err = c.check()
			}
			if err == nil {
				err = c.checkMetrics(cmd.Flags().Changed)
			}
			if err != nil {
				return err
			}
			in.complete(s)
			in.Filter = c.Measure.Filter
			c.Ports, c.Hosts = a.filter.Ports, a.filter.host
			c.Input, c.Output, c.Places = &in.Input, &a.output.Options, s.places
			c.Quiet, c.Version, c.Metrics.Version, c.SocketsFlag = s.quiet, versionText(), versionText(), socketsFlag
			l, err := session.Open(&c.Config)
			if err != nil {
				return err
			}
			return l.Run()
		},
	}
	a.add(cmd, "table", "markdown", "csv", "json", "jsonl", "html", "pprof", "folded", "parquet")
	in.limitFlags.IdleTime, in.limitFlags.CallTime = 15*time.Minute, 5*time.Minute
	in.limitFlags.add(cmd)
	in.addRoutes(cmd)
	in.addClasses(cmd)
	addFlags(cmd.Flags(), runGroup, in.addCoverage)
	c.add(s, cmd)
	return cmd
}

// socketsFlag passes open sockets on when the program starts itself again.
const socketsFlag = "packet-sockets"

func (c *captureFlags) add(s *streams, cmd *cobra.Command) {
	addFlags(cmd.Flags(), liveGroup, func(fs *pflag.FlagSet) {
		fs.StringSliceVarP(&c.Interfaces, "interface", "i", nil, "capture on `IFACE`, as in tcpdump; separate several with commas; any means all")
		fs.DurationVar(&c.Duration, "duration", 0, "stop after `DURATION`")
		fs.Int64Var(&c.Calls, "calls", 0, "stop after `N` calls that the filters select")
		fs.Int64VarP(&c.Packets, "count", "c", 0, "stop after `N` packets")
		fs.Var(&size{to: &c.MaxBytes}, "max-bytes", "stop after `SIZE` on the wire")
		fs.IntVarP(&c.SnapLen, "snapshot-length", "s", 0, "capture up to `N` bytes of each packet (default 262144)")
		fs.BoolVarP(&c.NoPromiscuous, "no-promiscuous-mode", "p", false, "capture only what this host sends and receives")
		c.Buffer = 64 << 20
		fs.Var(&size{to: &c.Buffer, text: "64MiB"}, "buffer", "use a kernel buffer of `SIZE` for packets that were not read yet")
		fs.StringVar(&c.User, "user", "", "switch to user `NAME` after the capture has started; this user owns the files")
		fs.BoolVar(&c.Plain, "plain", false, "no full screen: print a table every --interval")
		fs.DurationVar(&c.Interval, "interval", 10*time.Second, "without a full screen, print a table every `DURATION` (0: only the report at the end)")
		for name, n := range map[string]*int64{"count": &c.Packets, "calls": &c.Calls} {
			atLeast(fs, name, n, 0)
		}
		atLeast(fs, "snapshot-length", &c.SnapLen, 0)
		atLeast(fs, "duration", &c.Duration, 0)
		fs.BoolP("numeric", "n", false, "accepted for compatibility with tcpdump; names are never resolved")
	})
	addFlags(cmd.Flags(), recordGroup, func(fs *pflag.FlagSet) {
		fs.StringVarP(&c.Record.File, "write", "w", "", "write the packets to `FILE` as pcapng (-: standard output)")
		fs.IntVarP(&c.fileSize, "file-size", "C", 0, "with -w, start a new file after `N` million bytes")
		fs.IntVarP(&c.rotate, "rotate-seconds", "G", 0, "with -w or -o FILE.parquet, start a new file every `N` seconds; its name may contain %Y %m %d %H %M %S")
		fs.IntVarP(&c.Record.Files, "file-count", "W", 0, "with -C, write `N` files in rotation; with -G alone, stop after N files")
		for name, n := range map[string]*int{"file-size": &c.fileSize, "rotate-seconds": &c.rotate, "file-count": &c.Record.Files} {
			atLeast(fs, name, n, 0)
		}
		fs.StringVar(&c.CallFiles.Node, "node", "", "the `NAME` of this machine, for the column host of parquet and for --otlp (default: its host name)")
		fs.Var(&size{to: &c.maxDisk}, "max-disk", "limit the files of -w and -o FILE.parquet, of this run and earlier ones, to `SIZE` in all; with -C or -G, delete the oldest")
		fs.BoolVar(&c.Record.OnlyRPC, "only-rpc", false, "with -w, write only connections that carry calls")
	})
	addFlags(cmd.Flags(), metricGroup, func(fs *pflag.FlagSet) {
		fs.StringVar(&c.Metrics.Address, "metrics", "", "serve metrics at http://`ADDRESS`/metrics, such as :9464 (all interfaces) or 127.0.0.1:9464")
		fs.StringVar(&c.Metrics.Receiver, "otlp", "", "push the same metrics every 15 s to the OTLP receiver at `URL`, such as http://collector:4318")
		fs.IntVar(&c.Metrics.Series, "metrics-series", metrics.DefaultSeries, "keep `N` groups of calls apart, after a minute those with the most bytes; merge the rest into one")
		atLeast(fs, "metrics-series", &c.Metrics.Series, 1)
	})
	fs := cmd.Flags()
	fs.StringVarP(&c.readFile, "read-file", "r", "", "a flag of tcpdump; analyze reads files")
	fs.IntSliceVar(&c.Sockets, socketsFlag, nil, "packet sockets of the process that restarted itself")
	_ = fs.MarkHidden("read-file")
	_ = fs.MarkHidden(socketsFlag)
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		switch {
		case slices.Contains(s.args, "--"): // cobra does not tell
			return nil, cobra.ShellCompDirectiveDefault // complete the command to run as the shell does
		case len(args) == 0 && len(c.Interfaces) == 0:
			return completeInterfaces(cmd, args, begun)
		}
		return expressionWords, cobra.ShellCompDirectiveNoFileComp
	}
}

// arguments splits the arguments into interface, expression and command.
func (c *captureFlags) arguments(cmd *cobra.Command, args []string) error {
	if c.readFile != "" {
		return exit.Usagef("capture reads no files: use dubbo-wire analyze %s", c.readFile)
	}
	if at := cmd.ArgsLenAtDash(); at >= 0 {
		if args, c.Command = args[:at], args[at:]; len(c.Command) == 0 {
			return exit.Usagef("no command after --; try: dubbo-wire capture lo -- mvn verify")
		}
	}
	if len(c.Interfaces) == 0 {
		if len(args) == 0 {
			return exit.Usagef("no interface given; try: dubbo-wire capture eth0 (dubbo-wire interfaces lists them)")
		}
		c.Interfaces, args = strings.Split(args[0], ","), args[1:]
	}
	c.Expression = strings.TrimSpace(strings.Join(args, " "))
	return nil
}

// minDisk is the least value of --max-disk: room for the largest packet, with headers, in half of it.
const minDisk = 1_000_000

// minDiskOfCalls is that of calls: their files grow by some megabytes at once.
const minDiskOfCalls = 64_000_000

// check refuses flags that contradict each other or name no interface.
func (c *captureFlags) check() error {
	switch {
	case c.Interval < 0 || c.Interval > 0 && c.Interval < 100*time.Millisecond:
		return exit.Usagef("--interval %v: must be at least 100ms, or 0 for only the report at the end", c.Interval)
	case len(c.Interfaces) > 1 && slices.Contains(c.Interfaces, capture.AnyInterface):
		return exit.Usagef("-i %s: %s means all interfaces; give it alone", strings.Join(c.Interfaces, ","), capture.AnyInterface)
	case twice(c.Interfaces) != "":
		return exit.Usagef("-i %s: %s is given twice", strings.Join(c.Interfaces, ","), twice(c.Interfaces))
	case slices.Contains(c.Interfaces, ""):
		return exit.Usagef("-i %s: an interface name is empty", strings.Join(c.Interfaces, ","))
	case c.maxDisk > 0 && c.maxDisk < minDisk:
		return exit.Usagef("--max-disk %d: must be at least 1MB", c.maxDisk)
	case c.Record.File == "" && (c.fileSize > 0 || c.Record.OnlyRPC):
		return exit.Usagef("-C and --only-rpc need a file for the packets: -w trace.pcapng")
	case c.Record.File == "" && c.CallFiles.File == "" && (c.rotate > 0 || c.Record.Files > 0 || c.maxDisk > 0):
		return exit.Usagef("-G, -W and --max-disk need a file for the packets or the calls: -w trace.pcapng, -o calls.parquet")
	case c.CallFiles.File != "" && c.maxDisk > 0 && c.rotate == 0:
		return exit.Usagef("--max-disk with -o %s needs -G: the oldest files are deleted", c.CallFiles.File)
	case c.CallFiles.File != "" && c.maxDisk > 0 && c.maxDisk < minDiskOfCalls:
		return exit.Usagef("--max-disk %d: must be at least 64MB with -o %s", c.maxDisk, c.CallFiles.File)
	case c.Record.File == "" && c.Record.Files > 0 && c.rotate == 0:
		return exit.Usagef("-W %d needs -G, which says when to start a new file", c.Record.Files)
	}
	c.Record.MaxBytes, c.Record.Every = int64(c.fileSize)*1_000_000, time.Duration(c.rotate)*time.Second
	c.CallFiles.Every = c.Record.Every
	if c.Record.MaxBytes == 0 { // with -C, the files of -w are overwritten in turn
		c.CallFiles.Files = c.Record.Files
	}
	c.Record.SnapLen = c.SnapLen
	if c.maxDisk > 0 {
		if err := c.Record.LimitDisk(c.maxDisk); err != nil {
			return exit.Usagef("-w %v", err)
		}
		if c.CallFiles.File != "" {
			if err := c.CallFiles.LimitDisk(c.Record.Disk); err != nil {
				return exit.Usagef("-o %v", err)
			}
		}
	}
	if c.Record.File != "" {
		if err := c.Record.Check(); err != nil {
			return exit.Usagef("%v", err)
		}
	}
	return nil
}

// takeCallFiles takes the file of Parquet out of the files of the report.
func (c *captureFlags) takeCallFiles(o *output.Options) error {
	if err := o.Check(); err != nil {
		return err
	}
	names, err := o.Take("parquet")
	switch {
	case err != nil:
		return err
	case len(names) > 1:
		return exit.Usagef("-o %s: capture writes calls to one series of files; leave out -o %s", names[1], names[0])
	case o.Format == "parquet" || slices.Contains(names, "-"):
		return exit.Usagef("--format parquet: capture needs a file for it: -o calls.parquet")
	case len(names) == 0 && c.CallFiles.Node != "" && c.Metrics.Receiver == "":
		return exit.Usagef("--node names the machine in parquet and for --otlp: add -o calls.parquet")
	case len(names) == 0:
		return nil
	}
	c.CallFiles.File = names[0]
	if c.CallFiles.Node == "" {
		c.CallFiles.Node, _ = os.Hostname()
	}
	return nil
}

// checkMetrics refuses addresses that are none, and a limit of metrics that nobody asked for.
func (c *captureFlags) checkMetrics(given func(flag string) bool) (err error) {
	if given("metrics") {
		if err = metrics.CheckAddress(c.Metrics.Address); err != nil {
			return exit.Usagef("--metrics %v", err)
		}
	}
	if given("otlp") {
		if c.Metrics.Receiver, err = metrics.ReceiverURL(c.Metrics.Receiver); err != nil {
			return exit.Usagef("--otlp %v", err)
		}
	}
	if given("metrics-series") && !given("metrics") && !given("otlp") {
		return exit.Usagef("--metrics-series needs an address for the metrics: --metrics :9464")
	}
	return nil
}

// twice returns a name that is in the list more than once, or "".
func twice(names []string) string {
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			return name
		}
	}
	return ""
}

func newInterfaces(s *streams) *cobra.Command {
	return &cobra.Command{
		Use:     "interfaces",
		GroupID: "about",
		Short:   "List the network interfaces that can be captured",
		Example: "  dubbo-wire interfaces",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, args []string) error {
			list, err := capture.Interfaces()
			if err != nil {
				return err
			}
			for _, i := range list {
				state := "down"
				if i.Up {
					state = "up"
				}
				speed := ""
				if i.Speed > 0 {
					speed = term.Count(i.Speed/1_000_000) + " Mbit/s"
				}
				line := fmt.Sprintf("%-15s  %-4s  %-13s  %s", i.Name, state, speed, strings.Join(i.Addrs, " "))
				if _, err := fmt.Fprintln(s.out, strings.TrimRight(line, " ")); err != nil {
					return err
				}
			}
			return nil
		},
	}
}
