package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Report holds the fields of the JSON report that the tests compare.
type Report struct {
	Inputs []struct {
		File    string
		Packets int64
		Bytes   int64
		Dropped *int64 `json:"droppedPackets"`
	}
	Wire     struct{ LinkBytes int64 }
	Coverage struct {
		Percent                                                              float64
		GapBytes, SkippedBytes                                               int64
		Connections, ConnectionsWithoutData, ConnectionsJoinedMidway         int64
		Frames, FramesIncomplete                                             int64
		RequestsWithoutResponse, ResponsesWithoutRequest, Heartbeats, Events int64
		RequestsUnnamed, ResponsesWithoutStatus                              int64
	}
	Groups []ReportGroup
}

// ReportGroup is one group of a report.
type ReportGroup struct {
	Protocol                                      string
	SerializationID                               int
	Serialization, Service, Method                string
	Calls, OneWay, Errors, Exceptions, Unanswered int64
	Request, Response                             ReportSide
	// Parts are the body bytes by what they are for; all of them with --parts.
	Parts []struct {
		Path  string
		Bytes int64
	}
}

// ReportSide holds the requests or the responses of a group.
type ReportSide struct {
	Count     int64
	BodyBytes *struct {
		Total, Min, Max int64
		Mean            float64
	}
}

// Capture is a running `dubbo-wire capture`.
type Capture struct {
	*Process
	File string // of the report
}

// Nobody is the id of an unprivileged user.
const Nobody = "65534"

// StartCapture starts `dubbo-wire capture ARGS` in a namespace and waits until it captures. If binary is "", it runs the
// bed's own as root; another one runs as an unprivileged user.
func (b *Bed) StartCapture(ns, binary string, args ...string) (*Capture, error) {
	c := &Capture{File: filepath.Join(b.Dir, fmt.Sprintf("report-%d.json", b.count))}
	argv := inNamespace(ns)
	if binary == "" {
		argv = append(argv, b.Binary)
	} else {
		argv = append(argv, "setpriv", "--reuid="+Nobody, "--regid="+Nobody, "--clear-groups", binary)
	}
	argv = append(append(argv, "capture", "-o", c.File), args...)
	var err error
	c.Process, err = b.StartUntil("capturing on ", time.Minute, "capture", argv...)
	return c, err
}

// Stop ends a capture as Ctrl-C does, and returns its report and exit code.
func (c *Capture) Stop() (*Report, int, error) {
	c.Signal(syscall.SIGINT)
	return c.Report()
}

// Report waits for a capture that ends by itself.
func (c *Capture) Report() (*Report, int, error) {
	code, err := c.Wait(time.Minute)
	if err != nil {
		return nil, code, err
	}
	r, err := readReport(c.File)
	if err != nil {
		return nil, code, fmt.Errorf("exit code %d: %w\n%s", code, err, c.Stderr())
	}
	return r, code, nil
}

func readReport(file string) (*Report, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	r := new(Report)
	return r, json.Unmarshal(b, r)
}

// Analyze runs `dubbo-wire analyze` and returns its report and the file of the report.
func (b *Bed) Analyze(files ...string) (*Report, string, error) {
	b.count++
	out := filepath.Join(b.Dir, fmt.Sprintf("analysis-%d.json", b.count))
	if _, err := runFor(time.Minute, append([]string{b.Binary, "analyze", "-o", out}, files...)...); err != nil {
		return nil, out, err
	}
	r, err := readReport(out)
	return r, out, err
}

// Frames returns the complete frames that `dubbo-wire frames` finds in a file, counted by their headers, and the number of
// incomplete ones.
func (b *Bed) Frames(file string) (complete map[string]int, incomplete int, err error) {
	complete = map[string]int{}
	err = b.EachFrame(file, func(f *FrameRow) {
		if !f.Complete {
			incomplete++
			return
		}
		complete[Header(f.Src, f.Dst, f.Kind, f.ID, f.SerializationID, f.Status, f.BodyBytes)]++
	})
	return complete, incomplete, err
}

// FrameRow holds the fields of a record of `dubbo-wire frames` that the tests compare.
type FrameRow struct {
	Src, Dst, Kind, ID           string
	Protocol, Service, Method    string
	SerializationID, HeaderBytes int
	BodyBytes                    int
	Status                       int
	Complete                     bool
	Encoding                     string
	UncompressedBytes            int64
}

// name returns the name of the call of a request.
func (f *FrameRow) name() Method { return Method{f.Protocol, f.Service, f.Method} }

// CallRow holds the fields of a record of `dubbo-wire calls` that the tests compare.
type CallRow struct {
	Client, Server, Protocol, Service, Method, Serialization string
	RequestFrame, ResponseFrame                              int64
	RequestFrameBytes, ResponseFrameBytes                    int64
	RequestComplete, ResponseComplete                        *bool // nil for true
	Status                                                   int
	Arguments                                                []json.RawMessage
	Result                                                   json.RawMessage
}

// EachFrame calls each for every record that `dubbo-wire frames` prints of a file.
func (b *Bed) EachFrame(file string, each func(*FrameRow)) error {
	return eachRow(b, "frames", file, each)
}

// EachCall calls each for every record that `dubbo-wire calls` prints of a file.
func (b *Bed) EachCall(file string, each func(*CallRow)) error {
	return eachRow(b, "calls", file, each)
}

func eachRow[T any](b *Bed, command, file string, each func(*T)) error {
	out, err := runFor(time.Minute, b.Binary, command, file, "--format", "jsonl")
	if err != nil {
		return err
	}
	lines := bufio.NewScanner(strings.NewReader(out))
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		row := new(T)
		if err := json.Unmarshal(lines.Bytes(), row); err != nil {
			return err
		}
		each(row)
	}
	return lines.Err()
}

// StartTcpdump records an interface of a namespace with nanosecond times, and waits until it captures.
func (b *Bed) StartTcpdump(ns, iface, file string) (*Process, error) {
	return b.StartUntil("tcpdump: listening on", time.Minute, "tcpdump", append(inNamespace(ns),
		"tcpdump", "-i", iface, "-n", "-B", "65536", "--time-stamp-precision=nano", "-w", file, "-Z", "root")...)
}

// Settle waits until all packets have arrived and the programs that read them, which are all but the peers, have read them: no
// thread of these runs or is about to, however busy the machine is.
func (b *Bed) Settle() error {
	const quiet, look = 1200 * time.Millisecond, 20 * time.Millisecond
	time.Sleep(quiet) // the kernel hands packets over within this
	for looks, deadline := 0, time.Now().Add(time.Minute); looks < 5; time.Sleep(look) {
		looks++
		for _, p := range b.processes {
			if (p.Name == "capture" || p.Name == "tcpdump") && !p.Ended() && !p.asleep() {
				if looks = 0; time.Now().After(deadline) {
					return fmt.Errorf("%s does not settle", p.Name)
				}
			}
		}
	}
	return nil
}
