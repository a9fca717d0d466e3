// Live measures dubbo-wire capture against tcpdump on the packets of captures that it makes, sent through a veth pair.
//
//	go run ./internal/dev/bench/live [-rounds 5] [-size 300MB] [-rate 1000000]
//
// It needs root, tcpdump and iproute2. tcpdump -w /dev/null and dubbo-wire capture run in turn; each gets all packets once. A row is the
// median of CPU seconds (user and system) of its rounds, its ratio the median of the ratios within a round. What the kernel does for
// a capturing program when a packet arrives is done by the sending process, and counted for neither. The exit code is 1 if packets were dropped.
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
	fmt.Fprintln(out, "mix      packets/s  bytes/packet  tcpdump CPU s  dubbo-wire CPU s  ratio  dropped by either")
	dropped := false
	for _, mix := range []string{"default", "short"} {
		packets, bytes, err := load(mix, size)
		if err != nil {
			return err
		}
		var own, peer, speed, ratio []float64
		var lost [2]int64
		for range rounds {
			a, err := measure([]string{"tcpdump", "-i", capturing, "-n", "-B", "65536", "-w", os.DevNull}, packets, rate)
			if err != nil {
				return err
			}
			b, err := measure([]string{program, "capture", capturing, "--format", "json"}, packets, rate)
			if err != nil {
				return err
			}
			peer, own = append(peer, a.cpu), append(own, b.cpu)
			ratio, speed = append(ratio, b.cpu/a.cpu), append(speed, b.rate)
			lost[0], lost[1] = lost[0]+a.dropped, lost[1]+b.dropped
		}
		dropped = dropped || lost[1] > 0
		fmt.Fprintf(out, "%-7s  %9.0f  %12d  %13.3f  %16.3f  %5.2f  %d, %d\n", mix, median(speed), bytes/len(packets), median(peer), median(own), median(ratio), lost[0], lost[1])
	}
	if dropped {
		return errors.New("packets were dropped")
	}
	return nil
}

// load makes a capture and returns its packets and their bytes.
func load(mix string, size int64) (packets [][]byte, total int, err error) {
	var b bytes.Buffer
	if _, err := traffic.Write(&b, traffic.Config{Mix: mix, Size: size}); err != nil {
		return nil, 0, err
	}
	f, err := capture.Open([]string{"-"}, capture.Options{Stdin: &b})
	if err != nil {
		return nil, 0, err
	}
	all := make([]byte, 0, size+size/8)
	var p capture.Packet
	for f.Next(&p) == nil {
		from := len(all)
		all = append(all, p.Data...)
		packets = append(packets, all[from:])
	}
	return packets, len(all), f.Close()
}

// sample is what one program did with all packets.
type sample struct {
	cpu     float64 // seconds
	rate    float64 // packets per second that were sent
	dropped int64
}

// measure sends the packets to a program that captures.
func measure(args []string, packets [][]byte, rate float64) (s sample, err error) {
	cmd := exec.Command(args[0], args[1:]...)
	var out, notes bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &notes
	if err := cmd.Start(); err != nil {
		return s, err
	}
	time.Sleep(2 * time.Second) // until it captures
	took, err := send(packets, rate)
	time.Sleep(time.Second)
	if err := errors.Join(err, interrupt(cmd), cmd.Wait()); err != nil {
		return s, fmt.Errorf("%s: %w: %s", args[0], err, notes.String())
	}
	s.cpu = (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	s.rate = float64(len(packets)) / took.Seconds()
	seen := int64(0)
	if args[0] == "tcpdump" {
		fields := strings.Fields(notes.String())
		if i := slices.Index(fields, "captured"); i >= 2 {
			seen, _ = strconv.ParseInt(fields[i-2], 10, 64)
		}
	} else {
		var report struct {
			Inputs []struct{ Packets int64 }
		}
		if json.Unmarshal(out.Bytes(), &report) == nil && len(report.Inputs) == 1 {
			seen = report.Inputs[0].Packets
		}
	}
	s.dropped = int64(len(packets)) - seen
	return s, nil
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

// send sends packets from the sending end.
func send(packets [][]byte, rate float64) (time.Duration, error) {
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW, 0)
	if err != nil {
		return 0, err
	}
	defer unix.Close(fd)
	_ = unix.SetsockoptInt(fd, unix.SOL_PACKET, unix.PACKET_QDISC_BYPASS, 1)
	index, err := os.ReadFile("/sys/class/net/" + sending + "/ifindex")
	if err != nil {
		return 0, err
	}
	k, _ := strconv.Atoi(strings.TrimSpace(string(index)))
	if err := unix.Bind(fd, &unix.SockaddrLinklayer{Ifindex: k}); err != nil {
		return 0, err
	}
	var headers [burst]header
	var pieces [burst]unix.Iovec
	began := time.Now()
	for at := 0; at < len(packets); {
		n := min(burst, len(packets)-at)
		for i, p := range packets[at : at+n] {
			pieces[i].Base, pieces[i].Len = &p[0], uint64(len(p))
			headers[i].msg.Iov, headers[i].msg.Iovlen = &pieces[i], 1
		}
		for rate > 0 && time.Since(began).Seconds() < float64(at)/rate { //nolint:revive // more exact than sleeping
		}
		sent, _, errno := unix.Syscall6(unix.SYS_SENDMMSG, uintptr(fd), uintptr(unsafe.Pointer(&headers[0])), uintptr(n), 0, 0, 0)
		if errno != 0 && errno != unix.ENOBUFS && errno != unix.EAGAIN {
			return 0, errno
		}
		if errno == 0 {
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
