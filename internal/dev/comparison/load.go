package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"dubbo-wire/internal/report"
)

// The live tables have the measurements of testdata/rig/tables.sh, which runs dubbo-wire while real peers call each other at
// full speed, in a folder for each set: the serializations of the published tables, Triple beside the dubbo protocol, and REST beside it.
// Each cell is a saved report, calls/SERIALIZATION.METHOD.json or traffic/SERIALIZATION.WORKLOAD.json.

// machine is the content of machine.json, which describes the measurement of the live tables.
type machine struct {
	Date, CPU, Kernel, JDK string
	Cores                  int
	MemoryBytes            int64
	Load                   float64 // of other programs, when the measurement began
	Calls, Traffic         struct {
		Dubbo            string
		Threads, Seconds int
	}
	Missing []struct{ Table, Serialization, Error string }
	Callers []caller
}

// cell holds the fields of a saved report that the tables need.
type cell struct {
	Coverage struct{ Percent float64 }
	Groups   []struct {
		Method            string
		Calls             int64
		CallsPerSecond    float64
		Request, Response side
		LatencyMicros     stat
	}
}

// side has the messages of one direction.
type side struct {
	Count                            int64
	BodyBytes, FrameBytes, WireBytes stat
}

type stat struct{ Total float64 }

// sum is the sum of a cell's groups.
type sum struct {
	calls                            int64
	perSecond                        float64
	bodyBytes, frameBytes, linkBytes float64 // per call
	percent                          float64 // dubbo-wire's own coverage
	latency                          float64 // mean, in microseconds
}

// sum returns the sum of one method, which may have several names; that of a call over HTTP is the last part of its path. Other calls belong
// to the edges of the measurement: responses to earlier requests, and calls of the next method.
func (c *cell) sum(method ...string) (s sum) {
	var request, response side
	for _, g := range c.Groups {
		if !slices.Contains(method, g.Method[strings.LastIndexByte(g.Method, '/')+1:]) {
			continue
		}
		s.calls += g.Calls
		s.latency += g.LatencyMicros.Total
		s.perSecond += g.CallsPerSecond
		request.add(&g.Request)
		response.add(&g.Response)
	}
	// Calls at the edges have a request or a response only.
	for _, d := range []*side{&request, &response} {
		if n := float64(d.Count); n > 0 {
			s.bodyBytes += d.BodyBytes.Total / n
			s.frameBytes += d.FrameBytes.Total / n
			s.linkBytes += d.WireBytes.Total / n
		}
	}
	if response.Count > 0 {
		s.latency /= float64(response.Count)
	}
	s.percent = c.Coverage.Percent
	return s
}

func (d *side) add(more *side) {
	d.Count += more.Count
	d.BodyBytes.Total += more.BodyBytes.Total
	d.FrameBytes.Total += more.FrameBytes.Total
	d.WireBytes.Total += more.WireBytes.Total
}

// methods has the methods of workloads with other names.
var methods = map[string][]string{"posts": {"queryPost"}, "user": {"getUser"}, "bid": {"bid", "json", "xml"}}

// readCell returns a cell, nil if it was not measured.
func readCell(dir, table, serialization, column string) (*sum, error) {
	file := filepath.Join(dir, table, serialization+"."+column+".json")
	var c cell
	if err := readJSON(file, &c); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	names, ok := methods[column]
	if !ok {
		names = []string{column}
	}
	s := c.sum(names...)
	if s.calls == 0 {
		return nil, fmt.Errorf("%s: no calls", file)
	}
	return &s, nil
}

// loadRow is a row of calls per second.
type loadRow struct {
	name, serialization string
	published           map[string]int64 // nil: never published
}

// callsPerSecond is the published table of dubbo-benchmark's UserService: calls per second, 4 cores, 8 GiB.
var callsPerSecond = []loadRow{
	{"Kryo", "kryo", map[string]int64{"createUser": 20913, "existUser": 31670, "getUser": 29707, "listUser": 17235}},
	{"Kryo, optimizer", "kryo+optimizer", nil},
	{"FST", "fst", map[string]int64{"createUser": 15439, "existUser": 25197, "getUser": 21724, "listUser": 15768}},
	{"FST, optimizer", "fst+optimizer", nil},
	{"Hessian2", "hessian2", map[string]int64{"createUser": 22949, "existUser": 34735, "getUser": 20680, "listUser": 3590}},
	{"FastJson", "fastjson", map[string]int64{"createUser": 26269, "existUser": 29469, "getUser": 25204, "listUser": 9824}},
}

// protocolCalls are the rows of Triple, whose published one is Dubbo's "Triple (Protobuf)", and those of the dubbo protocol.
var protocolCalls = []loadRow{
	{"dubbo/hessian2", "dubbo-hessian2", nil},
	{"triple/hessian2", "tri-hessian2", nil},
	{"dubbo/fastjson2", "dubbo-fastjson2", nil},
	{"triple/fastjson2", "tri-fastjson2", nil},
	{"triple/protobuf", "tri-protobuf", map[string]int64{"createUser": 19722, "existUser": 35350, "getUser": 20841, "listUser": 4656}},
}

var userMethods = []string{"createUser", "existUser", "getUser", "listUser"}

// traffic is smartbuf-dubbo's published table: total time and total traffic of a number of calls.
var traffic = []struct {
	workload, what string
	calls          int64
	published      map[string]string
}{
	{
		"posts", "100 posts with 10 shared topics", 100_000,
		map[string]string{"fastjson": "192 s, 17.88 GB", "fst": "52 s, 4.01 GB", "hessian2": "115 s, 11.08 GB", "kryo": "135 s, 4.05 GB (enums dropped)", "smartbuf": "75 s, 2.15 GB"},
	},
	{
		"user", "a user with 20 friends, circular references", 300_000,
		map[string]string{"fastjson": "41 s, 1.11 GB", "fst": "31 s, 0.55 GB", "hessian2": "32 s, 0.57 GB", "kryo": "39 s, 0.62 GB", "smartbuf": "41 s, 0.43 GB"},
	},
	{
		"tiny", "one uuid", 400_000,
		map[string]string{"fastjson": "46 s, 130 MB", "fst": "38 s, 122 MB", "hessian2": "38 s, 120 MB", "kryo": "38 s, 120 MB", "smartbuf": "42 s, 120 MB"},
	},
}

var trafficSerializations = []string{"fastjson", "fst", "fst+optimizer", "hessian2", "kryo", "kryo+optimizer", "smartbuf"}

// set is the tables of one run of peers.
type set struct {
	machine
	dir string
}

// writeLive prints the live tables from the reports in dir, as far as there are any.
func writeLive(w io.Writer, dir string) error {
	var sets []*set
	for _, name := range []string{"published", "triple"} {
		s := &set{dir: filepath.Join(dir, name)}
		if err := readJSON(filepath.Join(s.dir, "machine.json"), &s.machine); errors.Is(err, fs.ErrNotExist) {
			return nil
		} else if err != nil {
			return err
		}
		sets = append(sets, s)
	}
	if err := writeCalls(w, sets[0], sets[1]); err != nil {
		return err
	}
	return writeTraffic(w, sets[0], sets[1])
}

func (m *machine) text() string {
	text := fmt.Sprintf("%s, %d cores, %.0f GiB, Linux %s, JDK %s, %s", m.CPU, m.Cores,
		float64(m.MemoryBytes)/(1<<30), m.Kernel, strings.SplitN(m.JDK, "+", 2)[0], m.Date)
	if m.Load > 0 {
		text += fmt.Sprintf(", load average %.1f when it began", m.Load)
	}
	return text
}

func writeCalls(w io.Writer, m, protocols *set) error {
	fmt.Fprintf(w, `
# Calls per second by method

dubbo-benchmark's UserService, Dubbo %s, %d client threads on one connection, provider and consumer and dubbo-wire on the
same machine: %s.
Measured is what dubbo-wire saw on the wire in %d seconds of load (%s); published is Dubbo's own
table, from 4 cores and 8 GiB. The figures of different machines do not compare; the order may.

`, m.Calls.Dubbo, m.Calls.Threads, m.text(), m.Calls.Seconds, "`dubbo-wire capture lo`")
	if err := m.callsTable(w, callsPerSecond, false); err != nil {
		return err
	}
	fmt.Fprint(w, "\nBytes a call are the bodies of request and response. Only the calls of the column's method count; where the window\nreached into the next method the rate is that much too low. Coverage is the lowest of the row's cells: the share of Dubbo's\nbytes that dubbo-wire recorded whole.\n")
	m.writeMissing(w, "calls")
	fmt.Fprintf(w, `
## Calls per second with Triple

Both protocols of Dubbo %s under the same load, one after the other in one run: %s.
%sEach method has a connection of its own, which opens after the capture has begun: headers of HTTP/2 from before would not be known.
Frame bytes have the headers of both protocols: 16 bytes a message, or HEADERS and DATA frames of HTTP/2. They are means, in which the
first call of the connection hardly counts. Published is Dubbo's "Triple (Protobuf)".

`, protocols.Calls.Dubbo, protocols.text(), protocols.noise())
	if err := protocols.callsTable(w, protocolCalls, true); err != nil {
		return err
	}
	protocols.writeMissing(w, "calls")
	return nil
}

// noise warns of rates that other programs have influenced.
func (m *machine) noise() string {
	if m.Load < 1 {
		return ""
	}
	return "Other programs used the same processors, and the JVMs had compiled for seconds only: rates of single cells compare roughly with each other,\n" +
		"and not with those of other runs. Bytes do not depend on that.\n"
}

// callsTable prints the rate and the bytes of each method, also those of frames if they are wanted.
func (m *set) callsTable(w io.Writer, rows []loadRow, frames bool) error {
	columns, align := " %s, measured | published | bytes a call |", " ---: | ---: | ---: |"
	if frames {
		columns, align = columns+" frame bytes |", align+" ---: |"
	}
	fmt.Fprint(w, "| serialization |")
	for _, method := range userMethods {
		fmt.Fprintf(w, columns, method)
	}
	fmt.Fprintln(w, " coverage |")
	fmt.Fprintln(w, "| --- |"+strings.Repeat(align, len(userMethods))+" ---: |")
	for _, row := range rows {
		fmt.Fprintf(w, "| %s |", row.name)
		coverage := ""
		least := 101.0
		for _, method := range userMethods {
			s, err := readCell(m.dir, "calls", row.serialization, method)
			if err != nil {
				return err
			}
			pub := ""
			if n, ok := row.published[method]; ok {
				pub = report.Count(n)
			}
			if s == nil {
				fmt.Fprintf(w, " | %s | |%s", pub, strings.Repeat(" |", strings.Count(columns, "|")-3))
				continue
			}
			if s.percent < least {
				least, coverage = s.percent, percent(s.percent)
			}
			fmt.Fprintf(w, " %s | %s | %s |", report.Count(int64(s.perSecond+0.5)), pub, report.Count(int64(s.bodyBytes+0.5)))
			if frames {
				fmt.Fprintf(w, " %s |", report.Count(int64(s.frameBytes+0.5)))
			}
		}
		fmt.Fprintf(w, " %s |\n", coverage)
	}
	return nil
}

func writeTraffic(w io.Writer, m, protocols *set) error {
	fmt.Fprintf(w, `
# Total time and total traffic

The workloads of smartbuf-dubbo's comparison, Dubbo %s (published: 2.6.7), %d client threads on the machine above. Bytes a
call are measured on the wire, body bytes of request and response, and all bytes on the link that belong to them; the
totals are those of the published number of calls. The published traffic was read from the interface's counters,
headers of TCP and IP, acknowledgements and all; link bytes here are the packets that carry Dubbo's messages, without
bare acknowledgements. The time is what so many calls take at the rate that was seen.

`, m.Traffic.Dubbo, m.Traffic.Threads)
	if err := m.trafficTable(w, trafficSerializations, func(s string) string { return strings.Replace(s, "+", ", ", 1) }); err != nil {
		return err
	}
	m.writeMissing(w, "traffic")
	fmt.Fprintf(w, `
## Total traffic with Triple

The same workloads with both protocols of Dubbo %s, in the run of the calls per second with Triple. Link bytes have the frames of both protocols.
%s
`, protocols.Traffic.Dubbo, protocols.noise())
	var names []string
	for _, row := range protocolCalls {
		names = append(names, row.serialization)
	}
	if err := protocols.trafficTable(w, names, func(s string) string { return strings.NewReplacer("tri-", "triple/", "dubbo-", "dubbo/").Replace(s) }); err != nil {
		return err
	}
	protocols.writeMissing(w, "traffic")
	return nil
}

// trafficTable prints a row for each workload and serialization. title returns the name of a serialization in the table.
func (m *set) trafficTable(w io.Writer, serializations []string, title func(string) string) error {
	fmt.Fprintln(w, "| workload | serialization | body bytes a call | link bytes a call | total, bodies | total, link | time | published | coverage |")
	fmt.Fprintln(w, "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
	for _, t := range traffic {
		for _, serialization := range serializations {
			s, err := readCell(m.dir, "traffic", serialization, t.workload)
			if err != nil {
				return err
			}
			pub := t.published[serialization]
			if s == nil && pub == "" {
				continue
			}
			fmt.Fprintf(w, "| %s: %s × %s | %s |", t.workload, report.Count(t.calls), t.what, title(serialization))
			if s == nil {
				fmt.Fprintf(w, " | | | | | %s | |\n", pub)
				continue
			}
			n := float64(t.calls)
			fmt.Fprintf(w, " %s | %s | %s | %s | %.0f s | %s | %s |\n", report.Count(int64(s.bodyBytes+0.5)), report.Count(int64(s.linkBytes+0.5)),
				total(s.bodyBytes*n), total(s.linkBytes*n), n/s.perSecond, pub, percent(s.percent))
		}
	}
	return nil
}

func (m *machine) writeMissing(w io.Writer, table string) {
	for _, x := range m.Missing {
		if x.Table == table {
			fmt.Fprintf(w, "\nNot measured: %s: `%s`\n", x.Serialization, x.Error)
		}
	}
}

// total formats bytes in decimal units, as in the published table.
func total(b float64) string {
	if b < 1e9 {
		return fmt.Sprintf("%.0f MB", b/1e6)
	}
	return fmt.Sprintf("%.2f GB", b/1e9)
}

func percent(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) + " %" }
