package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

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

// streams are the standard streams, so that tests run the program in process.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// run is the program: it returns the exit code.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := newRoot(&streams{stdin, stdout, stderr})
	root.SetArgs(commandFirst(root, args))
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
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: false},
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
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return flagError(cmd, err)
	})
	root.AddGroup(
		&cobra.Group{ID: "measure", Title: "Measure:"},
		&cobra.Group{ID: "look", Title: "Look inside:"},
		&cobra.Group{ID: "about", Title: "About:"},
	)
	root.SetCompletionCommandGroupID("about")
	root.SuggestionsMinimumDistance = 2
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if cmd.Annotations == nil {
			cmd.Annotations = make(map[string]string)
		}
		cmd.Annotations["flagHelp"] = flagHelp(cmd, terminalWidth(s.out))
		help(cmd, args)
	})
	root.SetUsageTemplate(strings.NewReplacer(
		"{{if .HasAvailableSubCommands}}\n  {{.CommandPath}} [command]{{end}}", "",
		"Flags:\n{{.LocalFlags.FlagUsages | trimTrailingWhitespaces}}", `{{index .Annotations "flagHelp"}}`,
	).Replace(root.UsageTemplate()))
	root.SetHelpCommand(newHelp(s))
	root.AddCommand(newAnalyze(s), newCapture(s), newFrames(s), newCalls(s), newExplain(s), newFormats(s), newInterfaces(s))
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		if c.Name() == "completion" {
			c.Use = "completion SHELL"
			c.Short = "Print the completion script for a shell: bash, zsh, fish, powershell"
			c.Args = func(cmd *cobra.Command, args []string) error {
				if len(args) > 0 {
					return usage("no completion for %s; choose from bash, zsh, fish, powershell", args[0])
				}
				return nil
			}
			c.RunE = func(cmd *cobra.Command, args []string) error { return cmd.Help() }
		}
	}
	return root
}

// unknownCommand says what may have been meant: a file without a command, or another spelling.
func unknownCommand(root *cobra.Command, name string) error {
	if _, err := os.Stat(name); err == nil || strings.ContainsAny(name, "./\\") || name == "-" {
		return usage("%q is no command; to measure a capture: dubbo-wire analyze %s", name, name)
	}
	if near := root.SuggestionsFor(name); len(near) > 0 {
		return usage("unknown command %q; did you mean %s? dubbo-wire --help lists the commands", name, strings.Join(near, " or "))
	}
	return usage("unknown command %q; dubbo-wire --help lists the commands", name)
}

// flagError words what is wrong with a flag.
func flagError(cmd *cobra.Command, err error) error {
	invalid, ok := errors.AsType[*pflag.InvalidValueError](err)
	switch {
	case !cmd.HasParent():
		return usage("%v without a command; dubbo-wire --help lists the commands (to measure a capture: dubbo-wire analyze FILE)", err)
	case !ok:
		return usage("%v; see %s --help", err, cmd.CommandPath())
	}
	f := invalid.GetFlag()
	text := "cannot be understood; see " + cmd.CommandPath() + " --help"
	switch f.Value.Type() {
	case "int", "int64", "intSlice":
		text = "write a whole number"
	case "float64":
		text = "write a number"
	case "duration":
		text = "write a duration like 500ms, 2s or 1m30s"
	case "bool":
		text = "it is true or false"
	}
	return usage("--%s %s: %s", f.Name, invalid.GetValue(), text)
}

func newHelp(s *streams) *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND]",
		GroupID: "about",
		Short:   "Help about any command",
		RunE: func(cmd *cobra.Command, args []string) error {
			target, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return unknownCommand(cmd.Root(), args[0])
			}
			target.InitDefaultHelpFlag()
			target.InitDefaultVersionFlag()
			return target.Help()
		},
	}
}
