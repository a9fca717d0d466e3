package extract

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/decode/formats"
	"dubbo-wire/internal/decode/protocols"
	"dubbo-wire/internal/dev/bench/traffic"
	"dubbo-wire/internal/dev/testkit"
	"dubbo-wire/internal/pipeline"
)

// seen is a sink that describes the selected calls, without what depends on other calls.
type seen struct {
	calls    []string
	messages int64
}

func (*seen) Frame(*pipeline.Row) {}

func (s *seen) Call(c *call.Call, selected bool) {
	if !selected {
		return
	}
	latency, _ := c.Latency()
	text := fmt.Sprint(c.Client(), c.Server(), c.State(), latency)
	for _, m := range [2]*call.Message{c.Request, c.Response} {
		for ; m != nil; m = m.Next {
			text += fmt.Sprint(" ", m.Kind, m.Service(), m.Method(), m.ID(), m.SerializationName(), m.Status, m.HeaderLen, m.BodyLen, m.FirstTime, m.LastByte, m.Complete)
			s.messages++
		}
	}
	s.calls = append(s.calls, text)
}

// run reads captures once into a sink, and returns how it is read a second time.
func run(t testing.TB, f *call.Filter, sink pipeline.Sink, rows bool, paths ...string) {
	t.Helper()
	src, err := capture.Open(paths, capture.Options{})
	require.NoError(t, err)
	defer src.Close()
	_, err = pipeline.Run(src, pipeline.Options{Protocols: protocols.All(), Formats: formats.All(), Filter: f, Rows: rows, Jobs: 4}, sink)
	require.NoError(t, err)
}

// extracted writes the selected packets of captures.
func extracted(t testing.TB, f *call.Filter, paths ...string) (path string, sel *Selection, sum Summary) {
	t.Helper()
	sel = NewSelection(false)
	run(t, f, sel, false, paths...)
	src, err := capture.Open(paths, capture.Options{})
	require.NoError(t, err)
	defer src.Close()
	var out bytes.Buffer
	sum, err = sel.Write(src, &out, Options{Origin: src.Origin, Ended: src.Ended})
	require.NoError(t, err)
	path = filepath.Join(t.TempDir(), "out.pcapng")
	require.NoError(t, os.WriteFile(path, out.Bytes(), 0o600))
	return path, sel, sum
}

// methods returns the methods of the calls of captures.
func methods(t testing.TB, paths ...string) (all []string) {
	known := map[string]bool{}
	run(t, nil, sinkOf(func(c *call.Call) {
		if m := c.Request; m != nil && m.Operation != nil && !known[m.Method()] {
			known[m.Method()] = true
			all = append(all, m.Method())
		}
	}), false, paths...)
	return all
}

type sinkOf func(c *call.Call)

func (sinkOf) Frame(*pipeline.Row)         {}
func (f sinkOf) Call(c *call.Call, _ bool) { f(c) }

// differing are the methods with one call that is not the same in the written file, and why.
var differing = map[string]string{
	"loss text":                "the start of the connection's first selected frame was lost and retransmitted",
	"mislabelled-3.3.6 nobody": "only other calls of the connection show the serialization of its response",
}

// TestReadAgain: the calls of a method are the same in the file with their packets, and each packet is in the capture.
func TestReadAgain(t *testing.T) {
	testkit.Each(t, 30, func(t *testing.T, c *testkit.Capture) {
		file := c.Plain(t)
		originals := packets(t, file)
		for _, m := range testkit.Some(methods(t, file), 2) {
			f := &call.Filter{Method: []call.Glob{call.ParseGlob(m)}}
			path, sel, sum := extracted(t, f, file)
			var want, got seen
			run(t, f, &want, false, file)
			run(t, f, &got, false, path)
			if reason := differing[c.Name+" "+m]; reason == "" {
				assert.ElementsMatch(t, want.calls, got.calls, m)
			} else {
				same := slices.DeleteFunc(slices.Clone(got.calls), func(s string) bool { return !slices.Contains(want.calls, s) })
				assert.Len(t, same, len(want.calls)-1, "%s: %s", m, reason)
			}
			assert.EqualValues(t, len(want.calls), sel.Calls, m)
			assert.Equal(t, want.messages, sel.Messages, m)
			assert.Equal(t, want.messages, sum.Comments, m)
			for p := range packets(t, path) {
				assert.NotZero(t, originals[p], m)
			}
		}
	}, "fleet", "fragments-vxlan", "exhausted-3.3.6")
}

// copied is all that is written of a packet.
type copied struct {
	time    int64
	wireLen int
	link    capture.LinkType
	data    string
}

// packets counts the packets of a capture, by what is written of them.
func packets(t testing.TB, path string) map[copied]int {
	src, err := capture.Open([]string{path}, capture.Options{})
	require.NoError(t, err)
	defer src.Close()
	all := map[copied]int{}
	var p capture.Packet
	for {
		if err := src.Next(&p); errors.Is(err, io.EOF) {
			return all
		} else if !assert.NoError(t, err) {
			return all
		}
		all[copied{p.Time, p.WireLen, p.Link, string(p.Data)}]++
	}
}

// TestBothEnds: packets that both captures have are written from both, and their calls count once.
func TestBothEnds(t *testing.T) {
	a := testkit.Get(t, "both-ends").Path()
	b := strings.Replace(a, "both-ends.", "both-ends.consumer.", 1)
	f := &call.Filter{Method: []call.Glob{call.ParseGlob("bid")}}
	path, _, sum := extracted(t, f, a, b)
	var want, got seen
	run(t, f, &want, false, a, b)
	run(t, f, &got, false, path)
	assert.Equal(t, want.calls, got.calls)
	_, _, one := extracted(t, f, a)
	assert.Equal(t, 2*one.Packets, sum.Packets)
	assert.Equal(t, one.Comments, sum.Comments)
}

// TestRetransmitted: a packet that was sent twice is written twice, and the first one has the comment.
func TestRetransmitted(t *testing.T) {
	var frames [][]byte
	for _, id := range []byte{1, 2, 3} {
		frames = append(frames, []byte{0xda, 0xbb, 0xe2, 0, 0, 0, 0, 0, 0, 0, 0, id, 0, 0, 0, 1, 'N'})
	}
	file := filepath.Join(t.TempDir(), "in.pcap")
	require.NoError(t, os.WriteFile(file, traffic.Talk([]traffic.Segment{
		{Side: 0, Data: bytes.Join(frames[:1], nil)}, {Side: 0, Data: frames[1]}, {Side: 0, Data: frames[2]},
	}, 1), 0o600))
	_, sel, sum := extracted(t, &call.Filter{IDs: []int64{2}}, file)
	assert.Zero(t, sel.Calls, "heartbeats are no calls")
	assert.EqualValues(t, 0, sum.Packets)

	sel = NewSelection(true)
	run(t, nil, sel, true, file)
	src, err := capture.Open([]string{file}, capture.Options{})
	require.NoError(t, err)
	defer src.Close()
	var out bytes.Buffer
	sum, err = sel.Write(src, &out, Options{})
	require.NoError(t, err)
	assert.Equal(t, Summary{Packets: 4, Comments: 3, Connections: 1}, sum)
	assert.Equal(t, 1, bytes.Count(out.Bytes(), []byte("dubbo-wire kind=heartbeat id=2 serialization=hessian2 body=1 frame=2")))
}

func TestTooMany(t *testing.T) {
	sel := NewSelection(false)
	sel.max = 3
	run(t, nil, sel, false, testkit.Get(t, "hessian2").Path())
	assert.True(t, sel.TooMany)
	assert.EqualValues(t, 3, sel.Messages)
}

func TestWord(t *testing.T) {
	assert.Equal(t, "a.B/c", word("a.B/c"))
	assert.Equal(t, `"kryo (Kryo 5)"`, word("kryo (Kryo 5)"))
	assert.Equal(t, `"GET /users/{id}"`, word("GET /users/{id}"))
	assert.Equal(t, `"a\nb\x1b"`, word("a\nb\x1b"))
	assert.Equal(t, `""`, word(""))
	assert.Less(t, len(word(strings.Repeat("é", 1<<16))), 1<<16)
}

// TestTshark: Wireshark shows the comments, each at the packet with the frame's first byte.
func TestTshark(t *testing.T) {
	testkit.Needs(t, "tshark")
	path, sel, sum := extracted(t, &call.Filter{Method: []call.Glob{call.ParseGlob("bid")}}, testkit.Get(t, "fleet").Path())
	out, err := exec.Command("tshark", "-r", path, "-T", "json", "-e", "frame.comment", "-e", "frame.number").Output()
	require.NoError(t, err)
	var shown []struct {
		Source struct {
			Layers map[string][]string `json:"layers"`
		} `json:"_source"`
	}
	require.NoError(t, json.Unmarshal(out, &shown))
	assert.EqualValues(t, sum.Packets, len(shown))
	var comments []string
	for _, p := range shown {
		comments = append(comments, p.Source.Layers["frame.comment"]...)
	}
	assert.EqualValues(t, sel.Messages, len(comments))
	for _, c := range comments {
		assert.Regexp(t, `^dubbo-wire kind=(request|response) method=\S+/bid id=-?\d+ serialization=(\S+|"[^"]+") body=\d+ state=\w+( latency=\S+)? frame=\d+( (answer|request)=\d+)?$`, c)
	}
}
