package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"dubbo-wire/internal/dev/bench"
)

// row is a command and its runs.
type row struct {
	name  string
	args  []string
	procs int  // threads
	once  bool // it takes long: only in the first round
	runs  []sample
	// messages is the number of messages in the capture, 0 where it does not matter.
	messages int64
}

// sample is one run.
type sample struct {
	cpu  time.Duration // user and system
	wall time.Duration
	peak int64 // resident memory in bytes, 0 where the system does not tell
}

// measure runs the command once, its output going nowhere.
func (r *row) measure() error {
	cmd := exec.Command(r.args[0], r.args[1:]...)
	cmd.Env = append(os.Environ(), fmt.Sprintf("GOMAXPROCS=%d", r.procs))
	var errs bytes.Buffer
	cmd.Stderr = &errs
	start := time.Now()
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w: %s", r.command(), err, bytes.TrimSpace(errs.Bytes()))
	}
	s := cmd.ProcessState
	r.runs = append(r.runs, sample{cpu: s.UserTime() + s.SystemTime(), wall: time.Since(start), peak: bench.PeakMemory(s)})
	return nil
}

// measureRows runs the commands in turn, with the files that they read in the page cache.
func measureRows(rows []row, rounds int, files ...string) error {
	for _, f := range files {
		if err := warm(f); err != nil {
			return err
		}
	}
	for round := range rounds {
		for i := range rows {
			if rows[i].once && round > 0 {
				continue
			}
			if err := rows[i].measure(); err != nil {
				return err
			}
		}
	}
	return nil
}

// command is the command as one would type it.
func (r *row) command() string {
	words := slices.Clone(r.args)
	words[0] = filepath.Base(words[0])
	for i, w := range words {
		if strings.HasSuffix(w, ".pcap") {
			words[i] = filepath.Base(w)
		}
	}
	return strings.Join(words, " ")
}

func (r *row) cpu() time.Duration {
	return median(len(r.runs), func(i int) time.Duration { return r.runs[i].cpu })
}

func (r *row) peak() int64 {
	return median(len(r.runs), func(i int) int64 { return r.runs[i].peak })
}

func (r *row) wall() time.Duration {
	return median(len(r.runs), func(i int) time.Duration { return r.runs[i].wall })
}

// ratio is a time as a multiple of that of base, run by run.
func (r *row) ratio(base *row, of func(*sample) time.Duration) float64 {
	return median(len(r.runs), func(i int) float64 { return float64(of(&r.runs[i])) / float64(of(&base.runs[i])) })
}

// median returns the median of n values.
func median[T int64 | float64 | time.Duration](n int, of func(i int) T) T {
	values := make([]T, n)
	for i := range values {
		values[i] = of(i)
	}
	slices.Sort(values)
	return (values[(n-1)/2] + values[n/2]) / 2
}

// write prints the table, whose first row is what the others are compared with.
func write(out io.Writer, rows []row, fileBytes int64) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "CPU s\t× tcpdump\tpeak MiB\tMB per CPU s\t  command")
	for i := range rows {
		r := &rows[i]
		fmt.Fprintf(w, "%.3f\t%.2f\t%.1f\t%.0f\t  %s\n", r.cpu().Seconds(),
			r.ratio(&rows[0], func(s *sample) time.Duration { return s.cpu }), mib(r.peak()),
			float64(fileBytes)/1e6/r.cpu().Seconds(), r.command())
	}
	_ = w.Flush()
	fmt.Fprintf(out, "\nmedians of %d rounds (of frames and calls one)\n", len(rows[0].runs))
}
