// Package findings turns closed calls into what somebody should act on: a method near the limit of a payload, attachments
// that are the same in every call, calls that waited behind large answers. Each finding rests on numbers that the capture
// proves, and names a frame that shows it. The rules, their thresholds and how to recompute them are in docs/findings.md.
//
// A [Collector] sees every selected call once, in capture order, and keeps counters: of methods, of clients, of connections
// that carry large answers. All of them are bounded. What was seen inside of bodies it takes from the messages that were
// looked into; copies of bodies that it keeps for compression are its own from then on.
package findings

import (
	"net"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/rpc"
)

// Bounds of what is kept. What is beyond them is in no finding, and [Collector.Basis] says how many calls that are.
const (
	// maxMethods is how many methods are kept apart, maxNameBytes how many bytes their names may have, maxClients how many
	// clients.
	maxMethods, maxNameBytes, maxClients = 1 << 16, 64 << 20, 1 << 17
	// maxKnown is how many names of requests, and how many connections, are found at a glance. They are forgotten all at once
	// and found anew.
	maxKnown = 1 << 16
	// maxUses is how many pairs of serializations of a method, or of version and serialization of a client, are kept apart.
	maxUses = 128
	// recent is how many names and connections are found without a map, a power of two.
	recent = 1 << 10
)

// Collector takes calls and says what they show. It is not safe for concurrent use.
type Collector struct {
	calls, looked int64
	strangerCalls int64 // of clients beyond the limit
	nameBytes     int

	methods map[methodKey]*method
	order   []*method // as they came
	byNames map[*rpc.Operation]*method
	latest  [recent]struct {
		names  *rpc.Operation
		method *method
	}

	clients     map[string]*client
	clientOrder []*client
	conns       map[connKey]*conn
	latestConns [recent]*conn

	largeFrom  int   // bytes of a body from which on an answer is a large one
	waitFrom   int64 // nanoseconds from which on a wait counts
	large      int   // large answers that are remembered
	scratch    []wait
	labels     map[labelKey]*labelled
	pools      map[string]*exhausted
	poolOrder  []*exhausted
	bodies     int // bytes of copies
	unanswered int // times that are remembered
	// rest is the methods beyond the limit, nobody what is called by requests that were not read or not seen.
	rest, nobody method
}

type methodKey struct{ service, method string }

// connKey is one way through a connection: that of the answers to those who asked from that side.
type connKey struct {
	key  uint64
	side int
}

// conn is what is kept of the calls that one end of a connection made.
type conn struct {
	connKey
	client *client
	large  *largeAnswers
}

// New returns an empty collector.
func New() *Collector {
	return &Collector{
		largeFrom: largeAnswer, waitFrom: leastWait,
		nobody: method{service: call.Unknown, name: call.Unknown}, rest: method{service: call.Unknown, name: call.Unknown},
		methods: make(map[methodKey]*method), byNames: make(map[*rpc.Operation]*method),
		clients: make(map[string]*client), conns: make(map[connKey]*conn),
		labels: make(map[labelKey]*labelled), pools: make(map[string]*exhausted),
	}
}

// Call takes a closed call, which is borrowed; copies of bodies in it are kept.
func (k *Collector) Call(c *call.Call) {
	k.calls++
	m, from := k.method(c), k.conn(c)
	m.calls++
	if r := c.Request; r != nil {
		m.request.message(r)
		if r.Operation != nil {
			from.client.used(r)
			if from.client.stranger {
				k.strangerCalls++
			}
		}
		if r.HeaderSerialization != "" {
			k.mislabelled(c, r, m)
		}
		if r.Sampled {
			k.looked++
			m.look(0).add(r)
		}
	}
	p := c.Response
	if p == nil {
		switch {
		case c.Aborted != "":
			k.failed(c, m)
		case !c.Request.TwoWay:
			m.oneWay++
		default:
			k.noAnswer(m, c.Request)
		}
		m.used(c.Request, nil)
		return
	}
	m.answered++
	m.response.message(p)
	if ns, ok := c.Latency(); ok && ns > m.longest {
		m.longest = ns
	}
	if c.Request != nil {
		m.used(c.Request, p)
	}
	if p.HeaderSerialization != "" {
		k.mislabelled(c, p, m)
	}
	if c.Failed() {
		k.failed(c, m)
	} else if p.Complete && p.BodyLen >= leastBody {
		m.response.big++
		m.response.bigBytes += int64(p.BodyLen)
		if p.Sampled && p.Sample != nil && p.Sample.Body != nil {
			k.body(m, p)
		}
	}
	if p.Sampled {
		k.looked++
		m.look(1).add(p)
	}
	if from.large != nil {
		k.waited(c, from.large)
	}
	if p.Complete && p.BodyLen >= k.largeFrom {
		k.isLarge(from, p, m)
	}
}

// method returns the books of a call's method.
func (k *Collector) method(c *call.Call) *method {
	r := c.Request
	if r == nil || r.Operation == nil {
		return &k.nobody
	}
	n := r.Operation
	if r.GenericMethod != "" || n.Hash == 0 { // names that are not shared would all be different
		return k.named(methodKey{r.Service(), r.Method()})
	}
	at := &k.latest[n.Hash&(recent-1)]
	if at.names == n {
		return at.method
	}
	m := k.byNames[n]
	if m == nil {
		m = k.named(methodKey{n.Service, n.Method})
		if len(k.byNames) >= maxKnown {
			clear(k.byNames)
		}
		k.byNames[n] = m
	}
	at.names, at.method = n, m
	return m
}

// named returns the books of a method by its name.
func (k *Collector) named(key methodKey) *method {
	if m := k.methods[key]; m != nil {
		return m
	}
	bytes := len(key.service) + len(key.method)
	if len(k.methods) >= maxMethods || k.nameBytes+bytes > maxNameBytes {
		return &k.rest
	}
	m := &method{service: key.service, name: key.method}
	k.nameBytes += bytes
	k.methods[key] = m
	k.order = append(k.order, m)
	return m
}

// conn returns what is kept of those who asked.
func (k *Collector) conn(c *call.Call) *conn {
	key := connKey{c.Conn.Key, c.Side}
	at := &k.latestConns[(key.key*2+uint64(key.side))&(recent-1)]
	if *at != nil && (*at).connKey == key {
		return *at
	}
	found := k.conns[key]
	if found == nil {
		if len(k.conns) >= maxKnown {
			k.forgetConns()
		}
		found = &conn{connKey: key, client: k.client(c.Client())}
		k.conns[key] = found
	}
	*at = found
	return found
}

// forgetConns forgets all connections but those with large answers, as long as these are few.
func (k *Collector) forgetConns() {
	for key, c := range k.conns {
		if c.large == nil {
			delete(k.conns, key)
		}
	}
	if len(k.conns) > maxKnown/2 {
		clear(k.conns)
		k.large = 0
	}
	k.latestConns = [recent]*conn{}
}

func (k *Collector) client(address string) *client {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = address
	}
	if c := k.clients[host]; c != nil {
		return c
	}
	c := &client{host: host}
	if len(k.clients) >= maxClients {
		c.stranger = true // of this connection alone
		return c
	}
	k.clients[host] = c
	k.clientOrder = append(k.clientOrder, c)
	return c
}
