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
	name          string
	serialization string
	sizes         sizes
}{
	{"Kryo", "kryo", sizes{272, 90}},
	{"FST", "fst", sizes{288, 96}},
	{"Dubbo Serialization", "dubbo", sizes{430, 186}},
	{"FastJson", "fastjson", sizes{461, 218}},
	{"Hessian", "hessian2", sizes{546, 329}},
	{"Json", "json", sizes{657, 409}},
	{"Java Serialization", "java", sizes{963, 630}},
}

// sizes are the bytes of a request and of its response.
type sizes [2]int

// text prints the bytes of a side, nothing if there are none.
func (s *sizes) text(side int) string {
	if s == nil {
		return ""
	}
	return strconv.Itoa(s[side])
}

// sides are the names of what sizes has.
var sides = [2]string{"request", "response"}

// estimate sets what the test of the estimates has written down for the row.
func (r *row) estimate(captures string) error {
	var all map[string]map[string]sizes // by release and target
	if err := readJSON(filepath.Join(captures, "..", "golden", "estimated", "bids.json"), &all); err != nil {
		return err
	}
	target := r.target
	if r.optimizer {
		target += " registered"
	}
	if s, ok := all[r.dubbo][target]; ok {
		r.estimated = &s
	}
	return nil
}

// row holds the bid calls of one capture.
type row struct {
	name      string // of the serialization, with its dialect
	target    string // as estimate has it
	optimizer bool
	dubbo     string
	calls     int
	seen      [2]map[int]int // calls by the size of their request and of their response
	// sizes are the most frequent ones, because the captures also contain calls with a larger object; usual is how many
	// requests have the size.
	sizes     sizes
	usual     int
	published *sizes // nil if there are none
	estimated *sizes // from the calls of the same release in hessian2; nil if there are none
	// first and later are the bytes of frames beside those of bodies: of the first call of the connection, 0 if that is another one, and
	// the most frequent number of the others.
	first, later sizes
	heads        [2]map[int]int
	plain        [2]map[int]int // calls by the size of their bodies without compression
	all          int            // calls of the capture, of any method
}

func newRow(dubbo string) *row {
	r := &row{dubbo: dubbo}
	for _, seen := range []*[2]map[int]int{&r.seen, &r.heads, &r.plain} {
		*seen = [2]map[int]int{{}, {}}
	}
	return r
}

// summarize sets what is most frequent.
func (r *row) summarize() {
	r.sizes[0], r.usual = mostFrequent(r.seen[0])
	r.sizes[1], _ = mostFrequent(r.seen[1])
	for side := range sides {
		r.later[side], _ = mostFrequent(r.heads[side])
	}
}

func (r *row) title() string {
	if r.optimizer {
		return r.name + ", optimizer"
	}
	return r.name
}

// mostFrequent returns the most frequent size in bytes and its number of calls; of two equally frequent ones the smaller.
func mostFrequent(seen map[int]int) (size, calls int) {
	for _, n := range slices.Sorted(maps.Keys(seen)) {
		if seen[n] > calls {
			size, calls = n, seen[n]
		}
	}
	return size, calls
}

// provenance holds the fields of provenance.json that are used here.
type provenance struct {
	Name, File, Dubbo   string
	Serializations      []string
	Protocols           []string // none: dubbo
	Optimizer, Complete bool
}

// triple reports whether the capture's calls are Triple's.
func (p *provenance) triple() bool { return len(p.Protocols) == 1 && p.Protocols[0] == "tri" }

func write(w io.Writer, captures, live string) error {
	all, err := measure(captures)
	if err != nil {
		return err
	}
	rows := chosen(all)
	for _, r := range rows {
		if err := r.estimate(captures); err != nil {
			return err
		}
	}
	fmt.Fprint(w, `# The published size table, measured

Dubbo's documentation compares serializations by the bytes of one nested object, an ad bid request with little data that
a service echoes. The table below has those figures beside what dubbo-wire reads from the captures in testdata/captures:
body bytes of a call (without the 16 bytes of the frame's header), as most of the calls have them. Each row is of Dubbo
`+mainRelease+`, or of the newest release that has the serialization. Rows of Triple have the bytes of its messages: what the
dubbo protocol puts into its bodies before the object is in headers there, which are counted [below](#triple-beside-the-dubbo-protocol).
Requests carry the service's name, the method, the types and the attachments beside the object; responses carry the
object and, since 2.6.3, one attachment.
"Estimated" is what [dubbo-wire estimate](estimate.md) makes of the calls of the same release in hessian2: a check of the
estimates that every reader can repeat, since the captures of both are there.
The object here is the one that Dubbo's benchmark echoed, as far as that is published; the machines, releases and class
names of the original are not known, so the order tells more than the figures.

`)
	fmt.Fprintln(w, "| serialization | Dubbo | calls of this size | request, measured | estimated | published | response, measured | estimated | published |")
	fmt.Fprintln(w, "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
	for _, r := range rows {
		fmt.Fprintf(w, "| %s | %s | %d of %d |", r.title(), r.dubbo, r.usual, r.calls)
		for side, n := range r.sizes {
			fmt.Fprintf(w, " %d | %s | %s |", n, r.estimated.text(side), r.published.text(side))
		}
		fmt.Fprintln(w)
	}
	for i := range published {
		p := &published[i]
		if !slices.ContainsFunc(rows, func(r *row) bool { return r.published == &p.sizes }) {
			fmt.Fprintf(w, "| %s: no capture | | | | | %d | | | %d |\n", p.name, p.sizes[0], p.sizes[1])
		}
	}
	fmt.Fprint(w, "\n`optimizer`: with a SerializationOptimizer that registers the classes of the application, so that their names are\nnumbers on the wire. The published rows of Kryo and FST do not say whether they had one; both are compared.\n\n")
	fmt.Fprint(w, "avro writes no attachments, no class names and no nulls: only the calls without nulls could be made. protobuf and\nprotobuf-json carry a message of the same content, declared in a .proto file, of another service; protobuf is estimated with a\nschema derived from the classes. Rows without an estimate have no capture of the same calls in hessian2.\n\n")
	writeSizeAgreement(w, rows)
	fmt.Fprintf(w, "\n## Where the order differs\n\n")
	if inversions(w, 0, rows)+inversions(w, 1, rows) == 0 {
		fmt.Fprintln(w, "Nowhere: the measured rows stand in the published order, in requests and in responses.")
	}
	writeReleases(w, all)
	writeProtocols(w, all)
	rest, err := measureREST(captures)
	if err != nil {
		return err
	}
	writeREST(w, all, rest)
	if err := writeRates(w, live); err != nil {
		return err
	}
	return writeLive(w, live)
}

// writeSizeAgreement says how far the published sizes agree with the measured ones.
func writeSizeAgreement(w io.Writer, rows []*row) {
	rows = slices.DeleteFunc(slices.Clone(rows), func(r *row) bool { return r.published == nil })
	fmt.Fprint(w, `## How far the published rows agree

| serialization | request, measured | published | deviation | response, measured | published | deviation |
| --- | ---: | ---: | ---: | ---: | ---: | ---: |
`)
	for _, r := range rows {
		fmt.Fprintf(w, "| %s |", r.title())
		for side, n := range r.sizes {
			fmt.Fprintf(w, " %d | %d | %s |", n, r.published[side], deviation(float64(n), float64(r.published[side])))
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintln(w)
	for _, optimizers := range []bool{true, false} { // published was one of them
		var some []*row
		for _, r := range rows {
			if r.optimizer == optimizers || !slices.ContainsFunc(rows, func(o *row) bool { return o.name == r.name && o.optimizer == optimizers }) {
				some = append(some, r)
			}
		}
		for side, name := range sides {
			var o order
			for _, r := range some {
				o = append(o, ordered{r.title(), float64(r.sizes[side]), float64(r.published[side])})
			}
			fmt.Fprintf(w, "- %s, in %ss: %s. The mean deviation is %.0f %%.\n", withOptimizers(optimizers), name, o.text(), o.deviation())
		}
	}
}

func withOptimizers(yes bool) string {
	if yes {
		return "Kryo and FST with optimizers"
	}
	return "Kryo and FST without optimizers"
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
		return cmp.Or(cmp.Compare(a.sizes[0], b.sizes[0]), strings.Compare(a.title(), b.title()))
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
			fmt.Fprintf(w, "| %s | %s | %d | %d |\n", title, r.dubbo, r.sizes[0], r.sizes[1])
		}
	}
}

// inversions prints a sentence for each row that is smaller on a side than another row and was published as larger. It returns
// their number.
func inversions(w io.Writer, side int, rows []*row) int {
	n := 0
	for _, a := range rows {
		var before []string
		for _, b := range rows {
			if a.published != nil && b.published != nil && a.sizes[side] < b.sizes[side] && a.published[side] > b.published[side] {
				before = append(before, fmt.Sprintf("%s (%d, published %d)", b.title(), b.sizes[side], b.published[side]))
			}
		}
		if len(before) > 0 {
			n++
			fmt.Fprintf(w, "- In %ss, %s (%d, published %d) is smaller here than %s; published it is larger.\n",
				sides[side], a.title(), a.sizes[side], a.published[side], strings.Join(before, " and "))
		}
	}
	return n
}

func readJSON(file string, to any) error {
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, to); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

// measure reads the bid calls of every capture with one serialization.
func measure(dir string) ([]*row, error) {
	var all []provenance
	if err := readJSON(filepath.Join(dir, "provenance.json"), &all); err != nil {
		return nil, err
	}
	var rows []*row
	for i := range all {
		p := &all[i]
		if !p.Complete || len(p.Serializations) != 1 || p.Name != standard(p) {
			continue
		}
		r := newRow(p.Dubbo)
		r.optimizer = p.Optimizer
		if r.target = p.Serializations[0]; p.triple() {
			r.target = "triple/" + r.target
		}
		if err := r.read(filepath.Join(dir, p.File)); err != nil {
			return nil, fmt.Errorf("%s: %w", p.File, err)
		}
		if r.calls == 0 {
			continue
		}
		r.summarize()
		for k := range published {
			if published[k].serialization == r.name {
				r.published = &published[k].sizes
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
	if p.triple() {
		return "triple-" + name + "-" + p.Dubbo
	}
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
	r.all++
	if c.State() != call.OK {
		return
	}
	if method := c.Request.Method(); method != "bid" && method != "POST /bids/bid" {
		return
	}
	r.calls++
	r.name = c.Request.QualifiedSerialization()
	for side, m := range [2]*call.Message{c.Request, c.Response} {
		r.seen[side][m.BodyLen]++
		plain := m.BodyLen
		if m.Encoding != "" {
			plain = m.UncompressedLen
		}
		r.plain[side][plain]++
		if r.all == 1 {
			r.first[side] = int(m.HeaderLen)
		} else {
			r.heads[side][int(m.HeaderLen)]++
		}
	}
}
