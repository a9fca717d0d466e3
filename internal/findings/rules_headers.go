package findings

import (
	"cmp"
	"fmt"
	"slices"

	"dubbo-wire/internal/report"
)

const (
	// A finding about headers needs leastMessages messages of a method, leastHeaderShare percent of their bytes in headers, and leastHeader
	// bytes per message. One about the compression of headers needs leastFieldsShare percent of the plain fields and leastFields bytes.
	leastMessages                    = 10
	leastHeaderShare, leastHeader    = 50, 50
	leastFieldsShare, leastFields    = 50, 50
	leastSentShare, maxFieldsInNames = 50, 3
	// One about the headers of HTTP/1 needs leastHead bytes per message: the first line, Host, User-Agent, Accept, Content-Type and
	// Content-Length, which all have, are nearly as much.
	leastHead = 200
)

// inDirection is the methods that have something in common in one direction: requests (0) or responses (1).
type inDirection struct {
	side    int
	methods map[*method]int64 // with what they are sorted by
	extras
	weight int64
}

// directions returns the sums of the methods that a function selects by their extras and weighs, one for each direction.
func directions(k *Collector, weigh func(m *method, side int, x *extras) (weight int64, ok bool)) (list []*inDirection) {
	for side := range directionNames {
		in := &inDirection{side: side, methods: make(map[*method]int64)}
		for _, m := range k.order {
			x := m.side(side).extras
			if x == nil {
				continue
			}
			weight, ok := weigh(m, side, x)
			if !ok {
				continue
			}
			in.methods[m] = weight
			in.weight += weight
			in.add(x)
		}
		if len(in.methods) > 0 {
			list = append(list, in)
		}
	}
	return list
}

// add adds the counters of a method.
func (x *extras) add(o *extras) {
	if o.largestHeader > x.largestHeader {
		x.largestHeader, x.headerAt = o.largestHeader, o.headerAt
	}
	if o.larger > 0 && (x.larger == 0 || o.largerAt.frame < x.largerAt.frame) {
		x.largerAt, x.encoding = o.largerAt, o.encoding
	}
	x.uncompressed.add(&o.uncompressed)
	x.messages += o.messages
	x.headerBytes += o.headerBytes
	x.allBytes += o.allBytes
	x.fields += o.fields
	x.plainFields += o.plainFields
	x.compressed += o.compressed
	x.larger += o.larger
	x.largerPlain += o.largerPlain
	x.largerBytes += o.largerBytes
}

// finding returns a finding about the methods without its text.
func (in *inDirection) finding(at place) report.Finding {
	methods := most(in.methods, methodOrder)
	f := methods[0].key.finding(at)
	if len(methods) > 1 {
		f.Service, f.Method, f.Subject = "", "", report.Plural(int64(len(methods)), "method")
	}
	f.Weight = in.weight
	f.Facts = []report.Fact{words("direction", directionNames[in.side]), fact("methods", int64(len(methods)))}
	return f
}

// names returns the methods as the end of a finding's text, if there are several.
func (in *inDirection) names() string {
	if len(in.methods) == 1 {
		return ""
	}
	var names []string
	for _, m := range most(in.methods, methodOrder) {
		names = append(names, m.key.name)
	}
	return "; methods: " + someOf(names, 3)
}

// whose returns "its" or "their".
func (in *inDirection) whose() string { return verb(int64(len(in.methods)), "its", "their") }

// heavyHeaders finds methods whose headers have more bytes than their bodies.
func heavyHeaders(k *Collector, e *evidence) {
	heavyHeads(k, e)
	for _, in := range directions(k, func(_ *method, _ int, x *extras) (int64, bool) {
		return x.headerBytes, x.messages >= leastMessages && 100*x.headerBytes >= leastHeaderShare*x.allBytes && x.headerBytes >= leastHeader*x.messages
	}) {
		what := directionNames[in.side]
		f := in.finding(in.headerAt)
		f.Text = fmt.Sprintf("headers are %s of %s %s bytes (%s of %s per %s)", share(in.headerBytes, in.allBytes), in.whose(), what,
			mean(in.headerBytes, in.messages), mean(in.allBytes, in.messages), what) + in.names()
		f.Facts = append(f.Facts, fact("headerBytes", in.headerBytes), fact("frameBytes", in.allBytes), fact("messages", in.messages))
		e.add(f)
	}
}

// heavyHeads finds methods of HTTP/1 whose headers in one direction have more bytes than the bodies of both: a GET never has one in its
// request.
func heavyHeads(k *Collector, e *evidence) {
	bodies := func(m *method) (n int64) {
		for side := range directionNames {
			if x := m.side(side).extras; x != nil {
				n += x.uncompressed.bodyBytes
			}
		}
		return n
	}
	for _, in := range directions(k, func(m *method, _ int, x *extras) (int64, bool) {
		h := &x.uncompressed
		return h.headerBytes, h.messages >= leastMessages && h.headerBytes >= bodies(m) && h.headerBytes >= leastHead*h.messages
	}) {
		what, h, body := directionNames[in.side], &in.uncompressed, int64(0)
		for m := range in.methods {
			body += bodies(m)
		}
		f := in.finding(h.at)
		f.Text = fmt.Sprintf("headers of %s %ss outweigh the bodies of %s calls: %s vs %s bytes per call", in.whose(), what, in.whose(),
			mean(h.headerBytes, h.messages), mean(body, h.messages))
		f.Facts = append(f.Facts, fact("headerBytes", h.headerBytes), fact("bodyBytes", body), fact("messages", h.messages))
		if fields, sampled := in.sentInFull(); len(fields) > 0 {
			parts, names := describeFields(fields, sampled)
			f.Text += fmt.Sprintf(", the largest: %s (%s sampled)", someOf(parts, maxFieldsInNames), report.Count(sampled))
			f.Facts = append(f.Facts, report.Fact{Name: "fields", Names: names}, fact("looked", sampled))
		}
		f.Text += in.names()
		e.add(f)
	}
}

// describeFields returns header fields with their bytes per message, and their names.
func describeFields(fields []sentField, sampled int64) (parts, names []string) {
	for _, s := range fields {
		names = append(names, s.name)
		parts = append(parts, s.name+" "+mean(s.bytes, sampled))
	}
	return parts, names
}

// badlyCompressedHeaders finds methods whose header fields take more than half of the bytes that they would take without compression.
func badlyCompressedHeaders(k *Collector, e *evidence) {
	for _, in := range directions(k, func(_ *method, _ int, x *extras) (int64, bool) {
		return x.fields, x.messages >= leastMessages && 100*x.fields >= leastFieldsShare*x.plainFields && x.fields >= leastFields*x.messages
	}) {
		what := directionNames[in.side]
		f := in.finding(in.headerAt)
		f.Text = fmt.Sprintf("header compression reduces the header fields of %[2]s %[3]ss only to %[1]s (%[4]s of %[5]s bytes per %[6]s)", share(in.fields, in.plainFields),
			in.whose(), what, mean(in.fields, in.messages), mean(in.plainFields, in.messages), what)
		fields, sampled := in.sentInFull()
		if len(fields) > 0 {
			parts, names := describeFields(fields, sampled)
			f.Text += fmt.Sprintf("; %s in full in most of them, in bytes: %s (%s sampled)", verb(int64(len(fields)), "1 field is sent", report.Count(int64(len(fields)))+" fields are sent"),
				someOf(parts, maxFieldsInNames), report.Count(sampled))
			f.Facts = append(f.Facts, report.Fact{Name: "fields", Names: names}, fact("looked", sampled))
		}
		f.Text += in.names()
		f.Facts = append(f.Facts, fact("fieldBytes", in.fields), fact("plainFieldBytes", in.plainFields), fact("messages", in.messages))
		e.add(f)
	}
}

// sentField is a header field that messages have in full, rather than as a reference to an earlier one.
type sentField struct {
	name            string
	messages, bytes int64
}

// sentInFull returns the fields that most of the sampled messages have in full, those with most bytes first, and the number of
// these messages.
func (in *inDirection) sentInFull() (list []sentField, sampled int64) {
	by := make(map[string]*sentField)
	for m := range in.methods {
		l := m.samples[in.side]
		if l == nil {
			continue
		}
		sampled += l.messages
		for name, n := range l.sent {
			if by[name] == nil {
				by[name] = &sentField{name: name}
			}
			by[name].messages += n.messages
			by[name].bytes += n.bytes
		}
	}
	for _, s := range by {
		if 100*s.messages >= leastSentShare*sampled {
			list = append(list, *s)
		}
	}
	slices.SortFunc(list, func(a, b sentField) int { return cmp.Or(cmp.Compare(b.bytes, a.bytes), cmp.Compare(a.name, b.name)) })
	return list[:min(len(list), 20)], sampled
}

// largerThanPlain finds bodies that compression made larger.
func largerThanPlain(k *Collector, e *evidence) {
	for _, in := range directions(k, func(_ *method, _ int, x *extras) (int64, bool) { return x.largerBytes, x.larger > 0 }) {
		what := directionNames[in.side]
		f := in.finding(in.largerAt)
		f.Text = fmt.Sprintf("%s made %s of %s larger (%s instead of %s bytes per body)", in.encoding, report.Count(in.larger),
			report.Plural(in.compressed, "compressed "+what), mean(in.largerBytes, in.larger), mean(in.largerPlain, in.larger)) + in.names()
		f.Facts = append(f.Facts, words("encoding", in.encoding), fact("larger", in.larger), fact("compressed", in.compressed),
			fact("bodyBytes", in.largerBytes), fact("uncompressedBytes", in.largerPlain))
		e.add(f)
	}
}

// stalledMessages finds messages that flow control held back.
func stalledMessages(m *method, e *evidence) {
	for side, what := range directionNames {
		d := m.side(side)
		if d.extras == nil || d.stalled == 0 {
			continue
		}
		f := m.finding(d.stalledAt)
		f.Text = fmt.Sprintf("flow control held back %s for up to %s (%s in total): the receiver's window was full", report.Plural(d.stalled, what),
			report.Elapsed(d.longestStall), report.Elapsed(d.stalledTime))
		f.Facts = []report.Fact{
			words("direction", what), fact("stalled", d.stalled), micros("longestMicros", d.longestStall), micros("totalMicros", d.stalledTime),
		}
		f.Weight = d.frameBytes
		e.addCalls(f, d.stalled)
	}
}
