package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"dubbo-wire/internal/report"
)

// rateRow is a row of mean time and calls per second under the load of the published size table.
type rateRow struct {
	name, row string  // row is the first part of the names of its reports
	mean      float64 // as published, in milliseconds; 0: never measured
	perSecond int64   // as published
	isREST    bool
}

// rateRows are the rows of Dubbo's table ("REST support"), then those that it leaves out.
var rateRows = []rateRow{
	{"REST: Jetty + JSON", "rest-jetty-json", 7.806, 1280, true},
	{"REST: Jetty + JSON + GZIP", "rest-jetty-json-gzip", 0, 0, true},
	{"REST: Jetty + XML", "rest-jetty-xml", 0, 0, true},
	{"REST: Jetty + XML + GZIP", "rest-jetty-xml-gzip", 0, 0, true},
	{"REST: Tomcat + JSON", "rest-tomcat-json", 2.082, 4796, true},
	{"REST: Tomcat + JSON + GZIP", "rest-tomcat-json-gzip", 0, 0, true},
	{"REST: Tomcat + XML", "rest-tomcat-xml", 0, 0, true},
	{"REST: Tomcat + XML + GZIP", "rest-tomcat-xml-gzip", 0, 0, true},
	{"REST: Netty + JSON", "rest-netty-json", 2.182, 4576, true},
	{"REST: Netty + JSON + GZIP", "rest-netty-json-gzip", 0, 0, true},
	{"REST: Netty + XML", "rest-netty-xml", 0, 0, true},
	{"REST: Netty + XML + GZIP", "rest-netty-xml-gzip", 0, 0, true},
	{"Dubbo: FST", "dubbo-fst", 1.211, 8244, false},
	{"Dubbo: FST, optimizer", "dubbo-fst+optimizer", 1.211, 8244, false},
	{"Dubbo: Kryo", "dubbo-kryo", 1.182, 8444, false},
	{"Dubbo: Kryo, optimizer", "dubbo-kryo+optimizer", 1.182, 8444, false},
	{"Dubbo: Dubbo Serialization", "dubbo-dubbo", 1.43, 6982, false},
	{"Dubbo: Hessian2", "dubbo-hessian2", 1.49, 6701, false},
	{"Dubbo: FastJson", "dubbo-fastjson", 1.572, 6352, false},
	{"Dubbo: Json", "dubbo-json", 0, 0, false},
	{"Dubbo: Java Serialization", "dubbo-java", 0, 0, false},
	{"Dubbo: native Java", "dubbo-nativejava", 0, 0, false},
	{"Dubbo 3, rest: HTTP/1.1 + JSON", "http1-json-3.2.16", 0, 0, true},
	{"Dubbo 3, rest: HTTP/1.1 + XML", "http1-xml-3.2.16", 0, 0, true},
	{"Dubbo 3, Triple: HTTP/1.1 + JSON", "http1-json-3.3.6", 0, 0, true},
	{"Dubbo 3, Triple: HTTP/1.1 + XML", "http1-xml-3.3.6", 0, 0, true},
	{"Dubbo 3, Triple: HTTP/2 + JSON", "http2-json-3.3.6", 0, 0, true},
	{"Dubbo 3, Triple: HTTP/2 + XML", "http2-xml-3.3.6", 0, 0, true},
}

// unit is the row that others are compared with: the serialization that Dubbo 2 takes unless it is told otherwise.
const unit = "dubbo-hessian2"

// caller is what the program that calls measured of one method.
type caller struct {
	Table, Serialization, Method, Dubbo string
	Calls                               int64
	Seconds, MeanMicros                 float64
}

// rate is a row with what was measured of one method.
type rate struct {
	rateRow
	wire   *sum
	caller caller
}

func (r *rate) callerMean() float64 { return r.caller.MeanMicros / 1000 }

func (r *rate) callerPerSecond() float64 { return float64(r.caller.Calls) / r.caller.Seconds }

// rates returns the rows of which the method was measured.
func (m *set) rates(method string) ([]rate, error) {
	var rows []rate
	for _, row := range rateRows {
		s, err := readCell(m.dir, "calls", row.row, method)
		if err != nil {
			return nil, err
		}
		at := slices.IndexFunc(m.Callers, func(c caller) bool { return c.Serialization == row.row && c.Method == method })
		if s == nil || at < 0 {
			continue
		}
		rows = append(rows, rate{row, s, m.Callers[at]})
	}
	return rows, nil
}

// writeRates prints mean time and calls per second of REST beside the dubbo protocol, if they were measured.
func writeRates(w io.Writer, dir string) error {
	m := &set{dir: filepath.Join(dir, "rest")}
	if err := readJSON(filepath.Join(m.dir, "machine.json"), &m.machine); errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	bids, err := m.rates("bid")
	if err != nil {
		return err
	}
	texts, err := m.rates("text")
	if err != nil {
		return err
	}
	fmt.Fprintf(w, `
## Mean time and calls per second

The same object, %d clients that call one after the other without a pause, a service that does nothing; provider, consumer and dubbo-wire on
the same machine, one row after the other in one run: %s.
%s"On the wire" is what dubbo-wire saw in %d seconds of load (%s): from the first byte of a request to the last byte of its
response. "By the caller" is what the calling program counted from before the load was captured until after it: that has the writing of the
object, the reading of the result and the wait for a processor, too, as the published figures have. Those come from another
machine, with 5 minutes of load. Bytes a call are those of both messages with their heads. Coverage lacks what the capture has of messages
that were under way when it began, and the frames of HTTP/2 that belong to no message.

Consumers are Dubbo's, and all clients of the dubbo protocol share a connection; those of REST have one each. The consumer of Dubbo 3's rows is
a client of HTTP that writes and reads the object with fastjson2 or JAXB: the JDK's over HTTP/1.1, Netty's over HTTP/2. "Dubbo" is the release:
2.6.0 is the last one with the serialization dubbo, 2.5.3 that with json. Optimizers are those of the first table; the published rows do not say whether they had one.

`, m.Calls.Threads, m.text(), m.noise(), m.Calls.Seconds, "`dubbo-wire capture lo`")
	writeRateTable(w, bids, true)
	m.writeMissing(w, "calls")
	writeRateAgreement(w, m, bids)
	if len(texts) > 0 {
		fmt.Fprint(w, `
## A text of 50 KB

The second workload of the published comparison, announced and never published: a text of 50 KB, of 26 letters at random, is echoed. REST
sends it as text, so the rows with XML are those with JSON.

`)
		writeRateTable(w, texts, false)
	}
	return nil
}

// writeRateTable prints a row for each rate, with the published figures if there are any for the workload.
func writeRateTable(w io.Writer, rows []rate, published bool) {
	columns := []string{"remoting", "Dubbo", "mean ms, on the wire", "by the caller", "published", "calls per second, on the wire", "by the caller", "published", "bytes a call", "coverage"}
	if !published {
		columns = slices.DeleteFunc(columns, func(s string) bool { return s == "published" })
	}
	fmt.Fprintln(w, "| "+strings.Join(columns, " | ")+" |")
	fmt.Fprintln(w, "| --- | --- |"+strings.Repeat(" ---: |", len(columns)-2))
	for i := range rows {
		r := &rows[i]
		mean, perSecond := "", ""
		if published {
			mean, perSecond = " |", " |"
			if r.mean > 0 {
				mean, perSecond = fmt.Sprintf(" %.3f |", r.mean), fmt.Sprintf(" %s |", report.Count(r.perSecond))
			} else if strings.HasPrefix(r.name, "REST") {
				mean, perSecond = " never measured |", " never measured |"
			}
		}
		fmt.Fprintf(w, "| %s | %s | %.3f | %.3f |%s %s | %s |%s %s | %s |\n", r.name, r.caller.Dubbo, r.wire.latency/1000, r.callerMean(), mean,
			count(r.wire.perSecond), count(r.callerPerSecond()), perSecond, count(r.wire.frameBytes), percent(r.wire.percent))
	}
}

func count(f float64) string { return report.Count(int64(f + 0.5)) }

// writeRateAgreement says how far the published rows of mean time and calls per second agree with the measured ones.
func writeRateAgreement(w io.Writer, m *set, all []rate) {
	var rows []rate
	for _, r := range all {
		if r.mean > 0 {
			rows = append(rows, r)
		}
	}
	at := slices.IndexFunc(rows, func(r rate) bool { return r.row == unit })
	if at < 0 {
		return
	}
	base := &rows[at]
	fmt.Fprintf(w, `
### How far published rows agree

Times of different machines do not compare; their ratios may. The table has the mean time of a call by the caller, and how many times that of
%s it is. "Deviation" is the measured ratio compared with the published one.

| remoting | mean ms, published | times %[1]s | mean ms, measured | times %[1]s | deviation |
| --- | ---: | ---: | ---: | ---: | ---: |
`, base.name)
	for i := range rows {
		r := &rows[i]
		there, here := r.mean/base.mean, r.callerMean()/base.callerMean()
		fmt.Fprintf(w, "| %s | %.3f | %.2f | %.3f | %.2f | %s |\n", r.name, r.mean, there, r.callerMean(), here, deviation(here, there))
	}
	fmt.Fprintln(w)
	for _, optimizers := range []bool{true, false} {
		var o order
		for i := range rows {
			r := &rows[i]
			plain, optimized := strings.CutSuffix(r.row, "+optimizer")
			other := plain
			if !optimized {
				other += "+optimizer"
			}
			if optimized == optimizers || !slices.ContainsFunc(rows, func(x rate) bool { return x.row == other }) {
				o = append(o, ordered{r.name, r.callerMean() / base.callerMean(), r.mean / base.mean})
			}
		}
		fmt.Fprintf(w, "- %s: %s. The mean deviation of the ratios is %.0f %%.\n", withOptimizers(optimizers), o.text(), o.deviation())
	}
	mean := func(of func(*rate) float64, isREST bool) float64 {
		product, n := 1.0, 0
		for i := range rows {
			if rows[i].isREST == isREST {
				product *= of(&rows[i])
				n++
			}
		}
		return math.Pow(product, 1/float64(n))
	}
	there := func(r *rate) float64 { return r.mean }
	ratioThere, ratioHere := mean(there, true)/mean(there, false), mean((*rate).callerMean, true)/mean((*rate).callerMean, false)
	littleThere, wire, least, most := 0.0, 0.0, math.Inf(1), 0.0
	for i := range rows {
		littleThere = max(littleThere, math.Abs(float64(m.Calls.Threads)*1000/rows[i].mean/float64(rows[i].perSecond)-1))
	}
	for i := range all {
		r := &all[i]
		wire = max(wire, math.Abs(r.wire.perSecond/r.callerPerSecond()-1))
		share := r.wire.latency / r.caller.MeanMicros
		least, most = min(least, share), max(most, share)
	}
	fmt.Fprintf(w, `- A call of REST takes %.2f times as long here as one of the dubbo protocol, and %.2f times in the published table (geometric means of the rows above).
- The published columns agree with each other: %d clients divided by the mean time are the calls per second, within %.1f %% in every row.
- The calls per second on the wire and by the caller differ by at most %.1f %%, since their windows are not the same. Of the
  caller's mean time, the wire has between %.0f and %.0f %%.
`, ratioHere, ratioThere, m.Calls.Threads, 100*littleThere, 100*wire, 100*least, 100*most)
}

// deviation returns how much larger a measured figure is than a published one, in percent.
func deviation(measured, published float64) string {
	return fmt.Sprintf("%+.0f %%", 100*(measured/published-1))
}

// ordered is a row with a measured and a published figure.
type ordered struct {
	name                string
	measured, published float64
}

// order holds rows whose order is compared with the published one.
type order []ordered

// agreement returns the number of pairs of rows, and the pairs that stand in another order than published, the one that is smaller here first.
func (o order) agreement() (pairs int, others [][2]ordered) {
	for i, a := range o {
		for _, b := range o[i+1:] {
			if a.published == b.published {
				continue
			}
			pairs++
			if small, large := min2(a, b); small.published > large.published {
				others = append(others, [2]ordered{small, large})
			}
		}
	}
	return pairs, others
}

// min2 returns two rows, the one that was measured as smaller first.
func min2(a, b ordered) (small, large ordered) {
	if cmp.Less(b.measured, a.measured) {
		return b, a
	}
	return a, b
}

// text says how many pairs of rows stand in the published order, and names the others.
func (o order) text() string {
	pairs, others := o.agreement()
	text := fmt.Sprintf("%d of %d pairs of rows stand in the published order", pairs-len(others), pairs)
	var names []string
	for _, p := range others {
		names = append(names, fmt.Sprintf("%s is before %s", p[0].name, p[1].name))
	}
	if len(names) > 0 {
		text += "; of the others, " + strings.Join(names, ", ")
	}
	return text
}

// deviation returns by how many percent measured figures are above or below the published ones on average.
func (o order) deviation() float64 {
	sum := 0.0
	for _, r := range o {
		sum += math.Abs(r.measured/r.published - 1)
	}
	return 100 * sum / float64(len(o))
}
