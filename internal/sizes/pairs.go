package sizes

import (
	"cmp"
	"math/bits"
	"net"
	"slices"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/rpc"
)

// Pairs adds up who talks to whom: the link bytes of calls between a client's host and a server's address, by method.
type Pairs struct {
	pairs map[pairKey]*Pair
	ties  map[tieKey]*tie
	// strata are the methods of groups.
	strata map[stratumKey]*Stratum
	rest   *Pair
	// recent is some of the ties again, each in the place that its key says.
	recent *[recentTies]recentTie
}

type recentTie struct {
	tieKey
	tie *tie
}

// recentTies is how many ties are found by a look at one place.
const recentTies = 1 << 13

// place spreads keys over the recent ties.
func (k *tieKey) place() uint64 {
	h := (k.conn*2 + uint64(k.side)) * 0x9e3779b97f4a7c15
	if k.names != nil {
		h ^= uint64(k.names.Hash) * 0xa0761d6478bd642f
	}
	return h >> 40 % recentTies
}

// Pair is the calls from a client (without port) to a server (with port).
type Pair struct {
	Client, Server string
	// Calls, and the link bytes of their complete messages.
	Calls, WireBytes int64
	methods          map[methodKey]*MethodBytes
	other            MethodBytes // beyond maxPairMethods
}

// MethodBytes is a method's part of a pair.
type MethodBytes struct {
	Service, Method  string
	Calls, WireBytes int64
}

type (
	pairKey   struct{ client, server string }
	methodKey struct{ service, method string }
	// tieKey is what the messages of one method between two addresses have in common.
	tieKey struct {
		group   *Group
		conn    uint64 // its key
		side    int    // that asked
		names   *rpc.Operation
		generic string // the method that a generic call invokes
	}
)

// tie hands the link bytes of a message to its group and to its pair.
type tie struct {
	group   *Group
	pair    *Pair
	method  *MethodBytes
	stratum *Stratum
}

// Stratum is the part of a group that one method has, in layers.
type Stratum struct{ Layers []Layer }

// Layer is bodies of one direction and serialization, of about one size, errors apart: what large bodies are made of, small ones do not tell.
type Layer struct {
	written  string // in which serialization
	response bool
	failed   bool                       // an error is made of something else than an answer
	size     uint8                      // half of the bits of a body's length: from one to the next it grows fourfold
	Body     int64                      // bytes of all bodies
	Parts    [decode.ClassMissing]int64 // what those are made of that were looked into
}

type stratumKey struct {
	group           *Group
	service, method string
}

const (
	// maxPairs is how many pairs are kept apart, maxPairMethods how many methods of each; the others are in no pair, and in
	// no method.
	maxPairs, maxPairMethods = 1 << 14, 64
	// maxTies is how many ties are remembered.
	maxTies = 1 << 16
)

// NewPairs returns an empty set of pairs.
func NewPairs() *Pairs {
	return &Pairs{pairs: make(map[pairKey]*Pair), ties: make(map[tieKey]*tie), strata: make(map[stratumKey]*Stratum), rest: new(Pair), recent: new([recentTies]recentTie)}
}

// CountPairs lets the aggregator tell p about every message.
func (a *Aggregator) CountPairs(p *Pairs) { a.pairs = p }

// Settle takes the final link bytes of a message.
func (t *tie) Settle(m *call.Message) {
	t.group.Settle(m)
	if m.Complete {
		t.pair.WireBytes += m.Wire
		t.method.WireBytes += m.Wire
	}
}

// tie returns where the messages of a call belong.
func (p *Pairs) tie(g *Group, c *call.Call) *tie {
	m := asked(c)
	k := tieKey{g, c.Conn.Key, c.Side, m.Operation, m.GenericMethod}
	r := &p.recent[k.place()]
	if r.tieKey == k {
		return r.tie
	}
	t := p.ties[k]
	if t == nil {
		t = p.newTie(k, c, m)
	}
	*r = recentTie{k, t}
	return t
}

func (p *Pairs) newTie(k tieKey, c *call.Call, m *call.Message) *tie {
	if len(p.ties) >= maxTies {
		clear(p.ties) // they are made anew; their pairs stay
	}
	host, _, _ := net.SplitHostPort(c.Client())
	t := &tie{group: k.group, pair: p.rest}
	t.stratum = p.stratum(stratumKey{k.group, m.Service(), m.Method()})
	key := pairKey{host, c.Server()}
	if pair := p.pairs[key]; pair != nil {
		t.pair = pair
	} else if len(p.pairs) < maxPairs {
		t.pair = &Pair{Client: host, Server: c.Server(), methods: make(map[methodKey]*MethodBytes)}
		p.pairs[key] = t.pair
	}
	name := methodKey{m.Service(), m.Method()}
	t.method = t.pair.methods[name]
	switch {
	case t.method != nil:
	case t.pair == p.rest || len(t.pair.methods) >= maxPairMethods:
		t.method = &t.pair.other
	default:
		t.method = &MethodBytes{Service: name.service, Method: name.method}
		t.pair.methods[name] = t.method
	}
	p.ties[k] = t
	return t
}

// maxStrata is how many strata are kept apart; methods beyond share one in their group.
const maxStrata = 1 << 16

func (p *Pairs) stratum(k stratumKey) *Stratum {
	s := p.strata[k]
	if s == nil && len(p.strata) >= maxStrata {
		k.service, k.method = "", ""
		s = p.strata[k]
	}
	if s == nil {
		s = new(Stratum)
		p.strata[k] = s
		k.group.Strata = append(k.group.Strata, s)
	}
	return s
}

// message counts what a message is made of.
func (s *Stratum) message(m *call.Message) {
	if !m.Complete {
		return
	}
	response, size := !m.Request, uint8(bits.Len(uint(m.BodyLen))/2)
	failed := response && (m.Failed || m.Exception)
	at := 0
	for at < len(s.Layers) && (s.Layers[at].response != response || s.Layers[at].size != size || s.Layers[at].failed != failed || s.Layers[at].written != m.Serialization) {
		at++
	}
	if at == len(s.Layers) {
		s.Layers = append(s.Layers, Layer{response: response, failed: failed, size: size, written: m.Serialization})
	}
	l := &s.Layers[at]
	l.Body += int64(m.BodyLen)
	for i, n := range m.Parts {
		l.Parts[i] += int64(n)
	}
}

// call counts a call.
func (p *Pairs) call(g *Group, c *call.Call) {
	t := p.tie(g, c)
	t.pair.Calls++
	t.method.Calls++
}

// Busiest returns the pairs with most link bytes, at most n, and how many pairs there are. complete is false where there
// were more than are kept apart: then a pair that is not among them may be busier.
func (p *Pairs) Busiest(n int) (list []*Pair, all int, complete bool) {
	for _, pair := range p.pairs {
		list = append(list, pair)
	}
	slices.SortFunc(list, func(x, y *Pair) int {
		return cmp.Or(cmp.Compare(y.WireBytes, x.WireBytes), cmp.Compare(x.Client, y.Client), cmp.Compare(x.Server, y.Server))
	})
	return list[:min(n, len(list))], len(list), p.rest.Calls == 0
}

// Top returns the method with most of the pair's link bytes.
func (p *Pair) Top() MethodBytes {
	var top *MethodBytes
	for _, m := range p.methods {
		if top == nil || cmp.Or(cmp.Compare(m.WireBytes, top.WireBytes), cmp.Compare(top.Service, m.Service), cmp.Compare(top.Method, m.Method)) > 0 {
			top = m
		}
	}
	if top == nil {
		return MethodBytes{}
	}
	return *top
}
