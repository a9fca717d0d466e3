package findings

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/rpc"
)

// headed returns a change that gives requests a header with fields.
func headed(header, fields, plain int32, sent ...call.SentField) func(q, p *call.Message) {
	return func(q, _ *call.Message) {
		q.HeaderLen, q.FieldsLen, q.FieldsPlainLen = header, fields, plain
		q.Sampled = true
		q.Detail().Sample = &call.Sample{Sent: sent}
	}
}

// Headers that are half of a method's bytes, and 50 bytes per message.
func TestHeaders(t *testing.T) {
	for _, c := range []struct {
		header int32
		calls  int
		text   string
	}{
		{100, 10, "headers are 50 % of its request bytes (100 of 200 per request)"},
		{99, 10, ""},
		{300, 9, ""},
	} {
		b := newBench()
		for range c.calls {
			b.add(made{conn: 1, method: "get", request: 100, from: 1, to: 2, response: 10, change: headed(c.header, c.header-14, 500)})
		}
		list := b.found("headers", 1000)
		if c.text == "" {
			assert.Empty(t, list)
			continue
		}
		require.Len(t, list, 1)
		assert.Equal(t, c.text, list[0].Text)
		assert.EqualValues(t, 1000, list[0].Weight)
		assert.EqualValues(t, 1, list[0].Frame)
	}
}

// Methods with heavy headers are one finding, and small headers of small bodies are none.
func TestHeadersOfMethods(t *testing.T) {
	b := newBench()
	for range 10 {
		b.add(made{conn: 1, method: "small", request: 5, from: 1, to: 2, change: headed(40, 20, 200)})
		b.add(made{conn: 1, method: "a", request: 50, from: 1, to: 2, change: headed(60, 40, 200)})
		b.add(made{conn: 1, method: "b", request: 10, from: 1, to: 2, change: headed(70, 50, 200)})
		b.add(made{conn: 1, method: "none", request: 10, from: 1, to: 2})
	}
	list := b.found("headers", 1000)
	require.Len(t, list, 1)
	assert.Equal(t, "headers are 68 % of their request bytes (65 of 95 per request); methods: b, a", list[0].Text)
	assert.Equal(t, "2 methods", list[0].Subject)
}

// Header fields of which compression leaves half or more, with those that are sent in full most times.
func TestHeaderCompression(t *testing.T) {
	b := newBench()
	for i := range 20 {
		sent := []call.SentField{{Name: "trace", Bytes: 60}}
		if i == 0 {
			sent = append(sent, call.SentField{Name: ":path", Bytes: 40})
		}
		b.add(made{conn: 1, method: "get", request: 1000, from: 1, to: 2, change: headed(150, 100, 180, sent...)})
		b.add(made{conn: 1, method: "good", request: 1000, from: 1, to: 2, change: headed(100, 80, 180)})
	}
	list := b.found("header-compression", 1000)
	require.Len(t, list, 1)
	assert.Equal(t, "header compression reduces the header fields of its requests only to 56 % (100 of 180 bytes per request); "+
		"1 field is sent in full in most of them, in bytes: trace 60 (20 sampled)", list[0].Text)
	assert.EqualValues(t, 2000, list[0].Weight)
}

// Bodies that compression made larger.
func TestCompressedLarger(t *testing.T) {
	b := newBench()
	for i := range 5 {
		b.add(made{conn: 1, method: "get", request: 30 + i, from: 1, to: 2, change: func(q, _ *call.Message) {
			q.Encoding, q.UncompressedLen = "gzip", 10
			if i > 1 {
				q.UncompressedLen = 1000
			}
		}})
		b.add(made{conn: 1, method: "unknown", request: 30, from: 1, to: 2, change: func(q, _ *call.Message) {
			q.Encoding, q.UncompressedLen = "gzip", -1
		}})
	}
	list := b.found("compressed-larger", 1000)
	require.Len(t, list, 1)
	assert.Equal(t, "gzip made 2 of 5 compressed requests larger (31 instead of 10 bytes per body)", list[0].Text)
}

// Messages that flow control held back for a millisecond or more.
func TestFlowControl(t *testing.T) {
	b := newBench()
	for i := range 4 {
		b.add(made{conn: 1, method: "get", request: 1, from: 1, to: 2, response: 1000, change: func(_, p *call.Message) {
			p.Detail().Stalled = int64(i) * ms * 7 / 10
		}})
	}
	list := b.found("flow-control", 1000)
	require.Len(t, list, 1)
	assert.Equal(t, "flow control held back 2 responses for up to 2.10 ms (3.50 ms in total): the receiver's window was full", list[0].Text)
	assert.EqualValues(t, 8, list[0].Frame)
	assert.EqualValues(t, 2, list[0].Facts[1].Value)
}

// Attachments in headers are a part of frames, and those of two protocols are not mixed.
func TestAttachmentsInHeaders(t *testing.T) {
	other := &rpc.Protocol{Name: "other"}
	b := newBench()
	for range 4 {
		b.add(made{conn: 1, method: "get", request: 100, from: 1, to: 2, change: func(q, _ *call.Message) {
			q.Protocol, q.HeaderLen, q.Sampled = other, 200, true
			q.Detail().Sample = &call.Sample{Attachments: []call.Attachment{{Key: "token", Value: 1, Bytes: 75, InHeader: true}}}
		}})
		b.add(made{conn: 1, method: "get", request: 100, from: 1, to: 2, change: func(q, _ *call.Message) {
			q.Sampled = true
			q.Detail().Sample = &call.Sample{Attachments: []call.Attachment{{Key: "token", Value: 2, Bytes: 80}}}
		}})
	}
	list := b.found("attachments", 1000)
	require.Len(t, list, 2)
	for _, f := range list {
		assert.Contains(t, []string{
			"1 attachment has the same value in all calls and takes 25 % of its request bytes (75 of 300 per request, 4 sampled): token; the application or a filter adds it, so it is avoidable",
			"1 attachment has the same value in all calls and takes 80 % of its request bytes (80 of 100 per request, 4 sampled): token; Dubbo always adds it, no setting removes it",
		}, f.Text)
	}
}

// A call that was reset fails with its reason; one with a status of another protocol with its name.
func TestResets(t *testing.T) {
	other := &rpc.Protocol{Name: "other", StatusText: func(int) string { return "UNAVAILABLE" }}
	b := newBench()
	for range 10 {
		b.add(made{conn: 1, method: "get", from: 1, to: 2, status: 14, change: func(q, p *call.Message) { q.Protocol, p.Protocol = other, other }})
	}
	q := b.pairer.New()
	q.Number, q.Operation, q.TwoWay, q.Complete, q.Protocol = 99, b.names["get2.0.2"], true, true, other
	for range 10 {
		b.Call(&call.Call{Conn: &call.Conn{Ends: [2]string{"10.0.0.1:1", "10.0.1.1:2"}}, Request: q, Aborted: "CANCEL"})
	}
	list := b.found("errors", 1000)
	require.Len(t, list, 2)
	assert.Contains(t, list[0].Text+list[1].Text, "10 of 20 calls fail with status 14 UNAVAILABLE, all hessian2 from 10.0.0.1")
	assert.Contains(t, list[0].Text+list[1].Text, "10 of 20 calls fail with CANCEL, all id 0 from 10.0.0.1")
}
