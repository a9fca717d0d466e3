package findings

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/call"
)

// connected makes a call of a connection with this end.
func (b *bench) connected(n int, end call.ConnEnd, change func(q, p *call.Message)) {
	before := b.last
	b.add(made{conn: uint64(n), method: "GET /x", from: 1, to: 2, response: 100, change: func(q, p *call.Message) {
		overHTTP(200)(q, p)
		p.Arrived = 2 * ms
		if change != nil {
			change(q, p)
		}
	}})
	if b.last != before {
		b.last.End = &end
	}
}

// A connection that ends a second after its only call was idle. One that was forgotten meanwhile counts once.
func TestIdleConnections(t *testing.T) {
	single := call.ConnEnd{Began: true, Shut: true, Messages: 2, HandshakeBytes: 240}
	for _, test := range []struct {
		last  int64
		found int
	}{{2*ms + mostIdle - 1, 1}, {2*ms + mostIdle, 0}} {
		b := newBench()
		for i := range leastSingles {
			end := single
			end.LastTime = test.last
			b.connected(i, end, nil)
		}
		list := b.found("keep-alive", 1000)
		require.Len(t, list, test.found)
		if test.found > 0 {
			assert.Equal(t, "10 of 10 calls from 10.0.0.1 had a connection of their own (the client closed it unannounced): "+
				"each waited for a handshake, and SYN and FIN packets took 2.40 kB", list[0].Text)
			b.httpConns = append(b.httpConns, b.httpConns...)
			assert.Equal(t, list, b.found("keep-alive", 1000))
		}
	}
}

// Several clients and reasons, those with most calls first. Calls that fail, switch to another protocol or open a tunnel do not count.
func TestSingleCalls(t *testing.T) {
	b := newBench()
	n := 0
	add := func(count int, firstFIN int8, change func(q, p *call.Message)) {
		for range count {
			n++
			b.connected(n, call.ConnEnd{Began: true, Shut: true, FirstFIN: firstFIN, Messages: 2, HandshakeBytes: 100}, change)
		}
	}
	add(3, 1, nil)
	add(4, 1, func(q, _ *call.Message) { q.Closes = true })
	add(5, 0, func(_, p *call.Message) { p.Closes = true })
	add(1, 0, func(_, p *call.Message) { p.Failed, p.Status = true, 500 })
	add(1, 0, func(_, p *call.Message) { p.Status = 101 })
	list := b.found("keep-alive", 1000)
	require.Len(t, list, 1)
	assert.Equal(t, "12 of 14 calls from 10.0.0.1 had a connection of their own (5: the server announced the close, with Connection: close or HTTP/1.0; "+
		"4: the client announced the close, with Connection: close or HTTP/1.0; 3: the server closed it unannounced): "+
		"each waited for a handshake, and SYN and FIN packets took 1.20 kB", list[0].Text)
	assert.EqualValues(t, 1200, list[0].Weight)
}

// The connections in memory are bounded.
func TestHTTPConnsAreBounded(t *testing.T) {
	b := newBench()
	for i := range maxHTTPConns + 1000 {
		b.connected(i, call.ConnEnd{Began: true, Shut: true, Messages: 2, LastTime: 2 * ms, HandshakeBytes: 1}, nil)
	}
	assert.Len(t, b.httpConns, maxHTTPConns)
	list := b.found("keep-alive", 1000)
	require.Len(t, list, 1)
	assert.Contains(t, list[0].Text, "65,536 of 65,536 calls from 10.0.0.1 ")
	assert.Contains(t, list[0].Text, "; only the first 65,536 connections of plain HTTP were looked at")
}

// sampledGET makes a call a sampled GET of a target, whose response has that content.
func sampledGET(target, content uint64) func(q, p *call.Message) {
	return func(q, p *call.Message) {
		overHTTP(200)(q, p)
		q.Sampled, p.Sampled = true, true
		q.Detail().Sample = &call.Sample{HTTP: &call.HTTPSample{Target: target}}
		p.Detail().Sample = &call.Sample{HTTP: &call.HTTPSample{Content: content}}
	}
}

// Responses are compared with those to the same client, and bodies of less than 4 KiB together are not worth a word.
func TestRepeatedBodies(t *testing.T) {
	b := newBench()
	for i := range 12 {
		client := fmt.Sprint("10.0.0.", i%2)
		b.add(made{conn: uint64(i % 2), client: client, method: "GET /x", from: 1, to: 2, response: 500, change: sampledGET(7, 1)})
		b.add(made{conn: uint64(i), client: fmt.Sprint("10.0.1.", i), method: "GET /y", from: 1, to: 2, response: 5000, change: sampledGET(8, 1)})
		b.add(made{conn: uint64(i % 2), client: client, method: "GET /z", from: 1, to: 2, response: 5000, change: sampledGET(9, uint64(i/2%2))})
		b.add(made{conn: uint64(i % 2), client: client, method: "GET /small", from: 1, to: 2, response: 400, change: sampledGET(10, 1)})
	}
	list := b.found("repeated-responses", 1000)
	require.Len(t, list, 1)
	assert.Equal(t, "a.b.Service/GET /x", list[0].Subject)
	assert.Equal(t, "10 of 12 sampled responses had the same body as the one before, for the same client and target (5.00 kB, 500 per response): "+
		repeatedTexts[noValidator], list[0].Text)
	assert.EqualValues(t, 5000, list[0].Weight)
}

// The targets in memory are bounded, and a call of plain HTTP takes no memory once its method, client, connection and target are known.
func TestHTTPIsBounded(t *testing.T) {
	b := newBench()
	for i := range maxTargets + 100 {
		b.add(made{conn: 1, method: "GET /x", from: 1, to: 2, response: 500, change: sampledGET(uint64(i+1), 1)})
	}
	assert.Len(t, b.targets, maxTargets)
	c := oneCall(b, 1)
	c.Request.Operation = b.names["GET /x2.0.2"]
	sampledGET(5, 1)(c.Request, c.Response)
	b.Call(c)
	assert.Zero(t, testing.AllocsPerRun(1000, func() { b.Call(c) }))
	assert.EqualValues(t, 1002, b.methodByName(methodKey{plainHTTP, "a.b.Service", "GET /x"}).repeated.repeated)
}
