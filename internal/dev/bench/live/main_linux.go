// Live measures dubbo-wire capture against tcpdump on the packets of captures that it makes, sent through a veth pair.
//
//	go run ./internal/dev/bench/live [-rounds 5] [-size 300MB] [-rate 1000000]
//
// It needs root, tcpdump, iproute2 and ethtool. tcpdump -w /dev/null and dubbo-wire capture run in turn; each gets all packets once. A row is the
// median of CPU seconds (user and system) of its rounds, its ratio the median of the ratios within a round. What the kernel does for
// a capturing program when a packet arrives is done by the sending process, and counted for neither. The exit code is 1 if packets were dropped.
//
// The sender cannot send a million packets a second by itself. In the merged rows it gives the kernel up to 60 KB of a connection at once, which the
// kernel cuts into packets of 256 bytes of payload, as fast as it can; in the last row dubbo-wire has the full screen open.
package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/dev/bench/traffic"
)

func main() {
	size := int64(300e6)
	traffic.SizeVar(&size, "size of each capture, like 100MB (default 300MB)")
	rounds := flag.Int("rounds", 5, "how often each program runs")
	rate := flag.Float64("rate", 0, "packets per second; 0: as many as the sender can")
	flag.Parse()
	if err := run(os.Stdout, size, *rounds, *rate); err != nil {
		fmt.Fprintln(os.Stderr, "live:", err)
		os.Exit(1)
	}
}

const (
	sending   = "dwbench0"
	capturing = "dwbench1"
)

func run(out io.Writer, size int64, rounds int, rate float64) error {
	dir, err := os.MkdirTemp("", "dubbo-wire-live")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	program := filepath.Join(dir, "dubbo-wire")
	build := exec.Command("go", "build", "-trimpath", "-o", program, "dubbo-wire/cmd/dubbo-wire")
	build.Env, build.Stderr = append(os.Environ(), "CGO_ENABLED=0"), os.Stderr
	if err := build.Run(); err != nil {
		return fmt.Errorf("go build: %w", err)
	}
	if err := command("ip", "link", "add", sending, "mtu", "9000", "type", "veth", "peer", "name", capturing, "mtu", "9000"); err != nil {
		return err
	}
	defer func() { _ = command("ip", "link", "del", sending) }()
	for _, name := range []string{sending, capturing} {
		if err := errors.Join(os.WriteFile("/proc/sys/net/ipv6/conf/"+name+"/disable_ipv6", []byte("1"), 0o644), command("ip", "link", "set", name, "up")); err != nil {
			return err
		}
	}
	if err := command("ethtool", "-K", sending, "tso", "off"); err != nil { // the kernel cuts what is merged
		return err
	}
	fmt.Fprintln(out, "mix                    packets/s  bytes/packet  tcpdump CPU s  dubbo-wire CPU s  ratio  peak MiB  dropped by either")
	dropped := false
	report := filepath.Join(dir, "report.json")
	for _, row := range []struct {
		mix            string
		merged, screen bool
	}{{mix: "default"}, {mix: "short"}, {mix: "short", merged: true}, {mix: "short", merged: true, screen: true}} {
		packets, err := load(row.mix, size)
		if err != nil {
			return err
		}
		units, name, rate := single(packets), row.mix, rate
		if row.merged {
			units, name, rate = merge(packets), name+", merged", 0
		}
		if row.screen {
			name += ", screen"
		}
		var own, peer, speed, ratio, memory []float64
		var lost [2]int
		for range rounds {
			a, err := measure(exec.Command("tcpdump", "-i", capturing, "-n", "-B", "65536", "-w", os.DevNull), units, rate, false, "")
			if err != nil {
				return err
			}
			b, err := measure(exec.Command(program, "capture", capturing, "-o", report), units, rate, row.screen, report)
			if err != nil {
				return err
			}
			peer, own = append(peer, a.cpu), append(own, b.cpu)
			ratio, speed, memory = append(ratio, b.cpu/a.cpu), append(speed, b.rate), append(memory, b.memory)
			lost[0], lost[1] = lost[0]+a.dropped, lost[1]+b.dropped
		}
		dropped = dropped || lost[1] > 0
		count, bytes := total(units)
		fmt.Fprintf(out, "%-21s  %9.0f  %12d  %13.3f  %16.3f  %5.2f  %8.1f  %d, %d\n", name, median(speed), bytes/count, median(peer), median(own), median(ratio), median(memory), lost[0], lost[1])
	}
	if dropped {
		return errors.New("packets were dropped")
	}
	return nil
}

// load makes a capture and returns its packets.
func load(mix string, size int64) (packets [][]byte, err error) {
	var b bytes.Buffer
	if _, err := traffic.Write(&b, traffic.Config{Mix: mix, Size: size}); err != nil {
		return nil, err
	}
	f, err := capture.Open([]string{"-"}, capture.Options{Stdin: &b})
	if err != nil {
		return nil, err
	}
	all := make([]byte, 0, size+size/8)
	var p capture.Packet
	for f.Next(&p) == nil {
		from := len(all)
		all = append(all, p.Data...)
		packets = append(packets, all[from:])
	}
	return packets, f.Close()
}

// sample is what one program did with all packets.
type sample struct {
	cpu     float64 // seconds
	rate    float64 // packets per second that were sent
	memory  float64 // MiB, at most, with the kernel's buffer
	dropped int
}

// measure sends packets to a program that captures, on a terminal if screen is set. The program is tcpdump, or writes a report.
func measure(cmd *exec.Cmd, units []unit, rate float64, screen bool, report string) (s sample, err error) {
	var notes bytes.Buffer
	cmd.Stderr = &notes
	if screen {
		done, err := onTerminal(cmd)
		if err != nil {
			return s, err
		}
		defer done()
	}
	if err := cmd.Start(); err != nil {
		return s, err
	}
	time.Sleep(2 * time.Second) // until it captures
	took, err := send(units, rate)
	time.Sleep(time.Second)
	s.memory = peak(cmd.Process.Pid)
	if err := errors.Join(err, interrupt(cmd), cmd.Wait()); err != nil {
		return s, fmt.Errorf("%s: %w: %s", cmd.Path, err, notes.String())
	}
	sent, _ := total(units)
	seen := 0
	s.cpu = (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	s.rate = float64(sent) / took.Seconds()
	if report == "" {
		fields := strings.Fields(notes.String())
		if i := slices.Index(fields, "captured"); i >= 2 {
			seen, err = strconv.Atoi(fields[i-2])
		}
	} else {
		seen, err = reported(report)
	}
	s.dropped = sent - seen
	return s, err
}

// peak returns the largest resident memory of a running process, in MiB; 0 if it is unknown. What the system counts at its end includes this process,
// which started it.
func peak(pid int) float64 {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	_, after, _ := strings.Cut(string(b), "VmHWM:")
	fields := strings.Fields(after)
	if len(fields) == 0 {
		return 0
	}
	kib, _ := strconv.ParseFloat(fields[0], 64)
	return kib / 1024
}

// reported returns how many packets a report names. If none were dropped, all bytes must belong to messages.
func reported(name string) (int, error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return 0, err
	}
	var report struct {
		Inputs   []struct{ Packets, DroppedPackets int }
		Coverage struct {
			GapBytes, SkippedBytes int64
		}
	}
	if err := json.Unmarshal(b, &report); err != nil {
		return 0, err
	}
	if len(report.Inputs) != 1 {
		return 0, fmt.Errorf("%s: %d inputs", name, len(report.Inputs))
	}
	if in, c := report.Inputs[0], report.Coverage; in.DroppedPackets == 0 && (c.GapBytes > 0 || c.SkippedBytes > 0) {
		return 0, fmt.Errorf("no packet was dropped, but %d bytes are missing and %d belong to no message", c.GapBytes, c.SkippedBytes)
	}
	return report.Inputs[0].Packets, nil
}

func interrupt(cmd *exec.Cmd) error { return cmd.Process.Signal(os.Interrupt) }

// burst is the number of packets of one system call.
const burst = 64

// header is the kernel's struct mmsghdr.
type header struct {
	msg unix.Msghdr
	n   uint32
	_   [4]byte
}

// send sends units from the sending end.
func send(units []unit, rate float64) (time.Duration, error) {
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW, 0)
	if err != nil {
		return 0, err
	}
	defer unix.Close(fd)
	merged := slices.ContainsFunc(units, func(u unit) bool { return u.packets > 1 })
	if !merged { // what is cut does not pass without a queue
		_ = unix.SetsockoptInt(fd, unix.SOL_PACKET, unix.PACKET_QDISC_BYPASS, 1)
	}
	if err := unix.SetsockoptInt(fd, unix.SOL_PACKET, unix.PACKET_VNET_HDR, 1); err != nil {
		return 0, err
	}
	index, err := os.ReadFile("/sys/class/net/" + sending + "/ifindex")
	if err != nil {
		return 0, err
	}
	k, _ := strconv.Atoi(strings.TrimSpace(string(index)))
	const ip = 0x0008 // in network order
	if err := unix.Bind(fd, &unix.SockaddrLinklayer{Ifindex: k, Protocol: ip}); err != nil {
		return 0, err
	}
	var headers [burst]header
	var pieces [burst][2]unix.Iovec
	began, packets := time.Now(), 0
	for at := 0; at < len(units); {
		n := min(burst, len(units)-at)
		for i := range n {
			u := &units[at+i]
			pieces[i][0].Base, pieces[i][0].Len = &u.offload[0], uint64(len(u.offload))
			pieces[i][1].Base, pieces[i][1].Len = &u.packet[0], uint64(len(u.packet))
			headers[i].msg.Iov, headers[i].msg.Iovlen = &pieces[i][0], 2
		}
		for rate > 0 && time.Since(began).Seconds() < float64(packets)/rate { //nolint:revive // more exact than sleeping
		}
		sent, _, errno := unix.Syscall6(unix.SYS_SENDMMSG, uintptr(fd), uintptr(unsafe.Pointer(&headers[0])), uintptr(n), 0, 0, 0)
		if errno != 0 && errno != unix.ENOBUFS && errno != unix.EAGAIN {
			return 0, errno
		}
		if errno == 0 {
			for i := range int(sent) {
				packets += units[at+i].packets
			}
			at += int(sent)
		}
	}
	return time.Since(began), nil
}

func command(args ...string) error {
	if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(args, " "), err, out)
	}
	return nil
}

func median(v []float64) float64 {
	v = slices.Clone(v)
	slices.SortFunc(v, cmp.Compare)
	return v[len(v)/2]
}
