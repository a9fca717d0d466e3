package findings

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/dubbo"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/report"
	"dubbo-wire/internal/rpc"
)

const ms = int64(1e6)

var payloadLimit = dubbo.Protocol.PayloadLimit

// bench makes calls by hand.
type bench struct {
	*Collector
	pairer *call.Pairer
	names  map[string]*rpc.Operation
	frame  int64
	last   *call.Conn // of the latest call
}

func newBench() *bench {
	return &bench{Collector: New(), pairer: call.NewPairer(call.Config{}, nil), names: map[string]*rpc.Operation{}}
}

// made is a call: times in milliseconds, body lengths in bytes. to 0: no answer.
type made struct {
	conn                          uint64
	method                        string
	asked, sent, from, to         int64
	request, response             int
	status                        byte
	change                        func(request, response *call.Message)
	client, version               string
	serialization, answer, header string
}

func (b *bench) add(c made) {
	if c.client == "" {
		c.client = "10.0.0.1"
	}
	if c.serialization == "" {
		c.serialization = "hessian2"
	}
	if c.answer == "" {
		c.answer = c.serialization
	}
	if c.version == "" {
		c.version = "2.0.2"
	}
	if c.status == 0 {
		c.status = 20
	}
	key := c.method + c.version
	n := b.names[key]
	if n == nil {
		n = &rpc.Operation{ProtocolVersion: c.version, Service: "a.b.Service", Method: c.method, Hash: uint32(len(b.names) + 1)}
		b.names[key] = n
	}
	conn := &call.Conn{Key: c.conn, Ends: [2]string{fmt.Sprintf("%s:%d", c.client, 40000+c.conn), "10.0.1.1:20880"}}
	b.frame++
	b.last = conn
	q := b.pairer.New()
	q.Number, q.Kind, q.Operation, q.Serialization, q.Complete = b.frame, rpc.Request, n, c.serialization, true
	describe(q, dubbo.Header{Flags: 0xc0 | 2, BodyLen: c.request})
	q.FirstTime, q.LastByte = c.asked*ms, c.sent*ms
	if c.header != "" {
		q.Detail().HeaderSerialization = c.header
	}
	var p *call.Message
	if c.to > 0 {
		b.frame++
		p = b.pairer.New()
		p.Number, p.Kind, p.Serialization, p.Complete = b.frame, rpc.Response, c.answer, true
		describe(p, dubbo.Header{Flags: 2, Status: c.status, BodyLen: c.response})
		p.FirstTime, p.LastByte, p.ResultKind = c.from*ms, c.to*ms, 1
	}
	if c.change != nil {
		c.change(q, p)
	}
	b.Call(&call.Call{Conn: conn, Request: q, Response: p})
}

// describe fills in what a header says of a message.
func describe(m *call.Message, h dubbo.Header) {
	m.Protocol = dubbo.Protocol
	h.Describe(&m.Summary)
}

// found returns the findings of a kind; the capture ends at that time, in milliseconds.
func (b *bench) found(kind string, end int64) []report.Finding {
	var list []report.Finding
	for _, f := range b.Findings(&pipeline.Totals{LastTime: end * ms}) {
		if f.Kind == kind {
			list = append(list, f)
		}
	}
	return list
}

// Value returns the number of a fact.
func Value(t *testing.T, f *report.Finding, name string) float64 {
	t.Helper()
	for _, x := range f.Facts {
		if x.Name == name {
			return x.Value
		}
	}
	require.Fail(t, "no such fact", name)
	return 0
}

// Calls waited that were sent before a large answer's end and answered after it.
func TestWaitedBehind(t *testing.T) {
	b := newBench()
	b.add(made{conn: 1, method: "big", asked: 0, sent: 1, from: 100, to: 200, request: 100, response: 1 << 20})
	b.add(made{conn: 1, method: "early", asked: 0, sent: 10, from: 200, to: 201, response: 10})    // all of it: 100 ms
	b.add(made{conn: 1, method: "within", asked: 140, sent: 150, from: 210, to: 211, response: 9}) // the rest: 50 ms
	b.add(made{conn: 1, method: "after", asked: 199, sent: 200, from: 201, to: 202, response: 9})  // sent at its end
	b.add(made{conn: 1, method: "before", asked: 1, sent: 2, from: 99, to: 100, response: 9})      // answered before it
	b.add(made{conn: 2, method: "other", asked: 1, sent: 2, from: 300, to: 301, response: 9})      // another connection
	list := b.found("waited-behind", 1000)
	require.Len(t, list, 1)
	f := list[0]
	assert.Equal(t, "big", f.Method)
	assert.EqualValues(t, 2, f.Frame, "the large answer")
	assert.EqualValues(t, 2, Value(t, &f, "calls"))
	assert.InDelta(t, 100e3, Value(t, &f, "longestMicros"), 0)
	assert.InDelta(t, 150e3, Value(t, &f, "totalMicros"), 0)
	assert.EqualValues(t, 4, Value(t, &f, "waitingFrame"))
	assert.Equal(t, "2 other calls waited for its large responses, up to 100 ms: early 1, within 1", f.Text)
}

// Several large answers add up; those of another method are told apart; short waits do not count.
func TestWaitedBehindSeveral(t *testing.T) {
	b := newBench()
	for i := range int64(3) {
		b.add(made{conn: 1, method: "big", asked: 0, sent: 1, from: 10 + 10*i, to: 20 + 10*i, response: largeResponse})
	}
	b.add(made{conn: 1, method: "other", asked: 0, sent: 1, from: 50, to: 60, response: largeResponse})
	b.add(made{conn: 1, method: "small", asked: 0, sent: 15, from: 70, to: 71, response: largeResponse - 1})
	list := b.found("waited-behind", 1000)
	require.Len(t, list, 2)
	// big's own later answers and other's waited behind the earlier ones: 10, 20 and 30 ms; small 5 + 10 + 10.
	assert.Equal(t, "big", list[0].Method)
	assert.EqualValues(t, 4, Value(t, &list[0], "calls"))
	assert.InDelta(t, 30e3, Value(t, &list[0], "longestMicros"), 0)
	assert.InDelta(t, 85e3, Value(t, &list[0], "totalMicros"), 0)
	assert.Equal(t, "other", list[1].Method)
	assert.EqualValues(t, 1, Value(t, &list[1], "calls"))
	assert.InDelta(t, 10e3, Value(t, &list[1], "longestMicros"), 0)

	b = newBench()
	b.add(made{conn: 1, method: "big", asked: 0, sent: 1, from: 10, to: 20, response: largeResponse})
	b.add(made{conn: 1, method: "small", asked: 0, sent: 20, from: 30, to: 31, response: 9})
	assert.Empty(t, b.found("waited-behind", 1000))
}

// Interleaved messages do not wait for each other.
func TestInterleavedResponsesDoNotWait(t *testing.T) {
	b := newBench()
	change := func(_, p *call.Message) { p.Interleaved = true }
	b.add(made{conn: 1, method: "big", asked: 0, sent: 1, from: 10, to: 20, response: largeResponse, change: change})
	b.add(made{conn: 1, method: "small", asked: 0, sent: 1, from: 30, to: 31, response: 9, change: change})
	assert.Empty(t, b.found("waited-behind", 1000))
}

// A call that was open for longer than large answers are remembered is not judged.
func TestWaitedBehindForgotten(t *testing.T) {
	b := newBench()
	for i := range int64(maxLarge + 1) {
		b.add(made{conn: 1, method: "big", asked: 10 * i, sent: 10*i + 1, from: 10*i + 2, to: 10*i + 9, response: largeResponse})
	}
	b.add(made{conn: 1, method: "old", asked: 0, sent: 1, from: 9e3, to: 9e3 + 1, response: 9})
	b.add(made{conn: 1, method: "new", asked: 0, sent: 10*maxLarge + 1, from: 9e3 + 2, to: 9e3 + 3, response: 9})
	list := b.found("waited-behind", 10_000)
	require.Len(t, list, 1)
	assert.EqualValues(t, 1, Value(t, &list[0], "calls"))
	assert.EqualValues(t, 1, Value(t, &list[0], "unclear"))
	assert.InDelta(t, 7e3, Value(t, &list[0], "longestMicros"), 0)
}

func TestLargeAnswersAreBounded(t *testing.T) {
	b := newBench()
	for i := range int64(maxAllLarge + 5000) {
		b.add(made{conn: uint64(i % 3000), method: "big", asked: i, sent: i, from: i, to: i + 1, response: largeResponse})
	}
	n := 0
	for _, c := range b.conns {
		n += len(c.large.list)
	}
	assert.LessOrEqual(t, n, maxAllLarge)
	assert.Equal(t, n, b.large)
}

// A call that was asked shortly before the end may be answered after it.
func TestUnanswered(t *testing.T) {
	b := newBench()
	b.add(made{conn: 1, method: "get", asked: 0, sent: 1, from: 90, to: 100, response: 9}) // takes 100 ms
	for _, at := range []int64{100, 800, 900, 901, 950} {
		b.add(made{conn: 1, method: "get", asked: at, sent: at})
	}
	b.add(made{conn: 1, method: "never", asked: 0, sent: 0})
	list := b.found("unanswered", 1000)
	require.Len(t, list, 2)
	assert.Equal(t, "3 of 6 calls have no response 100 ms or more after the request; 2 more of the last 100 ms are not counted "+
		"(the slowest response took as long)", list[0].Text)
	assert.EqualValues(t, 3, list[0].Frame)
	assert.EqualValues(t, 2, Value(t, &list[0], "late"))
	assert.Equal(t, "1 of 1 call has no response 1.00 s or more after the request; the method has no response in the capture", list[1].Text)
	assert.Len(t, b.found("unanswered", 999), 1, "never waited for less than a second")
	assert.Empty(t, b.found("unanswered", 199))
}

// The client of a streaming call waits from its last message on, not before.
func TestUnansweredStreams(t *testing.T) {
	b := newBench()
	conn := &call.Conn{Ends: [2]string{"10.0.0.1:1", "10.0.1.1:2"}}
	add := func(ends bool, first, last int64) {
		n := &rpc.Operation{Service: "a.b.Service", Method: "collect", Hash: 7}
		q, next := b.pairer.New(), b.pairer.New()
		for _, m := range []*call.Message{q, next} {
			b.frame++
			m.Number, m.Operation, m.Serialization, m.TwoWay, m.Complete, m.BodyLen = b.frame, n, "hessian2", true, true, 10
			m.Protocol = dubbo.Protocol
		}
		q.FirstTime, q.LastByte, q.Next = first*ms, first*ms, next
		next.FirstTime, next.LastByte, next.Ends = last*ms, last*ms, ends
		b.Call(&call.Call{Conn: conn, Request: q})
	}
	add(false, 0, 100)
	assert.Empty(t, b.found("unanswered", 9000))
	add(true, 0, 2000)
	assert.Empty(t, b.found("unanswered", 2999))
	list := b.found("unanswered", 3000)
	require.Len(t, list, 1)
	assert.Equal(t, "1 of 2 calls has no response 1.00 s or more after the request; the method has no response in the capture", list[0].Text)
	assert.EqualValues(t, 20, list[0].Weight)
}

// Of very many unanswered calls the latest are remembered, and none that may be answered counts.
func TestManyUnanswered(t *testing.T) {
	b := newBench()
	b.add(made{conn: 1, method: "get", asked: 0, sent: 0, from: 5, to: 10, response: 9})
	const n = 10_000
	for i := range int64(n) {
		b.add(made{conn: 1, method: "get", asked: i * 7919 % n, sent: i * 7919 % n})
	}
	u := b.order[0].unanswered
	assert.LessOrEqual(t, len(u.sent), 2*manyUnanswered)
	list := b.found("unanswered", n)
	assert.EqualValues(t, n-9, Value(t, &list[0], "unanswered"))
	assert.EqualValues(t, 9, Value(t, &list[0], "late"))
	// Where the end is so early that those which are not remembered may be late: they are not counted, and not called late.
	f := b.found("unanswered", 500)[0]
	assert.LessOrEqual(t, Value(t, &f, "unanswered"), 491.0)
	assert.Contains(t, f.Text, " more are not counted: sent in the last 10.0 ms, or no longer in memory")
}

func TestPayloadLimit(t *testing.T) {
	for _, c := range []struct {
		bytes int
		whole bool
		text  string
	}{
		{payloadLimit/2 - 1, true, ""},
		{payloadLimit / 2, true, "its largest response has 4,194,304 bytes, 50 % of Dubbo's default payload limit of 8,388,608 bytes"},
		{7914022, true, "its largest response has 7,914,022 bytes, 94 % of Dubbo's default payload limit of 8,388,608 bytes"},
		{payloadLimit - 1, true, "its largest response has 8,388,607 bytes, >99 % of Dubbo's default payload limit of 8,388,608 bytes"},
		{payloadLimit, true, "its largest response has 8,388,608 bytes, 100 % of Dubbo's default payload limit of 8,388,608 bytes"},
		{payloadLimit + 1, true, "its largest response has 8,388,609 bytes, >100 % of Dubbo's default payload limit of 8,388,608 bytes; Dubbo refuses it unless the limit is raised"},
		{2 * payloadLimit, false, "its largest response has 16,777,216 bytes, 200 % of Dubbo's default payload limit of 8,388,608 bytes; Dubbo refuses it unless the limit is raised; the capture lacks a part of it"},
	} {
		b := newBench()
		b.add(made{conn: 1, method: "get", from: 1, to: 2, response: 100})
		b.add(made{conn: 1, method: "get", from: 1, to: 2, response: c.bytes, change: func(_, p *call.Message) { p.Complete = c.whole }})
		list := b.found("payload-limit", 1000)
		if c.text == "" {
			assert.Empty(t, list)
			continue
		}
		require.Len(t, list, 1)
		assert.Equal(t, c.text, list[0].Text)
		assert.EqualValues(t, 4, list[0].Frame)
	}
}

// Dubbo writes the length and its limit into the error, with or without more around it.
func TestRefused(t *testing.T) {
	b := newBench()
	for _, text := range []string{
		"Data length too large: 21018, max payload: 20000, channel: NettyChannel [channel=[id: 0x1d09e707]]",
		"Failed to send response: Response [id=18], cause: java.io.IOException: Data length too large: 300223, max payload: 20000",
		"Data length too large: many", "Data length too large: 99999999999999999999, max payload: 1", "something else",
	} {
		b.add(made{conn: 1, method: "get", from: 1, to: 2, status: 50, response: 100, change: func(_, p *call.Message) { p.Detail().ErrorMessage = text }})
	}
	list := b.found("payload-refused", 1000)
	require.Len(t, list, 1)
	assert.Equal(t, "2 responses refused: Data length too large: 300,223, max payload: 20,000", list[0].Text)
	assert.EqualValues(t, 4, list[0].Frame)
}

// inside lets a message be sampled: attachments as key=value, each of them so many bytes.
func inside(m *call.Message, each int, attachments ...string) {
	m.Sampled = true
	in := &call.Sample{}
	for _, a := range attachments {
		key, text, _ := strings.Cut(a, "=")
		hash := uint64(0)
		for _, c := range text {
			hash = hash*31 + uint64(c)
		}
		in.Attachments = append(in.Attachments, call.Attachment{Key: key, Value: hash, Bytes: each})
		m.Parts[decode.ClassAttachments] += int32(each)
	}
	m.Detail().Sample = in
}

func TestAttachments(t *testing.T) {
	for _, c := range []struct {
		name  string
		calls int
		each  func(i int, m *call.Message)
		text  string
	}{
		{"the same", 3, func(i int, m *call.Message) {
			inside(m, 30, "a=1", "b=2", fmt.Sprintf("c=%d", i))
			m.Parts[decode.ClassValues] = 200
		}, "2 attachments have the same value in all calls and take 20 % of its request bytes (60 of 300 per request, 3 sampled): a, b; " +
			"the application or a filter adds them, so they are avoidable"},
		{"too few", 2, func(_ int, m *call.Message) { inside(m, 60, "a=1", "b=2") }, ""},
		{"one differs", 10, func(i int, m *call.Message) {
			inside(m, 60, fmt.Sprintf("a=%d", i/9), "b=2")
			m.Parts[decode.ClassValues] = 180
		}, "1 attachment has the same value in all calls and takes 20 % of its request bytes (60 of 300 per request, 10 sampled): b; " +
			"the application or a filter adds it, so it is avoidable"},
		{"one is missing once", 10, func(i int, m *call.Message) {
			inside(m, 60, []string{"version=2", "a=1"}[:1+min(i, 1)]...)
			m.Parts[decode.ClassValues] = 180
		}, "1 attachment has the same value in all calls and takes 20 % of its request bytes (60 of 300 per request, 10 sampled): version; " +
			"Dubbo always adds it (version is at the start of the body as well), no setting removes it"},
		{"mixed", 10, func(_ int, m *call.Message) {
			inside(m, 60, "path=1", "a=1", "version=2")
		}, "3 attachments have the same value in all calls and take 60 % of its request bytes (180 of 300 per request, 10 sampled): path, a, version; " +
			"60 of the 180 bytes are avoidable: the application or a filter adds a, Dubbo always adds the others (path and version are at the start of the body as well)"},
		{"heavier", 10, func(i int, m *call.Message) {
			inside(m, 60, fmt.Sprintf("a=%d", i), fmt.Sprintf("b=%d", i))
			m.Parts[decode.ClassValues] = 119
		}, "attachments outweigh arguments: 120 vs 119 of 300 bytes per request (10 sampled)"},
		{"not heavier", 10, func(i int, m *call.Message) {
			inside(m, 60, fmt.Sprintf("a=%d", i), fmt.Sprintf("b=%d", i))
			m.Parts[decode.ClassValues] = 120
		}, ""},
		{"small", 10, func(_ int, m *call.Message) { inside(m, 49, "a=1"); m.Parts[decode.ClassValues] = 251 }, ""},
		{"not read", 10, func(_ int, m *call.Message) { inside(m, 0); m.Parts[decode.ClassOpaque] = 100 }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench()
			for i := range c.calls {
				b.add(made{conn: 1, method: "get", from: 1, to: 2, request: 300, change: func(q, _ *call.Message) { c.each(i, q) }})
			}
			list := b.found("attachments", 1000)
			if c.text == "" {
				assert.Empty(t, list)
				return
			}
			require.Len(t, list, 1)
			assert.Equal(t, c.text, list[0].Text)
			assert.EqualValues(t, 1, list[0].Frame)
			assert.LessOrEqual(t, list[0].Weight, int64(300*c.calls))
		})
	}
}

// Methods with the same attachments are one finding, whatever their order.
func TestAttachmentsOfSeveralMethods(t *testing.T) {
	b := newBench()
	for i := range 8 {
		keys := []string{"path=" + []string{"1", "2"}[i%2], "interface=3"}
		if i%2 == 1 {
			keys[0], keys[1] = keys[1], keys[0]
		}
		b.add(made{conn: 1, method: []string{"get", "set"}[i%2], from: 1, to: 2, request: 300, change: func(q, _ *call.Message) {
			inside(q, 50, keys...)
			q.Parts[decode.ClassValues] = 200
		}})
	}
	list := b.found("attachments", 1000)
	require.Len(t, list, 1)
	assert.Equal(t, "2 methods", list[0].Subject)
	assert.Equal(t, "2 attachments have the same value in all calls of a method and take 33 % of their request bytes (100 of 300 per request, 8 sampled): "+
		"path, interface; Dubbo always adds them (path is at the start of the body as well), no setting removes them; methods: get, set", list[0].Text)
	assert.EqualValues(t, 800, list[0].Weight)
}

func TestNamesAndEnvelope(t *testing.T) {
	b := newBench()
	for range 10 {
		b.add(made{conn: 1, method: "get", from: 1, to: 2, request: 200, response: 500, change: func(q, p *call.Message) {
			inside(q, 0)
			inside(p, 0)
			q.Parts[decode.ClassEnvelope], q.Parts[decode.ClassValues] = 120, 80
			p.Parts[decode.ClassNames], p.Parts[decode.ClassValues] = 100, 400
		}})
	}
	names := b.found("names", 1000)
	require.Len(t, names, 1)
	assert.Equal(t, "class and field names are 20 % of its response bytes (100 of 500 per body, 10 responses sampled)", names[0].Text)
	assert.EqualValues(t, 1000, names[0].Weight)
	envelope := b.found("envelope", 1000)
	require.Len(t, envelope, 1)
	assert.Equal(t, "versions, service, method and types are 60 % of its request bytes (120 of 200 per request, 10 sampled)", envelope[0].Text)
}

// Classes by where their files are; those with most opaque bytes come first.
func TestMissingClasses(t *testing.T) {
	b := newBench()
	lacks := func(opaque int32, class string) func(_, p *call.Message) {
		return func(q, p *call.Message) {
			inside(q, 0)
			inside(p, 0)
			p.Parts[decode.ClassOpaque], p.Parts[decode.ClassValues] = opaque, 500-opaque
			p.Sample.Missing, p.Sample.NoResultType = class, class == ""
		}
	}
	for method, class := range map[string]string{"get": "a.b.Order", "page": "a.b.Page", "at": "java.util.Locale", "one": "#58", "two": "#60", "any": "", "none": "a.b.Unused"} {
		opaque := map[string]int32{"get": 100, "page": 300, "at": 10, "one": 20, "two": 40, "any": 200}[method]
		b.add(made{conn: 1, method: method, from: 1, to: 2, request: 200, response: 500, change: lacks(opaque, class)})
	}
	var texts []string
	for _, f := range b.found("missing-classes", 1000) {
		texts = append(texts, f.Subject+": "+f.Text)
	}
	assert.Equal(t, []string{
		"3 methods: 600 of 1,500 bytes (40 %) of 3 sampled bodies are opaque without the class files of a.b.Page (300), a.b.Service (200), a.b.Order (100); pass their jar: --classpath app.jar",
		"2 methods: 60 of 1,000 bytes (6.0 %) of 2 sampled bodies are opaque without the classes with the registered numbers 60 (40), 58 (20); list the registered classes: --register FILE, or name the SerializationOptimizer: --classpath app.jar --optimizer CLASS",
		"a.b.Service/at: 10 of 500 bytes (2.0 %) of 1 sampled body are opaque without the JDK's java.util.Locale (10); pass its folder: --jdk HOME",
	}, texts)
}

// Bodies that do not fit the class path: one finding for each writer, class and cause.
func TestOtherClasses(t *testing.T) {
	b := newBench()
	order := decode.Misfit{Class: "a.b.Order", Causes: []decode.ClassChange{{Class: "a.b.Order", Added: true, Field: "name", Type: "a String"}}}
	for i, c := range []struct {
		method string
		opaque int32
		misfit decode.Misfit
	}{{"add", 100, order}, {"set", 300, order}, {"get", 50, decode.Misfit{Writer: decode.Provider}}, {"all", 40, decode.Misfit{Listed: true}}, {"none", 0, order}, {"url", 20, decode.Misfit{Writer: decode.Provider, Class: "java.net.URL"}}, {"pay", 0, decode.Misfit{Class: "a.Order", Field: "#7", Schema: true, NotDeclared: true}}} {
		b.add(made{conn: uint64(i), method: c.method, from: 1, to: 2, request: 500, response: 500, change: func(q, p *call.Message) {
			inside(q, 0)
			inside(p, 0)
			m := q
			if c.misfit.Writer == decode.Provider {
				m = p
			}
			m.Parts[decode.ClassOpaque], m.Sample.Misfit = c.opaque, &c.misfit
			m.Sample.Missing = "a.b.Order" // of what was read without classes
		}})
	}
	var texts []string
	for _, f := range b.found("other-classes", 1000) {
		texts = append(texts, f.Subject+": "+f.Text)
	}
	assert.Equal(t, []string{
		"a.b.Service/pay: 1 sampled body of 500 bytes does not fit message a.Order of the schema, which has no field #7: a later version of it; pass the schema of the consumer: --proto PATH",
		"2 methods: 400 of 1,000 bytes (40 %) of 2 sampled bodies are opaque because they do not fit class a.b.Order of the class path: another version of it " +
			"(the writer's a.b.Order has another field (a String) after name), or something that this program cannot read; pass the jar of the consumer: --classpath consumer=PATH",
		"a.b.Service/get: 50 of 500 bytes (10 %) of 1 sampled body are opaque because they do not fit the class path: other versions of its classes, or something that this program cannot read; pass the jar of the provider: --classpath provider=PATH",
		"a.b.Service/all: 40 of 500 bytes (8.0 %) of 1 sampled body are opaque because they do not fit the class path: other versions of its classes, other registered classes than listed, or something that this program cannot read; " +
			"pass the jar of the consumer: --classpath consumer=PATH, or its list: --register FILE, --optimizer CLASS",
		"a.b.Service/url: 20 of 500 bytes (4.0 %) of 1 sampled body are opaque because they do not fit class java.net.URL of the JDK: that of another JDK, or something that this program cannot read; pass the JDK of the provider: --jdk HOME",
	}, texts)
	assert.Empty(t, b.found("missing-classes", 1000))
}

// Clients that say another version than most clients do.
func TestVersions(t *testing.T) {
	b := newBench()
	for i, v := range []string{"2.0.2", "2.0.2", "2.5.3", "2.5.3", "2.5.3", "2.0.2", "2.5.3"} {
		host := fmt.Sprintf("10.0.0.%d", []int{1, 2, 3, 3, 3, 4, 1}[i])
		b.add(made{conn: uint64(i), client: host, method: "get", from: 1, to: 2, version: v})
	}
	list := b.found("dubbo-version", 1000)
	require.Len(t, list, 1)
	assert.Equal(t, "2 clients", list[0].Subject)
	assert.Equal(t, `send protocol version 2.5.3 (4 calls); most send protocol version 2.0.2 (2.6.3 and later) (3 calls, 3 clients): 10.0.0.1, 10.0.0.3`, list[0].Text)
	assert.EqualValues(t, 5, list[0].Frame)
}

// Failures with one cause are one finding: status, serialization, client and text.
func TestFailures(t *testing.T) {
	b := newBench()
	fail := func(method, client, serialization, text string, n int) {
		for range n {
			b.add(made{
				conn: uint64(client[len(client)-1]), method: method, client: client, serialization: serialization, from: 1, to: 2, status: 40, response: 100,
				change: func(_, p *call.Message) { p.Detail().ErrorMessage = text },
			})
		}
	}
	throw := func(method, class string, n int) {
		for range n {
			b.add(made{conn: 1, method: method, from: 1, to: 2, change: func(_, p *call.Message) {
				p.Exception, p.Detail().ExceptionClass = true, class
			}})
		}
	}
	const unregistered = "Fail to decode request due to: java.io.IOException: com.esotericsoftware.kryo.KryoException: Encountered unregistered class ID: 4711"
	for _, method := range []string{"get", "set", "list"} {
		fail(method, "10.0.0.9", "kryo (Kryo 5)", unregistered, 20)
	}
	fail("list", "10.0.0.9", "kryo (Kryo 5)", "", 9) // not read
	fail("get", "10.0.0.8", "hessian2", "Failed to send response: Response [id=1, result=AppResponse [value=secret]], cause: com.acme.Mine$Exception: secret", 1)
	fail("get", "10.0.0.7", "hessian2", "Failed to send response: Response [id=1, result=AppResponse [value=secret]], cause: com.acme.Mine$Exception: secret", 2)
	fail("rare", "10.0.0.6", "hessian2", "the secret is out", 1)
	for range 2 {
		b.add(made{conn: 9, method: "get", client: "10.0.0.9", from: 1, to: 2, change: func(_, p *call.Message) {
			p.Failed, p.Status = true, rpc.NoStatus
		}})
	}
	throw("get", "com.acme.NoMoney", 3)
	throw("get", "", 1)
	throw("many", "com.acme.Rare", 1)
	for range 100 {
		b.add(made{conn: 1, method: "many", from: 1, to: 2})
	}
	var had []string
	for _, f := range b.found("errors", 1000) {
		had = append(had, f.Subject+" "+f.Text)
		assert.NotContains(t, fmt.Sprint(f), "secret")
	}
	assert.Equal(t, []string{
		"3 methods 69 calls fail with status 40, all kryo (Kryo 5) from 10.0.0.9: Encountered unregistered class ID (60 sampled); list 29, get 20, set 20",
		"a.b.Service/get 3 of 29 calls fail with status 40, all hessian2 from 2 clients: com.acme.Mine$Exception",
		"a.b.Service/get 2 of 29 calls fail with an unknown status, all hessian2 from 10.0.0.9",
		"a.b.Service/rare 1 of 1 call fails with status 40, hessian2 from 10.0.0.6",
		"a.b.Service/get 4 of 29 calls end in an exception, all hessian2 from 10.0.0.1: com.acme.NoMoney (3 sampled)",
	}, had)
	f := b.found("errors", 1000)[0]
	assert.Equal(t, []string{"--state", "error", "--status", "40", "--serialization", "kryo (Kryo 5)", "--client", "10.0.0.9"}, f.Args)
}

// Responses are late if they come after the timeout of their own request, or after the one of all sampled requests of their client.
func TestLateResponses(t *testing.T) {
	b := newBench()
	add := func(method string, conn uint64, client string, took, timeout int64) {
		b.add(made{conn: conn, client: client, method: method, asked: 1000, sent: 1000, from: 1000 + took, to: 1000 + took, response: 10, change: func(q, _ *call.Message) {
			if timeout >= 0 {
				inside(q, 0)
				q.Sample.Timeout = timeout
			}
		}})
	}
	add("get", 1, "10.0.0.1", 300, 300)
	add("get", 1, "10.0.0.1", 301, 300)
	add("get", 1, "10.0.0.1", 900, -1)
	add("get", 2, "10.0.0.2", 900, -1) // nothing is known of this client
	add("set", 1, "10.0.0.1", 900, -1) // nor of this method
	list := b.found("late-responses", 5000)
	require.Len(t, list, 1)
	assert.Equal(t, "2 of 4 responses came after the call's timeout of 300 ms, up to 900 ms after the request: the client no longer waited "+
		"(timeout of 2 requests sampled)", list[0].Text)
	assert.EqualValues(t, 4, list[0].Frame)

	add("get", 1, "10.0.0.1", 900, 500) // other timeouts: those that were not sampled are unknown
	add("get", 3, "10.0.0.3", 2000, 0)
	list = b.found("late-responses", 5000)
	assert.Equal(t, "2 of 6 responses came after the call's timeout of 300 ms to 500 ms, up to 900 ms after the request: the client no longer waited", list[0].Text)
	assert.Empty(t, list[0].Args)
}

// A retry has the client, method and arguments of a call that failed or timed out, a later id, and starts when the client gives that up.
func TestRetries(t *testing.T) {
	type one struct {
		start, took int64 // took 0: no response
		timeout     int64
		status      byte
		id          uint64
		body        uint64
		args        uint64
		client      string
		method      string
	}
	for _, c := range []struct {
		name  string
		calls []one
		text  string // without its first words
	}{
		{"timeout", []one{{0, 900, 300, 0, 1, 7, 0, "", ""}, {310, 5, 300, 0, 2, 7, 0, "", ""}}, "1 of 2 requests repeats a call that had just timed out; 0 went to another server, 1 got a response in time"},
		{"closed first", []one{{310, 5, 300, 0, 2, 7, 0, "", ""}, {0, 900, 300, 0, 1, 7, 0, "", ""}}, "1 of 2 requests repeats a call that had just timed out; 0 went to another server, 1 got a response in time"},
		{"no response", []one{{0, 0, 300, 0, 1, 7, 0, "", ""}, {295, 0, 300, 0, 2, 7, 0, "", ""}}, "1 of 2 requests repeats a call that had just timed out; 0 went to another server, 0 got a response in time"},
		{"failure", []one{{0, 10, 0, 40, 1, 7, 0, "", ""}, {11, 5, 0, 0, 2, 7, 0, "", ""}}, "1 of 2 requests repeats a call that had just failed; 0 went to another server, 1 got a response in time"},
		{"arguments", []one{{0, 10, 0, 40, 1, 7, 5, "", ""}, {11, 5, 0, 0, 2, 8, 5, "", ""}}, "1 of 2 requests repeats a call that had just failed; 0 went to another server, 1 got a response in time"},
		{
			"three attempts",
			[]one{{0, 900, 300, 0, 1, 7, 0, "", ""}, {310, 900, 300, 0, 2, 7, 0, "", ""}, {620, 9, 300, 0, 3, 7, 0, "", ""}, {640, 9, 300, 0, 4, 7, 0, "", ""}},
			"2 of 4 requests repeat calls that had just timed out; 0 went to another server, 1 got a response in time",
		},
		{"other arguments", []one{{0, 900, 300, 0, 1, 7, 0, "", ""}, {310, 5, 300, 0, 2, 8, 0, "", ""}}, ""},
		{"other client", []one{{0, 900, 300, 0, 1, 7, 0, "", ""}, {310, 5, 300, 0, 2, 7, 0, "10.0.0.9", ""}}, ""},
		{"other method", []one{{0, 900, 300, 0, 1, 7, 0, "", ""}, {310, 5, 300, 0, 2, 7, 0, "", "set"}}, ""},
		{"earlier id", []one{{0, 900, 300, 0, 3, 7, 0, "", ""}, {310, 5, 300, 0, 2, 7, 0, "", ""}}, ""},
		{"in time", []one{{0, 300, 300, 0, 1, 7, 0, "", ""}, {310, 5, 300, 0, 2, 7, 0, "", ""}}, ""},
		{"too early", []one{{0, 900, 300, 0, 1, 7, 0, "", ""}, {279, 5, 300, 0, 2, 7, 0, "", ""}}, ""},
		{"too late", []one{{0, 900, 300, 0, 1, 7, 0, "", ""}, {551, 5, 300, 0, 2, 7, 0, "", ""}}, ""},
		{"long after a failure", []one{{0, 10, 0, 40, 1, 7, 0, "", ""}, {36, 5, 0, 0, 2, 7, 0, "", ""}}, ""},
		{"no response, no timeout", []one{{0, 10, 0, 40, 1, 7, 0, "", ""}, {11, 0, 0, 0, 2, 7, 0, "", ""}}, "1 of 2 requests repeats a call that had just failed; 0 went to another server, 0 got a response in time"},
		{"body not whole", []one{{0, 900, 300, 0, 1, 0, 0, "", ""}, {310, 5, 300, 0, 2, 0, 0, "", ""}}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench()
			for i, o := range c.calls {
				m := made{conn: uint64(i + 1), client: o.client, method: "get" + o.method, asked: 1000 + o.start, sent: 1000 + o.start, status: o.status}
				if o.took > 0 {
					m.from, m.to = 1000+o.start+o.took, 1000+o.start+o.took
				}
				m.change = func(q, _ *call.Message) {
					inside(q, 0)
					q.Exchange, q.BodyHash, q.Sample.Timeout, q.Sample.Arguments = o.id, o.body, o.timeout, o.args
				}
				b.add(m)
			}
			for range 2 { // the same each time
				list := b.found("retries", 5000)
				if c.text == "" {
					assert.Empty(t, list)
					continue
				}
				require.Len(t, list, 1)
				assert.Equal(t, c.text, list[0].Text)
			}
		})
	}
}

// Exchanges of a protocol whose connections count by themselves do not tell which request is later. A reset gives a call up.
func TestRetriesAfterResets(t *testing.T) {
	other := &rpc.Protocol{Name: "other"}
	type one struct {
		start, reset, timeout int64 // reset 0: a response 5 ms after the request
		id                    uint64
		bodies                [2]uint64
	}
	for _, c := range []struct {
		name  string
		calls []one
		text  string
	}{
		{"reset", []one{{0, 40, 0, 9, [2]uint64{7, 8}}, {41, 0, 0, 3, [2]uint64{7, 8}}}, "1 of 2 requests repeats a call that had just failed; 0 went to another server, 1 got a response in time"},
		{"timeout", []one{{0, 299, 300, 9, [2]uint64{7, 8}}, {500, 0, 300, 3, [2]uint64{7, 8}}}, "1 of 2 requests repeats a call that had just timed out; 0 went to another server, 1 got a response in time"},
		{"reset before the timeout", []one{{0, 40, 300, 9, [2]uint64{7, 8}}, {300, 0, 300, 3, [2]uint64{7, 8}}}, ""},
		{"other later message", []one{{0, 40, 0, 9, [2]uint64{7, 8}}, {41, 0, 0, 3, [2]uint64{7, 9}}}, ""},
		{"later message not whole", []one{{0, 40, 0, 9, [2]uint64{7, 0}}, {41, 0, 0, 3, [2]uint64{7, 0}}}, ""},
		{"earlier", []one{{41, 80, 0, 9, [2]uint64{7, 8}}, {0, 30, 0, 3, [2]uint64{7, 8}}}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench()
			n := &rpc.Operation{Service: "a.b.Service", Method: "get", Hash: 1}
			for i, o := range c.calls {
				q, next, p := b.pairer.New(), b.pairer.New(), b.pairer.New()
				for k, m := range []*call.Message{q, next, p} {
					b.frame++
					m.Number, m.Protocol, m.Operation, m.Exchange, m.Complete = b.frame, other, n, o.id, true
					m.Serialization, m.FirstTime, m.LastByte = "protobuf", o.start*ms, o.start*ms
					if k < 2 {
						m.TwoWay, m.BodyHash = true, o.bodies[k]
						inside(m, 0)
						m.Sample.Timeout = o.timeout
					}
				}
				q.Next = next
				p.FirstTime, p.LastByte = (o.start+5)*ms, (o.start+5)*ms
				k := &call.Call{Conn: &call.Conn{Key: uint64(i), Ends: [2]string{"10.0.0.1:1", "10.0.1.1:2"}}, Request: q, Response: p}
				if o.reset > 0 {
					k.Response, k.Aborted, k.AbortedAt = nil, "CANCEL", o.reset*ms
				}
				b.Call(k)
			}
			list := b.found("retries", 5000)
			if c.text == "" {
				assert.Empty(t, list)
				return
			}
			require.Len(t, list, 1)
			assert.Equal(t, c.text, list[0].Text)
		})
	}
}

// Calls that leave the memory still count.
func TestAttemptsAreBounded(t *testing.T) {
	b := newBench()
	for i := range int64(maxAttempts) {
		for j, status := range []byte{40, 20} {
			b.add(made{conn: 1, method: "get", asked: 1000 * i, sent: 1000 * i, from: 1000*i + 10 + int64(j), to: 1000*i + 10 + int64(j), status: status, change: func(q, _ *call.Message) {
				q.FirstTime += 10 * ms * int64(j)
				q.Exchange, q.BodyHash = uint64(2*i+int64(j)), uint64(i+1)
			}})
		}
	}
	assert.Equal(t, maxAttempts, len(b.attempts.pages)*len(b.attempts.pages[0]))
	assert.Less(t, len(b.attempts.retries), maxAttempts)
	list := b.found("retries", 1)
	require.Len(t, list, 1)
	assert.EqualValues(t, maxAttempts, Value(t, &list[0], "retries"))
}

func TestFailuresAreBounded(t *testing.T) {
	b := newBench()
	for i := range maxFailures + 7 {
		b.add(made{conn: 1, method: "get", from: 1, to: 2, status: 40, change: func(_, p *call.Message) {
			p.Detail().ErrorMessage = fmt.Sprintf("com.acme.E%dException", i)
		}})
	}
	assert.Len(t, b.failureOrder, maxFailures)
	assert.EqualValues(t, 7, b.Basis().OtherFailures)
}

// Calls that fail come first, then those that are delayed, then what is about bytes; the same order each time.
func TestOrder(t *testing.T) {
	b := newBench()
	for i := range 40 {
		b.add(made{conn: uint64(i), method: fmt.Sprintf("m%d", i%4), from: 1, to: 2, request: 100 * (i % 4), status: 80})
		b.add(made{conn: uint64(i), method: "lost", request: 1})
	}
	first := b.Findings(&pipeline.Totals{LastTime: 9000 * ms})
	var order []string
	for _, f := range first {
		order = append(order, f.Kind+" "+f.Method)
	}
	assert.Equal(t, []string{"errors ", "unanswered lost"}, order)
	for range 5 {
		assert.Equal(t, first, b.Findings(&pipeline.Totals{LastTime: 9000 * ms}))
	}
}

func TestSerializations(t *testing.T) {
	b := newBench()
	for i := range 12 {
		s := []string{"hessian2", "kryo"}[i%2]
		b.add(made{conn: 1, method: []string{"get", "set", "one"}[i%3], from: 1, to: 2, serialization: s, answer: "hessian2"})
	}
	b.add(made{conn: 1, method: "one", from: 1, to: 2, header: "fst"})
	list := b.found("method-serializations", 1000)
	require.Len(t, list, 1)
	assert.Equal(t, "3 methods", list[0].Subject)
	assert.Equal(t, "called in hessian2 (7 calls) and kryo (6 calls): Service/get, Service/one, Service/set", list[0].Text)
	list = b.found("client-serializations", 1000)
	require.Len(t, list, 1)
	assert.Equal(t, "sends hessian2 (7 calls) and kryo (6 calls)", list[0].Text)
	list = b.found("answer-serialization", 1000)
	require.Len(t, list, 1)
	assert.Equal(t, "6 of 6 answered calls in kryo have responses in hessian2: get 2, one 2, set 2", list[0].Text)
	list = b.found("header-serialization", 1000)
	require.Len(t, list, 1)
	assert.Equal(t, "1 request is in hessian2, but its header says fst: one 1", list[0].Text)
	assert.Equal(t, "10.0.0.1", list[0].Subject)
}

func TestNothingFound(t *testing.T) {
	b := newBench()
	b.add(made{conn: 1, method: "get", from: 1, to: 2, request: 100, response: 100})
	assert.Equal(t, []report.Finding{}, b.Findings(&pipeline.Totals{LastTime: ms}))
	assert.Equal(t, &report.FindingsBasis{Rules: len(rules), Calls: 1, Methods: 1, Clients: 1}, b.Basis())
	assert.Empty(t, New().Findings(&pipeline.Totals{}))
}

// plainHTTP is a protocol whose operations have media types of their own.
var plainHTTP = &rpc.Protocol{Name: "made", PlainHTTP: true}

// overHTTP makes a call one of plain HTTP, whose response has a status of HTTP.
func overHTTP(status int32) func(q, p *call.Message) {
	return func(q, p *call.Message) {
		for _, m := range []*call.Message{q, p} {
			if m != nil {
				m.Protocol, m.SerializationID, m.Status = plainHTTP, rpc.NoSerialization, rpc.NoStatus
			}
		}
		if p != nil {
			p.Status, p.Failed = status, status >= 400
		}
	}
}

// Over plain HTTP a request without a body is in no serialization of its own, errors are in others than results, and an operation has
// its own media types.
func TestMediaTypesAreNoMixture(t *testing.T) {
	b := newBench()
	for range 5 {
		b.add(made{conn: 1, method: "POST /bids", request: 300, serialization: "xml", from: 1, to: 2, response: 300, change: overHTTP(200)})
		b.add(made{conn: 1, method: "GET /name", serialization: "text", from: 1, to: 2, response: 10, change: overHTTP(200)})
		b.add(made{conn: 1, method: "POST /form", request: 20, serialization: "form", from: 1, to: 2, response: 40, answer: "json", change: overHTTP(200)})
	}
	b.add(made{conn: 1, method: "POST /bids", request: 300, serialization: "xml", from: 1, to: 2, response: 30, answer: "text", change: overHTTP(500)})
	b.add(made{conn: 1, method: "POST /bids", request: 300, serialization: "xml", from: 1, to: 2, answer: "text", change: overHTTP(200)})
	b.add(made{conn: 1, method: "GET /name", serialization: "json", from: 1, to: 2, response: 30, change: overHTTP(404)})
	b.add(made{conn: 1, method: "GET /name", serialization: "html", from: 1, to: 2, change: overHTTP(200)})
	b.add(made{conn: 1, method: "GET /name", serialization: "html", asked: 1, sent: 2, change: overHTTP(0)})
	for _, kind := range []string{"client-serializations", "method-serializations", "answer-serialization"} {
		assert.Empty(t, b.found(kind, 1000), kind)
	}

	// An operation that is called in two, or answers in two, is worth a look.
	b.add(made{conn: 1, method: "POST /bids", request: 200, serialization: "json", from: 1, to: 2, response: 200, change: overHTTP(200)})
	b.add(made{conn: 1, method: "GET /name", serialization: "json", from: 1, to: 2, response: 10, change: overHTTP(200)})
	b.add(made{conn: 1, method: "POST /form", request: 20, serialization: "form", from: 1, to: 2, response: 40, answer: "xml", change: overHTTP(200)})
	assert.Empty(t, b.found("client-serializations", 1000))
	var texts []string
	for _, f := range append(b.found("method-serializations", 1000), b.found("answer-serialization", 1000)...) {
		texts = append(texts, f.Subject+" "+f.Text)
	}
	assert.ElementsMatch(t, []string{
		"a.b.Service/POST /bids called in xml (6 calls) and json (1 call)",
		"a.b.Service/GET /name called in text (5 calls) and json (1 call)",
		"a.b.Service/POST /form 5 of 6 answered calls in form have responses in json",
		"a.b.Service/POST /form 1 of 6 answered calls in form have responses in xml",
	}, texts)
}

// Fields with defaults, and fields that the schema does not have: from which size on, and what is said of which.
func TestFields(t *testing.T) {
	b, known := newBench(), new(decode.KeyCache[string])
	add := func(method string, calls int, request, response []decode.FieldUse) {
		for i := range calls {
			b.add(made{conn: uint64(i), method: method, from: 1, to: 2, request: 500, response: 1000, change: func(q, p *call.Message) {
				inside(q, 0)
				inside(p, 0)
				q.Sample.Fields = decode.PackFields(request, known)
				if response != nil {
					p.Sample.Fields = decode.PackFields(response, known)
				}
			}})
		}
	}
	add("few", 2, []decode.FieldUse{{Path: "args[0].a", FieldCounts: decode.FieldCounts{Defaults: 1, DefaultBytes: 100}}}, nil)
	add("small", 10, []decode.FieldUse{{Path: "args[0].a", FieldCounts: decode.FieldCounts{Defaults: 1, DefaultBytes: 19}}}, []decode.FieldUse{{Path: "result.a", FieldCounts: decode.FieldCounts{Defaults: 1, DefaultBytes: 99}}, {Path: "result.#2", FieldCounts: decode.FieldCounts{Set: 1, UndeclaredBytes: 9}}})
	add("sent", 3, []decode.FieldUse{{Path: "args[0].a", FieldCounts: decode.FieldCounts{Set: 1, Defaults: 1, DefaultBytes: 20}}, {Path: "args[0].b", FieldCounts: decode.FieldCounts{Defaults: 2, DefaultBytes: 30}}, {Path: "args[0].c"}}, nil)
	add("never", 10, []decode.FieldUse{{Path: "args[0].a", FieldCounts: decode.FieldCounts{Defaults: 1, DefaultBytes: 15}}, {Path: "args[0].b", FieldCounts: decode.FieldCounts{Defaults: 1, DefaultBytes: 10}}, {Path: "args[0].c", FieldCounts: decode.FieldCounts{Set: 1, Defaults: 1, DefaultBytes: 9}}}, nil)
	add("late", 10, nil, []decode.FieldUse{{Path: "result.#7", FieldCounts: decode.FieldCounts{Set: 2, UndeclaredBytes: 10}}})
	many := []decode.FieldUse{{Path: "args[0].a", FieldCounts: decode.FieldCounts{Defaults: 1, DefaultBytes: 25}}}
	for i := range maxFields {
		many = append(many, decode.FieldUse{Path: fmt.Sprint("args[0].f", i), FieldCounts: decode.FieldCounts{Set: 1}})
	}
	add("many", 10, many, nil)
	var texts []string
	for _, f := range b.Findings(&pipeline.Totals{LastTime: 1000 * ms}) {
		texts = append(texts, f.Kind+" "+f.Subject+": "+f.Text)
	}
	assert.Equal(t, []string{
		"never-set a.b.Service/small: fields that never had a value other than null, 0, false or empty are 9.9 % of its response bytes (99 of 1,000 per body, 10 responses sampled): result.a (990 in 10); if no call needs them, remove them from the class",
		"never-set a.b.Service/never: fields that never had a value other than null, 0, false or empty are 5.0 % of its request bytes (25 of 500 per body, 10 requests sampled): args[0].a (150 in 10), args[0].b (100 in 10); if no call needs them, remove them from the class",
		"sent-defaults a.b.Service/sent: null, 0, false and empty values of fields are 10 % of its request bytes (50 of 500 per body, 3 requests sampled): args[0].b (90 in 6), args[0].a (60 in 3 of 6); a class with fewer fields or a serialization that leaves them out saves these bytes",
		"unknown-fields a.b.Service/late: fields that the schema or the class path does not have are 1.0 % of its response bytes (10 of 1,000 per body, 10 responses sampled): result.#7 (100 in 20); they come from another version; a peer of this one takes them and has no use for them",
	}, slices.DeleteFunc(texts, func(s string) bool { return strings.Contains(s, "header-") }))
}

// However many fields the methods have, so many are kept.
func TestManyFields(t *testing.T) {
	b, known := newBench(), new(decode.KeyCache[string])
	var many []decode.FieldUse
	for i := range 2 * maxFields {
		many = append(many, decode.FieldUse{Path: fmt.Sprint("args[0].f", i), FieldCounts: decode.FieldCounts{Set: 1}})
	}
	for i := range 2 * maxAllFields / maxFields {
		b.add(made{conn: 1, method: fmt.Sprint("m", i), from: 1, to: 2, change: func(q, _ *call.Message) {
			inside(q, 0)
			q.Sample.Fields = decode.PackFields(many, known)
		}})
	}
	assert.LessOrEqual(t, b.fields, maxAllFields+2*maxAllFields/maxFields)
}
