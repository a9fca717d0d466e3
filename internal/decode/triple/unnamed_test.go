package triple

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"google.golang.org/protobuf/encoding/protowire"

	"dubbo-wire/internal/decode/formats"
	"dubbo-wire/internal/rpc"
)

// TestWordsAsNames: names of serializations that are words are those of wrappers without arguments if the service has wrappers with them.
func TestWordsAsNames(t *testing.T) {
	const (
		alone  = "\x0a\x04java"
		result = "\x0a\x04java\x12\x07\xac\xed\x00\x05t\x00\x00\x1a\x10java.lang.String"
	)
	d := NewDecoder(formats.All())
	read := func(kind rpc.Kind, path, body string) string {
		h := request(path)
		m := message(kind, h, body)
		op := operation(d, h)
		if kind == rpc.Response {
			m.Headers = nil
		}
		d.Decode(m, op, rpc.Envelope)
		return m.Serialization
	}
	assert.Equal(t, "protobuf", read(rpc.Request, "/a.Users/list", alone)) // nothing tells yet
	assert.Equal(t, "java", read(rpc.Response, "/a.Users/list", result))
	assert.Equal(t, "java", read(rpc.Request, "/a.Users/list", alone))
	assert.Equal(t, "java", read(rpc.Request, "/a.Users/count", alone))
	assert.Equal(t, "protobuf", read(rpc.Request, "/a.Greeter/greet", alone))
	assert.Equal(t, "gson", read(rpc.Request, "/a.Greeter/greet", "\x0a\x04gson"))
	m := message(rpc.Request, nil, "\x0a\x04gson") // its headers precede the capture
	d.Decode(m, nil, rpc.Envelope)
	assert.Equal(t, "protobuf", m.Serialization)
	m.Protocol = &rpc.Protocol{Name: "triple"}
	d.Decode(m, nil, rpc.Envelope)
	assert.Equal(t, "gson", m.Serialization)
}

// TestUnnamedHeaders: what responses are if the capture lacks the names of headers.
func TestUnnamedHeaders(t *testing.T) {
	d := NewDecoder(formats.All())
	unnamed := func(value string) rpc.Header { return rpc.Header{Value: value, Unknown: true, Entry: 70} }
	status := rpc.Header{Name: ":status", Value: "200"}
	text := rpc.Header{Name: "grpc-message", Value: "no%20such service"}
	failed := rpc.Header{Name: ":status", Value: "500"}
	trailer := func(h rpc.Header) rpc.Header { h.Trailer = true; return h }
	for _, row := range []struct {
		name    string
		headers []rpc.Header
		status  int32
		failed  bool
	}{
		{"text and number", []rpc.Header{status, unnamed(""), unnamed("12"), text}, 12, true},
		{"text", []rpc.Header{status, unnamed(""), unnamed(""), text}, rpc.NoStatus, true},
		{"two numbers", []rpc.Header{status, unnamed("3"), unnamed("12"), text}, rpc.NoStatus, true},
		{"no text", []rpc.Header{status, unnamed(""), unnamed("12")}, rpc.NoStatus, false},
		{"number elsewhere", []rpc.Header{status, unnamed("3"), unnamed(""), text}, rpc.NoStatus, true},
		{"empty text", []rpc.Header{status, unnamed(""), {Name: "grpc-message"}}, rpc.NoStatus, false},
		{"names, but no status", []rpc.Header{status, text}, rpc.NoStatus, false},
		{"status of HTTP", []rpc.Header{failed, unnamed(""), trailer(unnamed("")), trailer(text)}, rpc.NoStatus, true},
		{"status of HTTP, number", []rpc.Header{failed, unnamed(""), trailer(unnamed("2")), trailer(text)}, 2, true},
		{"status of HTTP, no text", []rpc.Header{failed, unnamed("")}, rpc.NoStatus, true},
		{"status of HTTP, trailers without a status", []rpc.Header{failed, unnamed(""), trailer(text)}, 500, true},
		{"not gRPC", []rpc.Header{failed, unnamed(""), {Name: "content-type", Value: "text/html"}, text}, 500, true},
	} {
		m := message(rpc.Response, row.headers, "")
		m.Body = nil
		outcome(d, m)
		assert.Equal(t, row.failed, m.Failed, row.name)
		assert.Equal(t, row.status, m.Status, row.name)
		if row.failed && slices.ContainsFunc(row.headers, func(h rpc.Header) bool { return h.Name == "grpc-message" }) {
			assert.Equal(t, "no such service", m.ErrorMessage, row.name)
		}
	}
	for n, code := range map[string]int32{"204": 204, "404": 404} {
		m := message(rpc.Response, []rpc.Header{{Name: ":status", Value: n}, unnamed("")}, "")
		d.Outcome(m, HeadsOf(m.Headers), true)
		assert.Equal(t, code, m.Status)
		assert.Equal(t, code == 404, m.Failed)
	}
	answer := func(data string) string {
		return "\x0a\x08hessian4\x12" + string(rune(len(data))) + data + "\x1a\x04void"
	}
	inText := func(data string) string {
		data += "\r\n"
		return "\x0a\x04gson\x12" + string(protowire.AppendVarint(nil, uint64(len(data)))) + data + "\x1a\x04void"
	}
	const stack = `"stackTrace":[{"declaringClass":"a.B","methodName":"c","fileName":"B.java","lineNumber":5}]`
	refuse, plain := answer("C\x12a.RefusedException\x92\x0ddetailMessage\x0astackTrace`\x02noN"), answer("C\x06a.User\x92\x0ddetailMessage\x04name`\x02noN")
	for _, row := range []struct {
		headers []rpc.Header
		body    string
		kind    int8
	}{
		{[]rpc.Header{status, unnamed("")}, refuse, 0},
		{[]rpc.Header{status, unnamed("")}, strings.Replace(refuse, "\x12a.RefusedException", "\x12a.RefusalOfAnOrder", 1), 0},
		{[]rpc.Header{status}, refuse, 1},
		{[]rpc.Header{status, unnamed("")}, inText(`{"code":5,"detailMessage":"no",` + stack + `,"suppressedExceptions":[]}`), 0},
		{[]rpc.Header{status, unnamed("")}, inText(`{"cause":null,` + stack + `,"message":"no","suppressed":[]}`), 0},
		{[]rpc.Header{status}, inText(`{"cause":null,` + stack + `}`), 1},
		{[]rpc.Header{status, unnamed("")}, inText(`{"message":"no",` + stack + `}`), 1},
		{[]rpc.Header{status, unnamed("")}, inText(`{"cause":"no","stackTrace":["a.B.c(B.java:5)"]}`), 1},
		{[]rpc.Header{status, unnamed("")}, plain, 1},
	} {
		for _, detail := range []rpc.Detail{rpc.Envelope, rpc.Parts, rpc.Values} {
			m := message(rpc.Response, row.headers, row.body)
			d.Decode(m, nil, detail)
			assert.Contains(t, []string{"hessian2", "gson"}, m.Serialization)
			assert.EqualValues(t, row.kind, m.ResultKind, "%s", row.body)
			if assert.Nil(t, m.Err); row.kind == 0 && detail == rpc.Values {
				assert.Equal(t, strings.HasPrefix(row.body, "\x0a\x08hessian4"), strings.HasPrefix(m.ExceptionClass, "a.Refus"))
				assert.Contains(t, []string{"no", ""}, m.ExceptionMessage)
			}
		}
	}
}

// TestUnnamedContentType: if the capture lacks the content type, a text is not taken for protocol buffers, nor is a body without gRPC's prefix.
func TestUnnamedContentType(t *testing.T) {
	status := rpc.Header{Name: ":status", Value: "200"}
	for body, known := range map[string]string{`{"name":"bob"}`: "", `[1,2]`: "", "<user/>": "", "\x0a\x03bob": "protobuf"} {
		for _, detail := range []rpc.Detail{rpc.Envelope, rpc.Values} {
			d := NewDecoder(formats.All())
			m := message(rpc.Response, []rpc.Header{status, {Unknown: true, Entry: 62}}, body)
			d.Decode(m, nil, detail)
			assert.Equal(t, known, m.Serialization, body)
			m.Protocol = &rpc.Protocol{Name: "http", PlainHTTP: true}
			d.Decode(m, nil, detail)
			assert.Empty(t, m.Serialization, body)
			m = message(rpc.Response, []rpc.Header{status}, body)
			d.Decode(m, nil, detail)
			assert.Equal(t, "protobuf", m.Serialization, "no header is missing")
		}
	}
}

// TestLongCauseOfUnnamedException: fields may be in the order of their names, so that the cause is all that the start of an exception has.
func TestLongCauseOfUnnamedException(t *testing.T) {
	d := NewDecoder(formats.All())
	op := operation(d, request("/a.Users/find"))
	text := "S\x01\x2c" + strings.Repeat("x", 300)
	for cause, kind := range map[string]int8{"a.Worse": 0, "a.OtherError": 0, "a.Reason": 1} {
		fields := map[bool]string{true: "\x0astackTrace\x0ddetailMessage", false: "\x05notes\x0ddetailMessage"}[kind == 0]
		inner := "C" + string(rune(len(cause))) + cause + "\x92" + fields + "\x61\x78" + text
		outer := "C\x05a.Bad\x92\x05cause\x0ddetailMessage\x60" + inner + "\x04late"
		body := protowire.AppendString([]byte("\x0a\x08hessian4\x12"), outer)
		m := message(rpc.Response, []rpc.Header{{Name: ":status", Value: "200"}, {Unknown: true, Entry: 70}}, string(body)+"\x1a\x05a.Bad")
		d.Decode(m, op, rpc.Values)
		assert.Nil(t, m.Err)
		assert.Equal(t, kind, m.ResultKind, cause)
	}
}
