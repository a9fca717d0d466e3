package main

import (
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"dubbo-wire/internal/capture"
)

// The exit codes of the contract.
const (
	exitDone     = 0
	exitNothing  = 1 // nothing readable, no frames, nothing matched
	exitUsage    = 2
	exitCoverage = 3 // coverage below --min-coverage
	exitPartly   = 4 // an input ended early; what was readable was reported
)

// exitError ends the program with a code; its text, if any, goes to standard error as one line.
type exitError struct {
	code int
	text string
}

func (e *exitError) Error() string { return e.text }

func fail(code int, format string, args ...any) error {
	return &exitError{code, fmt.Sprintf(format, args...)}
}

// usage is a wrong use of the command line.
func usage(format string, args ...any) error { return fail(exitUsage, format, args...) }

// streams are the standard streams, so that tests run the program in process, and how much is said on standard error.
type streams struct {
	in       io.Reader
	out, err io.Writer
	// quiet: nothing but what makes the exit code other than 0. verbose: also what was read, and how.
	quiet, verbose bool
	args           []string // the whole command line
}

// run is the program: it returns the exit code.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := newRoot(&streams{in: stdin, out: stdout, err: stderr, args: args})
	root.SetArgs(append([]string{}, ordered(root, args)...)) // of nil cobra makes the arguments of the process
	return code(root.Execute(), stderr)
}

// code prints an error as one line and says which exit code it means.
func code(err error, stderr io.Writer) int {
	if err == nil {
		return exitDone
	}
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe) {
		return exitDone // whoever read the output has seen enough
	}
	var exit *exitError
	if errors.As(err, &exit) {
		if exit.text != "" {
			fmt.Fprintln(stderr, "dubbo-wire: "+exit.text)
		}
		return exit.code
	}
	for line := range strings.SplitSeq(err.Error(), "\n") {
		fmt.Fprintln(stderr, "dubbo-wire: "+line)
	}
	if capture.CauseOf(err) != 0 {
		return exitNothing
	}
	return exitUsage
}

// version is set at build time; without it the module's own version is printed.
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

func newRoot(s *streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "dubbo-wire COMMAND",
		Short: "What Apache Dubbo calls weigh on the wire, by serialization and method",
		Long: `dubbo-wire reads captures of Dubbo traffic and says what its calls weigh: by serialization, by service and
method, byte by byte, and what it did not see. The protocol is recognised from the bytes; no port is needed.`,
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
				return usage("--quiet says nothing and --verbose more; give one of them")
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
	everywhere := root.PersistentFlags()
	everywhere.BoolVarP(&s.quiet, "quiet", "q", false, "say nothing on standard error but what makes the exit code other than 0")
	everywhere.BoolVar(&s.verbose, "verbose", false, "say on standard error what was read, how fast, and which limits were reached")
	everywhere.BoolP("help", "h", false, "print this help")
	root.Flags().BoolP("version", "v", false, "print the version")
	root.SetFlagErrorFunc(flagError)
	root.AddGroup(
		&cobra.Group{ID: "measure", Title: "Measure:"},
		&cobra.Group{ID: "look", Title: "Look inside:"},
		&cobra.Group{ID: "share", Title: "Share:"},
		&cobra.Group{ID: "about", Title: "About:"},
	)
	root.SuggestionsMinimumDistance = 2
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		_, _ = io.WriteString(s.out, helpText(cmd, helpWidth(terminalWidth(s.out))))
	})
	root.SetHelpCommand(newHelp())
	root.AddCommand(
		newAnalyze(s), newCapture(s), newCompare(s), newCheck(s),
		newCalls(s), newFrames(s), newExplain(s),
		newRedact(s),
		newFormats(s), newInterfaces(s), newCompletion(s), newMan(s),
	)
	root.AddCommand(topics()...)
	root.InitDefaultHelpCmd()
	if completing(s.args) {
		completeFlags(root)
	}
	return root
}

// newHelp is "help COMMAND", which prints what "COMMAND --help" prints.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND]",
		GroupID: "about",
		Short:   "Print the help of a command, or of a topic",
		Long: `help prints the help of a command, the same as COMMAND --help. Topics: exit-codes, environment. Without a name it
lists the commands.`,
		Example: "  dubbo-wire help analyze\n  dubbo-wire help exit-codes",
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
