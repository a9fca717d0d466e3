package call

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"

	_ "dubbo-wire/internal/dev/testkit" // the flag -update
	"dubbo-wire/internal/rpc"
)

// closed keeps the numbers of requests and responses of closed calls.
type closed [][2]int64

func (c *closed) Call(x *Call) {
	var pair [2]int64
	if x.Request != nil {
		pair[0] = x.Request.Number
	}
	if x.Response != nil {
		pair[1] = x.Response.Number
	}
	*c = append(*c, pair)
}

func (*closed) Settled(*Message) {}

func (p *Pairer) message(number, id int64, flags byte) *Message {
	m := p.New()
	m.Number, m.Exchange, m.TwoWay, m.Ends = number, uint64(id), flags&0x40 != 0, true
	return m
}

// Ids collide on purpose; what pairs is compared with a list per connection, side and id.
func TestPairsAsLists(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	conns := []*Conn{{Key: 1}, {Key: 2}, {Key: 3}}
	type key struct {
		conn, side int
		id         int64
	}
	open := make(map[key][]int64)
	var got, want closed
	p := NewPairer(Config{}, &got)
	for n := int64(1); n <= 20_000; n++ {
		k := key{rng.IntN(len(conns)), rng.IntN(2), rng.Int64N(500)}
		if rng.IntN(2) == 0 {
			m := p.message(n, k.id, 0xc2)
			p.Request(conns[k.conn], k.side, m)
			p.Release(m)
			open[k] = append(open[k], n)
			continue
		}
		m := p.message(n, k.id, 0x02)
		p.Response(conns[k.conn], 1-k.side, m)
		p.Release(m)
		pair := [2]int64{0, n}
		if list := open[k]; len(list) > 0 {
			pair[0], open[k] = list[0], list[1:]
		}
		want = append(want, pair)
	}
	assert.Equal(t, want, got)
	var left []int64
	for _, list := range open {
		left = append(left, list...)
	}
	got = nil
	p.End()
	assert.Len(t, got, len(left))
	for i := 1; i < len(got); i++ {
		assert.Less(t, got[i-1][0], got[i][0])
	}
}

func TestOldestExpires(t *testing.T) {
	var got closed
	p := NewPairer(Config{MaxOpen: 2}, &got)
	conn := &Conn{Number: 1}
	for n := int64(1); n <= 4; n++ {
		m := p.message(n, 7, 0xc2)
		p.Request(conn, 0, m)
		p.Release(m)
	}
	assert.Equal(t, closed{{1, 0}, {2, 0}}, got)
	assert.EqualValues(t, 2, p.Expired)
	p.End()
	assert.Equal(t, closed{{1, 0}, {2, 0}, {3, 0}, {4, 0}}, got)
}

// serializationOf keeps the serializations of requests.
type serializationOf []string

func (s *serializationOf) Call(x *Call) { *s = append(*s, x.Request.Serialization) }

func (*serializationOf) Settled(*Message) {}

// A request without a body has the serialization of its response.
func TestSerializationOfResponse(t *testing.T) {
	var got serializationOf
	p := NewPairer(Config{}, &got)
	conn := &Conn{Number: 1}
	for id, own := range []string{"", "json", ""} {
		q, a := p.message(int64(id), int64(id), 0xc2), p.message(9, int64(id), 0x02)
		q.Serialization, q.SerializationID = own, rpc.NoSerialization
		a.Serialization, a.SerializationID = "hessian2", rpc.NoSerialization
		p.Request(conn, 0, q)
		if id < 2 {
			p.Response(conn, 1, a)
		}
		p.Release(q)
	}
	p.End()
	assert.Equal(t, serializationOf{"hessian2", "json", ""}, got)
}

// valuesOf keeps the values of requests.
type valuesOf []string

func (v *valuesOf) Call(x *Call) { *v = append(*v, string(x.Request.Values)) }

func (*valuesOf) Settled(*Message) {}

// Values of requests that wait are bounded; the call itself is kept.
func TestValuesAreBounded(t *testing.T) {
	var got valuesOf
	p := NewPairer(Config{MaxValues: 30}, &got)
	conn := &Conn{Number: 1}
	send := func(id int64) {
		m := p.message(id, id, 0xc2)
		m.BodyLen = 9
		m.Detail().Values = append(make([]byte, 0, 10), "[12345678]"...)
		p.Request(conn, 0, m)
		p.Release(m)
	}
	for id := range int64(5) {
		send(id)
	}
	answer := p.message(9, 3, 0x02)
	p.Response(conn, 1, answer)
	p.Release(answer)
	send(5)
	p.End()
	kept, gone := "[12345678]", `[{"@opaque":9}]`
	assert.Equal(t, valuesOf{kept, gone, gone, kept, kept}, got[:5])
	assert.Equal(t, kept, got[5])
	assert.Zero(t, p.valueBytes)
}
