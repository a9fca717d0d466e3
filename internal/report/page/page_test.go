package page_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/dubbo"
	"dubbo-wire/internal/decode/formats"
	"dubbo-wire/internal/decode/protocols"
	"dubbo-wire/internal/dev/testkit"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/report"
	"dubbo-wire/internal/report/page"
	"dubbo-wire/internal/rpc"
	"dubbo-wire/internal/sizes"
)

const captures = "../../../testdata/captures"

// megabyte is what a page must be smaller than.
const megabyte = 1_000_000

// sink collects what a page shows.
type sink struct {
	groups   *sizes.Aggregator
	timeline *sizes.Timeline
}

func (*sink) Frame(*pipeline.Row) {}

func (s *sink) Call(c *call.Call, _ bool) {
	s.groups.Call(c)
	s.timeline.Call(c)
}

// read makes the report of a capture.
func read(t testing.TB, file string) *report.Report {
	t.Helper()
	src, err := capture.Open([]string{filepath.Join(captures, file)}, capture.Options{})
	require.NoError(t, err)
	defer func() { _ = src.Close() }()
	pairs := sizes.NewPairs()
	s := &sink{sizes.New(sizes.DefaultBy(), 0, []string{file}), new(sizes.Timeline)}
	s.groups.CountPairs(pairs)
	totals, err := pipeline.Run(src, pipeline.Options{
		Protocols: protocols.All(), Formats: formats.All(), Jobs: 1, Detail: rpc.Values, Sample: pipeline.Sample{Calls: pipeline.AllCalls, Paths: true},
		Seen: s.timeline.Packet, Begin: s.timeline.Begin,
	}, s)
	require.NoError(t, err)
	r := report.Build(src.Inputs(), totals, sizes.DefaultBy(), s.groups.Groups())
	r.Parts, r.Inside, r.Pairs, r.Timeline = true, true, pairs, s.timeline
	return r
}

func write(t testing.TB, r *report.Report, s report.Style) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, page.Write(&b, r, s))
	return b.Bytes()
}

// made is a report of many methods, each with its own names.
func made(methods, paths int, name func(i int) (service, method string)) *report.Report {
	groups := sizes.New(sizes.DefaultBy(), 0, nil)
	totals := &pipeline.Totals{Packets: 1, FirstTime: 1_795_000_000_000_000_000, LastTime: 1_795_000_060_000_000_000}
	conn := &call.Conn{Number: 1, Ends: [2]string{"10.0.0.5:1", "10.0.0.9:20880"}}
	for i := range methods {
		service, method := name(i)
		message := func(flags byte, bytes int) *call.Message {
			m := &call.Message{Sampled: true, Details: new(call.Details)}
			m.Summary = rpc.Summary{Protocol: dubbo.Protocol, Complete: true, Serialization: "hessian2", ResultKind: -1, Wire: int64(bytes + 82)}
			(&dubbo.Header{Flags: flags | 2, Status: dubbo.StatusOK, BodyLen: bytes}).Describe(&m.Summary)
			var list []decode.PathBytes
			for k := range paths {
				n := bytes / paths
				if k == 0 {
					n += bytes % paths
				}
				list = append(list, decode.PathBytes{Path: fmt.Sprintf("result[*].%s%d", method, k), Class: decode.Class(k % 6), Bytes: int64(n)})
			}
			m.Sample = &call.Sample{Paths: decode.PackPaths(list, new(decode.KeyCache[decode.PathKey]))}
			m.Parts[0] = int32(bytes)
			return m
		}
		c := &call.Call{Conn: conn, Request: message(0xc0, 400+i), Response: message(0, 100_000+i)}
		c.Request.Operation = &rpc.Operation{Service: service, Method: method}
		c.Response.FirstTime, c.Response.LastByte = int64(i)*1000, int64(i)*1000+1
		groups.Call(c)
		for _, m := range []*call.Message{c.Request, c.Response} {
			totals.RPCBytes += m.Wire
			m.Owner.Settle(m)
		}
		totals.Calls++
	}
	totals.LinkBytes = totals.RPCBytes
	r := report.Build([]capture.Input{{File: "/tmp/made.pcap", Format: "pcap"}}, totals, sizes.DefaultBy(), groups.Groups())
	r.Parts, r.Inside = true, true
	return r
}

var shown = report.Style{Explain: "dubbo-wire explain made.pcap"}

// What the page has of a method is what the JSON report has of it, digit by digit.
func TestPageHasTheNumbersOfJSON(t *testing.T) {
	type stat struct{ Total, Mean, P50, P99, Max json.Number }
	type side struct{ BodyBytes, WireBytes stat }
	var printedAt struct {
		Groups []struct {
			Method                    string
			Calls, Errors             int64
			Request, Response         side
			ResponseOK, ResponseError *side
			LatencyMicros             stat
		}
	}
	r := read(t, "fleet.pcap.zst")
	var text bytes.Buffer
	require.NoError(t, r.WriteJSON(&text, false))
	require.NoError(t, json.Unmarshal(text.Bytes(), &printedAt))
	want := make(map[string]int)
	var compared map[string]string // by the column's heading; other columns are not in the JSON as they are
	number := func(n json.Number) string {
		if n == "" {
			return "-"
		}
		f, err := n.Float64()
		require.NoError(t, err)
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	for _, g := range printedAt.Groups {
		wire := int64(0)
		for _, s := range []side{g.Request, g.Response} {
			n, err := s.WireBytes.Total.Int64()
			require.NoError(t, err)
			wire += n
		}
		columns := map[string]string{
			"on the wire bytes": strconv.FormatInt(wire, 10), "calls count": strconv.FormatInt(g.Calls, 10),
			"failed responses bytes": number(cmp.Or(g.ResponseError, &side{BodyBytes: stat{Total: "0"}}).BodyBytes.Total),
			"latency p50":            number(g.LatencyMicros.P50), "latency p99": number(g.LatencyMicros.P99),
		}
		for name, s := range map[string]stat{"request": g.Request.BodyBytes, "response": cmp.Or(g.ResponseOK, &g.Response).BodyBytes} {
			name += " body bytes "
			columns[name+"mean"], columns[name+"p50"], columns[name+"p99"], columns[name+"max"] = number(s.Mean), number(s.P50), number(s.P99), number(s.Max)
		}
		want[fmt.Sprint(g.Method, columns)]++
		compared = columns
	}
	html := string(write(t, r, shown))
	_, heading, _ := strings.Cut(html, `<table class="sort main">`)
	heading, _, _ = strings.Cut(heading, "</thead>")
	headings := regexp.MustCompile(`<th scope="col" aria-label="([^"]*)">`).FindAllStringSubmatch(heading, -1)
	rows := regexp.MustCompile(`<tbody id="m\d+"><tr>(.*)`).FindAllStringSubmatch(html, -1)
	require.Len(t, rows, len(printedAt.Groups))
	cells := regexp.MustCompile(`<td(?: title="([^"]*)")?>([^<]*)`)
	method := regexp.MustCompile(`<bdi><b>([^<]*)</b></bdi> <small>`)
	got := make(map[string]int)
	for _, row := range rows {
		name := "?"
		if m := method.FindStringSubmatch(row[1]); m != nil {
			name = m[1]
		}
		numbers := cells.FindAllStringSubmatch(row[1], -1)[1:] // without the rank
		require.Len(t, numbers, len(headings))
		columns := make(map[string]string)
		for i, c := range numbers {
			if _, ok := compared[headings[i][1]]; !ok {
				continue
			}
			exact := strings.TrimSuffix(strings.ReplaceAll(cmp.Or(c[1], c[2]), ",", ""), " µs")
			if f, err := strconv.ParseFloat(exact, 64); err == nil {
				exact = strconv.FormatFloat(f, 'f', -1, 64)
			}
			columns[headings[i][1]] = exact
		}
		got[fmt.Sprint(name, columns)]++
	}
	assert.Equal(t, want, got)
}

// The page begins with the sizes of the same methods, as --same-methods compares them, then the traffic over time, then methods.
func TestPageLeadsWithTheComparison(t *testing.T) {
	r := read(t, "fleet.pcap.zst")
	text := body(t, string(write(t, r, shown)))
	var ids []string
	for _, m := range regexp.MustCompile(`<section id="([a-z]+)"`).FindAllStringSubmatch(text, -1) {
		ids = append(ids, m[1])
	}
	assert.Equal(t, []string{"by", "time", "all", "lead", "wire", "made", "methods", "pairs", "coverage", "words"}, ids)

	_, table, _ := strings.Cut(text, `<table class="same">`)
	table, _, _ = strings.Cut(table, "</table>")
	bars := make(map[string][]string)
	for _, row := range regexp.MustCompile(`<th scope="row">([^<]*) <small>(.*)`).FindAllStringSubmatch(table, -1) {
		for _, n := range regexp.MustCompile(`<b>([^<]*)</b><span>([^<]*)</span>|>no comparable`).FindAllStringSubmatch(row[2], -1) {
			bars["dubbo/"+row[1]] = append(bars["dubbo/"+row[1]], n[1], n[2])
		}
	}
	assert.Equal(t, []string{"1.00 x", "", "1.00 x", ""}, bars["dubbo/hessian2"])
	delete(bars, "dubbo/hessian2")
	head, _, _ := strings.Cut(text, "<nav")
	for _, label := range []string{"Capture", "Traffic", "Heaviest"} {
		assert.Contains(t, head, "<dt>"+label+"</dt>")
	}
	assert.NotContains(t, head, "Sizes", "the bars show them")

	require.True(t, r.KeepSameMethods())
	want := make(map[string][]string)
	for _, row := range r.View(shown).Same[0].Rows {
		for at := 4; at < 10; at += 3 {
			n := []string{"", ""}
			if row[at+1].Text != "-" {
				n = []string{row[at+2].Text, row[at+1].Text + " vs " + row[at].Text + " B"}
			}
			want[row[0].Text] = append(want[row[0].Text], n...)
		}
	}
	assert.Equal(t, want, bars)
	assert.Len(t, bars, 11)
	assert.Equal(t, []string{"0.85 x", "270 vs 316 B", "0.84 x", "304 vs 363 B"}, bars["dubbo/kryo (Kryo 5)"])
}

// Serializations without a method in common are not compared.
func TestPageOfDifferentMethods(t *testing.T) {
	r := made(4, 2, func(i int) (string, string) { return "com.acme.Orders", fmt.Sprint("list", i) })
	r.Groups[0].Values[1] = "kryo"
	text := body(t, string(write(t, r, shown)))
	assert.Contains(t, text, "No method was seen both in hessian2 and in another serialization, so these sizes do not compare serializations.")
	assert.NotContains(t, text, `class="same"`)
}

// A call over HTTP is named by its method and path, not by the last segment.
func TestPageNamesHTTP(t *testing.T) {
	html := string(write(t, read(t, "rest-edge-jetty-2.7.23.pcap.zst"), shown))
	assert.Contains(t, html, `<b>GET /edge/users/{id}</b></bdi> <small><bdi>127.<wbr>0.<wbr>0.<wbr>1:20880</bdi></small>`)
	assert.NotContains(t, html, "<b>{id}</b>")
}

// The golden file is what stands between style and script.
func TestGoldenPage(t *testing.T) {
	got := body(t, string(write(t, read(t, "bid-plain.pcap"), report.Style{Explain: "dubbo-wire explain bid-plain.pcap"})))
	name := filepath.Join(testkit.Root(), "testdata", "golden", "table", "bid-plain.page.golden")
	testkit.Golden(t, name, got)
}

// Whatever was captured, the page is small, is the same each time, and names nothing outside of itself.
func TestPageOfEveryCapture(t *testing.T) {
	for i, f := range testkit.Paths(50, "edge-hessian2", "fleet", "loss", "mislabelled-3.3.6", "mixed", "zoo-java") {
		text := write(t, read(t, filepath.Base(f)), shown)
		assert.Less(t, len(text), megabyte, f)
		if i%16 == 0 {
			assert.Equal(t, text, write(t, read(t, filepath.Base(f)), shown), f)
		}
		selfContained(t, text)
	}
}

var (
	tags       = regexp.MustCompile(`<[A-Za-z][^<>]*>`)
	attributes = regexp.MustCompile(`\s([A-Za-z-]+)="([^"]*)"`)
	loading    = regexp.MustCompile(`^(src|srcset|action|data|poster|style|on.*|xlink.*|formaction|background)$`)
	elements   = regexp.MustCompile(`^<(link|img|image|iframe|object|embed|base|form|use|audio|video|foreignobject)\b`)
)

// selfContained checks the markup: nothing to load, no script or style but the ones of the head.
func selfContained(t *testing.T, text []byte) {
	t.Helper()
	html := string(text)
	for _, tag := range tags.FindAllString(body(t, html), -1) {
		assert.NotRegexp(t, elements, strings.ToLower(tag))
		for _, a := range attributes.FindAllStringSubmatch(tag, -1) {
			if loading.MatchString(a[1]) || a[1] == "href" && !strings.HasPrefix(a[2], "#") {
				assert.Fail(t, "the page asks for something", tag)
			}
		}
	}
	assert.NotRegexp(t, `url\(|@import`, html[strings.Index(html, "<style>"):strings.Index(html, "</style>")])
	assert.Equal(t, 1, strings.Count(html, "<script"))
	assert.Equal(t, 1, strings.Count(html, "</script"))
	assert.Equal(t, 1, strings.Count(html, "<style"))
	assert.Contains(t, html, `content="default-src 'none'; style-src 'sha256-`)
}

// body is what stands between style and script.
func body(t *testing.T, html string) string {
	t.Helper()
	from, to := strings.Index(html, "</style>"), strings.LastIndex(html, "<script>")
	require.True(t, from > 0 && from < to)
	return html[from:to]
}

func TestPageOfVeryManyMethods(t *testing.T) {
	testkit.Once(t)
	if testing.Short() {
		t.Skip("one goroutine: the race detector finds nothing")
	}
	for _, paths := range []int{3, 400} {
		n := 50_000
		if paths > 3 {
			n = 1_000
		}
		text := write(t, made(n, paths, func(i int) (string, string) {
			return fmt.Sprintf("com.acme.order.service%d.OrderQueryService", i%977), fmt.Sprintf("listByBuyer%d", i)
		}), shown)
		assert.Less(t, len(text), megabyte)
		assert.Greater(t, len(text), megabyte/4, "there is room for more")
		assert.Contains(t, string(text), "The same command with --format csv prints all.")
		assert.True(t, regexp.MustCompile(`<tfoot>.*[0-9,]+ more<td`).Match(text))
	}
}

// Names come from the wire, where anybody may have written them.
func TestPageOfHostileNames(t *testing.T) {
	evil := []string{
		`</script><script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, "\u202eright to left\u2066", "a\x00b\x1b[31m\n", `' style='x`,
		"<!--", "]]>", `{{.}}`, strings.Repeat("长", 70_000), strings.Repeat("<", 30_000), "&lt;b&gt;", "%s%d%!",
	}
	r := made(len(evil)*40, 40, func(i int) (string, string) { return evil[i%len(evil)] + fmt.Sprint(i), evil[(i+1)%len(evil)] })
	for i := range evil {
		r.Findings = append(r.Findings, report.Finding{Service: evil[i], Subject: evil[i], Text: evil[i], Frame: 1})
	}
	r.Inputs[0].File = evil[0]
	text := write(t, r, report.Style{Explain: "dubbo-wire explain " + evil[0]})
	assert.Less(t, len(text), megabyte)
	selfContained(t, text)
	for _, bad := range []string{"\u202e", "\u2066", "\x1b", "\x00", "<img"} {
		assert.NotContains(t, string(text), bad)
	}
	assert.Contains(t, string(text), "%s%d%!")

	b := open(t)
	b.load(text)
	assert.EqualValues(t, 1, b.eval(`document.querySelectorAll("script").length`))
	assert.EqualValues(t, 0, b.eval(`document.querySelectorAll("img").length`))
	b.eval(`document.querySelectorAll("button.open").forEach((b) => b.click())`)
	b.quiet()
}

// A finding stands once among the first methods, at the heaviest row of its method; all of them are in their section.
func TestPageFindings(t *testing.T) {
	r := made(30, 3, func(i int) (string, string) { return "com.acme.Orders", fmt.Sprintf("list%d", i) })
	for i := range 40 {
		r.Findings = append(r.Findings, report.Finding{Service: "com.acme.Orders", Method: fmt.Sprintf("list%d", 29-i%30), Subject: "Orders/x", Text: fmt.Sprintf("fact %d.", i), Frame: int64(i + 1)})
	}
	r.Findings[0].Verb, r.Findings[0].Args = "calls", []string{"--method", "list 29"}
	text := body(t, string(write(t, r, shown)))
	_, lead, _ := strings.Cut(text, `<section id="lead"`)
	lead, rest, ok := strings.Cut(lead, `<section id="findings"`)
	require.True(t, ok)
	list, _, _ := strings.Cut(rest, "</section>")
	for i := range 40 {
		fact := fmt.Sprintf(">fact %d.<", i)
		assert.Equal(t, 1, strings.Count(list, fact), fact)
		n := 0
		if i%30 < 10 { // of the ten heaviest methods
			n = 1
		}
		assert.Equal(t, n, strings.Count(lead, fact), fact)
		if i > 0 {
			assert.Contains(t, list, fmt.Sprintf("<code>dubbo-wire explain made.pcap --frame %d</code>", i+1))
		}
	}
	assert.Equal(t, strings.Count(list, "<details>"), strings.Count(list, "</details>"))
	assert.Contains(t, list, "<code>dubbo-wire calls made.pcap --method &#39;list 29&#39;</code>")
	assert.Contains(t, list, "28 more findings")
}

// A report that was saved and read back lacks what the page says it lacks.
func TestPageOfLittle(t *testing.T) {
	r := made(3, 2, func(i int) (string, string) { return "com.acme.订单服务", fmt.Sprintf("查询%d", i) })
	r.Parts, r.Inside = false, false
	for _, g := range r.Groups {
		g.Anatomy = nil
	}
	text := body(t, string(write(t, r, report.Style{})))
	for _, s := range []string{
		"This report does not contain traffic over time.", "This report does not contain the composition of bodies.",
		"This report does not contain clients and servers.", "查询1", "All calls use one serialization: there is nothing to compare.",
	} {
		assert.Contains(t, text, s)
	}
	assert.NotContains(t, text, "NaN")

	empty := report.Build(nil, &pipeline.Totals{}, sizes.DefaultBy(), nil)
	text = body(t, string(write(t, empty, report.Style{})))
	assert.Contains(t, text, "no packets")
	assert.NotContains(t, text, "NaN")
	assert.NotContains(t, text, `id="methods"`)
}

func TestPageInBrowser(t *testing.T) {
	b := open(t)
	r := read(t, "fleet.pcap.zst")
	b.size(1400, 1000)
	b.load(write(t, r, shown))
	first := `document.querySelector(".main > tbody th:nth-of-type(2)").textContent`
	heaviest := b.eval(first)

	column := func(name string) string {
		return `[...document.querySelectorAll(".main thead tr:last-child > *")].find((h) => (h.getAttribute("aria-label") || h.textContent) === "` + name + `")`
	}
	// Each column goes down first, then up, by numbers with all digits; names the other way.
	for _, name := range []string{"on the wire bytes", "calls /s", "request body bytes mean", "response body bytes p99", "response body bytes max", "latency p99"} {
		for _, want := range []string{"descending", "ascending"} {
			b.eval(column(name) + `.querySelector("button").click()`)
			assert.Equal(t, want, b.eval(column(name)+`.getAttribute("aria-sort")`), name)
			assert.Equal(t, true, b.eval(`(() => {
				const at = [...`+column(name)+`.parentNode.children].indexOf(`+column(name)+`);
				const n = [...document.querySelectorAll(".main > tbody")].map((body) => { const c = body.rows[0].cells[at];
					return c.textContent === "-" ? null : parseFloat((c.title || c.textContent).replace(/,/g, "")); });
				const known = n.filter((v) => v !== null);
				return known.length > 10 && n.slice(0, known.length).every((v) => v !== null) &&
					known.every((v, i) => !i || ("`+want+`" === "ascending" ? known[i - 1] <= v : known[i - 1] >= v));
			})()`), name+" "+want)
		}
	}
	assert.EqualValues(t, 1, b.eval(`document.querySelectorAll(".main th[aria-sort]").length`))
	b.eval(column("service/method") + `.querySelector("button").click()`)
	assert.Equal(t, "ascending", b.eval(column("service/method")+`.getAttribute("aria-sort")`))
	b.eval(column("#") + `.querySelector("button").click()`)
	assert.Equal(t, heaviest, b.eval(first))

	// The filter leaves rows whose names have all its words.
	b.eval(`(() => { const f = document.getElementById("filter"); f.value = "USER kryo"; f.dispatchEvent(new Event("input")); })()`)
	assert.Equal(t, true, b.eval(`(() => { const rows = [...document.querySelectorAll(".main > tbody")]; const seen = rows.filter((r) => !r.hidden);
		return seen.length > 0 && seen.length < rows.length && seen.every((r) => /user/i.test(r.textContent) && /kryo/i.test(r.textContent)); })()`))
	b.eval(`(() => { const f = document.getElementById("filter"); f.value = ""; f.dispatchEvent(new Event("input")); })()`)

	// A row opens from the link at the top; its picture has the bytes of the table, and zooms and moves.
	b.eval(`location.hash = "#m1"; new Promise((done) => setTimeout(done, 100))`)
	assert.Equal(t, "true", b.eval(`document.querySelector("#m1 button.open").getAttribute("aria-expanded")`))
	flame := `document.querySelectorAll("#m1 .flame")[1]`
	all := b.eval(flame + `.children.length`).(float64)
	require.Greater(t, all, 10.0)
	assert.Equal(t, true, b.eval(`(() => { const f = `+flame+`, w = f.clientWidth; const row = [...f.children].filter((c) => c.style.top === "22px");
		return Math.abs(row.reduce((s, c) => s + c.getBoundingClientRect().width, 0) - w) < w * 0.02; })()`))
	b.eval(`[...` + flame + `.children].find((c) => c.style.top === "22px").click()`)
	assert.Less(t, b.eval(flame+`.children.length`).(float64), all+1)
	assert.Equal(t, "100%", b.eval(`[...`+flame+`.children].find((c) => c.style.top === "22px").style.width`))
	crumbs := `document.querySelectorAll("#m1 .crumbs")[1]`
	assert.EqualValues(t, 1, b.eval(crumbs+`.querySelectorAll("button").length`))
	b.eval(flame + `.querySelector("[tabindex='0']").focus()`)
	key := func(name string) {
		b.eval(`document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key: "` + name + `", bubbles: true, cancelable: true }))`)
	}
	at := b.eval(`document.activeElement.style.top`)
	key("ArrowDown")
	assert.NotEqual(t, at, b.eval(`document.activeElement.style.top`))
	key("Escape")
	assert.Equal(t, all, b.eval(flame+`.children.length`))
	b.eval(crumbs + `.scrollIntoView()`)

	// A chart tells the numbers of its table.
	b.eval(`document.querySelector(".area").focus()`)
	key("Home")
	key("ArrowRight")
	assert.Equal(t, true, b.eval(`(() => { const tip = document.querySelector(".tip").textContent, c = document.getElementById("slots").tBodies[0].rows[1].cells;
		return tip.startsWith(c[0].textContent) && tip.includes(c[1].textContent) && tip.includes(c[2].textContent); })()`))
	assert.EqualValues(t, b.eval(`document.querySelector(".charts").dataset.slots`), fmt.Sprint(b.eval(`document.querySelectorAll("#slots tbody tr").length`)))
	b.quiet()
}

// Nothing sticks out at any width, in either colour, and a printed page is short.
func TestPageAtAnyWidth(t *testing.T) {
	b := open(t)
	for _, file := range []string{"fleet.pcap.zst", "loss.pcap.zst", "mixed.pcap.zst", "bid-plain.pcap.zst"} {
		if _, err := os.Stat(filepath.Join(captures, file)); err != nil {
			continue
		}
		text := write(t, read(t, file), shown)
		for _, width := range []int{360, 768, 1024, 1400} {
			b.size(width, 1000)
			b.dark(width == 768)
			b.load(text)
			b.eval(`document.querySelectorAll("button.open").forEach((b, i) => i < 3 && b.click())`)
			assert.LessOrEqual(t, b.eval(`document.documentElement.scrollWidth`), float64(width), "%s at %d", file, width)
			if width == 768 || width == 1400 { // in dark colours and in light ones
				assert.Empty(t, b.eval(lowContrast), file)
			}
			b.shot(fmt.Sprintf("%s-%d", file, width))
		}
		b.load(text)
		sheets := b.print(file)
		assert.Greater(t, sheets, 1, file)
		assert.Less(t, sheets, 10, file)
	}
	b.quiet()
}

// Without the script all tables are there, open.
func TestPageWithoutScript(t *testing.T) {
	b := open(t)
	b.call("Emulation.setScriptExecutionDisabled", map[string]any{"value": true}, nil)
	b.load(write(t, read(t, "fleet.pcap.zst"), shown))
	assert.Equal(t, true, b.eval(`document.querySelector("#m1 tr.d").getBoundingClientRect().height > 100 &&
		document.querySelector("#m1 .paths").getBoundingClientRect().height > 100 && !document.querySelector(".filter").offsetHeight`))
}

// A document is a page with its tables; those whose rows have heads cannot be sorted.
func TestPageOfDocument(t *testing.T) {
	sec := report.Section{Title: "ONE", Columns: []report.Column{{Name: "name"}, {Name: "bytes", Right: true}}, Notes: []string{"a <b> note"}}
	sec.Add("x", "1")
	heads := sec
	heads.Title, heads.Rows = "TWO", nil
	heads.Add("of x", "")
	heads.Add("x", "1")
	var b strings.Builder
	require.NoError(t, page.WriteDocument(&b, "Title", &report.Document{Summary: "1 < 2", Sections: []report.Section{sec, heads}}))
	got := b.String()
	assert.Equal(t, 1, strings.Count(got, `<table class="sort">`))
	assert.Equal(t, 2, strings.Count(got, "<table"))
	assert.Contains(t, got, "<p>1 &lt; 2</p>")
	assert.Contains(t, got, "a &lt;b&gt; note")
	assert.Equal(t, 1, strings.Count(got, "</html>"))
}
