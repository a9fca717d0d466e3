package triple

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/hex"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/s2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/formats"
	_ "dubbo-wire/internal/dev/testkit"
	"dubbo-wire/internal/rpc"
)

// request returns the headers of a request, then more names and values.
func request(path string, more ...string) []rpc.Header {
	return headers(append([]string{":method", "POST", ":path", path, "content-type", "application/grpc+proto", "te", "trailers"}, more...)...)
}

func headers(pairs ...string) (all []rpc.Header) {
	for i := 0; i < len(pairs); i += 2 {
		all = append(all, rpc.Header{Name: pairs[i], Value: pairs[i+1]})
	}
	return all
}

// operation returns what a request with these headers calls.
func operation(d *Decoder, fields []rpc.Header) *rpc.Operation {
	h := HeadOf(fields)
	return d.Operation(&h)
}

// outcome sets the outcome that the headers of m tell.
func outcome(d *Decoder, m *rpc.Message) { d.Outcome(m, HeadsOf(m.Headers), false) }

// message returns a complete message.
func message(kind rpc.Kind, headers []rpc.Header, body string) *rpc.Message {
	m := &rpc.Message{Headers: headers, Body: []byte(body)}
	m.Kind, m.Ends, m.Complete = kind, true, true
	m.BodyLen, m.Captured, m.MissingAt = len(body), len(body), len(body)
	return m
}

func unhex(t testing.TB, text string) string {
	b, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	require.NoError(t, err)
	return string(b)
}

// bob is a request of Dubbo 3.3.4: a text and an int.
const bob = "\x0a\x08hessian4\x12\x04\x03bob\x12\x01\x95\x1a\x10java.lang.String\x1a\x03int"

// parts returns the parts of the tree as one text.
func parts(m *rpc.Message) string {
	var all []string
	at := 0
	for _, p := range m.Tree.Parts(nil, 0) {
		all = append(all, p.Path+" "+p.Class.String()+" "+strconv.Itoa(p.Bytes))
		if p.Off != at {
			all = append(all, "HOLE")
		}
		at += p.Bytes
	}
	return strings.Join(all, ", ")
}

func TestWrapperRequest(t *testing.T) {
	d := NewDecoder(formats.All())
	h := request("/org.acme.Users/find", "tri-service-version", "1.2", "tri-service-group", "blue")
	m := message(rpc.Request, h, bob)
	d.Decode(m, operation(d, h), rpc.Values)
	require.Nil(t, m.Err)
	assert.Equal(t, "full", m.Decoded)
	assert.Equal(t, "hessian2", m.Serialization)
	assert.Equal(t, "hessian2", m.Format.Name)
	assert.Equal(t, int8(rpc.NoSerialization), m.SerializationID)
	assert.Equal(t, "org.acme.Users/find(java.lang.String, int)", m.Operation.Signature())
	assert.Equal(t, "1.2", m.Operation.Version)
	assert.Equal(t, "blue", m.Group)
	assert.Equal(t, int8(-1), m.ResultKind)
	assert.Equal(t, `["bob",5]`, string(m.AppendArguments(nil)))
	assert.Equal(t, "#wrapper overhead 2, serializeType envelope 8, args.#wrapper overhead 2, args[0] values 4, args.#wrapper overhead 2, args[1] values 1, "+
		"#wrapper overhead 2, argTypes envelope 16, #wrapper overhead 2, argTypes envelope 3", parts(m))
	for i := range m.Tree.Nodes { // redaction keeps what names the call
		n := &m.Tree.Nodes[i]
		assert.Equal(t, n.Name == "serializeType" || n.Name == "argTypes", n.NamesCall(), n.Name)
	}
	own := m.Parts
	m = message(rpc.Request, h, bob)
	d.Decode(m, operation(d, h), rpc.Parts)
	assert.Equal(t, own, m.Parts)
	assert.Nil(t, m.Tree)

	// The same operation is shared.
	again := message(rpc.Request, h, bob)
	d.Decode(again, operation(d, h), rpc.Values)
	assert.Same(t, m.Operation, again.Operation)
	assert.Same(t, operation(d, h), operation(d, h))
	assert.NotSame(t, operation(d, h), operation(d, request("/org.acme.Users/find")))
}

func TestWrapperResponse(t *testing.T) {
	d := NewDecoder(formats.All())
	op := operation(d, request("/org.acme.Users/find"))
	throwable := unhex(t, "43 07") + "a.Error" + unhex(t, "91 0d") + "detailMessage" + unhex(t, "60 03") + "bad"
	bean := unhex(t, "43 07") + "a.Entry" + unhex(t, "91 05") + "error" + unhex(t, "60") + strings.Replace(throwable, "\x60", "\x61", 1)
	unknown := headers(":status", "200", "?", "")
	unknown[1].Unknown = true
	for _, row := range []struct {
		name, body string
		headers    []rpc.Header
		kind       int8
		result     string
	}{
		{"value", "\x0a\x08hessian4\x12\x04\x03bob\x1a\x10java.lang.String", nil, 1, `"bob"`},
		{"null", "\x0a\x08hessian4\x12\x01N\x1a\x04void", nil, 2, "null"},
		{"no data", "\x0a\x08hessian4\x1a\x04void", nil, 2, "null"},
		{"exception", "\x0a\x08hessian4\x12" + string(rune(len(throwable))) + throwable + "\x1a\x04void", headers("tri-exception-code", "3"), 0, ""},
		{"exception without its headers", "\x0a\x08hessian4\x12" + string(rune(len(throwable))) + throwable + "\x1a\x04void", nil, 0, ""},
		{"exception with unknown headers", "\x0a\x08hessian4\x12" + string(rune(len(throwable))) + throwable + "\x1a\x04void", unknown, 0, ""},
		{"throwable as a value", "\x0a\x08hessian4\x12" + string(rune(len(throwable))) + throwable + "\x1a\x04void", headers(":status", "200"), 1, `{"@class":"a.Error","detailMessage":"bad"}`},
		{"bean with an error", "\x0a\x08hessian4\x12" + string(rune(len(bean))) + bean + "\x1a\x04void", unknown, 1, `{"@class":"a.Entry","error":{"@class":"a.Error","detailMessage":"bad"}}`},
		{"message", "\x0a\x03bob", nil, 1, `{"#1":"bob"}`},
		{"empty message", "", nil, 1, `{}`},
	} {
		t.Run(row.name, func(t *testing.T) {
			m := message(rpc.Response, row.headers, row.body)
			for _, detail := range []rpc.Detail{rpc.Envelope, rpc.Parts, rpc.Values} {
				d.Decode(m, op, detail)
				require.Nil(t, m.Err)
				assert.Equal(t, row.kind, m.ResultKind)
			}
			assert.Equal(t, "full", m.Decoded)
			if row.kind != 0 {
				assert.Equal(t, row.result, string(m.AppendResult(nil)))
				return
			}
			assert.True(t, m.Exception)
			assert.Equal(t, "a.Error: bad", m.ExceptionClass+": "+m.ExceptionMessage)
		})
	}
}

// TestNoWrapper: messages of an application that look like a wrapper are none.
func TestNoWrapper(t *testing.T) {
	d := NewDecoder(formats.All())
	h := request("/acme.Users/Find")
	op := operation(d, h)
	for _, row := range []struct {
		body     string
		request  string
		response string
	}{
		{"\x0a\x04gson", "gson", "protobuf"},                                     // no arguments
		{"\x0a\x04gson\x1a\x04void", "protobuf", "gson"},                         // no value
		{"\x0a\x04java", "protobuf", "protobuf"},                                 // a text
		{"\x0a\x08hessian4", "hessian2", "hessian2"},                             // no arguments
		{"\x0a\x09fastjson2\x20\x01", "protobuf", "protobuf"},                    // another field
		{"\x0a\x04java\x12\x05hello", "protobuf", "protobuf"},                    // no types
		{"\x0a\x04java\x12\x05hello\x1a\x01x", "protobuf", "protobuf"},           // no type of Java
		{"\x0a\x04java\x12\x05hello\x1a\x03int", "java", "java"},                 // a type of Java
		{"\x0a\x05world\x12\x05hello\x1a\x10java.lang.String", "world", "world"}, // an unknown serialization
		{"\x0a\x05world\x12\x05hello\x1a\x0borg.acme.Foo", "protobuf", "protobuf"},
		{"\x0a\x05world\x12\x05hello\x1a\x03int", "protobuf", "protobuf"},
		{"\x0a\x04json\x12\x05hello\x1a\x0bexample.com", "protobuf", "protobuf"},
		{"\x0a\x0bhello world\x12\x01x\x1a\x03int", "protobuf", "protobuf"}, // a text that is no name
		{"\x12\x01x\x0a\x08hessian4\x1a\x03int", "protobuf", "protobuf"},    // another order
		{"\x0a\x08hessian4\x12\x01N\x12\x01N\x1a\x03int", "protobuf", "protobuf"},
		{"\x0a\x08hessian4\x12\x01N\x1a\x03int\x12\x01N\x1a\x03int", "protobuf", "protobuf"},
		{"\x0a\x08hessian4\x12\x01N\x1a\x05a.Req\x1a\x2dorg.apache.dubbo.common.stream.StreamObserver", "hessian2", "protobuf"},
	} {
		m := message(rpc.Request, h, row.body)
		d.Decode(m, op, rpc.Values)
		assert.Equal(t, row.request, m.Serialization, "%q", row.body)
		m = message(rpc.Response, nil, row.body)
		d.Decode(m, op, rpc.Values)
		assert.Equal(t, row.response, m.Serialization, "%q", row.body)
	}
}

func TestContent(t *testing.T) {
	d := NewDecoder(formats.All())
	for _, row := range []struct{ contentType, body, serialization, arguments string }{
		{"application/json", `{"name":"bob","age":5}`, "json", `[{"name":"bob","age":5}]`},
		{"application/json; charset=utf-8", "[\n  1,\n  2\n]\n", "json", `[1,2]`}, // the arguments
		{"application/grpc+json", `[1,2]`, "json", `[[1,2]]`},
		{"application/grpc+json", `"bob"`, "json", `["bob"]`},
		{"application/problem+json", `null`, "json", `[null]`},
		{"application/proto", "\x0a\x03bob", "protobuf", `[{"#1":"bob"}]`},
		{"application/x-protobuf", "\x0a\x03bob", "protobuf", `[{"#1":"bob"}]`},
		{"application/xml", "<a><b>1</b><b c='d'/></a>", "xml", `[{"b":"1","b":{"c":"d"}}]`},
		{"application/x-www-form-urlencoded", "a=b+%63", "form", `[{"a":"b c"}]`},
		{"multipart/form-data; boundary=x", "--x", "multipart", `[{"@opaque":3}]`},
		{"multipart/form-data; boundary=x", "--x\r\nContent-Disposition: form-data; name=a\r\nContent-Type: application/json\r\n\r\n{\"b\":1}\r\n--x--", "multipart", `[{"a":{"b":1}}]`},
		{
			"multipart/form-data; boundary=x", "--x\nContent-Disposition: form-data; name=a\nContent-Type: text/xml; charset=latin1\n\n<b c='\xe4'/>\n--x--",
			"multipart", `[{"a":{"c":"ä"}}]`,
		},
		{"application/x-www-form-urlencoded; charset=ISO-8859-1", "a=%E4\xf6", "form", `[{"a":"äö"}]`},
		{"application/x-www-form-urlencoded", "a=%C3%A4", "form", `[{"a":"ä"}]`},
		{"text/xml; charset=windows-1252", "<a>\x80</a>", "xml", `["€"]`},
		{"text/xml; charset=utf-8", "<?xml version='1.0' encoding='latin1'?><a>\xc3\xa4</a>", "xml", `["ä"]`},
		{"text/xml; charset=utf-16", "\x00<\x00a", "xml", `[{"@opaque":4}]`},
		{"text/plain; charset=utf-16", "\xfe\xff\x00a", "text", `["a"]`},
		{"text/plain; charset=gbk", "\xc4\xe3", "text", `[{"@opaque":2}]`},
		{"text/plain; charset=gbk", "abc", "text", `["abc"]`},
		{"application/json; charset=latin1", `{"a":1}`, "json", `[{"a":1}]`},
		{"application/json; charset=latin1", "{\"a\":\"\xe4\"}", "json", `[{"@opaque":9}]`},
		{"application/octet-stream", "abc", "bytes", `[{"@opaque":3}]`},
		{"text/plain", "abc", "text", `["abc"]`},
		{"application/vnd.acme", "abc", "vnd.acme", `[{"@opaque":3}]`},
		{"application/grpc+thrift", "abc", "thrift", `[{"@opaque":3}]`},
		{"application/" + strings.Repeat("x", 100), "abc", "bytes", `[{"@opaque":3}]`},
	} {
		h := headers(":method", "POST", ":path", "/org.acme.Users/find", "content-type", row.contentType)
		m := message(rpc.Request, h, row.body)
		d.Decode(m, operation(d, h), rpc.Values)
		assert.Equal(t, row.serialization, m.Serialization, row.contentType)
		assert.Equal(t, row.arguments, string(m.AppendArguments(nil)), row.contentType)
		assert.True(t, d.Enough(HeadsOf(m.Headers), m, nil, []byte(strings.Repeat(" ", enough))))
	}
}

// A body that is certainly plain is bytes if its content type is empty or is not there.
func TestNoContentType(t *testing.T) {
	d := NewDecoder(formats.All())
	for _, fields := range [][]string{{":status", "200"}, {":status", "200", "content-type", ""}} {
		h := headers(fields...)
		head := HeadOf(h)
		head.SetPlain()
		m := message(rpc.Response, h, "ok")
		d.DecodeBy(Heads{First: &head}, m, nil, rpc.Values)
		assert.Equal(t, "bytes", m.Serialization)
	}
}

// TestAccepted: a successful response without a content type is what its request accepts, if that is one serialization.
func TestAccepted(t *testing.T) {
	for _, row := range []struct{ accept, status, contentType, want string }{
		{"application/json", "200", "none", "json"},
		{"application/json", "200", "", "json"},
		{"application/json;charset=utf-8", "201", "none", "json"},
		{"application/json, application/problem+json;q=0.5", "200", "none", "json"},
		{"text/xml", "200", "none", "xml"},
		{"application/json", "200", "text/plain", "text"},
		{"application/json", "200", "application/octet-stream", "bytes"},
		{"application/json", "500", "none", "bytes"},
		{"application/json, text/xml", "200", "none", "bytes"},
		{"application/json, */*;q=0.1", "200", "none", "bytes"},
		{"application/*", "200", "none", "bytes"},
		{"application/vnd.acme", "200", "none", "bytes"},
		{"", "200", "none", "bytes"},
		{",", "200", "none", "bytes"},
	} {
		d := NewDecoder(formats.All())
		op := operation(d, headers(":method", "GET", ":path", "/users", ":authority", "acme:80", "accept", row.accept))
		fields := []string{":status", row.status}
		if row.contentType != "none" {
			fields = append(fields, "content-type", row.contentType)
		}
		head := HeadOf(headers(fields...))
		head.SetPlain()
		m := message(rpc.Response, headers(fields...), "[1]")
		d.DecodeBy(Heads{First: &head}, m, op, rpc.Values)
		assert.Equal(t, row.want, m.Serialization, "%+v", row)
	}
}

// Of several Accept fields none tells alone what is accepted.
func TestSeveralAccepts(t *testing.T) {
	op := operation(NewDecoder(formats.All()), headers(":method", "GET", ":path", "/users", ":authority", "acme:80", "accept", "text/xml", "accept", "application/json"))
	assert.Equal(t, "*/*", op.Accept)
}

// TestUnknownHeaders: what the capture lacks is not guessed.
func TestUnknownHeaders(t *testing.T) {
	d := NewDecoder(formats.All())
	h := headers(":path", "/a.B/c", "content-type", "", "tri-service-version", "", "tri-service-group", "")
	for i := 1; i < len(h); i++ {
		h[i].Unknown = true
	}
	op := operation(d, h)
	assert.Equal(t, "?", op.Version)
	for body, want := range map[string]string{`{"a":1}`: "", "[1]": "", "<a/>": "", "\x0a\x03bob": "protobuf", bob: "hessian2", "": "protobuf"} {
		m := message(rpc.Request, h, body)
		d.Decode(m, op, rpc.Values)
		assert.Equal(t, want, m.Serialization, "%q", body)
		assert.Equal(t, "?", m.Group)
		assert.Equal(t, len(body), sum(m))
	}
}

// TestMissingStart: a message of which the capture lacks the bytes that tell its serialization has none.
func TestMissingStart(t *testing.T) {
	d := NewDecoder(formats.All())
	h := request("/acme.Users/Find")
	for _, row := range []struct{ body, want string }{
		{"", ""}, {"\x0a", ""}, {"\x0a\x08hessian4", ""}, {"\x0a\x08hessian4\x12", "hessian2"}, {"\x12\x03bob", "protobuf"},
	} {
		for _, detail := range []rpc.Detail{rpc.Envelope, rpc.Parts, rpc.Values} {
			m := message(rpc.Request, h, row.body)
			m.Complete, m.Short, m.BodyLen = false, decode.Lost, 100
			d.Decode(m, operation(d, h), detail)
			assert.Equal(t, row.want, m.Serialization, "%q", row.body)
			if detail == rpc.Values {
				assert.Equal(t, decode.Lost, m.Err.Cause)
				assert.Equal(t, m.BodyLen, sum(m))
			}
		}
	}
}

// TestLaterMessages: messages of a stream after the first one have no headers.
func TestLaterMessages(t *testing.T) {
	d := NewDecoder(formats.All())
	for contentType, want := range map[string]string{"application/grpc+json": "json", "application/grpc": "protobuf", "application/grpc+thrift; x=y": "thrift"} {
		op := operation(d, headers(":path", "/a.B/c", "content-type", contentType))
		for _, kind := range []rpc.Kind{rpc.Request, rpc.Response} {
			m := message(kind, nil, "5")
			d.Decode(m, op, rpc.Values)
			assert.Equal(t, want, m.Serialization, contentType)
		}
	}
}

// TestEvents: the data of server-sent events are a list.
func TestEvents(t *testing.T) {
	d := NewDecoder(formats.All())
	h := headers(":status", "200", "content-type", "text/event-stream")
	for body, want := range map[string]string{
		"":                             "[]",
		"data:{\"a\":1}\n\ndata:2\n\n": `[{"a":1},2]`,
		"event: x\r\ndata: [1,2] \r\n\r\n: note\n": `[[1,2]]`,
		"data:[DONE]\n\n":                          `["[DONE]"]`,
		"data:a.Node@32dde707\n\n":                 `["a.Node@32dde707"]`, // Dubbo 3.3.6 if the client accepts nothing but events
		"data:\n\n":                                `[""]`,
		"data:1\n\ndata:2":                         `[1]`,
	} {
		m := message(rpc.Response, h, body)
		d.Decode(m, nil, rpc.Values)
		assert.Equal(t, "json", m.Serialization)
		assert.Equal(t, want, string(m.AppendResult(nil)), "%q", body)
		assert.Equal(t, len(body), sum(m))
		assert.Nil(t, m.Err)
	}
	m := message(rpc.Response, h, "data:1\n\ndata:2")
	m.Complete, m.Short, m.BodyLen = false, decode.Lost, m.BodyLen+5
	d.Decode(m, nil, rpc.Values)
	assert.Equal(t, decode.Lost, m.Err.Cause)
	assert.Equal(t, m.BodyLen, sum(m))
}

func TestOperations(t *testing.T) {
	d := NewDecoder(formats.All())
	for _, row := range []struct{ method, path, contentType, service, name string }{
		{"POST", "/org.acme.Users/find", "application/grpc", "org.acme.Users", "find"},
		{"POST", "/org.acme.Users/$invoke", "application/grpc+proto", "org.acme.Users", "$invoke"},
		{"POST", "/find", "application/grpc", "", "find"},
		{"POST", "/a/b/find", "application/grpc", "a/b", "find"},
		{"POST", "/org.acme.Users/find", "application/json", "org.acme.Users", "find"},
		{"GET", "/users/5?x=y", "application/json", "host:80", "GET /users/{id}"},
		{"GET", "/api/v1/users/5/orders/3f2a-77-c0/", "application/json", "host:80", "GET /api/v1/users/{id}/orders/{id}/"},
		{"PUT", "/users/a@b.c/oauth2", "text/plain", "host:80", "PUT /users/{id}/oauth2"},
		{"GET", "/", "text/html", "host:80", "GET /"},
	} {
		op := operation(d, headers(":method", row.method, ":authority", "host:80", ":path", row.path, "content-type", row.contentType))
		assert.Equal(t, row.service+" "+row.name, op.Service+" "+op.Method)
		assert.Equal(t, strings.HasPrefix(row.name, "$invoke"), op.Generic)
	}
	op := operation(d, headers(":method", "GET", ":authority", "host:80", ":path", "/org.acme.Users/find?id=5"))
	assert.Equal(t, "org.acme.Users find", op.Service+" "+op.Method)
	assert.Nil(t, operation(d, headers(":method", "POST")))
	for _, h := range []rpc.Header{{Name: ":path", Unknown: true}, {Unknown: true}} {
		op := operation(d, append(headers(":method", "POST"), h))
		assert.Equal(t, "? ? ?", op.Service+" "+op.Method+" "+op.Version)
	}
}

func TestLongPath(t *testing.T) {
	d := NewDecoder(formats.All())
	op := operation(d, request("/a.B/"+strings.Repeat("é", maxTargetLen)))
	assert.Equal(t, "a.B", op.Service)
	assert.Equal(t, strings.Repeat("é", (maxTargetLen-5)/2)+"…", op.Method)
	assert.Same(t, op, operation(d, request("/a.B/"+strings.Repeat("é", maxTargetLen)+"/c")), "what follows is not read")
}

func TestUse(t *testing.T) {
	for _, row := range []struct {
		headers []rpc.Header
		use     Use
		sure    bool
	}{
		{headers("content-type", "application/json", "tri-service-version", "1"), Plain, true},
		{headers("tri-service-version", "1", "content-type", "application/json"), Plain, true},
		{headers(":method", "GET", "tri-service-version", "1"), Plain, true},
		{headers("rest-service-version", "1", "content-type", "application/grpc"), GRPC, false},
		{request("/a/b"), Triple, true},
		{headers("content-type", "application/grpc", "tri-consumer-appname", "x"), Triple, true},
		{headers("content-type", "application/grpc", "user-agent", "grpc-java-netty/1.60"), GRPC, true},
		{headers("user-agent", "grpc-node", "content-type", "application/grpc+proto"), GRPC, true},
		{headers("content-type", "application/grpc"), GRPC, false},
		{headers("content-type", "application/json"), Plain, true},
		{headers("content-type", "application/grpc-web"), Plain, true},
		{headers(":method", "GET", ":path", "/a.B/c"), Plain, true},
		{[]rpc.Header{{Name: "tri-service-version", Unknown: true}}, Triple, true},
		{[]rpc.Header{{Name: "content-type", Unknown: true}}, GRPC, false},
		{nil, GRPC, false},
	} {
		h := HeadOf(row.headers)
		assert.True(t, (h.Use == row.use || !h.Sure) && h.Sure == row.sure, "%v: %d %t", row.headers, h.Use, h.Sure)
	}
}

func TestOutcome(t *testing.T) {
	d := NewDecoder(formats.All())
	info := "\x0a\x1corg.acme.OrderException: no!\x0a\x09\tat a.b.C"
	anyInfo := "\x0a\x28type.googleapis.com/google.rpc.DebugInfo\x12" + string(rune(len(info))) + info
	status := "\x08\x02\x12\x03no!\x1a" + string(rune(len(anyInfo))) + anyInfo
	for _, row := range []struct {
		headers []rpc.Header
		status  int32
		failed  bool
		message string
		class   string
	}{
		{headers("grpc-status", "0"), 0, false, "", ""},
		{headers("grpc-status", "2", "grpc-message", "a %e5%ba%93%"), 2, true, "a 库%", ""},
		{headers("grpc-status", "2", "grpc-status-details-bin", base64.RawStdEncoding.EncodeToString([]byte(status))), 2, true, "no!", "org.acme.OrderException"},
		{headers("grpc-status", "2", "grpc-status-details-bin", "!!!"), 2, true, "", ""},
		{headers(":status", "200", "content-type", "application/grpc"), rpc.NoStatus, false, "", ""},
		{headers(":status", "502", "content-type", "text/html"), 502, true, "", ""},
		{headers(":status", "404", "content-type", "application/grpc", "grpc-status", "12", "grpc-message", "Invoker for gRPC not found"), 12, true, "Invoker for gRPC not found", ""},
		{headers(":status", "201", "content-type", "application/json"), 201, false, "", ""},
		{headers("grpc-status", "x"), rpc.NoStatus, false, "", ""},
		{headers(":status", "200", "?", "", "grpc-status-details-bin", "CAQSB3Vua25vd24"), 4, true, "unknown", ""},
		{headers("?", "", "grpc-status-details-bin", "EgdVbmtub3du"), rpc.NoStatus, false, "", ""},
		{[]rpc.Header{{Name: "grpc-status", Unknown: true}}, rpc.NoStatus, false, "", ""},
	} {
		m := message(rpc.Response, row.headers, "")
		outcome(d, m)
		assert.Equal(t, row.status, m.Status, "%v", row.headers)
		assert.Equal(t, row.failed, m.Failed, "%v", row.headers)
		assert.Equal(t, row.message, m.ErrorMessage)
		assert.Equal(t, row.class, m.ExceptionClass)
	}
	m := message(rpc.Response, headers("grpc-status", "2", "grpc-message", "no!%0Areally", "grpc-status-details-bin", base64.RawStdEncoding.EncodeToString([]byte(status))), "")
	outcome(d, m)
	assert.Equal(t, "no!\nreally", m.ExceptionMessage)
	assert.Equal(t, "UNKNOWN", StatusText(2))
	assert.Empty(t, StatusText(-1)+StatusText(17))
}

// TestJSONErrors: the text of an error in the body, as Dubbo 3.3 writes it.
func TestJSONErrors(t *testing.T) {
	d := NewDecoder(formats.All())
	for _, row := range []struct {
		status, body, text string
		has                bool
	}{
		{"500", `{"message":"order \"1\" refused","status":"500"}`, `order "1" refused`, true},
		{"404", `{"status":"404", "message":"Invoker not found"}`, "Invoker not found", true},
		{"500", `{"status":500,"message":"x"}`, "", false},
		{"500", `{"message":"` + strings.Repeat("x", envelopeLen), "", false},
		{"500", `"message"`, "", false},
		{"500", ``, "", false},
		{"200", `{"message":"x"}`, "", false},
	} {
		for _, detail := range []rpc.Detail{rpc.Envelope, rpc.Parts, rpc.Values} {
			m := message(rpc.Response, headers(":status", row.status, "content-type", "application/json"), row.body)
			outcome(d, m)
			d.Decode(m, nil, detail)
			assert.Equal(t, row.text, m.ErrorMessage, row.body)
			assert.Equal(t, row.has, m.HasErrorText, row.body)
		}
	}
}

func TestHeaderText(t *testing.T) {
	for _, row := range []struct{ name, value, want string }{
		{"grpc-status", "12", "UNIMPLEMENTED"},
		{"grpc-status", "99", ""},
		{"grpc-message", "a%20b", "a b"},
		{"grpc-message", "plain", ""},
		{"grpc-timeout", "20000000u", "20000 ms"},
		{"grpc-timeout", "5n", ""},
		{"tri-header-convert", "%7B%22userid%22%3A%22UserId%22%7D", `{"userid":"UserId"}`},
		{
			"grpc-status-details-bin", "CAkSDHdpdGggZGV0YWlscxo/Ci90eXBlLmdvb2dsZWFwaXMuY29tL2dvb2dsZS5wcm90b2J1Zi5TdHJpbmdWYWx1ZRIMCgp0aGUgZGV0YWls",
			`google.rpc.Status "with details", google.protobuf.StringValue "the detail"`,
		},
		{"grpc-status-details-bin", "x", ""},
		{"grpc-status-details-bin", "/w", ""},
		{"other", "%20", ""},
	} {
		assert.Equal(t, row.want, HeaderText(&rpc.Header{Name: row.name, Value: row.value}), row.name+" "+row.value)
	}
	assert.Empty(t, HeaderText(&rpc.Header{Name: "grpc-status", Value: "0", Unknown: true}))
}

func TestAttachments(t *testing.T) {
	h := request("/a.B/c", "grpc-timeout", "5000m", "tri-consumer-appname", "shop", "trace-id", "5", "userid", "7", "photo-bin", "AAE",
		"tri-header-convert", "%7B%22userid%22:%22userId%22%2C%22other%22:%22Other%22%7D", "timeout", "3000", "empty", "", "date", "Tue, 19 Nov 2019 08:00:00 GMT", "set-tw-bin", "AAE", "-bin", "")
	m := message(rpc.Request, h, "")
	markAttachments(m, false)
	keys := map[string]string{}
	for _, one := range h {
		if one.Key != "" {
			keys[one.Name] = one.Key
		}
	}
	assert.Equal(t, map[string]string{"trace-id": "trace-id", "userid": "userId", "photo-bin": "photo", "timeout": "timeout", "empty": "empty", "date": "date", "set-tw-bin": "set", "-bin": "-bin"}, keys)
	for text, want := range map[string]int64{
		"5000m": 5000, "20000000u": 20000, "1n": 1, "3S": 3000, "2M": 120000, "1H": 3600000, "": 0, "x": 0, "99999999999999999H": 0, "-1S": 0,
	} {
		millis, ok := parseTimeout("grpc-timeout", text)
		assert.Equal(t, want, millis, text)
		assert.Equal(t, want > 0, ok, text)
	}
	m.Protocol = &rpc.Protocol{Attachments: Attachments}
	millis, _ := m.Timeout()
	assert.Equal(t, int64(5000), millis)
	m.Headers = headers("timeout", "3000")
	millis, key := m.Timeout()
	assert.Equal(t, "3000 ", strconv.Itoa(int(millis))+" "+key)
	markAttachments(m, false)
	_, key = m.Timeout()
	assert.Equal(t, "timeout", key)
	m = message(rpc.Response, headers("date", "now", "server", "x", "answer", "y"), "")
	markAttachments(m, false)
	assert.Equal(t, "y", m.Headers[2].Value)
	assert.Equal(t, []string{"", "", "answer"}, []string{m.Headers[0].Key, m.Headers[1].Key, m.Headers[2].Key})
	for _, bad := range []string{"", "{", `{"a"`, `{"a":`, `{"a":5}`, `["a":"b"]`, `{"a":"b",`, "%", "%zz", `{"a\`} {
		convertedKeys(nil, bad) // does not panic
	}
}

func TestCompressed(t *testing.T) {
	d := NewDecoder(formats.All())
	h := request("/org.acme.Users/find", "grpc-encoding", "gzip")
	op := operation(d, h)
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	w.Write([]byte(bob))
	w.Close()
	m := message(rpc.Request, h, packed.String())
	m.Encoding = "gzip"
	for _, detail := range []rpc.Detail{rpc.Envelope, rpc.Parts, rpc.Values} {
		d.Decode(m, op, detail)
		require.Nil(t, m.Err)
		assert.Equal(t, len(bob), m.UncompressedLen)
		assert.Equal(t, bob, string(m.Plain))
		assert.Equal(t, "hessian2", m.Serialization)
	}
	assert.Equal(t, `["bob",5]`, string(m.AppendArguments(nil)))
	assert.Equal(t, decode.PartBytes{decode.ClassCompressed: int32(packed.Len())}, m.Parts)
	assert.False(t, d.Enough(HeadsOf(m.Headers), m, nil, m.Body))

	m = message(rpc.Request, h, "")
	m.Encoding = UnknownEncoding
	d.Decode(m, op, rpc.Values)
	assert.Nil(t, m.Err)
	assert.Zero(t, m.UncompressedLen)
	assert.Equal(t, "full", m.Decoded)

	for _, row := range []struct {
		encoding, body string
		cause          decode.Cause
	}{
		{NoEncoding, packed.String(), decode.Malformed},
		{UnknownEncoding, "rubbish", decode.Unsupported},
		{UnknownEncoding, string(s2.EncodeSnappy(nil, []byte("nothing of Dubbo's"))), decode.Unsupported},
		{"compress", packed.String(), decode.Unsupported},
		{"gzip", "rubbish", decode.Malformed},
	} {
		m := message(rpc.Request, h, row.body)
		m.Encoding = row.encoding
		d.Decode(m, op, rpc.Values)
		require.NotNil(t, m.Err, row.encoding)
		assert.Equal(t, row.cause, m.Err.Cause)
		assert.Equal(t, -1, m.UncompressedLen)
		assert.Nil(t, m.Plain)
		assert.Equal(t, "opaque opaque "+strconv.Itoa(len(row.body)), parts(m))
		assert.Equal(t, "envelope", m.Decoded)
	}
	for encoding, body := range map[string]string{"gzip": packed.String(), "snappy": string(s2.EncodeSnappy(nil, []byte(bob)))} {
		m := message(rpc.Request, h, body)
		m.Encoding = UnknownEncoding
		d.Decode(m, op, rpc.Values)
		assert.Nil(t, m.Err)
		assert.Equal(t, encoding, m.Encoding)
		assert.Equal(t, `["bob",5]`, string(m.AppendArguments(nil)))
	}
	m = message(rpc.Response, headers("content-type", "application/json"), "packed")
	m.Encoding = "br"
	for _, detail := range []rpc.Detail{rpc.Envelope, rpc.Values} {
		d.Decode(m, op, detail)
		assert.Equal(t, "json", m.Serialization)
	}
	m = message(rpc.Request, h, packed.String())
	m.Encoding, m.Complete, m.Short = "gzip", false, decode.Lost
	m.Body, m.Captured, m.MissingAt = m.Body[:10], 10, 10
	d.Decode(m, op, rpc.Values)
	assert.Equal(t, decode.Lost, m.Err.Cause)
	assert.Equal(t, "opaque opaque 10, missing missing "+strconv.Itoa(packed.Len()-10), parts(m))
	m = message(rpc.Request, h, "")
	m.Encoding = "snappy" // Dubbo compresses nothing to nothing
	d.Decode(m, op, rpc.Values)
	assert.Nil(t, m.Err)
	assert.Equal(t, `[{}]`, string(m.AppendArguments(nil)))
	m = message(rpc.Request, h, bob)
	m.Encoding = "identity"
	d.Decode(m, op, rpc.Values)
	assert.Equal(t, `["bob",5]`, string(m.AppendArguments(nil)))
	assert.Empty(t, m.Encoding)
}

// TestCut: a message that was cut anywhere keeps what was read, and every byte has one owner.
func TestCut(t *testing.T) {
	d := NewDecoder(formats.All())
	h := request("/org.acme.Users/find")
	for n := range len(bob) {
		m := message(rpc.Request, h, bob)
		m.Complete, m.Short, m.Body, m.Captured, m.MissingAt = false, decode.Cut, m.Body[:n], n, n
		d.Decode(m, operation(d, h), rpc.Values)
		require.NotNil(t, m.Err, n)
		assert.Equal(t, decode.Cut, m.Err.Cause, n)
		assert.Equal(t, len(bob), sum(m), n)
		switch {
		case n >= 19:
			assert.Contains(t, string(m.AppendArguments(nil)), `"bob",5`, n)
			assert.Equal(t, "hessian2", m.Serialization)
		case n > 10:
			assert.Equal(t, "hessian2", m.Serialization, n)
		}
	}
}

func sum(m *rpc.Message) (n int) {
	for _, p := range m.Tree.Parts(nil, 0) {
		n += p.Bytes
	}
	return n
}

// TestGeneric: the arguments of $invoke name the method.
func TestGeneric(t *testing.T) {
	d := NewDecoder(formats.All())
	h := request("/org.acme.Users/$invoke", "generic", "true")
	body := "\x0a\x08hessian4\x12\x05\x04find\x12\x17\x71\x11[java.lang.String\x03int\x12\x02\x79\x95" +
		"\x1a\x10java.lang.String\x1a\x13[Ljava.lang.String;\x1a\x13[Ljava.lang.Object;"
	m := message(rpc.Request, h, body)
	d.Decode(m, operation(d, h), rpc.Envelope)
	assert.Equal(t, "find", m.GenericMethod)
	d.Decode(m, operation(d, h), rpc.Values)
	require.Nil(t, m.Err, "%v", m.Err)
	assert.Equal(t, "find", m.GenericMethod)
	assert.Equal(t, []string{"int"}, m.GenericTypes)
	assert.Equal(t, `[5]`, string(m.AppendGenericArguments(nil)))
	assert.Equal(t, []string{"java.lang.String", "java.lang.String[]", "java.lang.Object[]"}, m.Operation.Types)
}

// TestNoAllocation: the envelope of a message costs no memory.
func TestNoAllocation(t *testing.T) {
	d := NewDecoder(formats.All())
	h := request("/org.acme.Users/find", "tri-service-version", "1.2", "trace-id", "5")
	req, answer := message(rpc.Request, h, bob), message(rpc.Response, headers("grpc-status", "0"), "\x0a\x08hessian4\x12\x04\x03bob\x1a\x10java.lang.String")
	idl := message(rpc.Request, h, "\x0a\x03bob\x10\x05")
	asked, answered := HeadsOf(h), HeadsOf(answer.Headers)
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		op := d.Operation(asked.First)
		req.Operation = nil
		d.DecodeBy(asked, req, op, rpc.Envelope)
		d.Outcome(answer, answered, false)
		d.DecodeBy(answered, answer, op, rpc.Envelope)
		idl.Operation = nil
		d.DecodeBy(asked, idl, op, rpc.Envelope)
	}))
}

// What a request calls does not depend on the requests before it: only a POST has the method in its body.
func TestMethodInBodyOfPOST(t *testing.T) {
	call := func(d *Decoder, verb string) string {
		h := HeadOf(headers(":method", verb, ":path", "/org.acme.Users/find", ":authority", "a:80", "content-type", "application/json-rpc"))
		op := d.Operation(&h)
		return op.Service + " " + op.Method
	}
	for _, order := range [][]string{{"POST", "PUT"}, {"PUT", "POST"}} {
		d := NewDecoder(nil)
		got := map[string]string{}
		for range 2 {
			for _, verb := range order {
				got[verb] = call(d, verb)
			}
		}
		assert.Equal(t, map[string]string{"POST": "org.acme.Users/find ?", "PUT": "org.acme.Users find"}, got)
	}
	h := HeadOf([]rpc.Header{{Name: ":method", Value: "POST"}, {Name: ":path", Unknown: true}, {Name: "content-type", Value: "application/json-rpc"}})
	op := NewDecoder(nil).Operation(&h)
	assert.Equal(t, "? ?", op.Service+" "+op.Method)
}
