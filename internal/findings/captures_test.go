package findings_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/decode/formats"
	"dubbo-wire/internal/decode/protocols"
	"dubbo-wire/internal/dev/testkit"
	"dubbo-wire/internal/dev/truth/javalog"
	"dubbo-wire/internal/findings"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/report"
	"dubbo-wire/internal/rpc"
	"dubbo-wire/internal/sizes"
)

const captures = "../../testdata/captures/"

// sink hands calls to a collector.
type sink struct{ *findings.Collector }

func (sink) Frame(*pipeline.Row) {}

func (s sink) Call(c *call.Call, _ bool) { s.Collector.Call(c) }

// read makes a report of a capture's findings.
func read(t testing.TB, path string, jobs int, sample pipeline.Sample, sensitive bool) *report.Report {
	t.Helper()
	src, err := capture.Open([]string{path}, capture.Options{})
	require.NoError(t, err)
	defer src.Close()
	k := findings.New()
	if sensitive {
		k.Sensitive(quickLarge, quickWait)
	}
	opt := pipeline.Options{Protocols: protocols.All(), Formats: formats.All(), Jobs: jobs, Sample: sample}
	if sample.Calls == pipeline.AllCalls {
		opt.Detail = rpc.Values
	}
	totals, err := pipeline.Run(src, opt, sink{k})
	require.NoError(t, err)
	r := report.Build(src.Inputs(), totals, sizes.DefaultBy(), nil)
	r.Findings, r.Basis = k.Findings(totals), k.Basis()
	return r
}

var (
	some = pipeline.Sample{Calls: 64, Bytes: 1 << 20, Bodies: true}
	all  = pipeline.Sample{Calls: pipeline.AllCalls, Bodies: true}
)

// quickLarge and quickWait are what large answers and waits are on a quick network, in bytes and nanoseconds.
const quickLarge, quickWait = 1, 1

// files are the captures to look at; a few with -short.
func files(t testing.TB) []string {
	if testing.Short() {
		return []string{
			captures + "fleet.pcap.zst", captures + "mislabelled-3.3.6.pcap.zst", captures + "mixed-3.2.16.pcap.zst",
			captures + "exhausted-2.6.12.pcap.zst", captures + "edge-preferred-3.3.6.pcap.zst", captures + "loss.pcap.zst",
		}
	}
	return testkit.Paths(7, "fleet", "mislabelled-3.3.6", "mixed-3.2.16", "exhausted-2.6.12", "exhausted-3.3.6", "edge-preferred-3.3.6", "interleaved-3.3.6", "loss",
		"rest-edge-3.3.6", "rest-jetty-xml-2.7.23", "rest-forms-3.3.6", "hessian-http-2.7.23")
}

// key names a finding as recount does.
func key(f *report.Finding) string {
	text := func(name string) string {
		for _, x := range f.Facts {
			if x.Name == name {
				return x.Text
			}
		}
		return ""
	}
	subject := f.Subject
	if f.Service != "" && f.Protocol != "" {
		subject = f.Protocol + " " + subject
	}
	switch f.Kind {
	case "errors":
		outcome, main := "exception", ""
		for _, x := range f.Facts {
			switch {
			case x.Name == "status":
				outcome = fmt.Sprint("status ", x.Value)
			case x.Name == "aborted":
				outcome = x.Text
			case x.Name == "textsRead" && x.Value > 0 && main == "":
				main = "?"
			case x.Name == "texts":
				main = x.Names[0]
			}
		}
		return "errors " + outcome + " " + main
	case "attachments":
		name := f.Kind + " " + text("direction")
		for _, x := range f.Facts {
			if x.Name == "frameBytes" {
				name += " frame"
			}
			if x.Name == "sameKeys" {
				name += " " + strings.Join(slices.Sorted(slices.Values(x.Names)), ",")
			}
		}
		return name
	case "names", "flow-control", "sent-defaults", "unknown-fields", "never-set":
		return f.Kind + " " + subject + " " + text("direction")
	case "headers":
		for _, x := range f.Facts {
			if x.Name == "bodyBytes" {
				return f.Kind + " of HTTP/1 " + text("direction")
			}
		}
		return f.Kind + " " + text("direction")
	case "header-compression", "compressed-larger", "cookies":
		return f.Kind + " " + text("direction")
	case "header-serialization":
		return f.Kind + " " + text("direction") + " " + text("header") + " " + text("body")
	case "answer-serialization":
		return f.Kind + " " + text("request") + " " + text("response")
	case "missing-classes":
		return f.Kind + " " + text("flag")
	case "dubbo-version":
		return f.Kind + " " + text("version")
	case "method-serializations", "client-serializations":
		var set []string
		for _, x := range f.Facts {
			if s, ok := strings.CutPrefix(x.Name, "calls."); ok {
				set = append(set, s)
			}
		}
		slices.Sort(set)
		return f.Kind + " " + strings.Join(set, ",")
	}
	return f.Kind + " " + subject
}

// Every finding of every capture is recounted from frames, and none is missing.
func TestRecount(t *testing.T) {
	seen := map[string]int{}
	for _, path := range files(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			list, totals := frameList(t, path)
			// Large answers pass in no time on the captures' machine: what waited behind them is held against smaller ones, too.
			for _, sensitive := range []bool{false, true} {
				recountOne(t, path, list, totals, sensitive, seen)
			}
		})
	}
	if !testing.Short() {
		t.Log(seen)
		for _, kind := range []string{
			"errors", "unanswered", "names", "attachments", "header-serialization", "answer-serialization", "method-serializations",
			"client-serializations", "dubbo-version", "threads-exhausted", "compressible", "payload-refused", "waited-behind", "late-responses", "retries", "sent-defaults", "never-set", "missing-classes", "keep-alive",
		} {
			assert.Positive(t, seen[kind], "no capture has %s", kind)
		}
	}
}

func recountOne(t *testing.T, path string, list *frames, totals *pipeline.Totals, sensitive bool, seen map[string]int) {
	largeFrom, waitFrom := int64(64<<10), int64(1e6)
	if sensitive {
		largeFrom, waitFrom = quickLarge, quickWait
	}
	want := recount(t, path, list, totals, largeFrom, waitFrom)
	r := read(t, path, 1, all, sensitive)
	require.Less(t, len(r.Findings), 1000, "some are cut")
	for i := range r.Findings {
		f := &r.Findings[i]
		seen[f.Kind]++
		switch f.Kind {
		case "sent-again", "heartbeats":
			continue // of the run's totals
		}
		k := key(f)
		facts, ok := want[k]
		if !assert.True(t, ok, "recount does not expect the finding %q (%s); if the rule is right, add it to recount in recount_test.go", k, f.Text) {
			continue
		}
		delete(want, k)
		had := map[string]any{}
		for _, x := range f.Facts {
			switch {
			case x.Names != nil:
				had[x.Name] = x.Names
			case x.Text != "":
				had[x.Name] = x.Text
			default:
				had[x.Name] = x.Value
			}
		}
		for name, value := range facts {
			switch v := value.(type) {
			case int, int64, float64:
				assert.InDelta(t, v, had[name], 1e-6, "%s: %s", k, name)
			case []string:
				got, _ := had[name].([]string)
				assert.ElementsMatch(t, v, got, "%s: %s", k, name)
			default:
				assert.Equal(t, value, had[name], "%s: %s", k, name)
			}
		}
		if f.Frame > 0 {
			assert.True(t, slices.ContainsFunc(list.list, func(m *message) bool { return m.number == f.Frame }), "%s: frame %d", k, f.Frame)
		}
	}
	for k, facts := range want {
		if strings.HasPrefix(k, "compressible ") {
			continue
		}
		assert.Fail(t, "not found", "recount in recount_test.go expects the finding %q with %v, and its rule does not report it", k, facts)
	}
}

// The same findings in the same order for any number of jobs, and each time.
func TestJobs(t *testing.T) {
	for i, path := range files(t) {
		if i%5 > 0 && !testing.Short() {
			continue // all of them take long
		}
		one := read(t, path, 1, some, false)
		assert.Equal(t, one.Findings, read(t, path, 4, some, false).Findings, path)
		assert.Equal(t, one.Findings, read(t, path, 1, some, false).Findings, path)
	}
}

// What is printed has the numbers of the facts.
func TestTextsHaveTheFacts(t *testing.T) {
	r := read(t, captures+"fleet.pcap.zst", 1, some, false)
	require.NotEmpty(t, r.Findings)
	for _, f := range r.Findings {
		if f.Kind == "errors" {
			calls := report.Plural(int64(f.Facts[0].Value), "call")
			if f.Service != "" {
				calls = fmt.Sprintf("%s of %s", report.Count(int64(f.Facts[0].Value)), report.Plural(int64(f.Facts[1].Value), "call"))
			}
			assert.True(t, strings.HasPrefix(f.Text, calls+" "), f.Text)
		}
		assert.NotEmpty(t, f.Facts, f.Kind)
		assert.NotEmpty(t, f.Text)
		assert.NotEmpty(t, f.Subject)
		assert.Positive(t, f.Weight, "%s %s", f.Kind, f.Subject)
	}
}

// Every rule is in the page of findings, with a heading and a row.
func TestPage(t *testing.T) {
	b, err := os.ReadFile("../../docs/findings.md")
	require.NoError(t, err)
	page := string(b)
	for _, kind := range findings.Kinds() {
		assert.True(t, strings.Contains(page, "\n### "+kind+"\n"), "docs/findings.md has no section for this finding; add \"### %s\"", kind)
		assert.True(t, strings.Contains(page, "\n| `"+kind+"`"), "docs/findings.md has no row for this finding; add \"| `%s` | what it says | from which size on |\"", kind)
	}
}

// What Dubbo wrote about refused answers is read where calls are sampled, though other bodies are only measured.
func TestRefusedInCaptures(t *testing.T) {
	for file, want := range map[string][]string{
		"exhausted-2.6.12.pcap.zst": {
			"3 responses refused: Data length too large: 300,237, max payload: 20,000",
			"1 response refused: Data length too large: 21,018, max payload: 20,000",
		},
		"exhausted-3.3.6.pcap.zst": {"1 response refused: Data length too large: 21,018, max payload: 20,000"},
	} {
		var had []string
		for _, f := range read(t, captures+file, 1, some, false).Findings {
			if f.Kind == "payload-refused" {
				had = append(had, f.Text)
			}
		}
		assert.Equal(t, want, had, file)
	}
}

// The retries are those of the rig's workload: its consumer sent so many requests, and its application made 19 calls of the method.
func TestFailover(t *testing.T) {
	const applicationCalls = 4 + 8 + 3 + 3 + 1
	for _, name := range []string{"failover-2.7.3", "failover-3.3.6"} {
		sent := 0
		require.NoError(t, javalog.Read(strings.NewReader(testkit.Get(t, name).TruthLog(t)), func(f *javalog.Frame) {
			if f.Side == "consumer" && f.Dir == "out" && f.Kind == "request" && f.Method == "slow" {
				sent++
			}
		}))
		found := 0.0
		for _, f := range read(t, captures+name+".pcap.zst", 1, some, false).Findings {
			if f.Kind == "retries" {
				found = f.Facts[0].Value
			}
		}
		assert.EqualValues(t, sent-applicationCalls, found, name)
	}
}
