package sizes

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/rpc"
)

// Responses are separated by kind, and only groups that have others than successful ones in the request's serialization have space
// for them. Link bytes that are settled later go to the same kind.
func TestResponsesByKind(t *testing.T) {
	a := New(By{Keys: []Key{Method}}, 0, nil)
	message := func(method, serialization string, body int) *call.Message {
		m := &call.Message{Summary: rpc.Summary{Complete: true, BodyLen: body, Serialization: serialization}, Details: &call.Details{}}
		m.Operation = &rpc.Operation{Method: method}
		m.Wire = int64(body) + 82
		return m
	}
	var settled []*call.Message
	add := func(method, serialization string, body int, failed bool) {
		request, response := message(method, "kryo", 10), message(method, serialization, body)
		request.Request, request.TwoWay, response.Failed = true, true, failed
		a.Call(&call.Call{Conn: &call.Conn{}, Request: request, Response: response})
		settled = append(settled, request, response)
	}
	add("good", "kryo", 100, false)
	add("mixed", "kryo", 1000, false)
	add("mixed", "hessian2", 2000, false)
	add("mixed", "hessian2", 4000, true)
	add("mixed", "kryo", 8000, true)
	for _, m := range settled {
		m.Owner.Settle(m)
	}
	groups := a.Groups()
	good, mixed := groups[0], groups[1]
	require.Nil(t, good.NotOK)
	assert.Same(t, &good.ResponseOK, good.Response())
	for want, d := range map[int64]*Direction{1000: &mixed.ResponseOK, 2000: &mixed.NotOK.Other, 12000: &mixed.NotOK.Error, 15000: mixed.Response(), 3000: mixed.ResponseOKOrOther()} {
		assert.Equal(t, want, d.Body.Total)
		assert.Equal(t, want+82*d.Body.Count, d.Wire.Total)
	}
	assert.Equal(t, int64(15000+4*82), mixed.ResponseWireBytes())
	sum := new(Group)
	sum.Merge(good)
	require.Nil(t, sum.NotOK)
	sum.Merge(mixed)
	assert.Equal(t, int64(1100), sum.ResponseOK.Body.Total)
	assert.Equal(t, int64(15100), sum.Response().Body.Total)
	assert.Equal(t, int64(1000), mixed.ResponseOK.Body.Total, "merging changes no operand")
}

// Requests of one operation have the group of their serialization, also beyond those that have a number in the aggregator.
func TestUnnumberedSerializations(t *testing.T) {
	a := New(By{Keys: []Key{Serialization}}, 0, nil)
	require.NotNil(t, a.known)
	op, protocol := &rpc.Operation{Service: "S", Method: "m", Hash: 7}, &rpc.Protocol{Name: "made"}
	const names = 2 * maxUnnumbered
	for i := range 3 * names {
		m := &call.Message{Summary: rpc.Summary{Complete: true, BodyLen: 10, Serialization: fmt.Sprintf("x-%d", i%names)}, Details: &call.Details{}}
		m.Request, m.Operation, m.Protocol, m.SerializationID = true, op, protocol, rpc.NoSerialization
		a.Call(&call.Call{Conn: &call.Conn{}, Request: m})
	}
	assert.Len(t, a.unnumbered, maxUnnumbered)
	groups := a.Groups()
	assert.Len(t, groups, names)
	for _, g := range groups {
		assert.EqualValues(t, 3, g.Calls)
	}
}
