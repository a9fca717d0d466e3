// Soak runs real Dubbo peers (testdata/rig) under load for long beside `dubbo-wire capture`, and fails when its memory grows or a
// packet is dropped. For a part of the time tcpdump -w /dev/null captures the same interface: what both pay for a gigabyte is
// compared.
//
// The load is as high as the machine gives: many threads that call as fast as answers come, in four serializations. Beside it,
// connections come and go (short ones, ended in order, with a request that is never answered each), and others are broken by a relay:
// closed, reset, or vanished without a word. So what does not grow has been forgotten, and not only never been needed.
// The peers run at a lower priority (nice 10) than what is measured; nobody is bound to a processor.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"dubbo-wire/internal/dev/e2e"
)

type settings struct {
	length, every time.Duration
	wire, out     string
	args          []string
	threads       int
}

func main() {
	if len(os.Args) == 4 && os.Args[1] == "relay" { // started by ourselves, inside a namespace
		fmt.Fprintln(os.Stderr, relay(os.Args[2], os.Args[3]))
		os.Exit(1)
	}
	var s settings
	var args string
	flag.DurationVar(&s.length, "for", 30*time.Minute, "how long")
	flag.DurationVar(&s.every, "every", 10*time.Second, "time between two looks")
	flag.StringVar(&s.wire, "wire", "", "dubbo-wire to run; built from this tree if empty")
	flag.StringVar(&args, "capture", "", "more flags of dubbo-wire capture")
	flag.StringVar(&s.out, "out", "bin/soak", "result, to which .json and .md are added")
	flag.IntVar(&s.threads, "threads", 16, "threads that call")
	skip := flag.Bool("skip", false, "succeed where something that is needed is missing")
	flag.Parse()
	s.args = strings.Fields(args)
	err := soak(&s)
	if m, ok := errors.AsType[missing](err); ok && *skip {
		fmt.Println("soak: skipped:", m)
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
}

// missing is what a machine lacks.
type missing string

func (m missing) Error() string { return string(m) }

func soak(s *settings) error {
	if s.length < time.Minute {
		return errors.New("-for: a minute at least")
	}
	if what := e2e.Missing("tcpdump", "nice"); what != "" {
		return missing(what)
	}
	dir, err := os.MkdirTemp("", "dubbo-wire-soak-")
	if err != nil {
		return err
	}
	if s.wire != "" {
		if s.wire, err = filepath.Abs(s.wire); err != nil {
			return err
		}
	}
	bed, err := e2e.NewBed(dir, s.wire, e2e.Release)
	if no, ok := errors.AsType[*e2e.NoJars](err); ok {
		return missing(no.Error())
	}
	if err != nil {
		return err
	}
	defer bed.Close()
	interrupted := make(chan os.Signal, 1)
	signal.Notify(interrupted, os.Interrupt, syscall.SIGTERM)
	peers, err := startPeers(bed, s)
	if err != nil {
		return fmt.Errorf("%w\nlogs: %s", err, dir)
	}
	r, err := watch(bed, peers, s, interrupted)
	if err != nil {
		return fmt.Errorf("%w\nlogs: %s", err, dir)
	}
	if err := r.write(s.out); err != nil {
		return err
	}
	fmt.Print("\n" + r.markdown())
	if len(r.Failed) > 0 {
		return fmt.Errorf("failed: %s\nlogs: %s", strings.Join(r.Failed, "; "), dir)
	}
	return os.RemoveAll(dir)
}

// startPeers starts the provider, the load, and the consumers that come and go.
func startPeers(bed *e2e.Bed, s *settings) ([]*e2e.Process, error) {
	var all []*e2e.Process
	start := func(name, says string, argv ...string) error {
		p, err := bed.StartUntil(says, e2e.StartJava, name, argv...)
		all = append(all, p)
		return err
	}
	java := func(ns, main string, properties []string, workloads ...string) []string {
		return append([]string{"nice", "-n", "10"}, bed.Java(ns, "load", main, "", append([]string{"-XX:TieredStopAtLevel=4", "-Xmx768m"}, properties...), workloads...)...)
	}
	if err := start("provider", "READY", java(bed.Provider, "Provider", e2e.ProviderProperties())...); err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	if err := start("relay", "RELAY", "ip", "netns", "exec", bed.Consumer, self, "relay", e2e.ConsumerHost+":"+e2e.Port, e2e.ProviderHost+":"+e2e.Port); err != nil {
		return nil, err
	}
	const kinds = "kryo,fst,fastjson,hessian2"
	host := "-Drig.host=" + e2e.ProviderHost
	if err := start("short", "CHURN", java(bed.Consumer, "Consumer", []string{host, "-Drig.serializations=" + kinds, "-Drig.pause=200"}, "churn")...); err != nil {
		return nil, err
	}
	if err := start("broken", "CONSUMER", java(bed.Consumer, "Consumer", []string{"-Drig.host=" + e2e.ConsumerHost, "-Drig.heartbeat=1000", "-Drig.serializations=" + kinds}, "broken")...); err != nil {
		return nil, err
	}
	// Small calls and large answers in turn, a few seconds each, for longer than it takes.
	const seconds = 5
	var methods []string
	for t := time.Duration(0); t < s.length+5*time.Minute; t += 4 * seconds * time.Second {
		for i, method := range []string{"existUser", "createUser", "getUser", "listUser"} {
			methods = append(methods, method+"@"+strings.Split(kinds, ",")[(len(methods)/4+i)%4])
		}
	}
	return all, start("load", "START", java(bed.Consumer, "Consumer", []string{
		host, fmt.Sprintf("-Drig.load.threads=%d", s.threads), fmt.Sprintf("-Drig.load.seconds=%d", seconds), "-Drig.load.methods=" + strings.Join(methods, ","),
	}, "load")...)
}

// watch captures for the whole time and looks again and again.
func watch(bed *e2e.Bed, peers []*e2e.Process, s *settings, interrupted <-chan os.Signal) (*result, error) {
	// What it prints from time to time is a part of what it does.
	capture, err := bed.StartCapture(bed.Provider, "", append([]string{
		e2e.ProviderLink, "--interval", s.every.String(), "-o", filepath.Join(bed.Dir, "intervals.jsonl"),
	}, s.args...)...)
	if err != nil {
		return nil, err
	}
	r := &result{Seconds: s.length.Seconds(), Args: s.args, Threads: s.threads}
	r.machine()
	began := time.Now()
	// tcpdump beside it: a tenth of the time, in the middle.
	from := s.length / 2
	until := from + max(s.length/10, 20*time.Second)
	var dump *e2e.Process
	var both [2]sample
	look := func() (sample, error) {
		at, err := used(capture.Pid())
		if err != nil {
			return sample{}, fmt.Errorf("dubbo-wire has ended: %w\n%s", err, capture.Stderr())
		}
		if at.Packets, at.Bytes, err = bed.Counters(bed.Provider, e2e.ProviderLink); err != nil {
			return sample{}, err
		}
		at.Seconds = time.Since(began).Seconds()
		if dump != nil {
			u, err := used(dump.Pid())
			if err != nil {
				return sample{}, fmt.Errorf("tcpdump has ended: %w\n%s", err, dump.Stderr())
			}
			at.Tcpdump = u.CPU
		}
		return at, nil
	}
	first, err := look()
	if err != nil {
		return nil, err
	}
	last := first
	fmt.Printf("%8s %10s %10s %10s %8s %12s %12s\n", "seconds", "RSS KiB", "own KiB", "peak KiB", "CPU %", "packets/s", "Mbit/s")
	for next := s.every; ; {
		wait := time.Until(began.Add(next))
		event := "look"
		switch {
		case dump == nil && both[0].Seconds == 0 && from < next:
			wait, event = time.Until(began.Add(from)), "begin"
		case dump != nil && until < next:
			wait, event = time.Until(began.Add(until)), "end"
		}
		select {
		case <-interrupted:
			return nil, errors.New("interrupted")
		case <-time.After(wait):
		}
		for _, p := range peers {
			if p.Ended() {
				return nil, fmt.Errorf("%s has ended:\n%s", p.Name, p.Stdout()+p.Stderr())
			}
		}
		if event == "begin" {
			if dump, err = bed.StartTcpdump(bed.Provider, e2e.ProviderLink, "/dev/null"); err != nil {
				return nil, err
			}
		}
		now, err := look()
		if err != nil {
			return nil, err
		}
		switch event {
		case "begin":
			both[0] = now
			continue
		case "end":
			both[1] = now
			dump.Signal(syscall.SIGINT)
			if _, err := dump.Wait(20 * time.Second); err != nil {
				return nil, err
			}
			r.TcpdumpSays = summary(dump.Stderr())
			dump = nil
			continue
		}
		r.Samples = append(r.Samples, now)
		d := now.Seconds - last.Seconds
		fmt.Printf("%8.0f %10d %10d %10d %8.1f %12.0f %12.1f\n", now.Seconds, now.RSSKiB, now.AnonKiB, now.PeakKiB, 100*(now.CPU-last.CPU)/d,
			float64(now.Packets-last.Packets)/d, float64(now.Bytes-last.Bytes)*8/1e6/d)
		last = now
		if next += s.every; next > s.length {
			break
		}
	}
	report, code, err := capture.Stop()
	if err != nil {
		return nil, err
	}
	r.sum(first, last, both, report, code)
	return r, nil
}

// summary is what tcpdump says at its end, in one line.
func summary(stderr string) string {
	var parts []string
	for line := range strings.Lines(stderr) {
		if strings.Contains(line, "packets ") {
			parts = append(parts, strings.TrimSpace(line))
		}
	}
	return strings.Join(parts, ", ")
}
