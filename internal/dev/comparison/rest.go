package main

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
)

// servers are the servers of Dubbo's rest protocol, contents what its bodies can be.
var (
	servers  = []string{"Jetty", "Tomcat", "Netty"}
	contents = []string{"JSON", "JSON + GZIP", "XML", "XML + GZIP"}
)

// besideREST are the serializations of the dubbo protocol whose calls per second were published beside those of REST.
var besideREST = []string{"fst", "kryo", "dubbo", "hessian2", "fastjson"}

// measureREST reads the captures of Dubbo's rest protocol, a row for each server and content.
func measureREST(dir string) ([]*row, error) {
	var rows []*row
	for _, server := range servers {
		for _, content := range contents {
			name := "rest-" + server + "-" + strings.ReplaceAll(content, " + ", "-") + "-" + mainRelease
			r := newRow(mainRelease)
			if err := r.read(filepath.Join(dir, strings.ToLower(name)+".pcap.zst")); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			if r.calls == 0 {
				return nil, fmt.Errorf("%s: no bid calls", name)
			}
			r.summarize()
			r.name = "REST: " + server + " + " + content
			rows = append(rows, r)
		}
	}
	return rows, nil
}

// writeREST prints the messages of REST beside the frames of the dubbo protocol.
func writeREST(w io.Writer, all, rest []*row) {
	fmt.Fprint(w, `
# REST beside the dubbo protocol

The same object over Dubbo's rest protocol, as JSON and as XML, plain and compressed with gzip by the peers: the rows of Dubbo's
table of calls per second, of which those with XML and with GZIP were never measured. A message is head and body: the start line, the
fields and, where the server sends its answer in chunks, their framing. HTTP/1.1 sends all of it again with each call. The rows of the
dubbo protocol are those of the first table with the 16 bytes of the frame's header. Dubbo published no bytes for REST.

| remoting | request: head | body | uncompressed | response: head | body | uncompressed | request and response |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
`)
	rows := slices.Clone(rest)
	for _, r := range chosen(all) {
		if slices.Contains(besideREST, r.name) {
			rows = append(rows, r)
		}
	}
	total := func(r *row) int { return r.later[0] + r.sizes[0] + r.later[1] + r.sizes[1] }
	slices.SortStableFunc(rows, func(a, b *row) int { return cmp.Compare(total(a), total(b)) })
	for _, r := range rows {
		title := r.title()
		if !strings.HasPrefix(title, "REST") {
			title = "dubbo/" + title
		}
		fmt.Fprintf(w, "| %s |", title)
		for side := range sides {
			plain, _ := mostFrequent(r.plain[side])
			if plain == r.sizes[side] {
				fmt.Fprintf(w, " %d | %d | |", r.later[side], r.sizes[side])
			} else {
				fmt.Fprintf(w, " %d | %d | %d |", r.later[side], r.sizes[side], plain)
			}
		}
		fmt.Fprintf(w, " %d |\n", total(r))
	}
	fmt.Fprintf(w, `
The figures are those of most of the %d calls of each capture of REST. With JSON, the fields that announce gzip take back most of what it
saves on an object this small.
`, rest[0].calls)
}
