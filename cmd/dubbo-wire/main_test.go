package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"dubbo-wire/internal/dev/testkit"
)

// inProcess runs the tests, without colours and widths from outside.
type inProcess struct{ *testing.M }

func (m inProcess) Run() int {
	for _, name := range []string{"COLUMNS", "NO_COLOR"} {
		_ = os.Unsetenv(name)
	}
	untouchedByRecords, untouchedByRedact = 0, 0
	if signal.Ignored(os.Interrupt) { // in the background of a script; programs that the tests start would inherit it
		signal.Notify(make(chan os.Signal, 1), os.Interrupt)
	}
	return m.M.Run()
}

func TestMain(m *testing.M) {
	testscript.Main(inProcess{m}, map[string]func(){
		"dubbo-wire": main, "measured": measured, "replay": replay, "names": names, "replace": replaceText, "pack": pack,
	})
}

// measured is the program, but its last line on standard error is the most memory it had, 0 where the system does not tell,
// and the processor time it took.
func measured() {
	code := run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	status, _ := os.ReadFile("/proc/self/status")
	_, peak, _ := strings.Cut(string(status), "VmHWM:")
	peak, _, _ = strings.Cut(strings.TrimSpace(peak), " ")
	number, _ := strconv.Atoi(peak)
	var used syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used)
	fmt.Fprintf(os.Stderr, "%d kB %.3f s\n", number, time.Duration(used.Utime.Nano()+used.Stime.Nano()).Seconds())
	os.Exit(code)
}

// TestScript runs the scripts of testdata/script, one a topic. Beside testscript's own commands they have
//
//	exits CODE COMMAND...     runs a command that must end with CODE
//	bounded MIB ARGUMENT...   runs the program, which must succeed within 20 s of the processor and so many MiB of memory, and be silent
//	capture NAME FILE         writes a committed capture, decompressed
//	recorded FILE OUT FIRST LAST ADDRESS/PREFIX...
//	                          copies the packets FIRST to LAST to a pcapng file that states these addresses of its interface
//	mkpcap TEXT FILE          makes a capture of a text: see mkpcap
//	cutfile FILE OUT N        copies the first N bytes of a file; -N leaves N off
//	patch FILE OUT OFFSET HEX copies a file with other bytes at an offset
//	balance FILE              checks the sums of a JSON report
//	samecalls REPORT CAPTURE  checks that a JSON report has the calls of a committed capture, with their sizes, in other connections
//	samegroups REPORT REPORT  checks that two JSON reports have the same groups
//	allgroups REPORT REPORT   checks that two JSON reports have the same groups, with the rates of calls, and the same coverage
//	sums JSONL                checks that the intervals of a live report add up to it
//	sections FILE TITLES      checks which sections a table has; the head is Capture
//	oneline stderr            checks that there is one line on standard error, said by the program
//
// and the programs of script_programs_test.go.
func TestScript(t *testing.T) {
	scripts, err := filepath.Glob(filepath.Join("testdata", "script", "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	if testing.Short() { // with the race detector every start of the program takes long
		scripts = scripts[:0]
		for _, name := range []string{"output", "pipe"} {
			scripts = append(scripts, filepath.Join("testdata", "script", name+".txtar"))
		}
	}
	if testkit.Passed() { // the others have no condition of the build tag
		scripts = slices.DeleteFunc(scripts, func(file string) bool {
			text, err := os.ReadFile(file)
			return err == nil && !tagCondition.Match(text)
		})
	}
	testscript.Run(t, testscript.Params{
		Files:               scripts,
		UpdateScripts:       *testkit.Update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			dir, err := filepath.Abs(testkit.Dir())
			if err != nil {
				return err
			}
			env.Setenv("CAPTURES", dir)
			env.Setenv("EXAMPLES", filepath.Join(filepath.Dir(filepath.Dir(dir)), "examples"))
			env.Setenv("MODELS", filepath.Join(filepath.Dir(dir), "models"))
			env.Setenv("CLASSES", filepath.Join(filepath.Dir(filepath.Dir(dir)), "internal", "decode", "classfile", "testdata", "classes"))
			if testkit.All { // for live captures
				env.Setenv("PORT", strconv.Itoa(freePort(t)))
			}
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits": cmdExits, "bounded": cmdBounded, "capture": cmdCapture, "recorded": cmdRecorded, "mkpcap": cmdMkpcap, "cutfile": cmdCutFile, "patch": cmdPatch,
			"balance": cmdBalance, "oneline": cmdOneLine, "samecalls": cmdSameCalls, "samegroups": cmdSameGroups, "allgroups": cmdAllGroups, "sums": cmdSums, "callfiles": cmdCallFiles,
			"sections": cmdSections,
		},
		Condition: func(name string) (bool, error) {
			if name != "live" && name != "all" {
				return false, fmt.Errorf("no condition %q", name)
			}
			if !testkit.All || name == "all" {
				return testkit.All, nil
			}
			missing := noLive()
			if missing != "" {
				t.Log("no live capture here: " + missing)
			}
			return missing == "", nil
		},
	})
}

// tagCondition matches the conditions of TestScript and what is set only with the build tag alltests.
var tagCondition = regexp.MustCompile(`\[!?(live|all)\]|\$\{?PORT\b`)

func cmdExits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

func cmdBounded(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: bounded MIB ARGUMENT...")
	}
	limit, err := strconv.Atoi(args[0])
	ts.Check(err)
	ts.Check(ts.Exec("measured", args[1:]...))
	text := strings.TrimSpace(ts.ReadFile("stderr"))
	var peak int
	var seconds float64
	if n, err := fmt.Sscanf(text, "%d kB %f s", &peak, &seconds); n != 2 || strings.Contains(text, "\n") {
		ts.Fatalf("not silent: %s: %v", text, err)
	}
	if seconds > 20 {
		ts.Fatalf("it took %v s of the processor", seconds)
	}
	if peak > limit<<10 {
		ts.Fatalf("%d kB of memory, more than %d MiB", peak, limit)
	}
}

func cmdCapture(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: capture NAME FILE")
	}
	for _, c := range testkit.Captures() {
		if c.Name == args[0] {
			data, err := c.Decompress()
			ts.Check(err)
			ts.Check(os.WriteFile(ts.MkAbs(args[1]), data, 0o666))
			return
		}
	}
	ts.Fatalf("no capture %q", args[0])
}

func cmdMkpcap(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: mkpcap TEXT FILE")
	}
	data, err := mkpcap(ts.ReadFile(args[0]))
	if err != nil {
		ts.Fatalf("%s: %v", args[0], err)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), data, 0o666))
}

func cmdCutFile(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: cutfile FILE OUT N")
	}
	data := ts.ReadFile(args[0])
	n, err := strconv.Atoi(args[2])
	ts.Check(err)
	if n < 0 {
		n += len(data)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(data[:n]), 0o666))
}

func cmdPatch(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 4 {
		ts.Fatalf("usage: patch FILE OUT OFFSET HEX")
	}
	data := []byte(ts.ReadFile(args[0]))
	at, err := strconv.Atoi(args[2])
	ts.Check(err)
	b, err := parseBytes(args[3])
	ts.Check(err)
	if copy(data[at:], b) != len(b) {
		ts.Fatalf("%d bytes at %d do not fit into %d", len(b), at, len(data))
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), data, 0o666))
}

func cmdBalance(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: balance FILE")
	}
	r, err := parseReport([]byte(ts.ReadFile(args[0])))
	ts.Check(err)
	ts.Check(r.balance())
}

func cmdSections(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: sections FILE TITLES")
	}
	var titles []string
	for _, block := range strings.Split(ts.ReadFile(args[0]), "\n\n") {
		titles = append(titles, regexp.MustCompile(`^(Capture|[A-Z ]*[A-Z])`).FindString(block))
	}
	if got := strings.Join(titles, ","); got != args[1] {
		ts.Fatalf("sections: %s", got)
	}
}

func cmdOneLine(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: oneline FILE")
	}
	text := ts.ReadFile(args[0])
	if strings.Count(text, "\n") != 1 || !strings.HasSuffix(text, "\n") {
		ts.Fatalf("not one line: %q", text)
	}
	if !strings.HasPrefix(text, "dubbo-wire: ") || strings.ContainsRune(text, '\t') || len(text) > 400 {
		ts.Fatalf("not a clear line: %q", text)
	}
	if strings.Contains(text, "strconv.") || strings.Contains(text, "goroutine") {
		ts.Fatalf("a line for programmers: %q", text)
	}
}

// stats are the fields of a distribution that tests look at.
type stats struct{ Total float64 }

// direction is one direction of a group of a report.
type direction struct {
	Count                            int64
	BodyBytes, FrameBytes, WireBytes stats
}

// jsonReport is what tests read of a JSON report.
type jsonReport struct {
	Schema  string
	Inputs  []struct{ Packets, Bytes, TruncatedPackets int64 }
	Seconds float64
	Wire    struct {
		LinkBytes, RPCBytes, EventBytes, IncompleteBytes, OtherLinkBytes, RetransmittedBytes, NotTCPBytes int64
		OtherTCP                                                                                          []struct{ Port, Bytes int64 }
	}
	Coverage struct {
		Percent                                                                   float64
		TCPPayloadBytes, FrameBytes, OtherBytes, SkippedBytes, GapBytes           int64
		Other                                                                     []struct{ Bytes int64 }
		Connections, Frames, FramesIncomplete, Heartbeats, Events                 int64
		RequestsWithoutResponse, ResponsesWithoutRequest, ConnectionsJoinedMidway int64
	}
	By     []string
	Groups []struct {
		Protocol                          string
		Calls, OneWay, Errors, Exceptions int64
		Request, Response                 direction
	}
}

// balance checks the sums that the contract promises.
func (r *jsonReport) balance() error {
	c, w := &r.Coverage, &r.Wire
	other, otherTCP, bytes := int64(0), int64(0), int64(0)
	for _, o := range c.Other {
		other += o.Bytes
	}
	for _, o := range w.OtherTCP {
		otherTCP += o.Bytes
	}
	for _, in := range r.Inputs {
		bytes += in.Bytes
	}
	groups := w.EventBytes + w.IncompleteBytes
	for i := range r.Groups {
		g := &r.Groups[i]
		groups += int64(g.Request.WireBytes.Total + g.Response.WireBytes.Total)
		for _, d := range []direction{g.Request, g.Response} {
			if g.Protocol == "dubbo" && d.FrameBytes.Total != d.BodyBytes.Total+16*float64(d.Count) {
				return fmt.Errorf("group %d: %v frame bytes of %v body bytes in %d messages", i, d.FrameBytes.Total, d.BodyBytes.Total, d.Count)
			}
		}
	}
	for _, sum := range []struct {
		what      string
		got, want int64
	}{
		{"frameBytes + otherBytes + skippedBytes = tcpPayloadBytes", c.FrameBytes + c.OtherBytes + c.SkippedBytes, c.TCPPayloadBytes},
		{"rpcBytes + otherLinkBytes = linkBytes", w.RPCBytes + w.OtherLinkBytes, w.LinkBytes},
		{"groups + eventBytes + incompleteBytes = rpcBytes", groups, w.RPCBytes},
		{"sum of other = otherBytes", other, c.OtherBytes},
		{"sum of inputs' bytes = linkBytes", bytes, w.LinkBytes},
	} {
		if sum.got != sum.want {
			return fmt.Errorf("%s: %d, not %d", sum.what, sum.got, sum.want)
		}
	}
	if otherTCP+w.NotTCPBytes > w.OtherLinkBytes {
		return fmt.Errorf("%d bytes of other TCP and %d of no TCP are more than %d other bytes", otherTCP, w.NotTCPBytes, w.OtherLinkBytes)
	}
	if c.Percent < 0 || c.Percent > 100 {
		return fmt.Errorf("%v %%", c.Percent)
	}
	return nil
}
