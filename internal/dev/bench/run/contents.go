package main

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"text/tabwriter"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/decode/formats"
	"dubbo-wire/internal/decode/http1"
	"dubbo-wire/internal/decode/protocols"
	"dubbo-wire/internal/decode/triple"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/rpc"
)

// contentRow is bodies of HTTP of one kind, or the heads of HTTP/1, with what was measured of them: walked is what analyze --parts does with
// them, printed what calls does.
type contentRow struct {
	name            string
	count, bytes    int
	walk, print     func()
	walked, printed rate
}

// The captures with the bodies of the table: Dubbo's own peers and a client of HTTP wrote them.
var contentCaptures = []string{
	"rest-jetty-json-2.7.23.pcap.zst", "rest-jetty-xml-2.7.23.pcap.zst", "rest-forms-3.3.6.pcap.zst", "rest-edge-3.3.6.pcap.zst",
	"hessian-http-2.7.23.pcap.zst", "hessian-http-v2-2.7.23.pcap.zst",
}

// messages collects whole messages of HTTP.
type messages struct{ all []*rpc.Message }

func (s *messages) Frame(r *pipeline.Row) {
	if r.Msg.IsWhole() && r.Msg.Encoding == "" {
		m := r.Msg.Clone(true, false)
		m.Native, m.Body = nil, append([]byte{}, m.Body...)
		s.all = append(s.all, m)
	}
}

func (*messages) Call(*call.Call, bool) {}

// contents returns the rows of the table, with the bodies in the captures of a folder.
func contents(dir string) ([]contentRow, error) {
	var s messages
	for _, name := range contentCaptures {
		src, err := capture.Open([]string{filepath.Join(dir, name)}, capture.Options{})
		if err != nil {
			return nil, err
		}
		_, err = pipeline.Run(src, pipeline.Options{Detail: rpc.Values, Rows: true, WholeBodies: true, Jobs: 1, Protocols: protocols.All(), Formats: formats.All()}, &s)
		src.Close()
		if err != nil {
			return nil, err
		}
	}
	var rows []contentRow
	for _, name := range []string{"json", "xml", "form", "multipart", "text", "hessian", "hessian2"} {
		row := contentRow{name: name}
		var own []*rpc.Message
		for _, m := range s.all {
			if m.Serialization == name && len(m.Body) > 0 && isTyped(m) {
				own = append(own, m)
				row.count++
				row.bytes += len(m.Body)
			}
		}
		if row.bytes == 0 {
			return nil, fmt.Errorf("no bodies of %s in %s", name, dir)
		}
		d := triple.NewDecoder(formats.All())
		var json []byte
		row.walk = func() {
			for _, m := range own {
				d.Decode(m, m.Operation, rpc.Parts)
			}
		}
		row.print = func() {
			for _, m := range own {
				d.Decode(m, m.Operation, rpc.Values)
				if json = json[:0]; m.Kind == rpc.Request {
					json = m.AppendArguments(json)
				} else {
					json = m.AppendResult(json)
				}
			}
		}
		rows = append(rows, row)
	}
	heads := contentRow{name: "heads of HTTP/1"}
	var own [][]byte
	for _, m := range s.all {
		if _, ok := http1.Parse(m.Head, nil, nil); ok {
			own = append(own, m.Head)
			heads.count++
			heads.bytes += len(m.Head)
		}
	}
	if heads.bytes == 0 {
		return nil, fmt.Errorf("no heads of HTTP/1 in %s", dir)
	}
	fields := make([]rpc.Header, 0, http1.MaxFields)
	heads.walk = func() {
		for _, b := range own {
			http1.Parse(b, nil, nil)
		}
	}
	heads.print = func() {
		for _, b := range own {
			http1.Parse(b, fields, nil)
		}
	}
	return append(rows, heads), nil
}

// isTyped reports whether a message says what its body is, so that it can be decoded without its call.
func isTyped(m *rpc.Message) bool {
	return slices.ContainsFunc(m.Headers, func(h rpc.Header) bool { return h.Name == "content-type" })
}

// measureContents measures and prints the table of what HTTP carries.
func measureContents(out io.Writer, dir string, rounds int) error {
	rows, err := contents(dir)
	if err != nil {
		return err
	}
	for range rounds {
		for i := range rows {
			r := &rows[i]
			r.walked = append(r.walked, perSecond(r.bytes, r.walk))
			r.printed = append(r.printed, perSecond(r.bytes, r.print))
		}
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "\nbodies of HTTP\tnumber\tKB\twalked MB/s\tns/byte\tprinted MB/s\tns/byte\t")
	for i := range rows {
		r := &rows[i]
		fmt.Fprintf(w, "%s\t%d\t%.0f\t%.0f\t%.2f\t%.0f\t%.2f\t\n", r.name, r.count, float64(r.bytes)/1e3,
			r.walked.median()/1e6, 1e9/r.walked.median(), r.printed.median()/1e6, 1e9/r.printed.median())
	}
	return w.Flush()
}
