package main

import (
	"fmt"
	"io"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"dubbo-wire/internal/exit"
	"dubbo-wire/internal/output"
)

// streams are the standard streams, which tests replace, and what all commands share.
type streams struct {
	in       io.Reader
	out, err io.Writer
	// quiet prints only errors to standard error. verbose also describes what was read, and how.
	quiet, verbose bool
	args           []string // the command line
	places         *output.Places
}

// run runs the program and returns its exit code.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := newRoot(&streams{in: stdin, out: stdout, err: stderr, args: args})
	root.SetArgs(append([]string{}, ordered(root, args)...)) // for nil, cobra would take the arguments of the process
	return exit.Report(root.Execute(), stderr)
}

// version is set at build time. Without it, the version of the module is printed.
var version string

func versionText() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		return info.Main.Version
	}
	return "unknown"
}

// commands has the constructors of all commands, in the order of help and of the manual pages. To add a command, add a file
// with its constructor, and one line here.
var commands = []func(*streams) *cobra.Command{
	newAnalyze, newCapture, newCompare, newCheck, newEstimate,
	newCalls, newFrames, newExplain, newLua,
	newRedact,
	newFormats, newInterfaces, newCompletion, newMan, newHelp,
}

// groups are the titles in the list of commands. A command names its group by GroupID.
var groups = []cobra.Group{
	{ID: "measure", Title: "Measure:"},
	{ID: "look", Title: "Look inside:"},
	{ID: "share", Title: "Share:"},
	{ID: "about", Title: "About:"},
}

// orderAnnotation holds a command's index in commands, because cobra sorts commands by name.
const orderAnnotation = "order"

func newRoot(s *streams) *cobra.Command {
	s.places = &output.Places{Stdout: s.out}
	root := &cobra.Command{
		Use:   "dubbo-wire COMMAND",
		Short: "Measure Apache Dubbo traffic in packet captures",
		Long: `dubbo-wire reads packet captures of Apache Dubbo traffic and measures its calls: their sizes by serialization,
service and method, down to single bytes, and how complete the capture is. It recognises
Dubbo's own protocol, Triple and gRPC on any port.`,
		Example: `  dubbo-wire analyze trace.pcap
  tcpdump -i eth0 -w - tcp port 20880 | dubbo-wire analyze -
  dubbo-wire calls trace.pcap --method listUser --format jsonl
  sudo dubbo-wire capture eth0`,
		Version:           versionText(),
		SilenceErrors:     true,
		SilenceUsage:      true,
		Args:              cobra.ArbitraryArgs,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
		PersistentPreRunE: func(*cobra.Command, []string) error {
			if s.quiet && s.verbose {
				return exit.Usagef("--quiet and --verbose exclude each other; give one of them")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			return unknownCommand(cmd, args[0])
		},
	}
	root.SetIn(s.in)
	root.SetOut(s.out)
	root.SetErr(s.err)
	addFlags(root.PersistentFlags(), runGroup, func(fs *pflag.FlagSet) {
		fs.BoolVarP(&s.quiet, "quiet", "q", false, "print only errors to standard error: no progress, warnings or summaries")
		fs.BoolVar(&s.verbose, "verbose", false, "print to standard error what was read, how fast, and which limits were reached")
		fs.BoolP("help", "h", false, "print this help")
	})
	addFlags(root.Flags(), runGroup, func(fs *pflag.FlagSet) { fs.BoolP("version", "v", false, "print the version") })
	root.SetFlagErrorFunc(flagError)
	for _, g := range groups {
		root.AddGroup(&g)
	}
	root.SuggestionsMinimumDistance = 2
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		_, _ = io.WriteString(s.out, helpText(cmd, helpWidth(output.Width(s.out))))
	})
	for i, newCommand := range commands {
		c := newCommand(s)
		c.Annotations = map[string]string{orderAnnotation: fmt.Sprintf("%03d", i)}
		root.AddCommand(c)
		if c.Name() == "help" {
			root.SetHelpCommand(c)
		}
	}
	root.AddCommand(topics()...)
	root.InitDefaultHelpCmd()
	if completing(s.args) {
		completeFlags(root)
	}
	return root
}

// newHelp returns "help COMMAND", which prints the same as "COMMAND --help".
func newHelp(*streams) *cobra.Command {
	var names []string
	for _, topic := range topics() {
		names = append(names, topic.Use)
	}
	return &cobra.Command{
		Use:     "help [COMMAND|TOPIC]",
		GroupID: "about",
		Short:   "Print the help of a command or a topic",
		Long: "help prints the help of a command, as COMMAND --help does, or of a topic: " + strings.Join(names, ", ") +
			". Without a name it lists the commands.",
		Example: "  dubbo-wire help analyze\n  dubbo-wire help terms",
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			return commandNames(cmd.Root(), args), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			target, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return unknownCommand(cmd.Root(), args[0])
			}
			return target.Help()
		},
	}
}
