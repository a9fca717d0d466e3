package sizes

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/rpc"
)

// Pairs add up to the groups, whatever the number of ties, also if messages settle after the table of ties was emptied. Generic calls count
// for the method that they invoke.
func TestPairsAddUp(t *testing.T) {
	for _, by := range []Key{Method, Service} { // a group has one method, or all
		t.Run(string(by), func(t *testing.T) { pairsAddUp(t, by) })
	}
}

func pairsAddUp(t *testing.T, by Key) {
	a, p := New(By{Keys: []Key{by}}, 0, nil), NewPairs()
	a.CountPairs(p)
	shared, own := &rpc.Operation{Service: "S", Method: "m", Hash: 7}, &rpc.Operation{Service: "S", Method: "own"}
	var late []*call.Message
	calls, wire, generic := int64(0), int64(0), int64(0)
	for round := range 2 {
		for i := range maxTies + 1000 {
			ends := [2]string{fmt.Sprintf("10.0.0.%d:%d", i%100, 1024+i), "10.1.0.1:20880"}
			m := &call.Message{Summary: rpc.Summary{Complete: true, BodyLen: 10, Serialization: "kryo"}, Details: &call.Details{}}
			m.Request, m.Wire, m.Operation = true, int64(20+i%3), shared
			switch i % 10 {
			case 0:
				m.GenericMethod = fmt.Sprintf("g%d", i%3)
				generic++
			case 1:
				m.Operation = own
			}
			a.Call(&call.Call{Conn: &call.Conn{Key: uint64(i), Ends: ends}, Request: m})
			calls, wire = calls+1, wire+m.Wire
			if (i+round)%4 == 0 {
				late = append(late, m)
			} else {
				m.Owner.Settle(m)
			}
		}
		if round == 0 {
			p.Busiest(1) // looking does not count anything twice
		}
	}
	for _, m := range late {
		m.Owner.Settle(m)
	}
	pairs, all, complete := p.Busiest(1 << 10)
	require.Len(t, pairs, 100)
	assert.Equal(t, 100, all)
	assert.True(t, complete)
	methods := make(map[string]int64)
	for _, pair := range pairs {
		calls -= pair.Calls
		wire -= pair.WireBytes
		ofPair := int64(0)
		for name, m := range pair.methods {
			methods[name.method] += m.Calls
			ofPair += m.WireBytes
		}
		assert.Equal(t, pair.WireBytes, ofPair)
	}
	assert.Zero(t, calls)
	assert.Zero(t, wire)
	assert.Equal(t, generic, methods["g0"]+methods["g1"]+methods["g2"])
	assert.EqualValues(t, 2*((maxTies+1000+8)/10), methods["own"])
	body, strata := int64(0), 0
	for _, g := range a.Groups() {
		for s := g.Strata; s != nil; s = s.Next {
			strata++
			for i := range s.Layers {
				body += s.Layers[i].Body
			}
		}
	}
	assert.EqualValues(t, 10*2*(maxTies+1000), body)
	assert.Equal(t, 5, strata, "m, own, g0, g1, g2")
}

// Serializations with made-up names do not make a stratum longer and longer.
func TestLayersAreBounded(t *testing.T) {
	a, p := New(By{Keys: []Key{Method}}, 0, nil), NewPairs()
	a.CountPairs(p)
	op := &rpc.Operation{Service: "S", Method: "m", Hash: 7}
	const calls = 20 * maxSerializations
	for i := range calls {
		m := &call.Message{Summary: rpc.Summary{Complete: true, BodyLen: 10, Serialization: fmt.Sprintf("x-%d", i%(calls/2))}, Details: &call.Details{}}
		m.Request, m.Operation = true, op
		a.Call(&call.Call{Conn: &call.Conn{Ends: [2]string{"10.0.0.1:1024", "10.1.0.1:20880"}}, Request: m})
	}
	layers, body := a.Groups()[0].Strata.Layers, int64(0)
	for i := range layers {
		body += layers[i].Body
	}
	assert.Len(t, layers, maxSerializations+1)
	assert.EqualValues(t, 10*calls, body)
}
