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
	flag.Func("size", "size of the capture, like 100MB (default 1GB)", func(s string) (err error) {
		cfg.Size, err = traffic.ParseSize(s)
		return err
	})
	flag.StringVar(&cfg.Mix, "mix", "default", "what the traffic consists of: default, small or offload")
	flag.IntVar(&cfg.Connections, "connections", 64, "connections open at once")
	rounds := flag.Int("rounds", 5, "how often each command runs")
	scale := flag.Float64("scale", 1, "shrink the captures of the budget, for a trial")
	only := flag.String("only", "", "formats: measure the serializations alone")
	flag.Parse()
	one, given := false, false // capture, rounds
	flag.Visit(func(f *flag.Flag) {
		one = one || f.Name != "rounds" && f.Name != "scale" && f.Name != "only"
		given = given || f.Name == "rounds"
	})
	if flag.NArg() > 0 || *rounds < 1 || cfg.Connections < 1 || *only != "" && (*only != "formats" || one) {
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
	if *only != "" {
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
	if !one {
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
	file := captureFile(dir, cfg)
	truth, err := generate(dir, file, cfg)
	if err != nil {
		return err
	}
	describe(out, truth)
	program := filepath.Join(dir, "dubbo-wire")
	if err := check(program, file, truth); err != nil {
		return err
	}
	fmt.Fprintf(out, "checked  every frame found, calls and body bytes of %d methods equal\n", len(truth.Methods))
	fmt.Fprintf(out, "machine  %s, %d cores, %s\n\n", cpuModel(), runtime.NumCPU(), runtime.Version())

	rows := []row{
		{args: []string{"tcpdump", "-nr", file, "-w", os.DevNull}},
		{args: []string{program, "analyze", file, "--format", "json", "--jobs", "1"}},
		{args: []string{program, "analyze", file, "--jobs", "1"}}, // the screen, with its findings
		{args: []string{program, "analyze", file, "--parts", "--format", "json", "--jobs", "1"}},
		{args: []string{program, "frames", file, "--format", "jsonl", "--jobs", "1"}, once: true},
		{args: []string{program, "calls", file, "--format", "jsonl", "--jobs", "1"}, once: true},
	}
	if err := warm(file); err != nil {
		return err
	}
	for round := range *rounds {
		for i := range rows {
			if rows[i].once && round > 0 {
				continue
			}
			rows[i].procs = 1
			if err := rows[i].measure(); err != nil {
				return err
			}
		}
	}
	write(out, rows, truth.FileBytes)
	return nil
}

func captureFile(dir string, cfg traffic.Config) string {
	return filepath.Join(dir, fmt.Sprintf("%s-%d-%d.pcap", cfg.Mix, cfg.Connections, cfg.Size))
}

func describe(out io.Writer, t *traffic.Truth) {
	fmt.Fprintf(out, "capture  mix %s, %.1f MB, %d packets (%d sent again, %d swapped), %d connections, %d frames\n",
		t.Mix, float64(t.FileBytes)/1e6, t.Packets, t.Retransmissions, t.Swapped, t.Connections, t.Frames)
}

// build makes dubbo-wire and the generator, as they are now.
func build(dir string) error {
	cmd := exec.Command("go", "build", "-trimpath", "-o", dir+string(filepath.Separator), "dubbo-wire/cmd/dubbo-wire", "dubbo-wire/internal/dev/bench/gencapture")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("go build: %w", err)
	}
	return nil
}

// generate makes the capture unless it is there. Another process does it: the peak memory of the programs measured
// starts with that of the one that starts them.
func generate(dir, file string, cfg traffic.Config) (*traffic.Truth, error) {
	if t := traffic.ReadTruth(file, cfg); t != nil {
		return t, nil
	}
	cmd := exec.Command(filepath.Join(dir, "gencapture"), "-o", file, "-size", strconv.FormatInt(cfg.Size, 10),
		"-mix", cfg.Mix, "-connections", strconv.Itoa(cfg.Connections))
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("gencapture: %w", err)
	}
	t := traffic.ReadTruth(file, cfg)
	if t == nil {
		return nil, fmt.Errorf("%s is not what was asked for", file)
	}
	return t, nil
}

// warm reads the file, so that all find it in the page cache.
func warm(file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{f}, make([]byte, 1<<20))
	return err
}
