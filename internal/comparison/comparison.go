// Command comparison writes docs/comparison.md: the size table of Dubbo's documentation, measured on the committed
// captures, beside the published figures.
//
//	go run ./internal/comparison testdata/captures > docs/comparison.md
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/decode/formats"
	"dubbo-wire/internal/pipeline"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: comparison testdata/captures > docs/comparison.md")
		os.Exit(2)
	}
	if err := write(os.Stdout, os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "comparison: "+err.Error())
		os.Exit(1)
	}
}

// published is table 1 of Dubbo's documentation ("Serialization performance"): bytes of one nested object.
var published = []struct {
	name              string
	serialization     string // "" where no capture can have it: it was removed before Dubbo 2.7
	request, response float64
}{
	{"Kryo", "kryo", 272, 90},
	{"FST", "fst", 288, 96},
	{"Dubbo Serialization", "", 430, 186},
	{"FastJson", "fastjson", 461, 218},
	{"Hessian", "hessian2", 546, 329},
	{"Json", "", 657, 409},
	{"Java Serialization", "java", 963, 630},
}

// row is one capture's bid calls.
type row struct {
	name, serialization string
	optimizer           bool
	dubbo               string
	calls               int64
	request, response   usual
	publishedAt         int // index in published, -1
}

// usual finds the size that most calls have: the captures echo the published object, and now and then a fuller one.
type usual struct{ seen map[int]int64 }

func (u *usual) add(n int) {
	if u.seen == nil {
		u.seen = map[int]int64{}
	}
	u.seen[n]++
}

// size returns the most frequent size in bytes, the smaller of two that are equally so, and how many calls have it.
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

// provenance is what the rig says of a capture, as far as it is used here.
type provenance struct {
	Name, File, Dubbo, JDK string
	Serializations         []string
	Workloads              []string
	Optimizer, Complete    bool
	Packets                int64
}

func write(w io.Writer, dir string) error {
	rows, prov, err := measure(dir)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, `# The published size table, measured

Dubbo's documentation compares serializations by the bytes of one nested object, an ad bid request with little data that
a service echoes. The table below has those figures beside what dubbo-wire reads from the captures in testdata/captures:
Dubbo %s, JDK %s, body bytes of a call (without the 16 bytes of the frame's header), as most of the calls have them.
Requests carry the service's name, the method, the types and the attachments beside the object; responses carry the
object and one attachment.
The object here is the one that Dubbo's benchmark echoed, as far as that is published; the machines, releases and class
names of the original are not known, so the order tells more than the figures.

`, prov.Dubbo, strings.SplitN(prov.JDK, "+", 2)[0])
	fmt.Fprintln(w, "| serialization | calls of this size | request, measured | request, published | response, measured | response, published |")
	fmt.Fprintln(w, "| --- | ---: | ---: | ---: | ---: | ---: |")
	for _, r := range rows {
		_, calls := r.request.size()
		fmt.Fprintf(w, "| %s | %d of %d | %s | %s | %s | %s |\n", r.name, calls, r.calls,
			number(r.request.bytes()), r.figure(func(i int) float64 { return published[i].request }),
			number(r.response.bytes()), r.figure(func(i int) float64 { return published[i].response }))
	}
	for _, p := range published {
		if p.serialization == "" {
			fmt.Fprintf(w, "| %s: not in Dubbo 2.7 | | | %s | | %s |\n", p.name, number(p.request), number(p.response))
		}
	}
	fmt.Fprint(w, "\n`optimizer`: with a SerializationOptimizer that registers the classes of the application, so that their names are\nnumbers on the wire. The published rows of Kryo and FST do not say whether they had one; both are compared.\n\n")
	fmt.Fprint(w, "avro writes no attachments, no class names and no nulls: only the calls without nulls could be made.\n\n")
	fmt.Fprintf(w, "## Where the order differs\n\n")
	n := inversions(w, "request", rows, func(r *row) float64 { return r.request.bytes() }, func(i int) float64 { return published[i].request })
	n += inversions(w, "response", rows, func(r *row) float64 { return r.response.bytes() }, func(i int) float64 { return published[i].response })
	if n == 0 {
		fmt.Fprintln(w, "Nowhere: the measured rows stand in the published order, in requests and in responses.")
	}
	return nil
}

// number prints a mean: whole where it is whole.
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

// inversions prints a sentence for each row that stands on another side of some row than published.
func inversions(w io.Writer, what string, rows []*row, measured func(*row) float64, pub func(int) float64) int {
	n := 0
	for i, a := range rows {
		var before []string
		for j, b := range rows {
			if i == j || a.publishedAt < 0 || b.publishedAt < 0 || a.publishedAt == b.publishedAt {
				continue
			}
			if measured(a) < measured(b) && pub(a.publishedAt) > pub(b.publishedAt) {
				before = append(before, fmt.Sprintf("%s (%s, published %s)", b.name, number(measured(b)), number(pub(b.publishedAt))))
			}
		}
		if len(before) > 0 {
			n++
			fmt.Fprintf(w, "- In %ss, %s (%s, published %s) is smaller here than %s; published it is larger.\n",
				what, a.name, number(measured(a)), number(pub(a.publishedAt)), strings.Join(before, " and "))
		}
	}
	return n
}

// measure reads the bid calls of every capture of the published workloads, smallest request first.
func measure(dir string) ([]*row, *provenance, error) {
	b, err := os.ReadFile(filepath.Join(dir, "provenance.json"))
	if err != nil {
		return nil, nil, err
	}
	var all []provenance
	if err := json.Unmarshal(b, &all); err != nil {
		return nil, nil, err
	}
	var rows []*row
	var used *provenance
	captures := map[string]int{}
	release := "" // the one with most captures
	for _, p := range all {
		captures[p.Dubbo]++
		if captures[p.Dubbo] > captures[release] {
			release = p.Dubbo
		}
	}
	for i := range all {
		p := &all[i]
		if p.Dubbo != release || !p.Complete || len(p.Serializations) != 1 || !slices.Contains(p.Workloads, "published") {
			continue
		}
		r := &row{name: p.Serializations[0], serialization: p.Serializations[0], optimizer: p.Optimizer, dubbo: p.Dubbo, publishedAt: -1}
		if p.Optimizer {
			r.name += ", optimizer"
		}
		for k := range published {
			if published[k].serialization == r.serialization {
				r.publishedAt = k
			}
		}
		if err := r.read(filepath.Join(dir, p.File)); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", p.File, err)
		}
		if r.calls > 0 {
			rows, used = append(rows, r), p
		}
	}
	if len(rows) == 0 {
		return nil, nil, fmt.Errorf("no capture with bid calls in %s", dir)
	}
	slices.SortStableFunc(rows, func(a, b *row) int {
		if a.request.bytes() < b.request.bytes() {
			return -1
		}
		return 1
	})
	return rows, used, nil
}

// read adds up the bid calls of one capture.
func (r *row) read(file string) error {
	src, err := capture.Open([]string{file}, capture.Options{})
	if err != nil {
		return err
	}
	defer src.Close()
	_, err = pipeline.Run(src, pipeline.Options{Formats: formats.All()}, r)
	return err
}

// Frame is part of the sink.
func (r *row) Frame(*pipeline.Row) {}

// Call adds a bid call.
func (r *row) Call(c *call.Call, _ bool) {
	if c.State() != call.OK || c.Request.Method() != "bid" {
		return
	}
	r.calls++
	r.request.add(c.Request.Header.BodyLen)
	r.response.add(c.Response.Header.BodyLen)
}
