package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"

	"dubbo-wire/internal/report"
)

// The live tables have the measurements of testdata/rig/tables.sh, which runs dubbo-wire while real peers call each other at
// full speed. Each cell is a saved report, calls/SERIALIZATION.METHOD.json or traffic/SERIALIZATION.WORKLOAD.json.

// machine is the content of machine.json, which describes the measurement of the live tables.
type machine struct {
	Date, CPU, Kernel, JDK string
	Cores                  int
	MemoryBytes            int64
	Calls, Traffic         struct {
		Dubbo            string
		Threads, Seconds int
	}
	Missing []struct{ Table, Serialization, Error string }
}

// cell holds the fields of a saved report that the tables need.
type cell struct {
	Coverage struct{ Percent float64 }
	Groups   []struct {
		Method            string
		Calls             int64
		CallsPerSecond    float64
		Request, Response struct{ BodyBytes, WireBytes stat }
	}
}

type stat struct{ Total int64 }

// sum is the sum of a cell's groups.
type sum struct {
	calls                int64
	perSecond            float64
	bodyBytes, linkBytes float64 // per call
	percent              float64 // dubbo-wire's own coverage
}

// sum returns the sum of one method. Other calls belong to the edges of the measurement: responses to earlier requests, and
// calls of the next method.
func (c *cell) sum(method string) (s sum) {
	body, link := int64(0), int64(0)
	for _, g := range c.Groups {
		if g.Method != method {
			continue
		}
		s.calls += g.Calls
		s.perSecond += g.CallsPerSecond
		body += g.Request.BodyBytes.Total + g.Response.BodyBytes.Total
		link += g.Request.WireBytes.Total + g.Response.WireBytes.Total
	}
	if s.calls > 0 {
		s.bodyBytes, s.linkBytes = float64(body)/float64(s.calls), float64(link)/float64(s.calls)
	}
	s.percent = c.Coverage.Percent
	return s
}

// methods has the methods of workloads with another name.
var methods = map[string]string{"posts": "queryPost", "user": "getUser"}

// readCell returns a cell, nil if it was not measured.
func readCell(dir, table, serialization, column string) (*sum, error) {
	file := filepath.Join(dir, table, serialization+"."+column+".json")
	var c cell
	if err := readJSON(file, &c); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	s := c.sum(cmp.Or(methods[column], column))
	if s.calls == 0 {
		return nil, fmt.Errorf("%s: no calls", file)
	}
	return &s, nil
}

// callsPerSecond is the published table of dubbo-benchmark's UserService: calls per second, 4 cores, 8 GiB.
var callsPerSecond = []struct {
	name, serialization string
	published           map[string]int64 // nil: never published
}{
	{"Kryo", "kryo", map[string]int64{"createUser": 20913, "existUser": 31670, "getUser": 29707, "listUser": 17235}},
	{"Kryo, optimizer", "kryo+optimizer", nil},
	{"FST", "fst", map[string]int64{"createUser": 15439, "existUser": 25197, "getUser": 21724, "listUser": 15768}},
	{"FST, optimizer", "fst+optimizer", nil},
	{"Hessian2", "hessian2", map[string]int64{"createUser": 22949, "existUser": 34735, "getUser": 20680, "listUser": 3590}},
	{"FastJson", "fastjson", map[string]int64{"createUser": 26269, "existUser": 29469, "getUser": 25204, "listUser": 9824}},
	{"Triple (Protobuf)", "triple", map[string]int64{"createUser": 19722, "existUser": 35350, "getUser": 20841, "listUser": 4656}},
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

// writeLive prints the live tables from the reports in dir, if there are any.
func writeLive(w io.Writer, dir string) error {
	var m machine
	if err := readJSON(filepath.Join(dir, "machine.json"), &m); errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	if err := writeCalls(w, dir, &m); err != nil {
		return err
	}
	return writeTraffic(w, dir, &m)
}

func (m *machine) text() string {
	return fmt.Sprintf("%s, %d cores, %.0f GiB, Linux %s, JDK %s, %s", m.CPU, m.Cores,
		float64(m.MemoryBytes)/(1<<30), m.Kernel, strings.SplitN(m.JDK, "+", 2)[0], m.Date)
}

func writeCalls(w io.Writer, dir string, m *machine) error {
	fmt.Fprintf(w, `
# Calls per second by method

dubbo-benchmark's UserService, Dubbo %s, %d client threads on one connection, provider and consumer and dubbo-wire on the
same machine: %s.
Measured is what dubbo-wire saw on the wire in %d seconds of load (%s); published is Dubbo's own
table, from 4 cores and 8 GiB. The figures of different machines do not compare; the order may.

`, m.Calls.Dubbo, m.Calls.Threads, m.text(), m.Calls.Seconds, "`dubbo-wire capture lo`")
	fmt.Fprint(w, "| serialization |")
	for _, method := range userMethods {
		fmt.Fprintf(w, " %s, measured | published | bytes a call |", method)
	}
	fmt.Fprintln(w, " coverage |")
	fmt.Fprintln(w, "| --- |"+strings.Repeat(" ---: | ---: | ---: |", len(userMethods))+" ---: |")
	for _, row := range callsPerSecond {
		fmt.Fprintf(w, "| %s |", row.name)
		coverage := ""
		least := 101.0
		for _, method := range userMethods {
			s, err := readCell(dir, "calls", row.serialization, method)
			if err != nil {
				return err
			}
			pub := ""
			if n, ok := row.published[method]; ok {
				pub = report.Count(n)
			}
			if s == nil {
				fmt.Fprintf(w, " | %s | |", pub)
				continue
			}
			if s.percent < least {
				least, coverage = s.percent, percent(s.percent)
			}
			fmt.Fprintf(w, " %s | %s | %s |", report.Count(int64(s.perSecond+0.5)), pub, report.Count(int64(s.bodyBytes+0.5)))
		}
		fmt.Fprintf(w, " %s |\n", coverage)
	}
	fmt.Fprint(w, "\nBytes a call are the bodies of request and response. Only the calls of the column's method count; where the window\nreached into the next method the rate is that much too low. Coverage is the lowest of the row's cells: the share of Dubbo's\nbytes that dubbo-wire recorded whole.\n")
	m.writeMissing(w, "calls")
	return nil
}

func writeTraffic(w io.Writer, dir string, m *machine) error {
	fmt.Fprintf(w, `
# Total time and total traffic

The workloads of smartbuf-dubbo's comparison, Dubbo %s (published: 2.6.7), %d client threads on the machine above. Bytes a
call are measured on the wire, body bytes of request and response, and all bytes on the link that belong to them; the
totals are those of the published number of calls. The published traffic was read from the interface's counters,
headers of TCP and IP, acknowledgements and all; link bytes here are the packets that carry Dubbo's messages, without
bare acknowledgements. The time is what so many calls take at the rate that was seen.

`, m.Traffic.Dubbo, m.Traffic.Threads)
	fmt.Fprintln(w, "| workload | serialization | body bytes a call | link bytes a call | total, bodies | total, link | time | published | coverage |")
	fmt.Fprintln(w, "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
	for _, t := range traffic {
		for _, serialization := range trafficSerializations {
			s, err := readCell(dir, "traffic", serialization, t.workload)
			if err != nil {
				return err
			}
			pub := t.published[serialization]
			if s == nil && pub == "" {
				continue
			}
			fmt.Fprintf(w, "| %s: %s × %s | %s |", t.workload, report.Count(t.calls), t.what, strings.Replace(serialization, "+", ", ", 1))
			if s == nil {
				fmt.Fprintf(w, " | | | | | %s | |\n", pub)
				continue
			}
			n := float64(t.calls)
			fmt.Fprintf(w, " %s | %s | %s | %s | %.0f s | %s | %s |\n", report.Count(int64(s.bodyBytes+0.5)), report.Count(int64(s.linkBytes+0.5)),
				total(s.bodyBytes*n), total(s.linkBytes*n), n/s.perSecond, pub, percent(s.percent))
		}
	}
	m.writeMissing(w, "traffic")
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
