package truth

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/decode/formats"
	"dubbo-wire/internal/decode/protocols"
	"dubbo-wire/internal/dev/testkit"
	"dubbo-wire/internal/dev/truth/javalog"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/report"
	"dubbo-wire/internal/rpc"
)

// proxyLine is a call that an end of Hessian over HTTP or of JSON-RPC logged.
type proxyLine struct {
	Side, Kind, Service, Method string
	ParameterTypes              []string
	Arguments                   []any
	ResultKind                  string
	Result                      any
	Exception                   *exceptionText
	Failure                     string // of a request of HTTP

	requested, answered bool // by a call of ours
}

type exceptionText struct{ Class, Message *string }

// generic reports whether the line is one of the consumer about a generic call.
func (l *proxyLine) generic() bool { return l.Method == "$invoke" || l.Method == "$invokeAsync" }

// proxyCall is a call as calls --format jsonl prints it.
type proxyCall struct {
	Protocol, Serialization, ResponseSerialization string
	Service, Method, State                         string
	Generic                                        bool
	ParameterTypes                                 []string
	Arguments                                      []any
	Attachments                                    map[string]any
	Result                                         any
	Exception                                      *exceptionText
	RequestFrame, ResponseFrame                    int64
	Status                                         *int

	broken bool // the capture lacks the end of the response, which the server broke off
}

// proxyCalls collects calls.
type proxyCalls struct {
	t      *testing.T
	all    []proxyCall
	broken map[int64]bool
}

func (p *proxyCalls) Frame(r *pipeline.Row) {
	m := r.Msg
	if m.Protocol.Name != "hessian" && !(m.Protocol.Name == "http" && m.Serialization == "json") {
		return
	}
	if !m.Complete {
		p.broken[r.Number] = true
		return
	}
	assert.Equal(p.t, "full", m.Decoded, "frame %d %v", r.Number, m.Err) // nothing is opaque
}

func (p *proxyCalls) Call(c *call.Call, _ bool) {
	d := json.NewDecoder(bytes.NewReader((&report.Calls{Inputs: []string{"-"}}).AppendJSON(nil, c)))
	d.UseNumber()
	var one proxyCall
	require.NoError(p.t, d.Decode(&one))
	p.all = append(p.all, one)
}

func (p *proxyCalls) run(c *testkit.Capture) {
	p.broken = map[int64]bool{}
	src, err := capture.Open([]string{c.Path()}, capture.Options{})
	require.NoError(p.t, err)
	defer src.Close()
	_, err = pipeline.Run(src, pipeline.Options{
		Protocols: protocols.All(), Formats: formats.All(), Detail: rpc.Values, WholeBodies: true, RenderValues: true, Rows: true, Jobs: 1,
	}, p)
	require.NoError(p.t, err)
	slices.SortFunc(p.all, func(a, b proxyCall) int { return int(a.RequestFrame - b.RequestFrame) }) // as the consumer's lines are
	for i := range p.all {
		p.all[i].broken = p.broken[p.all[i].ResponseFrame]
	}
}

// named reports whether a line is about the method of a call.
func (c *proxyCall) named(l *proxyLine) bool {
	if l.generic() {
		return c.Generic && len(l.Arguments) == 3 && l.Arguments[0] == c.Method
	}
	return l.Method == c.Method && (l.Service == c.Service || c.Generic || strings.HasPrefix(c.Service, "no/"))
}

// arguments returns how the arguments of a call differ from those of a line.
func (c *proxyCall) arguments(l *proxyLine) string {
	got, want := c.Arguments, l.Arguments
	if c.Generic {
		if !l.generic() {
			return "not generic"
		}
		inner, _ := want[2].([]any)
		got, want = []any{nil, nil, got}, []any{nil, nil, inner} // references count from the arguments of $invoke
	}
	k := comparer{ours: got, truth: want, full: true, caucho: true}
	return k.compare("", got, want)
}

// answer returns how the answer to a call differs from that of a line.
func (c *proxyCall) answer(l *proxyLine) string {
	if l.ResultKind == "exception" {
		switch {
		case c.Exception == nil:
			return fmt.Sprintf("%s instead of an exception", short(c.Result))
		case !assert.ObjectsAreEqual(l.Exception, c.Exception):
			return fmt.Sprintf("exception %s instead of %s", short(c.Exception), short(l.Exception))
		}
		return ""
	}
	if c.Exception != nil {
		return fmt.Sprintf("exception %s instead of %s", short(c.Exception), short(l.Result))
	}
	k := comparer{ours: c.Result, truth: l.Result, full: true, caucho: true, arguments: [2]any{nil, any(l.Arguments)}}
	return k.compare("", c.Result, l.Result)
}

// TestHessianOverHTTP: each call of Hessian over HTTP has the method, the arguments and the answer that its ends logged, and no line is left.
func TestHessianOverHTTP(t *testing.T) {
	for _, name := range []string{"hessian-http-2.7.23", "hessian-http-v2-2.7.23"} {
		t.Run(name, func(t *testing.T) {
			c := testkit.Get(t, name)
			lines, failures := readProxyLines(t, c)
			p := &proxyCalls{t: t}
			p.run(c)
			requests, answers, broken, refused, typed := 0, 0, 0, 0, 0
			for i := range p.all {
				c := &p.all[i]
				if c.RequestFrame == 0 {
					continue
				}
				require.Equal(t, "hessian", c.Protocol)
				what := fmt.Sprintf("frame %d %s/%s", c.RequestFrame, c.Service, c.Method)
				line, diffs := findLine(lines, func(l *proxyLine) string {
					if l.requested || !c.named(l) {
						return otherCall
					}
					return c.arguments(l)
				})
				if line == nil {
					t.Errorf("%s: no line has these arguments: %s", what, strings.Join(diffs, "\n"))
					continue
				}
				line.requested = true
				requests++
				if c.ParameterTypes != nil && !c.Generic {
					typed++
					assert.Len(t, c.ParameterTypes, len(line.ParameterTypes), what)
				}
				switch {
				case c.broken:
					broken++
					if c.Method == "slow" { // the client has closed the connection
						broken--
						assert.Equal(t, "exception", line.ResultKind, what)
					}
					continue
				case c.Status != nil && *c.Status >= 400:
					refused++
					if *c.Status < 500 { // by the server, which does not ask Dubbo
						refused--
					}
					continue
				}
				if _, diffs = findLine(lines, func(l *proxyLine) string {
					if l.answered || !c.named(l) || !c.Generic && c.arguments(l) != "" {
						return otherCall
					}
					diff := c.answer(l) // of the consumer it may be an exception of its own
					l.answered = diff == ""
					return diff
				}); diffs != nil {
					t.Errorf("%s: no line has this answer: %s", what, strings.Join(diffs, "\n"))
					continue
				}
				answers++
			}
			for _, l := range lines { // what failed may not have been sent
				if !l.requested && l.Side == "consumer" && l.ResultKind != "exception" {
					t.Errorf("no call is %s/%s %s", l.Service, l.Method, short(l.Arguments))
				}
			}
			assert.Equal(t, failures, broken+refused)
			assert.Greater(t, requests, 390)
			assert.Greater(t, answers, 370)
			assert.Equal(t, 5, typed, "calls of overloads with the types in the name")
		})
	}
}

// TestJSONRPC: each call of JSON-RPC has the method, the parameters and the result that its ends logged, as far as JSON tells.
func TestJSONRPC(t *testing.T) {
	c := testkit.Get(t, "json-rpc-2.7.23")
	lines, _ := readProxyLines(t, c)
	p := &proxyCalls{t: t}
	p.run(c)
	errors := 0
	for i := range p.all {
		c := &p.all[i]
		require.Equal(t, "http", c.Protocol)
		require.Equal(t, "json", c.Serialization)
		require.Empty(t, c.ResponseSerialization)
		what := fmt.Sprintf("frame %d %s/%s", c.RequestFrame, c.Service, c.Method)
		line, diffs := findLine(lines, func(l *proxyLine) string {
			if l.requested || l.Side != "consumer" || !c.named(l) {
				return otherCall
			}
			k := plainJSON{root: any(l.Arguments), rules: plainNames["jackson"], roots: []any{any(c.Arguments)}}
			return k.compare("", any(c.Arguments), any(l.Arguments))
		})
		if line == nil {
			t.Errorf("%s: no line has these arguments: %s", what, strings.Join(diffs, "\n"))
			continue
		}
		line.requested = true
		if c.Exception != nil {
			errors++
			assert.Equal(t, "error", c.State, what)
			require.Equal(t, "exception", line.ResultKind, what)
			if *line.Exception.Class != "org.apache.dubbo.rpc.RpcException" { // which the consumer throws for those that it does not have
				assert.Equal(t, line.Exception, c.Exception, what)
			}
			continue
		}
		// The consumer cannot read some results, and throws: what the provider logged is on the wire.
		if _, diffs = findLine(lines, func(l *proxyLine) string {
			if l.answered || !c.named(l) || l.ResultKind == "exception" {
				return otherCall
			}
			k := plainJSON{root: l.Result, rules: plainNames["jackson"], roots: []any{c.Result}}
			diff := k.compare("", c.Result, l.Result)
			l.answered = diff == ""
			return diff
		}); diffs != nil {
			t.Errorf("%s: no line has this result: %s", what, strings.Join(diffs, "\n"))
		}
	}
	for _, l := range lines {
		assert.True(t, l.requested || l.Side != "consumer", "no call is %s/%s %s", l.Service, l.Method, short(l.Arguments))
	}
	assert.Equal(t, 30, errors)
	assert.Len(t, p.all, 147)
}

// readProxyLines returns the calls that the ends of a capture logged, and the number of those that failed at the provider.
func readProxyLines(t *testing.T, c *testkit.Capture) (lines []*proxyLine, failures int) {
	require.NoError(t, javalog.Read(strings.NewReader(c.TruthLog(t)), func(l *proxyLine) {
		switch {
		case l.Kind == "call":
			lines = append(lines, l)
		case l.Failure != "":
			failures++
		}
	}))
	return lines, failures
}

// otherCall is what a line differs in that is about another call.
const otherCall = "another call"

// findLine returns the first line for which differs returns "", or what it returned for the others.
func findLine(lines []*proxyLine, differs func(l *proxyLine) string) (found *proxyLine, diffs []string) {
	for _, l := range lines {
		diff := differs(l)
		if diff == "" {
			return l, nil
		}
		if !slices.Contains(diffs, diff) && diff != otherCall {
			diffs = append(diffs, diff)
		}
	}
	return nil, append(diffs, "no line is left")
}
