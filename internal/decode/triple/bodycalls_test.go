package triple

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode/formats"
	"dubbo-wire/internal/rpc"
)

// Messages of Hessian: a call of each version, generic and overloaded ones, replies and a fault.
const (
	call1     = "c\x02\x00m\x00\x04findS\x00\x03bobz"
	call2     = "H\x02\x00C\x04find\x91\x03bob"
	invoke1   = "c\x02\x00m\x00\x07$invokeS\x00\x04findVt\x00\x07[stringl\x00\x00\x00\x01S\x00\x03intzVl\x00\x00\x00\x01I\x00\x00\x00\x05zz"
	invoke2   = "H\x02\x00C\x07$invoke\x93\x04find\x71\x07[string\x03int\x79\x95"
	overload  = "c\x02\x00m\x00\x0ffind_string_intS\x00\x03bobI\x00\x00\x00\x05z"
	replyNull = "r\x01\x00Nz"
	reply2    = "H\x02\x00R\x03bob"
	fault2    = "H\x02\x00FH\x04code\x10ServiceException\x07message\x01m\x06detailC\x0eorg.acme.Wrong\x91\x0ddetailMessage\x60\x03whyZ"
)

// bodyCalls are bodies that name a method, and answers to them.
var bodyCalls = []string{
	call1, call2, invoke1, invoke2, overload, replyNull, reply2, fault2,
	`{"id":"1","jsonrpc":"2.0","method":"find","params":["bob",5]}`, `{"jsonrpc":"2.0","method":"find","params":{"name":"bob"}}`,
	`[{"jsonrpc":"2.0","id":1,"method":"find"},{"jsonrpc":"2.0","method":"note"}]`, `{"jsonrpc":"2.0","id":"1","result":{"name":"bob"}}`,
	`{"jsonrpc":"2.0","id":"1","error":{"code":-32603,"message":"why","data":{"exceptionTypeName":"org.acme.Wrong","message":"why"}}}` + "\n",
	`{"result":null,"error":null,"id":1}`, ` { "params" : [ [ "]" , "\"}" ] , { } ] , "method" : "a\u0062" , "x" : 1.5e3 } `,
}

// hessianRequest are the headers of a request of Hessian.
func hessianRequest(path string) []rpc.Header {
	return headers(":method", "POST", ":path", path, "host", "a.example:20880", "content-type", "x-application/hessian")
}

func rpcRequest() []rpc.Header {
	return headers(":method", "POST", ":path", "/org.acme.Users", "host", "a.example:20880", "content-type", "application/json-rpc")
}

// TestMethodInBody: a body has the method, and the path the service.
func TestMethodInBody(t *testing.T) {
	long := strings.Repeat("x", 2*envelopeLen)
	hessian := hessianRequest("/org.acme.Users?application=x&interface=org.acme.Users")
	for _, row := range []struct {
		name          string
		headers       []rpc.Header
		body          string
		want          string
		serialization string
		values        string
	}{
		{"version 1", hessian, call1, "org.acme.Users/find(...)", "hessian", `["bob"]`},
		{"version 2", hessian, call2, "org.acme.Users/find(...)", "hessian2", `["bob"]`},
		{"types", hessian, overload, "org.acme.Users/find(string, int)", "hessian", `["bob",5]`},
		{"types after much", hessian, "c\x02\x00m\x00\x0ffind_string_intS\x04\x00" + long + "I\x00\x00\x00\x05z", "org.acme.Users/find(string, int)", "hessian", `["` + long + `",5]`},
		{"no types", hessian, strings.Replace(overload, "_int", "_its", 1), "org.acme.Users/find_string_its(...)", "hessian", `["bob",5]`},
		{"generic", hessianRequest("/org.acme.Users/generic"), invoke1, "org.acme.Users/$invoke(...) find", "hessian", `["find",["int"],[5]]`},
		{"generic, version 2", hessianRequest("/org.acme.Users/generic"), invoke2, "org.acme.Users/$invoke(...) find", "hessian2", `["find",["int"],[5]]`},
		{"a context path", hessianRequest("/app/org.acme.Users"), call1, "app/org.acme.Users/find(...)", "hessian", `["bob"]`},
		{"no path", hessianRequest("/"), call1, "//find(...)", "hessian", `["bob"]`},
		{"Spring's type", headers(":method", "POST", ":path", "/users", "content-type", "application/x-hessian; charset=UTF-8"), call2, "users/find(...)", "hessian2", `["bob"]`},
		{"no type", headers(":method", "POST", ":path", "/org.acme.Users"), call1, "org.acme.Users/find(...)", "hessian", `["bob"]`},
		{"octets", headers(":method", "POST", ":path", "/users/17", "content-type", "application/octet-stream"), call2, "users/17/find(...)", "hessian2", `["bob"]`},
		{"octets of something else", headers(":method", "POST", ":path", "/users/17", "host", "a", "content-type", "application/octet-stream"), "H\x02\x00D\x04find", "a/POST /users/{id}(...)", "bytes", `[{"@opaque":9}]`},
		{"a text", hessian, "<html>", "org.acme.Users/?(...)", "hessian", `[{"@opaque":6}]`},
		{"PUT", headers(":method", "PUT", ":path", "/users", "host", "a", "content-type", "x-application/hessian"), call1, "a/PUT /users(...)", "hessian", `["bob"]`},
		{"JSON-RPC", rpcRequest(), bodyCalls[8], "org.acme.Users/find(...)", "json", `["bob",5]`},
		{"named parameters", rpcRequest(), bodyCalls[9], "org.acme.Users/find(...)", "json", `[{"name":"bob"}]`},
		{"the method last", rpcRequest(), `{"params":["` + long + `"],"method":"find"}`, "org.acme.Users/find(...)", "json", `["` + long + `"]`},
		{"a method with an escape", rpcRequest(), bodyCalls[14], "org.acme.Users/?(...)", "json", `[["]","\"}"],{}]`},
		{"a batch", rpcRequest(), bodyCalls[10], "org.acme.Users/(batch)(...)", "json", `[{"jsonrpc":"2.0","id":1,"method":"find"},{"jsonrpc":"2.0","method":"note"}]`},
		{"no parameters", rpcRequest(), `{"id":1,"method":"find"}`, "org.acme.Users/find(...)", "json", `[]`},
		{"no object", rpcRequest(), `5`, "org.acme.Users/?(...)", "json", `[{"@opaque":1}]`},
	} {
		d := NewDecoder(formats.All())
		op := d.Operation(plainHeads(row.headers).First)
		for _, detail := range []rpc.Detail{rpc.Envelope, rpc.Parts, rpc.Values} {
			m := message(rpc.Request, row.headers, row.body)
			d.DecodeBy(plainHeads(row.headers), m, op, detail)
			require.NotNil(t, m.Operation, row.name)
			got := m.Operation.Signature()
			if m.GenericMethod != "" {
				got += " " + m.GenericMethod
			}
			if m.Operation.Generic && detail == rpc.Parts { // only the envelope and values are read for it
				got += " find"
			}
			assert.Equal(t, row.want, strings.Replace(got, " find find", " find", 1), "%s %d", row.name, detail)
			assert.Equal(t, row.serialization, m.Serialization, row.name)
			if detail == rpc.Values {
				values := string(m.AppendArguments(nil))
				assert.Equal(t, row.values, values, row.name)
				assert.Equal(t, m.BodyLen, sum(m), row.name)
			}
		}
		check(t, d, rpc.Request, row.headers, []byte(row.body), 0, "")
		check(t, d, rpc.Request, row.headers, []byte(row.body), 3, "")
	}
}

// plainHeads returns the heads of a message of HTTP/1.
func plainHeads(fields []rpc.Header) Heads {
	h := HeadsOf(fields)
	if h.First == nil {
		h.First = new(Head)
	}
	h.First.SetPlain()
	return h
}

// TestAnswersOfMethodInBody: an answer is read as its request, or by itself if it is surely one.
func TestAnswersOfMethodInBody(t *testing.T) {
	d := NewDecoder(formats.All())
	called := func(h []rpc.Header, body string) *rpc.Operation {
		m := message(rpc.Request, h, body)
		d.DecodeBy(plainHeads(h), m, operation(d, h), rpc.Envelope)
		return m.Operation
	}
	hessian, json := called(hessianRequest("/org.acme.Users"), call1), called(rpcRequest(), bodyCalls[8])
	plain := called(headers(":method", "GET", ":path", "/users", "host", "a"), "")
	none, octets, html := headers(":status", "200"), headers(":status", "200", "content-type", "application/octet-stream"), headers(":status", "200", "content-type", "text/html")
	for _, row := range []struct {
		name          string
		request       *rpc.Operation
		headers       []rpc.Header
		body          string
		serialization string
		kind          int8
		want          string
	}{
		{"null", hessian, none, replyNull, "hessian", 2, "null"},
		{"version 2", hessian, none, reply2, "hessian2", 1, `"bob"`},
		{"octets", hessian, octets, reply2, "hessian2", 1, `"bob"`},
		{"a fault", hessian, none, fault2, "hessian2", 0, "org.acme.Wrong: why"},
		{"a page", hessian, html, "<html>", "text", 1, `"<html>"`},
		{"a page without type", hessian, none, "<html>", "hessian", 1, `{"@opaque":6}`},
		{"without request", nil, none, reply2, "hessian2", 1, `"bob"`},
		{"without request, null", nil, octets, replyNull, "hessian", 2, "null"},
		{"without request, something else", nil, none, "H\x02\x00X\x03bob", "bytes", 1, `{"@opaque":8}`},
		{"of another request", plain, none, reply2, "bytes", 1, `{"@opaque":8}`},
		{"JSON-RPC", json, none, bodyCalls[11], "json", 1, `{"name":"bob"}`},
		{"JSON", json, headers(":status", "200", "content-type", "application/json"), bodyCalls[11], "json", 1, `{"name":"bob"}`},
		{"an error", json, none, bodyCalls[12], "json", 0, "org.acme.Wrong: why"},
		{"no error", json, none, bodyCalls[13], "json", 2, "null"},
		{"a batch", json, none, `[{"id":1,"result":5},{"id":2,"error":{"code":1}}]`, "json", 1, `[{"id":1,"result":5},{"id":2,"error":{"code":1}}]`},
		{"an answer of its own type", nil, headers(":status", "200", "content-type", "application/json-rpc"), bodyCalls[11], "json", 1, `{"name":"bob"}`},
	} {
		for _, detail := range []rpc.Detail{rpc.Envelope, rpc.Parts, rpc.Values} {
			m := message(rpc.Response, row.headers, row.body)
			h := plainHeads(row.headers)
			d.Outcome(m, h, true)
			d.DecodeBy(h, m, row.request, detail)
			assert.Equal(t, row.serialization, m.Serialization, row.name)
			assert.Equal(t, row.kind, m.ResultKind, row.name)
			if detail != rpc.Values {
				continue
			}
			got := string(m.AppendResult(nil))
			if m.Exception {
				got = m.ExceptionClass + ": " + m.ExceptionMessage
			}
			assert.Equal(t, row.want, got, row.name)
			assert.Equal(t, m.BodyLen, sum(m), row.name)
		}
	}
	// A status that is an error has the message of the error.
	m := message(rpc.Response, headers(":status", "500"), bodyCalls[12])
	h := plainHeads(m.Headers)
	d.Outcome(m, h, true)
	d.DecodeBy(h, m, json, rpc.Envelope)
	assert.Equal(t, "why", m.ErrorMessage)
}

// TestMethodInBodyAllocs: the method of a call is found without memory once it is known.
func TestMethodInBodyAllocs(t *testing.T) {
	d := NewDecoder(formats.All())
	for _, row := range []struct {
		headers []rpc.Header
		body    string
	}{{hessianRequest("/org.acme.Users"), call1}, {hessianRequest("/org.acme.Users"), call2}, {hessianRequest("/org.acme.Users"), overload}, {rpcRequest(), bodyCalls[8]}} {
		h := plainHeads(row.headers)
		m := message(rpc.Request, row.headers, row.body)
		op := d.Operation(h.First)
		decode := func() {
			m.Operation = nil
			d.DecodeBy(h, m, op, rpc.Envelope)
		}
		decode()
		require.NotEqual(t, unknown, m.Operation.Method)
		first := m.Operation
		assert.Zero(t, testing.AllocsPerRun(100, decode), "%q", row.body)
		assert.Same(t, first, m.Operation)
	}
}

// TestMethodsInBodyAreBounded: any number of methods takes bounded memory.
func TestMethodsInBodyAreBounded(t *testing.T) {
	d := NewDecoder(formats.All())
	h := hessianRequest("/org.acme.Users")
	op := operation(d, h)
	name := []byte(strings.Repeat("a", 300))
	for i := range 1 << 16 {
		name[i%300]++
		if name[i%300] > 'z' {
			name[i%300] = 'A'
		}
		d.withMethod(op, name, nil)
	}
	assert.LessOrEqual(t, d.operations.bytes, maxOperationBytes)
}
