package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"dubbo-wire/internal/exit"
)

// exitCodes describes the exit codes in help and in the manual pages.
var exitCodes = []struct {
	code        int
	short, long string
}{
	{exit.Done, "done", "Done. Of capture also when Ctrl-C, SIGTERM or a limit ended it; with a command behind --, its exit code is passed on."},
	{exit.Nothing, "nothing to report: nothing readable, no frames, nothing matched", "Nothing to report: nothing was readable, there were no frames, or nothing matched."},
	{exit.Usage, "wrong usage, or a place that cannot be written to", "Wrong usage, or a place that cannot be written to."},
	{exit.Coverage, "check found drift or a budget exceeded, or coverage lies below --min-coverage", "check found drift or a budget exceeded, or coverage lies below --min-coverage. It wins over 4."},
	{exit.Partly, "an input ended early; everything readable was reported", "An input ended early or could not be read to its end: everything readable was still reported. Gaps, short snap lengths, connections joined midway and hostile frames are coverage, not exit code 4."},
}

// environment is all environment variables that the program reads.
var environment = []struct{ name, means string }{
	{"NO_COLOR", "If it is set and not empty, nothing is coloured."},
	{"COLUMNS", "The width of tables and help, in columns, in place of the terminal's; also where output is no terminal."},
	{"TMPDIR", "Where temporary files go that have no better place. Files that are written with -o and -w lie beside their names until they are whole."},
}

// topics returns the topics of "help NAME" that are not commands.
func topics() []*cobra.Command {
	var codes, env strings.Builder
	codes.WriteString("The exit code says what became of a run.\n")
	for _, e := range exitCodes {
		fmt.Fprintf(&codes, "\n%d: %s\n", e.code, e.long)
	}
	codes.WriteString("\nA closed pipe (analyze ... | head) is silent and no error. One line on standard error says what was wrong, where, and what to do.\n")
	env.WriteString("There are no configuration files, and of the environment only these are read:\n")
	for _, e := range environment {
		fmt.Fprintf(&env, "\n%s: %s\n", e.name, e.means)
	}
	env.WriteString("\nColours, progress and the full screen of capture are for terminals only; TERM is what says of a terminal that it has none of them (dumb).\n")
	return []*cobra.Command{
		{Use: "exit-codes", Short: "What exit codes mean", Long: codes.String()},
		{Use: "environment", Short: "What is read of the environment", Long: env.String()},
	}
}
