// Package madeup proves that a protocol is a value in a list: one that nobody speaks is added to those that are known, and
// comes out of every report.
package madeup

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/decode/formats"
	"dubbo-wire/internal/decode/protocols"
	"dubbo-wire/internal/dev/bench/traffic"
	_ "dubbo-wire/internal/dev/testkit" // the flag -update
	"dubbo-wire/internal/explain"
	"dubbo-wire/internal/extract"
	"dubbo-wire/internal/live"
	"dubbo-wire/internal/measure"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/report"
	"dubbo-wire/internal/rpc"
	"dubbo-wire/internal/sizes"
)

// known is every protocol there is, and one more: the line that adds it.
func known() []*rpc.Protocol { return append(protocols.All(), parley) }

// piece is a piece of a message: the first one has the method of a request, "" for responses.
func piece(kind, exchange byte, parts ...[]byte) []byte {
	rest := bytes.Join(parts, nil)
	return append(binary.BigEndian.AppendUint16([]byte{kind, exchange}, uint16(len(rest))), rest...)
}

func opening(last bool, status byte, method string, body int) []byte {
	if last {
		return marked(ends, status, method, body)
	}
	return marked(0, status, method, body)
}

// marked is the opening of a message with marks.
func marked(marks, status byte, method string, body int) []byte {
	b := []byte{marks, status, byte(len(method))}
	return binary.BigEndian.AppendUint32(append(b, method...), uint32(body))
}

// packet is bytes that one side sends.
type packet struct {
	side int
	data []byte
}

// talk is a connection with three calls at once, one of them of several messages each way, one that is reset, and pings.
var talk = []packet{
	{0, []byte(greeting)},
	{1, []byte(greeting)},
	// Two requests whose pieces lie between each other, the second one of a streaming call.
	{0, bytes.Join([][]byte{
		piece(askPiece, 1, opening(true, 0, "get", 10), []byte("01234")),
		piece(askPiece, 2, opening(false, 0, "stream", 4), []byte("ab")),
	}, nil)},
	{0, bytes.Join([][]byte{piece(morePiece, 1, []byte("56789")), piece(pingPiece, 0), piece(morePiece, 2, []byte("cd"))}, nil)},
	{0, piece(askPiece, 3, opening(true, 0, "head", 1), []byte("x"))},
	// Half of an answer to the first one, then one of the streaming call's, then the answer to "head", which has no body
	// though it announces one.
	{1, piece(answerPiece, 1, opening(true, 0, "", 1000), bytes.Repeat([]byte("r"), 400))},
	{1, bytes.Join([][]byte{
		piece(answerPiece, 2, opening(false, 0, "", 3), []byte("one")),
		piece(answerPiece, 3, opening(true, 0, "", 5000)),
		piece(pingPiece, 0, []byte("?")),
	}, nil)},
	{0, piece(askPiece, 2, opening(true, 0, "stream", 6), []byte("second"))},
	{1, piece(morePiece, 1, bytes.Repeat([]byte("r"), 600))},
	{1, piece(answerPiece, 2, opening(true, 7, "", 5), []byte("enough")[:5])},
	{0, piece(askPiece, 4, opening(false, 0, "get", 2), []byte("no"))},
	{0, piece(resetPiece, 4)},
	{0, piece(askPiece, 5, opening(true, 0, "get", 3), []byte("lag"))},
}

// source opens a talk as a capture. The packets with the indexes in twice are sent twice.
func source(t *testing.T, talk []packet, twice ...int) *capture.Files {
	var segments []traffic.Segment
	for _, p := range talk {
		segments = append(segments, traffic.Segment{Side: p.side, Data: p.data})
	}
	src, err := capture.Open([]string{"-"}, capture.Options{Stdin: bytes.NewReader(traffic.Talk(segments, twice...))})
	require.NoError(t, err)
	t.Cleanup(func() { _ = src.Close() })
	return src
}

// sink keeps the JSON of frames and calls, and hands on to a report.
type sink struct {
	*measure.Collector
	frames, calls, explained []string
}

func (s *sink) Frame(r *pipeline.Row) {
	s.frames = append(s.frames, string((&report.Frames{Inputs: []string{"made.pcap"}}).AppendJSON(nil, r)))
	row := *r
	row.Msg = parley.NewDecoder(nil).Decode(r.Msg, rpc.Values)
	var b strings.Builder
	_ = explain.New(&explain.Subject{Row: &row, Stream: -1}).WriteText(&b, &explain.Style{Width: 100})
	s.explained = append(s.explained, b.String())
	s.Collector.Frame(r)
}

func (s *sink) Call(c *call.Call, selected bool) {
	s.calls = append(s.calls, string((&report.Calls{Inputs: []string{"made.pcap"}}).AppendJSON(nil, c)))
	s.Collector.Call(c, selected)
}

func run(t *testing.T, talk []packet, change func(*pipeline.Options), twice ...int) (*sink, *pipeline.Totals, map[string]any) {
	t.Helper()
	return runBy(t, talk, sizes.DefaultBy(), change, twice...)
}

func runBy(t *testing.T, talk []packet, by sizes.By, change func(*pipeline.Options), twice ...int) (*sink, *pipeline.Totals, map[string]any) {
	t.Helper()
	cfg := measure.Config{By: by, Filter: &measure.Filter{}, Parts: true, Details: true, Findings: true, Sample: measure.AsNeeded, Formats: []string{"json"}}
	opt := pipeline.Options{Protocols: known(), Formats: formats.All(), Rows: true}
	s := &sink{Collector: cfg.Collect([]string{"made.pcap"}, &opt)}
	opt.Detail, opt.RenderValues = rpc.Values, true
	if change != nil {
		change(&opt)
	}
	totals, err := pipeline.Run(source(t, talk, twice...), opt, s)
	require.NoError(t, err, "the books balance")
	r, err := s.Report([]capture.Input{{File: "made.pcap", Format: "pcap"}}, totals)
	require.NoError(t, err)
	var b bytes.Buffer
	require.NoError(t, r.WriteJSON(&b, false))
	var parsed map[string]any
	require.NoError(t, json.Unmarshal(b.Bytes(), &parsed))
	return s, totals, parsed
}

func group(t *testing.T, r map[string]any, method string) map[string]any {
	t.Helper()
	for _, g := range r["groups"].([]any) {
		if g := g.(map[string]any); g["method"] == method {
			return g
		}
	}
	require.Fail(t, "no such group", method)
	return nil
}

// sums returns count and total body bytes of a group's requests or responses.
func sums(g map[string]any, name string) [2]float64 {
	s := g[name].(map[string]any)
	return [2]float64{s["count"].(float64), s["bodyBytes"].(map[string]any)["total"].(float64)}
}

// The report has its calls, its messages and its bytes.
func TestAnalyze(t *testing.T) {
	_, totals, r := run(t, talk, nil)
	assert.EqualValues(t, 10, totals.Frames)
	assert.EqualValues(t, 5, totals.Calls)
	assert.EqualValues(t, 2, totals.Errors, "a status, and a reset")
	assert.EqualValues(t, 1, totals.Unanswered)
	get := group(t, r, "get")
	assert.Equal(t, "parley", get["protocol"])
	assert.Equal(t, "plain", get["serialization"])
	assert.Equal(t, "made.Up", get["service"])
	assert.EqualValues(t, 3, get["calls"])
	assert.EqualValues(t, 1, get["errors"])
	assert.Equal(t, [2]float64{3, 15}, sums(get, "request"))
	assert.Equal(t, [2]float64{1, 1000}, sums(get, "response"))
	stream := group(t, r, "stream")
	assert.EqualValues(t, 1, stream["calls"])
	assert.EqualValues(t, 1, stream["errors"], "the last message has the outcome")
	assert.Equal(t, [2]float64{2, 10}, sums(stream, "request"))
	assert.Equal(t, [2]float64{2, 8}, sums(stream, "response"))
	assert.Equal(t, [2]float64{1, 0}, sums(group(t, r, "head"), "response"), "it has no body")

	coverage := r["coverage"].(map[string]any)
	assert.EqualValues(t, 100, coverage["percent"])
	other := map[string]float64{}
	for _, o := range coverage["other"].([]any) {
		o := o.(map[string]any)
		other[o["protocol"].(string)] = o["bytes"].(float64)
	}
	assert.Equal(t, map[string]float64{"parley greeting": 16, "parley ping": 9, "parley reset": 4}, other)
	assert.Equal(t, coverage["tcpPayloadBytes"], coverage["frameBytes"].(float64)+coverage["otherBytes"].(float64)+coverage["skippedBytes"].(float64))
	wire := r["wire"].(map[string]any)
	assert.Equal(t, wire["linkBytes"], wire["rpcBytes"].(float64)+wire["otherLinkBytes"].(float64))
}

// TestWithoutValues: sizes do not depend on whether values are read.
func TestWithoutValues(t *testing.T) {
	_, want, wanted := run(t, talk, nil)
	_, got, report := run(t, talk, func(o *pipeline.Options) { o.Detail, o.RenderValues = rpc.Envelope, false })
	assert.Equal(t, want.RPCBytes, got.RPCBytes)
	assert.Equal(t, wanted["wire"], report["wire"])
	for i, g := range wanted["groups"].([]any) {
		assert.Equal(t, g.(map[string]any)["request"], report["groups"].([]any)[i].(map[string]any)["request"])
	}
}

// What was sent again belongs to the message that has it, also where that lies in pieces.
func TestRepeats(t *testing.T) {
	_, plain, before := run(t, talk, nil)
	for again := range talk {
		_, got, r := run(t, talk, nil, again)
		assert.Equal(t, plain.Frames, got.Frames)
		repeated := got.LinkBytes - plain.LinkBytes
		assert.GreaterOrEqual(t, repeated, int64(14+20+20+len(talk[again].data)))
		switch again {
		case 3: // pieces of two messages around a ping, which the message before it gets here
			assert.Equal(t, plain.RPCBytes+repeated, got.RPCBytes)
		case 5: // half of a message that is not whole yet
			assert.Equal(t, plain.RPCBytes+repeated, got.RPCBytes)
			size := func(r map[string]any) float64 {
				return group(t, r, "get")["response"].(map[string]any)["wireBytes"].(map[string]any)["total"].(float64)
			}
			assert.InDelta(t, size(before)+float64(repeated), size(r), 0)
		}
	}
}

// frames prints its messages in the order in which they were complete.
func TestFrames(t *testing.T) {
	s, _, _ := run(t, talk, nil)
	require.Len(t, s.frames, 10)
	assert.Contains(t, s.frames[0], `"protocol":"parley","kind":"request","twoWay":true,"id":"1","message":1,"serialization":"plain","serializationId":null`)
	assert.Contains(t, s.frames[0], `"method":"get"`)
	assert.Contains(t, s.frames[0], `"headerBytes":18,"bodyBytes":10,"complete":true`)
	assert.Contains(t, s.frames[0], `"parts":[{"path":"header","bytes":18},{"path":"args[0]","bytes":10}]`)
	assert.Contains(t, s.frames[3], `"id":"2","message":1,"serialization":"plain","serializationId":null,"status":0,"statusText":"FINE"`)
	assert.Contains(t, s.frames[4], `"id":"3"`)
	assert.Contains(t, s.frames[4], `"bodyBytes":0`)
	assert.Contains(t, s.explained[0], "frame 1: request 1, parley/plain, 28 bytes = 18 header + 10 body")
	assert.Contains(t, s.explained[0], "0123456789")
}

// calls prints one record for a call, however many messages it has.
func TestCalls(t *testing.T) {
	s, _, _ := run(t, talk, nil)
	require.Len(t, s.calls, 5)
	all := strings.Join(s.calls, "\n")
	assert.Contains(t, all, `"requestMessages":2,"responseMessages":2,"requestBodyBytes":10,"responseBodyBytes":8`)
	assert.Contains(t, all, `"arguments":[["abcd"],["second"]]`)
	assert.Contains(t, all, `"exception":{"class":null,"message":null},"responseAttachments":{},"status":7,"error":"NO_SUCH_THING","state":"error"`)
	assert.Contains(t, all, `"status":null,"error":"RESET","state":"error"`)
	assert.Contains(t, all, `"state":"noResponse"`)
	assert.Contains(t, all, `"arguments":["0123456789"]`)
}

// The screen's snapshots have its methods, and an opened one its parts and its largest call.
func TestSnapshots(t *testing.T) {
	probe := live.Probe{
		Interfaces: func() []live.Interface { return []live.Interface{{Name: "eth0", Up: true}} },
		Stats:      func() (live.Traffic, float64) { return live.Traffic{}, 0 },
		Recording:  func() live.Recording { return live.Recording{} },
	}
	cfg := measure.Config{By: sizes.DefaultBy(), Filter: &measure.Filter{}, Sample: measure.AsNeeded}
	opt := pipeline.Options{Protocols: known(), Formats: formats.All(), Rows: true, Live: true}
	m := live.NewMonitor(probe, cfg.Collect([]string{"made.pcap"}, &opt), formats.All(), false)
	opened := live.Method{Service: "made.Up", Method: "get"}
	var last *live.Snapshot
	opt.Watch = func(r *pipeline.Running) {
		if s := m.Watch(r, live.Settings{By: live.ByMethod, Open: opened}); s != nil {
			last = s
		}
	}
	var long []packet
	long = append(long, talk[:2]...)
	for i := range 3000 { // for seconds
		long = append(long, packet{0, piece(askPiece, byte(i), opening(true, 0, "get", 10), []byte("0123456789"))},
			packet{1, piece(answerPiece, byte(i), opening(true, 0, "", 100), bytes.Repeat([]byte("r"), 100))})
	}
	totals, err := pipeline.Run(source(t, long), opt, m)
	require.NoError(t, err)
	assert.EqualValues(t, 3000, totals.Calls)
	require.NotNil(t, last)
	require.NotEmpty(t, last.Rows)
	assert.Equal(t, opened, last.Rows[0].Method)
	assert.Positive(t, last.CallsPerSecond)
	assert.Equal(t, "parley/plain", last.Rows[0].Serializations, "with the protocol, for one without numbers of serializations")
	require.NotNil(t, last.Detail)
	require.NotEmpty(t, last.Detail.Response)
	assert.Equal(t, "result", last.Detail.Response[0].Name)
	require.NotNil(t, last.Detail.Largest)
	assert.Contains(t, strings.Join(last.Detail.Largest.Response, "\n"), "parley/plain")
}

// However the streams are cut into segments, the same comes out, but for what hangs on packets.
func TestCutAnywhere(t *testing.T) {
	_, want, wanted := run(t, talk, nil)
	for _, size := range []int{1, 3, 7} {
		var cut []packet
		for _, p := range talk {
			for from := 0; from < len(p.data); from += size {
				cut = append(cut, packet{p.side, p.data[from:min(from+size, len(p.data))]})
			}
		}
		_, got, r := run(t, cut, nil)
		assert.Equal(t, want.Frames, got.Frames)
		assert.Equal(t, want.FrameBytes, got.FrameBytes)
		assert.Equal(t, wanted["coverage"].(map[string]any)["other"], r["coverage"].(map[string]any)["other"])
		for i, g := range wanted["groups"].([]any) {
			assert.Equal(t, sums(g.(map[string]any), "request"), sums(r["groups"].([]any)[i].(map[string]any), "request"))
		}
	}
}

// Messages of a protocol that is read from the start are extracted with their whole connection.
func TestExtract(t *testing.T) {
	sel := extract.NewSelection(false)
	f := &call.Filter{Method: []call.Glob{call.ParseGlob("stream")}}
	opt := pipeline.Options{Protocols: known(), Formats: formats.All(), Filter: f}
	_, err := pipeline.Run(source(t, talk), opt, sel)
	require.NoError(t, err)
	assert.EqualValues(t, 1, sel.Calls)
	var out bytes.Buffer
	sum, err := sel.Write(source(t, talk), &out, extract.Options{})
	require.NoError(t, err)
	assert.Equal(t, extract.Summary{Packets: int64(3 + len(talk)), Comments: 4, Connections: 1}, sum)
	assert.Contains(t, out.String(), "dubbo-wire kind=request method=made.Up/stream id=2 serialization=plain body=4 state=")
}
