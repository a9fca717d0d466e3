package truth

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// allCalls compares arguments, attachments and results with what the peers logged: requests with the lines of the consumer, answers
// with those of the provider. The log does not know streams, so each call of a method has to be equal to a line of it that no
// other call has taken.
func allCalls(t *testing.T, lines []http2Line, r *http2Run) {
	consumers, providers, answers := byMethod(lines, "consumer"), byMethod(lines, "provider"), byMethod(lines, "consumer")
	m := &tripleValues{messages: messages{T: t, guesses: map[string][2]int{}}}
	failures, compared, skipped := 0, 0, map[string]bool{}
	check := func(c *http2Call, what string, diffs []string) {
		if diffs == nil {
			compared++
			return
		}
		if len(diffs) == 0 && c.State != "ok" {
			return // the first captures lack the consumer's lines of calls that threw at once
		}
		if failures++; failures <= shown {
			t.Errorf("stream %s, %s of %s/%s: no line of the log is equal\n  %s", c.ID, what, c.Service, c.Method, strings.Join(diffs, "\n  "))
		}
	}
	for i := range r.calls {
		c := &r.calls[i]
		if m.serialization = c.Serialization; !full[c.Serialization] && c.Serialization != "protobuf" {
			skipped[c.Service+"/"+c.Method] = true // values without classes; TestTripleBodies compares their bytes
			continue
		}
		check(c, "request", take(c, consumers, m.request))
		// Neither calls that nobody takes nor those that wait in vain have a line of the provider, and exceptions may be replaced on
		// the way: then the consumer's line counts.
		if c.ResponseFrame == 0 || c.Exception != nil && c.Exception.Class != nil && *c.Exception.Class == timedOut {
			continue
		}
		diffs := take(c, providers, m.answer)
		if diffs != nil && take(c, answers, m.answer) == nil {
			diffs = nil
		}
		check(c, "answer", diffs)
	}
	assert.Positive(t, compared)
	for name, all := range consumers {
		for i, l := range all.lines { // a call that failed may not have been sent
			assert.True(t, all.taken[i] || skipped[name] || l.Exception != nil, "no call of %s is %s", name, short(l.Arguments))
		}
	}
}

// someCalls: of a capture that saw only a part, the values of messages that are whole are those of a call that the log has. A call
// whose path is not known may be any.
func someCalls(t *testing.T, lines []http2Line, r *http2Run) {
	m := &tripleValues{messages: messages{T: t, guesses: map[string][2]int{}}}
	compared, failures, unknown := 0, 0, 0
	for i := range r.calls {
		c := &r.calls[i]
		if m.serialization = c.Serialization; !full[c.Serialization] && c.Serialization != "protobuf" {
			continue
		}
		whole := func(src, dst string) bool {
			stream, _ := strconv.Atoi(c.ID)
			rows := r.rows[sending{way{src, dst}, stream}]
			return len(rows) > 0 && !slices.ContainsFunc(rows, func(f http2Row) bool { return !f.Complete })
		}
		if c.Service == "?" {
			unknown++
		}
		check := func(what string, equal func(l *http2Line) bool) {
			compared++
			named := func(l *http2Line) bool {
				return c.Service == "?" || c.Method == l.Method || c.Generic && l.generic() && c.Method == l.Arguments[0]
			}
			if !slices.ContainsFunc(lines, func(l http2Line) bool { return named(&l) && equal(&l) }) {
				if failures++; failures <= shown {
					t.Errorf("stream %s, %s of %s/%s: no line of the log has %s or %s", c.ID, what, c.Service, c.Method, short(c.Arguments), short(c.Result))
				}
			}
		}
		// Nobody logs a generic call of a method that is not found.
		if c.RequestFrame > 0 && whole(c.Client, c.Server) && (!c.Generic || c.Method != "nowhere") {
			check("request", func(l *http2Line) bool {
				// Nothing tells that a message with the word "protobuf" is a wrapper if nothing tells that Dubbo sends it.
				word := c.Protocol == "grpc" && len(l.Arguments) == 0 && short(c.Arguments) == `[{"#1":"protobuf"}]`
				return word || m.part(c.Arguments, l.Arguments, l, c)
			})
		}
		// All that is there of an answer without a status may be headers whose names the capture lacks.
		if c.ResponseFrame > 0 && c.State == "ok" && whole(c.Server, c.Client) && (c.Status != nil || c.ResponseBodyBytes > 0) {
			check("answer", func(l *http2Line) bool {
				if results, several := l.Result.([]any); several && l.Streaming {
					got, several := c.Result.([]any)
					if !several || c.ResponseMessages == 1 {
						got = []any{c.Result}
					}
					return m.part(got, results, l, c)
				}
				compare := m.comparer(c.Result, l.Result)
				compare.arguments = [2]any{nil, any(l.Arguments)}
				return m.value(compare, c.Result, l.Result) == ""
			})
		}
	}
	assert.Positive(t, compared)
	t.Logf("%d messages compared, %d calls without a name", compared, unknown)
}

// part reports whether got is a part of want: of a stream, some messages in a row.
func (m *tripleValues) part(got, want []any, l *http2Line, c *http2Call) bool {
	if c.Generic && l.generic() {
		inner, _ := want[2].([]any)
		got, want = []any{nil, nil, got}, []any{nil, nil, inner}
	}
	for from := 0; from+len(got) <= len(want); from++ {
		if m.list(got, want[from:from+len(got)], l.Streaming) == "" {
			return true
		}
		if !l.Streaming {
			return false
		}
	}
	return false
}

// tripleValues compares values of a serialization.
type tripleValues struct {
	messages
	serialization string
}

// timedOut is what a provider of 3.3 answers in place of a method that takes too long. No line of the log has it.
const timedOut = "org.apache.dubbo.remoting.http12.exception.HttpRequestTimeout"

// statusException is what the consumer makes of a status, whatever the class in its details.
const statusException = "org.apache.dubbo.rpc.StatusRpcException"

// methodLines are the lines about a method; those that a call is equal to are taken.
type methodLines struct {
	lines []*http2Line
	taken []bool
}

func byMethod(lines []http2Line, side string) map[string]*methodLines {
	all := map[string]*methodLines{}
	for i := range lines {
		l := &lines[i]
		if l.Side != side {
			continue
		}
		name := l.Service + "/" + l.Method
		if l.generic() { // shown as what it calls
			name = fmt.Sprintf("%s/%s", l.Service, l.Arguments[0])
		}
		if all[name] == nil {
			all[name] = new(methodLines)
		}
		all[name].lines, all[name].taken = append(all[name].lines, l), append(all[name].taken, false)
	}
	return all
}

func (l *http2Line) generic() bool {
	return strings.HasPrefix(l.Method, "$invoke") && len(l.Arguments) == 3
}

// take returns nil if there is a line without a difference to a call, else the differences of the lines left.
func take(c *http2Call, lines map[string]*methodLines, diff func(*http2Call, *http2Line) string) []string {
	diffs := []string{}
	for _, service := range []string{c.Service, "org.apache.dubbo.rpc.service.GenericService"} { // which the first captures log
		all := lines[service+"/"+c.Method]
		if all == nil || service != c.Service && !c.Generic {
			continue
		}
		for i, l := range all.lines {
			if all.taken[i] || l.generic() != c.Generic {
				continue
			}
			d := diff(c, l)
			if d == "" {
				all.taken[i] = true
				return nil
			}
			diffs = append(diffs, d)
		}
	}
	return diffs
}

// list compares the messages of a direction, or the arguments of its only one. References are those of the whole list.
func (m *tripleValues) list(got, want []any, streaming bool) string {
	if len(got) != len(want) {
		return fmt.Sprintf("%d values instead of %d", len(got), len(want))
	}
	c := m.comparer(got, want)
	for i, g := range got {
		if values, ok := g.([]any); ok && streaming && len(values) == 1 {
			g = values[0] // the arguments of a message
		}
		if diff := m.value(c, g, want[i]); diff != "" {
			return fmt.Sprintf("[%d] %s", i, diff)
		}
	}
	return ""
}

func (m *tripleValues) comparer(got, want any) *comparer {
	return &comparer{ours: got, truth: want, full: full[m.serialization], declared: declared[m.serialization], caucho: m.serialization == "native-hessian"}
}

// value compares a bean or a message.
func (m *tripleValues) value(c *comparer, got, want any) string {
	if w, ok := want.(map[string]any); ok && w["@fields"] != nil {
		return m.message(got, w)
	}
	return c.compare("", got, want)
}

func (m *tripleValues) request(c *http2Call, l *http2Line) string {
	got, want := c.Arguments, l.Arguments
	if l.generic() != c.Generic {
		return "one of them is generic"
	}
	if l.generic() { // references count from the arguments of $invoke
		inner, _ := want[2].([]any)
		got, want = []any{nil, nil, c.Arguments}, []any{nil, nil, inner}
	}
	if diff := m.list(got, want, l.Streaming); diff != "" {
		return diff
	}
	for key, want := range l.Attachments {
		want, written := headerValue(want)
		if !written || key == "remote.application" || c.Protocol == "http" || c.Protocol == "rest" {
			continue
		}
		key = asNetty(key)
		got, ok := c.Attachments[key]
		if !ok { // Dubbo 3.0 does not send the keys as they were; those of gRPC have the end that Dubbo adds
			got = c.Attachments[strings.TrimSuffix(strings.ToLower(key), "-bin")]
		}
		if !reflect.DeepEqual(got, want) {
			return fmt.Sprintf("attachment %s: %s instead of %s", key, short(got), short(want))
		}
	}
	return ""
}

// asNetty returns a text as Netty writes a header of it: with a question mark in place of each character beyond Latin-1.
func asNetty(s string) string {
	return strings.Map(func(r rune) rune {
		if r > 0xff {
			return '?'
		}
		return r
	}, s)
}

// headerValue returns what is on the wire for an attachment. Dates are times of HTTP, and what is
// neither text, number, truth value nor bytes is not sent.
func headerValue(v any) (any, bool) {
	switch v := v.(type) {
	case string:
		return asNetty(v), true
	case json.Number:
		return v.String(), true
	case bool:
		return strconv.FormatBool(v), true
	case map[string]any:
		return v, v["@bytes"] != nil
	}
	return nil, false
}

func (m *tripleValues) answer(c *http2Call, l *http2Line) string {
	if failed := c.State == "error"; c.Status != nil && failed != (l.Exception != nil) {
		return fmt.Sprintf("%s %s instead of %s %s", c.State, short(c.Exception), l.ResultKind, short(l.Exception))
	}
	switch {
	case c.State == "error":
		if c.Exception == nil || c.Exception.Class == nil {
			return ""
		}
		got, want := *c.Exception.Class, *l.Exception.Class
		wrapped := c.Generic && strings.HasSuffix(got, ".GenericException")
		if got != want && !wrapped && want != statusException {
			return fmt.Sprintf("%s instead of %s", got, want)
		}
		return ""
	case !l.Streaming:
		compare := m.comparer(c.Result, l.Result)
		compare.arguments = [2]any{any(c.Arguments), any(l.Arguments)} // a service may answer with what it got
		return m.value(compare, c.Result, l.Result)
	}
	got, several := c.Result.([]any)
	if !several {
		got = []any{c.Result}
	}
	return m.list(got, l.Result.([]any), true)
}
