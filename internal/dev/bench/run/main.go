// Run measures dubbo-wire against tcpdump, which only reads and writes packets, on captures that it makes for that.
//
//	go run ./internal/dev/bench/run [-rounds 5]
//	go run ./internal/dev/bench/run -only formats [-rounds 21]
//	go run ./internal/dev/bench/run -mix small [-size 300MB] [-connections 64] [-rounds 5]
//
// The first measures every row of the budget (budget.go) and every serialization (formats.go), the second the latter alone,
// the third the commands on one capture. It is started at the top of the repository.
//
// It works in the folder dubbo-wire-bench of the temporary folder: the capture stays there for the next time, and
// dubbo-wire is built there, without cgo. Nothing is measured unless dubbo-wire finds in the capture what was written.
// Then the commands run in turn, one thread each, with the capture in the page cache; a row is the median of its
// rounds, its ratio the median of the ratios to tcpdump's run of the same round.
//
// The exit code is 1 when something failed, found something else, or missed a bar.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"

	"dubbo-wire/internal/dev/bench"
	"dubbo-wire/internal/dev/bench/traffic"
)

func main() {
	if err := run(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

var errMissed = errors.New("the budget was missed")

func run(out io.Writer) error {
	cfg := traffic.Config{Size: 1e9}
	traffic.SizeVar(&cfg.Size, "size of the capture, like 100MB (default 1GB)")
	flag.StringVar(&cfg.Mix, "mix", "default", "what the traffic consists of: default, small, offload, triple, rest or http2")
	flag.IntVar(&cfg.Connections, "connections", 64, "connections open at once")
	rounds := flag.Int("rounds", 5, "how often each command runs")
	scale := flag.Float64("scale", 1, "shrink the captures of the budget, for a trial")
	only := flag.String("only", "", "formats: measure the serializations alone; check: make one capture and check what dubbo-wire finds in it")
	flag.Parse()
	one, given := false, false // capture, rounds
	flag.Visit(func(f *flag.Flag) {
		one = one || f.Name != "rounds" && f.Name != "scale" && f.Name != "only"
		given = given || f.Name == "rounds"
	})
	if flag.NArg() > 0 || *rounds < 1 || cfg.Connections < 1 || *only != "" && *only != "check" && (*only != "formats" || one) {
		flag.Usage()
		os.Exit(2)
	}
	inTurn := func() (bool, error) {
		n := formatRounds
		if given {
			n = *rounds
		}
		return measureFormats(out, captures, n)
	}
	if *only == "formats" {
		held, err := inTurn()
		if err == nil && !held {
			err = errMissed
		}
		return err
	}
	if _, err := exec.LookPath("tcpdump"); err != nil {
		return errors.New("tcpdump is what dubbo-wire is compared with, and is not here: apt-get install tcpdump")
	}
	dir := filepath.Join(os.TempDir(), "dubbo-wire-bench")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := build(dir); err != nil {
		return err
	}
	if !one && *only == "" {
		held, err := measureBudget(out, dir, *rounds, *scale)
		if err != nil {
			return err
		}
		fmt.Fprintln(out)
		also, err := inTurn()
		if err == nil && !(held && also) {
			err = errMissed
		}
		return err
	}
	file, truth, err := prepare(out, dir, cfg)
	if err != nil {
		return err
	}
	if *only != "" {
		return nil
	}
	describeMachine(out)
	program := filepath.Join(dir, "dubbo-wire")
	rows := []row{
		{procs: 1, args: []string{"tcpdump", "-nr", file, "-w", os.DevNull}},
		{procs: 1, args: []string{program, "analyze", file, "--format", "json", "--jobs", "1"}},
		{procs: 1, args: []string{program, "analyze", file, "--jobs", "1"}}, // the screen, with its findings
		{procs: 1, args: []string{program, "analyze", file, "--parts", "--format", "json", "--jobs", "1"}},
		{procs: 1, args: []string{program, "frames", file, "--format", "jsonl", "--jobs", "1"}, once: true},
		{procs: 1, args: []string{program, "calls", file, "--format", "jsonl", "--jobs", "1"}, once: true},
	}
	if err := measureRows(rows, *rounds, file); err != nil {
		return err
	}
	write(out, rows, truth.FileBytes)
	return nil
}

// prepareApart is prepare in another process, for a capture of which the truth is large: see generate.
func prepareApart(out io.Writer, dir string, cfg traffic.Config) (file string, err error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	cmd := exec.Command(self, "-only", "check", "-mix", cfg.Mix, "-size", strconv.FormatInt(cfg.Size, 10), "-connections", strconv.Itoa(cfg.Connections))
	cmd.Stdout, cmd.Stderr = out, os.Stderr
	return captureFile(dir, cfg), cmd.Run()
}

func captureFile(dir string, cfg traffic.Config) string {
	return filepath.Join(dir, fmt.Sprintf("%s-%d-%d.pcap", cfg.Mix, cfg.Connections, cfg.Size))
}

// prepare makes a capture in dir, unless it is there, checks what dubbo-wire finds in it, and describes it.
func prepare(out io.Writer, dir string, cfg traffic.Config) (file string, t *traffic.Truth, err error) {
	file = captureFile(dir, cfg)
	if t, err = generate(dir, file, cfg); err != nil {
		return file, nil, err
	}
	fmt.Fprintf(out, "capture  mix %s, %.1f MB, %d packets (%d sent again, %d swapped), %d connections, %d frames\n",
		t.Mix, float64(t.FileBytes)/1e6, t.Packets, t.Retransmissions, t.Swapped, t.Connections, t.Frames)
	return file, t, check(filepath.Join(dir, "dubbo-wire"), file, t)
}

// describeMachine ends the description of what is measured.
func describeMachine(out io.Writer) {
	fmt.Fprintf(out, "checked  every frame found, none invented; calls and body bytes of every method equal\n")
	fmt.Fprintf(out, "machine  %s, %d cores, %s\n\n", bench.CPUModel(), runtime.NumCPU(), runtime.Version())
}

// build makes dubbo-wire and the generator, as they are now.
func build(dir string) error {
	cmd := exec.Command("go", "build", "-trimpath", "-o", dir+string(filepath.Separator), "dubbo-wire/cmd/dubbo-wire", "dubbo-wire/internal/dev/bench/gencapture")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("go build: %w", err)
	}
	// Pages of the file count as memory of the program, and 2 to 9 MiB more of them if the page cache has it in larger pieces.
	return forget(filepath.Join(dir, "dubbo-wire"))
}

// forget drops what the page cache has of a file.
func forget(file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := drop(f); err != nil {
		return fmt.Errorf("%s: the page cache: %w", file, err)
	}
	return nil
}

// generate makes the capture unless it is there. Another process does it: the peak memory of the programs measured
// starts with that of the one that starts them.
func generate(dir, file string, cfg traffic.Config) (*traffic.Truth, error) {
	if t := traffic.ReadTruth(file, cfg); t != nil {
		return t, nil
	}
	if err := start(filepath.Join(dir, "gencapture"), "-o", file, "-size", strconv.FormatInt(cfg.Size, 10),
		"-mix", cfg.Mix, "-connections", strconv.Itoa(cfg.Connections)); err != nil {
		return nil, err
	}
	t := traffic.ReadTruth(file, cfg)
	if t == nil {
		return nil, fmt.Errorf("%s is not what was asked for", file)
	}
	return t, nil
}

// start runs a program that makes files.
func start(program string, args ...string) error {
	cmd := exec.Command(program, args...)
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", filepath.Base(program), err)
	}
	return nil
}

// warm reads the file, so that all find it in the page cache. It drops the cached pages first: those that a program wrote may be in smaller
// pieces, which take up to three times as long to copy.
func warm(file string) error {
	if err := forget(file); err != nil {
		return err
	}
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(io.Discard, f)
	return err
}
