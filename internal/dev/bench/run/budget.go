package main

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"dubbo-wire/internal/dev/bench/traffic"
)

// The budget: what analyze may take, as a multiple of something measured in the same rounds, and its peak memory in MiB
// (0: no bound).
var budget = []struct {
	mode   string
	what   string // that the ratio is of
	row    string
	base   string
	wall   bool // wall time instead of CPU time
	most   float64
	peak   float64
	asBase bool // peak memory as that of base, give or take
	each   bool // a message, not the whole capture
}{
	{mode: "sizes by serialization, service, method; pairing, percentiles", what: "tcpdump", row: "sizes", base: "tcpdump", most: 0.75, peak: 32},
	{mode: "every byte owned, all values walked (Hessian2)", what: "tcpdump", row: "parts", base: "tcpdump", most: 2.5, peak: 64},
	{mode: "two cores, sizes", what: "wall time of one", row: "sizes 2", base: "sizes", wall: true, most: 0.62},
	{mode: "two cores, every byte owned", what: "wall time of one", row: "parts 2", base: "parts", wall: true, most: 0.62},
	{mode: "ten times the file", what: "a tenth of it", row: "sizes", base: "sizes tenth", most: 10.7, asBase: true},
	{mode: "200 000 connections open at once", what: "tcpdump", row: "sizes many", base: "tcpdump many", most: 2.5, peak: 160},
	{mode: "1 % of the packets with payload lost", what: "no loss", row: "sizes lossy", base: "sizes", most: 1.2, asBase: true},
	{mode: "on screen, with findings", what: "json", row: "screen", base: "sizes", most: 1.25},
	// Not in the budget, but a ratio belongs to its traffic.
	{mode: "small frames only", what: "tcpdump", row: "sizes small", base: "tcpdump small"},
	{mode: "packets of up to 32 KiB", what: "tcpdump", row: "sizes offload", base: "tcpdump offload"},
	{mode: "Triple with equal values, sizes, a message", what: "the dubbo protocol", row: "sizes triple", base: "sizes", each: true, most: 1.5, peak: 32},
	{mode: "REST with equal bodies, sizes, a message", what: "the dubbo protocol", row: "sizes rest", base: "sizes", each: true, most: 2, peak: 48},
	{mode: "Triple, every byte owned, a message", what: "the dubbo protocol", row: "parts triple", base: "parts", each: true},
	{mode: "Triple, frames, a message", what: "the dubbo protocol", row: "frames triple", base: "frames tenth", each: true},
	{mode: "pcapng", what: "pcap", row: "sizes pcapng", base: "sizes tenth"},
	{mode: "zstd", what: "no compression", row: "sizes zstd", base: "sizes tenth"},
	{mode: "gzip", what: "no compression", row: "sizes gzip", base: "sizes tenth"},
}

// rates are what commands shall do for a capture of the default mix, in MB of it per second of processor time.
var rates = []struct {
	mode, row, file string
	least           float64
}{
	{mode: "html, from a sample", row: "html", least: 250},
	{mode: "details, from a sample", row: "details", least: 250},
	{mode: "50,000 methods, sizes", row: "sizes methods", file: "methods", least: 50},
	{mode: "50,000 methods, html", row: "html methods", file: "methods", least: 50},
	{mode: "frames", row: "frames tenth", file: "tenth", least: 150},
	{mode: "calls with values", row: "calls", file: "tenth", least: 150},
	{mode: "calls without values", row: "calls no values", file: "tenth", least: 400},
	{mode: "calls of one service with values", row: "calls of one", file: "tenth", least: 250},
	{mode: "explain of the last frame", row: "explain", file: "tenth", least: 400},
	{mode: "calls as Parquet", row: "parquet", file: "tenth", least: 250},
	{mode: "redact", row: "redact", file: "tenth", least: 100},
	{mode: "Triple, frames", row: "frames triple", file: "triple tenth", least: 150},
	{mode: "Triple, calls with values", row: "calls triple", file: "triple tenth", least: 150},
	{mode: "Triple, redact", row: "redact triple", file: "triple tenth", least: 100},
	{mode: "REST, frames", row: "frames rest", file: "rest tenth", least: 150},
	{mode: "REST, calls with values", row: "calls rest", file: "rest tenth", least: 150},
	{mode: "REST, redact", row: "redact rest", file: "rest tenth", least: 100},
}

// measureBudget makes the captures, checks what dubbo-wire finds in them, measures all rows in turn, and reports whether
// the budget was held. scale shrinks all captures, for a trial.
func measureBudget(out io.Writer, dir string, rounds int, scale float64) (bool, error) {
	program := filepath.Join(dir, "dubbo-wire")
	files := make(map[string]string)
	messages := make(map[string]int64)
	for _, c := range []struct {
		name string
		cfg  traffic.Config
	}{
		{"", traffic.Config{Size: 1e9, Mix: "default", Connections: 64}},
		{"tenth", traffic.Config{Size: 1e8, Mix: "default", Connections: 64}},
		{"many", traffic.Config{Size: 1e9, Mix: "default", Connections: 200_000}},
		{"small", traffic.Config{Size: 3e8, Mix: "small", Connections: 64}},
		{"methods", traffic.Config{Size: 1e8, Mix: "methods", Connections: 64}},
		{"offload", traffic.Config{Size: 3e8, Mix: "offload", Connections: 64}},
		{"triple", traffic.Config{Size: 1e9, Mix: "triple", Connections: 64}},
		{"rest", traffic.Config{Size: 1e9, Mix: "rest", Connections: 64}},
		{"triple tenth", traffic.Config{Size: 1e8, Mix: "triple", Connections: 64}},
		{"rest tenth", traffic.Config{Size: 1e8, Mix: "rest", Connections: 64}},
	} {
		c.cfg.Size = int64(float64(c.cfg.Size) * scale)
		if c.name == "methods" {
			var err error
			if files[c.name], err = prepareApart(out, dir, c.cfg); err != nil {
				return false, err
			}
			continue
		}
		file, truth, err := prepare(out, dir, c.cfg)
		if err != nil {
			return false, err
		}
		files[c.name], messages[c.name] = file, truth.Frames
		if c.name == "tenth" {
			if err := start(filepath.Join(dir, "gencapture"), "-copies", "-size", fmt.Sprint(c.cfg.Size), "-o", filepath.Join(dir, "copied.pcap")); err != nil {
				return false, err
			}
			for _, end := range []string{"pcapng", "zst", "gz"} {
				files[end] = filepath.Join(dir, "copied.pcap."+end)
			}
		}
		if c.name == "" {
			files["lossy"] = strings.TrimSuffix(file, ".pcap") + "-lossy.pcap"
			lost, err := lose(file, files["lossy"], 0.01)
			if err == nil {
				err = checkLossy(program, files["lossy"], truth)
			}
			if err != nil {
				return false, err
			}
			fmt.Fprintf(out, "         the same, with %d packets with payload left out\n", lost)
		}
	}
	describeMachine(out)
	analyze := func(name, file string, procs int, more ...string) row {
		args := append([]string{program, "analyze", files[file]}, more...)
		if name != "screen" { // which also looks into some bodies, for its findings
			args = append(args, "--format", "json")
		}
		return row{name: name, args: append(args, "--jobs", fmt.Sprint(procs)), procs: procs, messages: messages[file]}
	}
	command := func(name, file, command string, more ...string) row {
		return row{name: name, args: append([]string{program, command, files[file], "--jobs", "1"}, more...), procs: 1, messages: messages[file]}
	}
	parquet, redacted := filepath.Join(dir, "calls.parquet"), filepath.Join(dir, "redacted.pcapng")
	tcpdump := func(name, file string) row {
		return row{name: name, args: []string{"tcpdump", "-nr", files[file], "-w", os.DevNull}, procs: 1}
	}
	// Rows that are compared stand beside each other.
	rows := []row{
		tcpdump("tcpdump", ""), analyze("sizes", "", 1), analyze("sizes triple", "triple", 1), analyze("sizes 2", "", 2), analyze("sizes lossy", "lossy", 1),
		analyze("sizes tenth", "tenth", 1), analyze("screen", "", 1),
		analyze("parts", "", 1, "--parts"), analyze("parts triple", "triple", 1, "--parts"), analyze("parts 2", "", 2, "--parts"),
		tcpdump("tcpdump many", "many"), analyze("sizes many", "many", 1),
		tcpdump("tcpdump small", "small"), analyze("sizes small", "small", 1),
		tcpdump("tcpdump offload", "offload"), analyze("sizes offload", "offload", 1),
		analyze("sizes methods", "methods", 1), command("html methods", "methods", "analyze", "--format", "html"),
		analyze("sizes rest", "rest", 1), analyze("sizes pcapng", "pcapng", 1), analyze("sizes zstd", "zst", 1), analyze("sizes gzip", "gz", 1),
		command("html", "", "analyze", "--format", "html"), command("details", "", "analyze", "--details"),
		command("frames tenth", "tenth", "frames", "--format", "jsonl"), command("frames triple", "triple tenth", "frames", "--format", "jsonl"),
		command("calls", "tenth", "calls", "--format", "jsonl"), command("calls no values", "tenth", "calls", "--format", "jsonl", "--no-values"),
		command("calls of one", "tenth", "calls", "--format", "jsonl", "--service", "UserService"),
		command("explain", "tenth", "explain", "--frame", fmt.Sprint(messages["tenth"])),
		command("parquet", "tenth", "calls", "-o", parquet), command("redact", "tenth", "redact", "-o", redacted),
		command("calls triple", "triple tenth", "calls", "--format", "jsonl"), command("redact triple", "triple tenth", "redact", "-o", redacted),
		command("frames rest", "rest tenth", "frames", "--format", "jsonl"), command("calls rest", "rest tenth", "calls", "--format", "jsonl"),
		command("redact rest", "rest tenth", "redact", "-o", redacted),
	}
	if err := measureRows(rows, rounds, slices.Collect(maps.Values(files))...); err != nil {
		return false, err
	}
	held := writeBudget(out, rows)
	return writeRates(out, rows, files) && held, nil
}

// writeBudget prints the rows and the budget, and reports whether it was held.
func writeBudget(out io.Writer, rows []row) bool {
	byName := make(map[string]*row)
	for i := range rows {
		byName[rows[i].name] = &rows[i]
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "CPU s\twall s\tpeak MiB\tns/message\tcommand")
	for i := range rows {
		r := &rows[i]
		each := ""
		if r.messages > 0 {
			each = fmt.Sprint(int64(r.cpu()) / r.messages)
		}
		fmt.Fprintf(w, "%.3f\t%.3f\t%.1f\t%s\t%s\n", r.cpu().Seconds(), r.wall().Seconds(), mib(r.peak()), each, r.command())
	}
	_ = w.Flush()
	fmt.Fprintln(out)
	held := true
	w = tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "mode\tratio\tbudget\tpeak MiB\tbudget\t")
	for _, b := range budget {
		r, base := byName[b.row], byName[b.base]
		of := func(s *sample) time.Duration { return s.cpu }
		if b.wall {
			of = func(s *sample) time.Duration { return s.wall }
		}
		ratio := r.ratio(base, of)
		if b.each {
			ratio *= float64(base.messages) / float64(r.messages)
		}
		verdict, most, peak := "", "", ""
		if b.most > 0 {
			verdict, most = "ok", fmt.Sprintf("%.2f", b.most)
			if ratio > b.most {
				verdict = "MISSED"
			}
		}
		bound := b.peak
		if b.asBase {
			bound = 1.1*mib(base.peak()) + 2
		}
		if bound > 0 {
			peak = fmt.Sprintf("%.0f", bound)
			if mib(r.peak()) > bound {
				verdict = "MISSED"
			}
		}
		held = held && verdict != "MISSED"
		fmt.Fprintf(w, "%s\t%.2f × %s\t%s\t%.1f\t%s\t%s\n", b.mode, ratio, b.what, most, mib(r.peak()), peak, verdict)
	}
	_ = w.Flush()
	fmt.Fprintf(out, "\nmedians of %d rounds, in which the commands ran in turn; ratios are medians of the ratios within a round\n", len(rows[0].runs))
	return held
}

// writeRates prints how fast the commands are that print more than sizes, and reports whether all are fast enough.
func writeRates(out io.Writer, rows []row, files map[string]string) bool {
	held := true
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "\nmode\tMB per CPU s\tat least\t")
	for _, r := range rates {
		i := slices.IndexFunc(rows, func(x row) bool { return x.name == r.row })
		info, err := os.Stat(files[r.file])
		if err != nil {
			return false
		}
		rate, verdict := float64(info.Size())/1e6/rows[i].cpu().Seconds(), "ok"
		if rate < r.least {
			held, verdict = false, "MISSED"
		}
		fmt.Fprintf(w, "%s\t%.0f\t%.0f\t%s\n", r.mode, rate, r.least, verdict)
	}
	_ = w.Flush()
	return held
}

func mib(n int64) float64 { return float64(n) / (1 << 20) }

// lose copies a capture without a share of its packets with payload, chosen at random but always the same, and returns
// how many.
func lose(from, to string, share float64) (int, error) {
	in, err := os.Open(from)
	if err != nil {
		return 0, err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return 0, err
	}
	defer out.Close()
	r, w := bufio.NewReaderSize(in, 1<<20), bufio.NewWriterSize(out, 1<<20)
	if _, err := io.CopyN(w, r, 24); err != nil {
		return 0, err
	}
	rng := rand.New(rand.NewPCG(1, 2))
	lost := 0
	for head, data := make([]byte, 16), make([]byte, 0, 1<<16); ; {
		if _, err := io.ReadFull(r, head); errors.Is(err, io.EOF) {
			return lost, w.Flush()
		} else if err != nil {
			return lost, err
		}
		data = data[:binary.LittleEndian.Uint32(head[8:])]
		if _, err := io.ReadFull(r, data); err != nil {
			return lost, err
		}
		if len(data) > 66 && rng.Float64() < share {
			lost++
			continue
		}
		if _, err := w.Write(head); err != nil {
			return lost, err
		}
		if _, err := w.Write(data); err != nil {
			return lost, err
		}
	}
}
