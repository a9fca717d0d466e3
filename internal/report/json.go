package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"dubbo-wire/internal/sizes"
)

// object is a JSON object whose members keep their order.
type object []member

type member struct {
	name  string
	value any
}

// objects is a list of JSON objects, made one by one as they are printed.
type objects func(yield func(object) bool)

// printer prints JSON indented by one space a level, member by member, so that a report with very many groups is never in
// memory as a whole.
type printer struct {
	w     *bufio.Writer
	leaf  bytes.Buffer
	enc   *json.Encoder // to leaf
	level int
	flat  bool // all in one line
	err   error
}

func newPrinter(w io.Writer) *printer {
	p := &printer{w: bufio.NewWriter(w)}
	p.enc = json.NewEncoder(&p.leaf)
	p.enc.SetEscapeHTML(false)
	return p
}

func (p *printer) text(s string) {
	if p.err == nil {
		_, p.err = p.w.WriteString(s)
	}
}

// line begins a line at the level.
func (p *printer) line() {
	if p.flat {
		return
	}
	p.text("\n")
	for range p.level {
		p.text(" ")
	}
}

// item begins an item of a list or object.
func (p *printer) item(i int) {
	if i > 0 {
		p.text(",")
	}
	p.line()
}

// end ends a list or object with n items.
func (p *printer) end(n int, bracket string) {
	p.level--
	if n > 0 {
		p.line()
	}
	p.text(bracket)
}

func (p *printer) value(v any) {
	switch v := v.(type) {
	case object:
		p.text("{")
		p.level++
		for i, m := range v {
			p.item(i)
			p.value(m.name)
			if p.flat {
				p.text(":")
			} else {
				p.text(": ")
			}
			p.value(m.value)
		}
		p.end(len(v), "}")
	case []object:
		p.value(objects(slices.Values(v)))
	case objects:
		p.text("[")
		p.level++
		n := 0
		for o := range v {
			p.item(n)
			p.value(o)
			n++
			if p.err != nil {
				break
			}
		}
		p.end(n, "]")
	case bucketList:
		p.buckets(v)
	default:
		p.other(v)
	}
}

// bucketList is the buckets of a distribution, printed in one line; unit divides their numbers.
type bucketList struct {
	stat *sizes.Stat
	unit int64
}

func (p *printer) buckets(l bucketList) {
	b := p.leaf.AvailableBuffer()
	b = append(b, '[')
	l.stat.Buckets(func(_, upper, n int64) {
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(b, '[')
		b = append(b, decimalOf(upper, l.unit)...)
		b = append(b, ',')
		b = strconv.AppendInt(b, n, 10)
		b = append(b, ']')
	})
	p.text(string(append(b, ']')))
}

// other prints a value that is small.
func (p *printer) other(v any) {
	p.leaf.Reset()
	if err := p.enc.Encode(v); err != nil && p.err == nil {
		p.err = err
	}
	b := bytes.TrimRight(p.leaf.Bytes(), "\n")
	if !p.flat && len(b) > 0 && (b[0] == '[' || b[0] == '{') {
		var indented bytes.Buffer
		if err := json.Indent(&indented, b, strings.Repeat(" ", p.level), " "); err != nil && p.err == nil {
			p.err = err
		}
		b = indented.Bytes()
	}
	if p.err == nil {
		_, p.err = p.w.Write(b)
	}
}

// WriteJSON prints the report as the contract has it, keys in stable order. buckets, or
// Report.Buckets, adds the histograms.
func (r *Report) WriteJSON(w io.Writer, buckets bool) error {
	return writeJSON(w, r.object(buckets || r.Buckets))
}

// writeJSON prints v and a line end.
func writeJSON(w io.Writer, v any) error { return newPrinter(w).print(v) }

// writeLine prints v in one line.
func writeLine(w io.Writer, v any) error {
	p := newPrinter(w)
	p.flat = true
	return p.print(v)
}

func (p *printer) print(v any) error {
	p.value(v)
	p.text("\n")
	if p.err != nil {
		return p.err
	}
	return p.w.Flush()
}

func (r *Report) object(buckets bool) object {
	groups := objects(func(yield func(object) bool) {
		for _, g := range r.Groups {
			if !yield(r.group(g, buckets)) {
				return
			}
		}
	})
	by := []string{}
	for _, k := range r.By.Keys {
		by = append(by, r.keyName(k))
	}
	inputs := []object{}
	for i := range r.Inputs {
		inputs = append(inputs, r.Inputs[i].object())
	}
	o := object{{"schema", Schema}}
	if r.Golden != nil {
		o = append(o, member{"tolerance", r.Golden.Tolerance})
		if len(r.Golden.Tolerances) > 0 {
			o = append(o, member{"tolerances", r.Golden.Tolerances})
		}
	}
	o = append(o, object{
		{"inputs", inputs},
		{"seconds", r.Seconds},
		{"wire", r.wire()},
		{"coverage", r.coverage()},
	}...)
	if buckets {
		o = append(o, member{"saved", r.saved()})
	}
	o = append(o, member{"by", by}, member{"groups", groups})
	for _, w := range r.Worst {
		o = append(o, member{string(w.Preset), r.worstObjects(w)})
	}
	return o
}

func (r *Report) keyName(k sizes.Key) string {
	if k == sizes.Time {
		return "time:" + r.By.Step.String()
	}
	return string(k)
}

func (in *Input) object() object {
	links := in.LinkTypes
	if links == nil {
		links = []string{}
	}
	damage := []object{}
	for _, d := range in.Damage {
		damage = append(damage, object{{"packet", d.Packet}, {"offset", d.Offset}, {"text", d.Text}})
	}
	o := object{{"file", in.File}, {"format", in.Format}}
	if in.Compression != "" {
		o = append(o, member{"compression", in.Compression})
	}
	o = append(o, member{"linkTypes", links}, member{"packets", in.Packets}, member{"bytes", in.Bytes})
	if in.Packets > 0 {
		o = append(o, member{"firstTime", rfc3339(in.First)}, member{"lastTime", rfc3339(in.Last)})
	} else {
		o = append(o, member{"firstTime", nil}, member{"lastTime", nil})
	}
	o = append(o, member{"truncatedPackets", in.Truncated}, member{"damage", damage})
	if in.DamageLeftOut > 0 {
		o = append(o, member{"damageLeftOut", in.DamageLeftOut})
	}
	if in.Dropped >= 0 {
		o = append(o, member{"droppedPackets", in.Dropped})
	}
	if in.Filter != "" {
		o = append(o, member{"filter", in.Filter})
	}
	if in.Err != "" {
		o = append(o, member{"error", in.Err})
	}
	return o
}

func (r *Report) wire() object {
	t := r.Totals
	ports := slices.SortedFunc(maps.Keys(t.OtherTCP), func(a, b uint16) int {
		if x, y := t.OtherTCP[a], t.OtherTCP[b]; x != y {
			return int(min(max(y-x, -1), 1))
		}
		return int(a) - int(b)
	})
	other := []object{}
	for _, p := range ports {
		other = append(other, object{{"port", p}, {"bytes", t.OtherTCP[p]}})
	}
	return object{
		{"linkBytes", t.LinkBytes},
		{"rpcBytes", t.RPCBytes},
		{"eventBytes", t.EventBytes},
		{"incompleteBytes", t.IncompleteBytes},
		{"otherLinkBytes", r.OtherLinkBytes()},
		{"retransmittedBytes", t.TCP.Repeated},
		{"duplicateBytes", t.TCP.Duplicate},
		{"otherTcp", other},
		{"notTcpBytes", t.NotTCPBytes + t.FragmentBytes},
		{"offloadedPackets", t.OffloadedPackets},
	}
}

func (r *Report) coverage() object {
	t := r.Totals
	other := []object{}
	for _, name := range t.OtherProtocols() {
		o := t.Other[name]
		other = append(other, object{{"protocol", name}, {"connections", o.Connections}, {"bytes", o.Bytes}})
	}
	c := object{
		{"percent", r.Percent()},
		{"tcpPayloadBytes", r.Stream()},
		{"frameBytes", t.FrameBytes},
		{"otherBytes", t.OtherBytes()},
		{"skippedBytes", t.Skipped},
		{"gapBytes", t.Gap},
		{"gapsUnknown", 0},
		{"other", other},
		{"connections", r.Connections},
		{"connectionsWithoutData", r.ConnectionsWithoutData},
		{"connectionsJoinedMidway", t.TCP.Joined},
		{"frames", t.Frames},
		{"framesIncomplete", t.Incomplete},
	}
	if t.BodiesDecoded+t.BodiesPartly+t.BodiesOpaque > 0 {
		c = append(c, member{"bodiesDecoded", t.BodiesDecoded}, member{"bodiesPartly", t.BodiesPartly},
			member{"bodiesOpaque", t.BodiesOpaque})
	}
	c = append(c, member{"requestsWithoutResponse", t.Unanswered}, member{"responsesWithoutRequest", t.Orphans},
		member{"heartbeats", t.Heartbeats}, member{"events", t.Events})
	if t.Resynced > 0 {
		c = append(c, member{"framesFoundByResync", t.Resynced})
	}
	if t.NegativeLengths > 0 {
		c = append(c, member{"negativeLengths", t.NegativeLengths})
	}
	if n := t.Expired + t.ExpiredByTime; n > 0 {
		c = append(c, member{"requestsExpired", n})
	}
	if t.TCP.Expired > 0 {
		c = append(c, member{"connectionsExpired", t.TCP.Expired})
	}
	if len(t.Contradicted) > 0 {
		list := []object{}
		for _, k := range contradictions(t) {
			list = append(list, object{{"serializationId", k.HeaderID}, {"header", k.Header}, {"body", k.Body}, {"frames", t.Contradicted[k]}})
		}
		c = append(c, member{"headersContradicted", list})
	}
	if len(t.UnknownIDs) > 0 {
		ids := []object{}
		for _, id := range slices.Sorted(maps.Keys(t.UnknownIDs)) {
			ids = append(ids, object{{"serializationId", id}, {"frames", t.UnknownIDs[id]}})
		}
		c = append(c, member{"unknownSerializations", ids})
	}
	if len(t.Unread) > 0 {
		kinds := []object{}
		for _, k := range slices.Sorted(maps.Keys(t.Unread)) {
			kinds = append(kinds, object{{"cause", k}, {"packets", t.Unread[k]}})
		}
		c = append(c, member{"packetsUnread", kinds})
	}
	return c
}

func (r *Report) group(g *sizes.Group, buckets bool) object {
	var o object
	if g.Rest {
		o = object{{"rest", true}, {"groups", g.Groups}}
	}
	for i, v := range g.Values {
		k := r.By.Keys[i]
		switch k {
		case sizes.Connection:
			n, _ := strconv.Atoi(v)
			o = append(o, member{string(k), n})
		case sizes.Status:
			if n, err := strconv.Atoi(v); err == nil {
				o = append(o, member{string(k), n})
			} else {
				o = append(o, member{string(k), v})
			}
		case sizes.Serialization:
			o = append(o, member{string(k), v})
			if g.SerializationID >= 0 {
				o = append(o, member{"serializationId", g.SerializationID})
			}
		default:
			o = append(o, member{string(k), v})
		}
	}
	o = append(o, member{"calls", g.Calls}, member{"oneWay", g.OneWay}, member{"errors", g.Errors},
		member{"exceptions", g.Exceptions}, member{"unanswered", g.Unanswered})
	if g.OtherAnswers > 0 {
		o = append(o, member{"answeredInOther", g.OtherAnswers})
	}
	if a := g.Answers; a.Count != g.Response.Body.Count {
		o = append(o, member{"answers", object{{"responses", a.Count}, {"bodyBytes", a.Bytes}}})
	}
	if r.Seconds > 0 {
		o = append(o, member{"callsPerSecond", sizes.Round3(float64(g.Calls) / r.Seconds)})
	} else {
		o = append(o, member{"callsPerSecond", nil})
	}
	o = append(o, member{"request", direction(&g.Request, buckets)}, member{"response", direction(&g.Response, buckets)},
		member{"latencyMicros", stat(&g.Latency, 1000, buckets)}, member{"waitMicros", stat(&g.Wait, 1000, buckets)})
	if r.Parts {
		o = append(o, member{"parts", parts(g)})
	}
	if r.Details && g.Inside != nil {
		o = append(o, member{"anatomy", object{
			{"request", anatomyObject(&g.Inside.Request)}, {"response", anatomyObject(&g.Inside.Response)},
		}})
	}
	if l := g.Largest; l.Frame > 0 {
		file := ""
		if l.File < len(r.Inputs) {
			file = r.Inputs[l.File].File
		}
		o = append(o, member{"largest", object{{"file", file}, {"frame", l.Frame}, {"bodyBytes", l.BodyBytes}}})
	} else {
		o = append(o, member{"largest", nil})
	}
	return o
}

func direction(d *sizes.Direction, buckets bool) object {
	return object{
		{"count", d.Body.Count},
		{"bodyBytes", stat(&d.Body, 1, buckets)},
		{"frameBytes", stat(&d.Frame, 1, buckets)},
		{"wireBytes", stat(&d.Wire, 1, buckets)},
	}
}

// stat prints a distribution; unit divides its numbers (1000: nanoseconds to microseconds).
func stat(s *sizes.Stat, unit int64, buckets bool) object {
	if s.Count == 0 {
		o := object{{"total", 0}}
		for _, name := range []string{"min", "mean", "p50", "p90", "p95", "p99", "max"} {
			o = append(o, member{name, nil})
		}
		return o
	}
	number := func(n int64) json.Number { return decimalOf(n, unit) }
	p := s.Percentiles(50, 90, 95, 99)
	o := object{
		{"total", number(s.Total)},
		{"min", number(s.Min)},
		{"mean", sizes.Round3(s.Mean() / float64(unit))},
		{"p50", number(p[0])},
		{"p90", number(p[1])},
		{"p95", number(p[2])},
		{"p99", number(p[3])},
		{"max", number(s.Max)},
	}
	if buckets {
		o = append(o, member{"buckets", bucketList{s, unit}})
	}
	return o
}
