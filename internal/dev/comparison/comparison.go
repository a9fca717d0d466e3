// Command comparison writes docs/comparison.md, which compares published tables with measurements of dubbo-wire. It reads
// the sizes from the committed captures, and calls per second and traffic from the reports that testdata/rig/tables.sh saved.
//
//	go run ./internal/dev/comparison testdata/captures testdata/rig/tables > docs/comparison.md
package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/decode/formats"
	"dubbo-wire/internal/decode/protocols"
	"dubbo-wire/internal/pipeline"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: comparison testdata/captures testdata/rig/tables > docs/comparison.md")
		os.Exit(2)
	}
	if err := write(os.Stdout, os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "comparison: "+err.Error())
		os.Exit(1)
	}
}

// published is the table of Dubbo's documentation ("Serialization performance"): bytes of one nested object.
var published = []struct {
	name              string
	serialization     string
	request, response float64
}{
	{"Kryo", "kryo", 272, 90},
	{"FST", "fst", 288, 96},
	{"Dubbo Serialization", "dubbo", 430, 186},
	{"FastJson", "fastjson", 461, 218},
	{"Hessian", "hessian2", 546, 329},
	{"Json", "json", 657, 409},
	{"Java Serialization", "java", 963, 630},
}

// row holds the bid calls of one capture.
type row struct {
	name        string // of the serialization, with its dialect
	optimizer   bool
	dubbo       string
	calls       int64
	request     usual
	response    usual
	publishedAt int // index in published, -1
}

func (r *row) title() string {
	if r.optimizer {
		return r.name + ", optimizer"
	}
	return r.name
}

// usual counts sizes to find the most frequent one, because the captures also contain calls with a larger object.
type usual struct{ seen map[int]int64 }

func (u *usual) add(n int) {
	if u.seen == nil {
		u.seen = map[int]int64{}
	}
	u.seen[n]++
}

// size returns the most frequent size in bytes and its number of calls; of two equally frequent ones the smaller.
func (u *usual) size() (n int, calls int64) {
	for _, k := range slices.Sorted(maps.Keys(u.seen)) {
		if u.seen[k] > calls {
			n, calls = k, u.seen[k]
		}
	}
	return n, calls
}

func (u *usual) bytes() float64 {
	n, _ := u.size()
	return float64(n)
}

// provenance holds the fields of provenance.json that are used here.
type provenance struct {
	Name, File, Dubbo   string
	Serializations      []string
	Optimizer, Complete bool
}

func write(w io.Writer, captures, live string) error {
	all, err := measure(captures)
	if err != nil {
		return err
	}
	rows := chosen(all)
	fmt.Fprint(w, `# The published size table, measured

Dubbo's documentation compares serializations by the bytes of one nested object, an ad bid request with little data that
a service echoes. The table below has those figures beside what dubbo-wire reads from the captures in testdata/captures:
body bytes of a call (without the 16 bytes of the frame's header), as most of the calls have them. Each row is of Dubbo
`+mainRelease+`, or of the newest release that has the serialization.
Requests carry the service's name, the method, the types and the attachments beside the object; responses carry the
object and, since 2.6.3, one attachment.
The object here is the one that Dubbo's benchmark echoed, as far as that is published; the machines, releases and class
names of the original are not known, so the order tells more than the figures.

`)
	fmt.Fprintln(w, "| serialization | Dubbo | calls of this size | request, measured | request, published | response, measured | response, published |")
	fmt.Fprintln(w, "| --- | --- | ---: | ---: | ---: | ---: | ---: |")
	for _, r := range rows {
		_, calls := r.request.size()
		fmt.Fprintf(w, "| %s | %s | %d of %d | %s | %s | %s | %s |\n", r.title(), r.dubbo, calls, r.calls,
			number(r.request.bytes()), r.figure(func(i int) float64 { return published[i].request }),
			number(r.response.bytes()), r.figure(func(i int) float64 { return published[i].response }))
	}
	for i, p := range published {
		if !slices.ContainsFunc(rows, func(r *row) bool { return r.publishedAt == i }) {
			fmt.Fprintf(w, "| %s: no capture | | | | %s | | %s |\n", p.name, number(p.request), number(p.response))
		}
	}
	fmt.Fprint(w, "\n`optimizer`: with a SerializationOptimizer that registers the classes of the application, so that their names are\nnumbers on the wire. The published rows of Kryo and FST do not say whether they had one; both are compared.\n\n")
	fmt.Fprint(w, "avro writes no attachments, no class names and no nulls: only the calls without nulls could be made. protobuf and\nprotobuf-json carry a message of the same content, declared in a .proto file.\n\n")
	fmt.Fprintf(w, "## Where the order differs\n\n")
	n := inversions(w, "request", rows, func(r *row) float64 { return r.request.bytes() }, func(i int) float64 { return published[i].request })
	n += inversions(w, "response", rows, func(r *row) float64 { return r.response.bytes() }, func(i int) float64 { return published[i].response })
	if n == 0 {
		fmt.Fprintln(w, "Nowhere: the measured rows stand in the published order, in requests and in responses.")
	}
	writeReleases(w, all)
	return writeLive(w, live)
}

// mainRelease is the preferred release if a serialization was captured with several.
const mainRelease = "2.7.23"

// chosen returns one row per serialization in ascending order of the size of requests.
func chosen(all []*row) []*row {
	best := map[string]*row{}
	for _, r := range all {
		have := best[r.title()]
		if have == nil || r.dubbo == mainRelease || have.dubbo != mainRelease && newer(r.dubbo, have.dubbo) {
			best[r.title()] = r
		}
	}
	return slices.SortedFunc(maps.Values(best), func(a, b *row) int {
		return cmp.Or(cmp.Compare(a.request.bytes(), b.request.bytes()), strings.Compare(a.title(), b.title()))
	})
}

// newer compares releases: "2.7.23" is newer than "2.7.8".
func newer(a, b string) bool { return slices.Compare(version(a), version(b)) > 0 }

func version(s string) []int {
	var v []int
	for _, f := range strings.Split(s, ".") {
		n, _ := strconv.Atoi(f)
		v = append(v, n)
	}
	return v
}

// writeReleases prints the serializations with captures of several releases.
func writeReleases(w io.Writer, all []*row) {
	by := map[string][]*row{}
	for _, r := range all {
		by[r.title()] = append(by[r.title()], r)
	}
	fmt.Fprint(w, `
# The same object, release by release

What changes from release to release is the envelope: Dubbo's version or that of its protocol, the attachments that every
call carries, and, since 2.6.3, an attachment in every response.

| serialization | Dubbo | request | response |
| --- | --- | ---: | ---: |
`)
	for _, title := range slices.Sorted(maps.Keys(by)) {
		rows := by[title]
		if len(rows) < 2 {
			continue
		}
		slices.SortFunc(rows, func(a, b *row) int { return slices.Compare(version(a.dubbo), version(b.dubbo)) })
		for _, r := range rows {
			fmt.Fprintf(w, "| %s | %s | %s | %s |\n", title, r.dubbo, number(r.request.bytes()), number(r.response.bytes()))
		}
	}
}

// number formats a mean, without decimals if it is an integer.
func number(f float64) string {
	if f == float64(int64(f)) {
		return fmt.Sprintf("%d", int64(f))
	}
	return fmt.Sprintf("%.1f", f)
}

func (r *row) figure(of func(int) float64) string {
	if r.publishedAt < 0 {
		return ""
	}
	return number(of(r.publishedAt))
}

// inversions prints a sentence for each row that is smaller than another row and was published as larger. It returns their
// number.
func inversions(w io.Writer, what string, rows []*row, measured func(*row) float64, pub func(int) float64) int {
	n := 0
	for i, a := range rows {
		var before []string
		for j, b := range rows {
			if i == j || a.publishedAt < 0 || b.publishedAt < 0 || a.publishedAt == b.publishedAt {
				continue
			}
			if measured(a) < measured(b) && pub(a.publishedAt) > pub(b.publishedAt) {
				before = append(before, fmt.Sprintf("%s (%s, published %s)", b.title(), number(measured(b)), number(pub(b.publishedAt))))
			}
		}
		if len(before) > 0 {
			n++
			fmt.Fprintf(w, "- In %ss, %s (%s, published %s) is smaller here than %s; published it is larger.\n",
				what, a.title(), number(measured(a)), number(pub(a.publishedAt)), strings.Join(before, " and "))
		}
	}
	return n
}

// measure reads the bid calls of every capture with one serialization.
func measure(dir string) ([]*row, error) {
	b, err := os.ReadFile(filepath.Join(dir, "provenance.json"))
	if err != nil {
		return nil, err
	}
	var all []provenance
	if err := json.Unmarshal(b, &all); err != nil {
		return nil, err
	}
	var rows []*row
	for i := range all {
		p := &all[i]
		if !p.Complete || len(p.Serializations) != 1 || p.Name != standard(p) {
			continue
		}
		r := &row{optimizer: p.Optimizer, dubbo: p.Dubbo, publishedAt: -1}
		if err := r.read(filepath.Join(dir, p.File)); err != nil {
			return nil, fmt.Errorf("%s: %w", p.File, err)
		}
		if r.calls == 0 {
			continue
		}
		for k := range published {
			if published[k].serialization == r.name {
				r.publishedAt = k
			}
		}
		rows = append(rows, r)
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("no capture with bid calls in %s", dir)
	}
	return rows, nil
}

// standard returns the name of the capture with the published workloads of a serialization.
func standard(p *provenance) string {
	name := p.Serializations[0]
	if p.Optimizer {
		name += "-optimizer"
	}
	if p.Dubbo != mainRelease || strings.HasSuffix(p.Name, "-"+p.Dubbo) {
		name += "-" + p.Dubbo
	}
	return name
}

// read counts the bid calls of one capture.
func (r *row) read(file string) error {
	src, err := capture.Open([]string{file}, capture.Options{})
	if err != nil {
		return err
	}
	defer src.Close()
	_, err = pipeline.Run(src, pipeline.Options{Protocols: protocols.All(), Formats: formats.All()}, r)
	return err
}

// Frame implements [pipeline.Sink]; frames are not used.
func (r *row) Frame(*pipeline.Row) {}

// Call adds a bid call.
func (r *row) Call(c *call.Call, _ bool) {
	if c.State() != call.OK || c.Request.Method() != "bid" {
		return
	}
	r.calls++
	r.name = c.Request.Serialization
	r.request.add(c.Request.BodyLen)
	r.response.add(c.Response.BodyLen)
}
