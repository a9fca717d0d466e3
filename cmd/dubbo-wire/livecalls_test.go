package main

import (
	"encoding/json"
	"net"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/report"
)

// noLive says why nothing can be captured here; "" where it can.
func noLive() string {
	src, err := capture.OpenLive([]string{"lo"}, capture.LiveOptions{})
	if err != nil {
		return err.Error()
	}
	_ = src.Close()
	return ""
}

// freePort is a TCP port that nobody listens on.
func freePort(t testing.TB) int {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// groupsOf reads the groups of a JSON report, without what depends on the time and the place of the capture.
func groupsOf(ts *testscript.TestScript, file string, without ...string) []map[string]any {
	var report struct{ Groups []map[string]any }
	data, err := os.ReadFile(ts.MkAbs(file))
	ts.Check(err)
	ts.Check(json.Unmarshal(data, &report))
	for _, g := range report.Groups {
		for _, key := range without {
			delete(g, key)
		}
		for _, d := range []string{"request", "response", "responseOk", "responseOther", "responseError"} {
			if d, ok := g[d].(map[string]any); ok && len(without) > 2 {
				delete(d, "wireBytes")
			}
		}
		if largest, ok := g["largest"].(map[string]any); ok {
			delete(largest, "file")
		}
	}
	return report.Groups
}

func sameGroups(ts *testscript.TestScript, a, b []map[string]any) {
	if len(a) != len(b) {
		ts.Fatalf("%d groups, and %d", len(a), len(b))
	}
	if len(a) == 0 {
		ts.Fatalf("no groups")
	}
	for i := range a {
		if !reflect.DeepEqual(a[i], b[i]) {
			x, _ := json.Marshal(a[i])
			y, _ := json.Marshal(b[i])
			ts.Fatalf("group %d:\n%s\n%s", i, x, y)
		}
	}
}

func cmdSameGroups(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: samegroups REPORT REPORT")
	}
	// Connections of only some packets end at other times, which rates are of.
	sameGroups(ts, groupsOf(ts, args[0], "callsPerSecond"), groupsOf(ts, args[1], "callsPerSecond"))
}

func cmdSameCalls(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: samecalls REPORT CAPTURE")
	}
	ts.Check(ts.Exec("dubbo-wire", "analyze", args[1], "--format", "json", "-o", "samecalls.json"))
	without := []string{"callsPerSecond", "latencyMicros", "waitMicros", "largest"}
	sameGroups(ts, groupsOf(ts, args[0], without...), groupsOf(ts, "samecalls.json", without...))
}

func cmdSums(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: sums JSONL")
	}
	type group struct{ Calls, Errors int64 }
	var sum, whole struct{ packets, bytes, calls, errors int64 }
	intervals := 0
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		var v struct {
			Schema                            string
			Packets, LinkBytes, Calls, Errors int64
			Inputs                            []struct{ Packets int64 }
			Wire                              struct{ LinkBytes int64 }
			Groups                            []group
		}
		ts.Check(json.Unmarshal([]byte(line), &v))
		if v.Schema == report.IntervalSchema {
			intervals++
			sum.packets, sum.bytes = sum.packets+v.Packets, sum.bytes+v.LinkBytes
			sum.calls, sum.errors = sum.calls+v.Calls, sum.errors+v.Errors
			continue
		}
		whole.packets, whole.bytes = v.Inputs[0].Packets, v.Wire.LinkBytes
		for _, g := range v.Groups {
			whole.calls, whole.errors = whole.calls+g.Calls, whole.errors+g.Errors
		}
	}
	if sum != whole || intervals < 2 || whole.calls == 0 {
		ts.Fatalf("%d intervals of %v, and a report of %v", intervals, sum, whole)
	}
}
