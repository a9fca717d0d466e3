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
	{exit.Done, "success", "Success. For capture also after Ctrl-C, SIGTERM or a limit; with a command after --, capture exits with the code of that command."},
	{exit.Nothing, "nothing to report: no readable input, no frames, or no match", "Nothing to report: no input was readable, there were no frames, or nothing matched."},
	{exit.Usage, "wrong usage, or an output that cannot be written", "Wrong usage, or an output that cannot be written."},
	{exit.Coverage, "check found a difference or an exceeded budget, or coverage is below --min-coverage", "check found a difference or an exceeded budget, or coverage is below --min-coverage. It takes precedence over 4."},
	{exit.Partly, "an input ended early; everything readable was reported", "An input ended early or could not be read to its end; everything readable was reported. Gaps, short snap lengths, connections that began before the capture and malformed frames do not cause this code; they lower the coverage."},
}

// environment is all environment variables that the program reads.
var environment = []struct{ name, means string }{
	{"NO_COLOR", "If set and not empty, disables colours."},
	{"COLUMNS", "The width of tables and help in columns. Without it tables and help are as wide as the terminal; in files and pipes tables have no limit."},
	{"TMPDIR", "The folder for temporary files that belong nowhere else. Files written with -o and -w have a temporary name in their own folder until they are complete."},
}

// terms are the words and columns of reports, in the order in which a reader meets them.
var terms = []struct{ name, means string }{
	{"body bytes", "What the serialization produced: the body of a message without the header of the protocol (16 bytes in Dubbo). Columns named request and response are body bytes. Responses are those of successful calls in the serialization of the request."},
	{"on the wire", "All bytes of a message that crossed the link: body, protocol header, packet headers, retransmissions. Shares (%) and cum %, their running sum, are of bytes on the wire."},
	{"mean, p50, p99, max", "The mean, the median, the value that 99 % of the calls do not exceed, and the largest value. Percentiles are exact within 1 %."},
	{"call", "A request and its response. One-way calls want no response. A call fails (error) if its response has a status other than OK or an exception. Heartbeats and events are not calls."},
	{"latency", "The time from the first byte of the request to the last byte of the response, measured where the capture was taken."},
	{"coverage", "The share of Dubbo's bytes that are in complete frames. Bytes are missing if packets were lost, cut by a short snap length, or sent before the capture began."},
	{"frame", "A message of Dubbo: a header of 16 bytes and a body. Frames are numbered over all inputs; explain --frame N shows one."},
	{"values", "Bytes of the data itself: arguments, results, exceptions."},
	{"names", "Bytes of class and field names."},
	{"attachments", "Bytes of attachments, keys and values."},
	{"envelope", "Bytes of Dubbo's own fields: version, service, method, parameter types, flags."},
	{"overhead", "Bytes of the serialization's own structure: lengths, type marks, references."},
	{"opaque", "Bytes that were not decoded, most often because fields cannot be separated without the class definition; --classpath gives it."},
	{"serialization", "The name belongs to the id in Dubbo's header. An addition in parentheses, as in kryo (Kryo 5), tells formats with the same id apart. dubbo-wire formats lists all."},
}

// topics returns the topics of "help NAME" that are not commands.
func topics() []*cobra.Command {
	var codes, env, words strings.Builder
	codes.WriteString("dubbo-wire exits with one of these codes:\n")
	for _, e := range exitCodes {
		fmt.Fprintf(&codes, "\n%d: %s\n", e.code, e.long)
	}
	codes.WriteString("\nA closed pipe (analyze ... | head) is not an error. Each error is one line on standard error: what is wrong, where, and what to do.\n")
	env.WriteString("dubbo-wire has no configuration files. It reads these environment variables:\n")
	for _, e := range environment {
		fmt.Fprintf(&env, "\n%s: %s\n", e.name, e.means)
	}
	env.WriteString("\nColours, progress and the full screen of capture appear only on a terminal, and not if TERM is dumb.\n")
	words.WriteString("The words and columns of reports:\n")
	for _, w := range terms {
		fmt.Fprintf(&words, "\n%s: %s\n", w.name, w.means)
	}
	return []*cobra.Command{
		{Use: "terms", Short: "What the words and columns of reports mean", Long: words.String()},
		{Use: "exit-codes", Short: "What the exit codes mean", Long: codes.String()},
		{Use: "environment", Short: "Which environment variables are read", Long: env.String()},
	}
}
