package sizes

import (
	"cmp"
	"hash/maphash"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/rpc"
)

// Pairs holds the link bytes of calls between the host of a client and the address of a server, by method.
type Pairs struct {
	pairs map[pairKey]*Pair
	// ties is an open-addressed table of 2^n places, nil where free; tied is how many are not.
	ties []*tie
	tied int
	// strata has the stratum of each method of each group with several, made is the number of all strata.
	strata map[stratumKey]*Stratum
	made   int
	rest   *Pair
	// serializations are those of layers by their numbers, which numbers has; latest is the last one that was looked up. All beyond
	// maxSerializations have one number.
	serializations []string
	numbers        map[string]uint32
	latest         uint32
}

// Pair holds the calls from a client (without port) to a server (with port).
type Pair struct {
	Client, Server string
	// WireBytes is the link bytes of the complete messages.
	Calls, WireBytes int64
	methods          map[methodKey]*MethodBytes
	other            MethodBytes // methods beyond maxPairMethods
}

// MethodBytes holds the calls of one method of a pair.
type MethodBytes struct {
	Service, Method  string
	Calls, WireBytes int64
	pair             *Pair
}

type (
	pairKey   struct{ client, server string }
	methodKey struct{ service, method string }
	// tieKey identifies the messages of one method, group and side of a connection.
	tieKey struct {
		group   *Group
		conn    uint64 // the key of the connection
		names   *rpc.Operation
		generic string // the method that a generic call invokes
		side    int8   // that sent the request
	}
)

// tie adds the link bytes of a message to its group, and to its pair: those of many messages at once, because there are more pairs and
// methods of them than a processor's cache has room for.
type tie struct {
	group   *Group
	conn    uint64
	names   *rpc.Operation
	generic *string // nil unless a generic call invokes a method
	stratum *Stratum
	method  *MethodBytes
	// calls and wireBytes are not yet in the pair and the method.
	wireBytes int64
	calls     uint32
	side      int8
	untied    bool // it has left the table, so its counts are added up at once
}

// key returns the key of the tie.
func (t *tie) key() tieKey {
	k := tieKey{t.group, t.conn, t.names, "", t.side}
	if t.generic != nil {
		k.generic = *t.generic
	}
	return k
}

// has reports whether the tie is that of a key.
func (t *tie) has(k *tieKey) bool {
	if t.conn != k.conn || t.names != k.names || t.group != k.group || t.side != k.side {
		return false
	}
	if t.generic == nil {
		return k.generic == ""
	}
	return *t.generic == k.generic
}

// hashSeeds make it impossible to write a capture whose ties have the same place.
var hashSeeds = [2]uint64{rand.Uint64(), rand.Uint64()}

var genericSeed = maphash.MakeSeed()

// hash returns a hash of a key.
func (k *tieKey) hash() uint64 {
	of := uint64(k.group.number)
	if k.names != nil {
		of |= uint64(k.names.Hash) << 32
	}
	if k.generic != "" {
		of ^= maphash.String(genericSeed, k.generic)
	}
	high, low := bits.Mul64((k.conn*2+uint64(k.side))^hashSeeds[0], of^hashSeeds[1])
	return high ^ low
}

// Stratum is the part of a group that belongs to one method, in layers.
type Stratum struct {
	Layers []Layer
	Next   *Stratum // of the group
	method methodKey
	first  [2]Layer // most methods have no more
}

// Layer holds bodies of one direction and serialization, of about one size, either failures or not. Bodies of another size
// have other parts, so an estimate is made by layer.
type Layer struct {
	Body          int64       // bytes of all bodies
	Parts         *ClassBytes // bytes of the sampled bodies by class, nil without any
	serialization uint32      // its number
	kind          layerKind
}

// layerKind is half the number of bits of the length, so that bodies of the next size are four times as long, and bits for responses and failures.
type layerKind uint8

const (
	responseLayer layerKind = 1 << 6
	failedLayer   layerKind = 1 << 7
)

type stratumKey struct {
	group *Group
	methodKey
}

const (
	// maxPairs limits the pairs, maxPairMethods the methods of each. Further calls belong to no pair, or to no method.
	maxPairs, maxPairMethods = 1 << 14, 64
	// maxTies limits the ties in memory.
	maxTies = 1 << 16
	// maxSerializations limits the serializations of layers, whose names a header of HTTP may have made up: a message is compared with all
	// layers of its stratum.
	maxSerializations = 1 << 8
)

// NewPairs returns an empty set of pairs.
func NewPairs() *Pairs {
	return &Pairs{pairs: make(map[pairKey]*Pair), ties: make([]*tie, 1<<8), strata: make(map[stratumKey]*Stratum), rest: newPair(pairKey{}), numbers: make(map[string]uint32)}
}

func newPair(key pairKey) *Pair {
	p := &Pair{Client: key.client, Server: key.server, methods: make(map[methodKey]*MethodBytes)}
	p.other.pair = p
	return p
}

// CountPairs makes the aggregator add every message to p.
func (a *Aggregator) CountPairs(p *Pairs) { a.pairs = p }

// Settle adds the final link bytes of a message.
func (t *tie) Settle(m *call.Message) {
	t.group.Settle(m)
	if m.Complete {
		t.wireBytes += m.Wire
		if t.untied {
			t.addUp()
		}
	}
}

// addUp adds what the tie counted to its pair and method.
func (t *tie) addUp() {
	m := t.method
	m.Calls += int64(t.calls)
	m.pair.Calls += int64(t.calls)
	m.WireBytes += t.wireBytes
	m.pair.WireBytes += t.wireBytes
	t.calls, t.wireBytes = 0, 0
}

// addUp adds what all ties counted to the pairs.
func (p *Pairs) addUp() {
	for _, t := range p.ties {
		if t != nil {
			t.addUp()
		}
	}
}

// tie returns the tie of the messages of a call.
func (p *Pairs) tie(g *Group, c *call.Call) *tie {
	m := firstMessage(c)
	k := tieKey{g, c.Conn.Key, m.Operation, m.GenericMethod, int8(c.Side)}
	if k.names != nil && k.names.Hash == 0 { // no other call has it
		t := p.newTie(&k, c, m)
		t.untied = true
		return t
	}
	at := p.place(&k)
	if t := *at; t != nil {
		return t
	}
	if p.tied >= maxTies {
		p.untie() // they are created again; their pairs stay
		at = p.place(&k)
	} else if 2*p.tied >= len(p.ties) {
		old := p.ties
		p.ties = make([]*tie, 2*len(old))
		for _, t := range old {
			if t != nil {
				k := t.key()
				*p.place(&k) = t
			}
		}
		at = p.place(&k)
	}
	*at = p.newTie(&k, c, m)
	p.tied++
	return *at
}

// place returns the place of a tie in the table, or the one for it.
func (p *Pairs) place(k *tieKey) **tie {
	mask := uint64(len(p.ties) - 1)
	for i := k.hash(); ; i++ {
		at := &p.ties[i&mask]
		if t := *at; t == nil || t.has(k) {
			return at
		}
	}
}

// untie empties the table of ties. Messages may still settle with them.
func (p *Pairs) untie() {
	for _, t := range p.ties {
		if t != nil {
			t.addUp()
			t.untied = true
		}
	}
	clear(p.ties)
	p.tied = 0
}

func (p *Pairs) newTie(k *tieKey, c *call.Call, m *call.Message) *tie {
	t := &tie{group: k.group, conn: k.conn, names: k.names, side: k.side}
	if k.generic != "" {
		generic := k.generic
		t.generic = &generic
	}
	name := methodKey{m.Service(), m.Method()}
	t.stratum = p.stratum(k.group, name)
	host := call.Host(c.Client())
	key := pairKey{host, c.Server()}
	pair := p.pairs[key]
	if pair == nil {
		pair = p.rest
		if len(p.pairs) < maxPairs {
			pair = newPair(key)
			p.pairs[key] = pair
		}
	}
	t.method = pair.methods[name]
	switch {
	case t.method != nil:
	case pair == p.rest || len(pair.methods) >= maxPairMethods:
		t.method = &pair.other
	default:
		t.method = &MethodBytes{Service: name.service, Method: name.method, pair: pair}
		pair.methods[name] = t.method
	}
	return t
}

// maxStrata limits the strata; further methods of a group share one.
const maxStrata = 1 << 16

// stratum returns the stratum of a method of a group. Most groups have one method, which the map does not need to have.
func (p *Pairs) stratum(g *Group, method methodKey) *Stratum {
	if s := g.Strata; s != nil && s.Next == nil && s.method == method {
		return s
	}
	s := p.strata[stratumKey{g, method}]
	switch {
	case s != nil:
		return s
	case p.made >= maxStrata && method != (methodKey{}):
		return p.stratum(g, methodKey{})
	}
	s = &Stratum{Next: g.Strata, method: method}
	s.Layers = s.first[:0]
	if only := g.Strata; only != nil {
		p.strata[stratumKey{g, only.method}] = only
		p.strata[stratumKey{g, method}] = s
	}
	p.made++
	g.Strata = s
	return s
}

// serialization returns the number of a serialization.
func (p *Pairs) serialization(name string) uint32 {
	if int(p.latest) < len(p.serializations) && p.serializations[p.latest] == name {
		return p.latest
	}
	n, ok := p.numbers[name]
	if !ok {
		if n = uint32(len(p.serializations)); n == maxSerializations {
			return n
		}
		p.serializations = append(p.serializations, name)
		p.numbers[name] = n
	}
	p.latest = n
	return n
}

// message adds a message to its layer.
func (p *Pairs) message(s *Stratum, m *call.Message) {
	if !m.Complete {
		return
	}
	kind := layerKind(bits.Len(uint(m.BodyLen)) / 2)
	if !m.Request {
		kind |= responseLayer
		if m.Failed || m.Exception {
			kind |= failedLayer
		}
	}
	at, serialization := 0, p.serialization(m.Serialization)
	for at < len(s.Layers) && (s.Layers[at].kind != kind || s.Layers[at].serialization != serialization) {
		at++
	}
	if at == len(s.Layers) {
		s.Layers = append(s.Layers, Layer{kind: kind, serialization: serialization})
	}
	l := &s.Layers[at]
	l.Body += int64(m.BodyLen)
	if m.Parts == (decode.PartBytes{}) {
		return
	}
	if l.Parts == nil {
		l.Parts = new(ClassBytes)
	}
	for i, n := range m.Parts {
		l.Parts[i] += int64(n)
	}
}

// call adds a call to its pair and returns the tie of its messages.
func (p *Pairs) call(g *Group, c *call.Call) *tie {
	t := p.tie(g, c)
	t.calls++
	if t.untied || t.calls == math.MaxUint32 {
		t.addUp()
	}
	return t
}

// Busiest returns the n pairs with most link bytes and the number of all pairs. complete is false if there were more than
// maxPairs; then another pair may be busier.
func (p *Pairs) Busiest(n int) (list []*Pair, all int, complete bool) {
	p.addUp()
	for _, pair := range p.pairs {
		list = append(list, pair)
	}
	slices.SortFunc(list, func(x, y *Pair) int {
		return cmp.Or(cmp.Compare(y.WireBytes, x.WireBytes), cmp.Compare(x.Client, y.Client), cmp.Compare(x.Server, y.Server))
	})
	return list[:min(n, len(list))], len(list), p.rest.Calls == 0
}

// BusiestOf returns the pair that exchanges most link bytes of the methods that match, these bytes, and the number of pairs that exchange
// any; nil if there are none.
func (p *Pairs) BusiestOf(match func(service, method string) bool) (busiest *Pair, bytes int64, pairs int) {
	p.addUp()
	for _, pair := range p.pairs {
		n := int64(0)
		for _, m := range pair.methods {
			if match(m.Service, m.Method) {
				n += m.WireBytes
			}
		}
		if n > 0 {
			pairs++
		}
		if n > bytes || n == bytes && n > 0 && cmp.Or(cmp.Compare(pair.Client, busiest.Client), cmp.Compare(pair.Server, busiest.Server)) < 0 {
			busiest, bytes = pair, n
		}
	}
	return busiest, bytes, pairs
}

// Top returns the method with most link bytes.
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
