// Package findings turns closed calls into findings that a user can act on: a method near the payload limit, attachments
// with the same value in every call, calls that waited after large responses. A [Collector] receives every selected call
// once, in capture order, and returns findings with their numbers and a frame that shows each. It keeps counters of methods,
// clients and connections, all bounded; calls are borrowed, and the copies of bodies in them belong to the Collector. The
// rules, their thresholds and how to recompute them are in docs/findings.md.
package findings

import (
	"hash/maphash"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/rpc"
)

// Limits of the counters. Calls beyond them are in no finding; [Collector.Basis] has their number.
const (
	// maxMethods limits the methods, maxNameBytes the bytes of their names, maxClients the clients.
	maxMethods, maxNameBytes, maxClients = 1 << 16, 64 << 20, 1 << 17
	// maxKnown limits the operations and the connections in memory. They are removed all at once and added again.
	maxKnown = 1 << 16
	// maxUses limits the uses of serializations of a method or client.
	maxUses = 128
	// recent is the size of the caches of operations and connections, a power of two.
	recent = 1 << 10
)

// Collector receives calls and returns findings. It is not safe for concurrent use.
type Collector struct {
	calls, sampled int64 // sampled: bodies
	untrackedCalls int64 // of clients beyond maxClients
	// untrackedFailures are failed calls beyond maxFailures.
	untrackedFailures int64
	nameBytes         int

	order   []*method     // in order of their first call
	methods []methodPlace // an open-addressed table of 2^n places
	byNames map[*rpc.Operation]*method
	latest  [recent]struct {
		names  *rpc.Operation
		method *method
	}

	clients     map[string]*client
	clientOrder []*client
	conns       map[connKey]*conn
	latestConns [recent]*conn

	largeFrom     int   // minimum size of a large response's body in bytes
	waitFrom      int64 // minimum wait in nanoseconds
	large         int   // large responses in memory
	waits         []wait
	mislabelled   map[labelKey]*mislabelled
	failures      map[cause]*failure
	failureOrder  []*failure // in order of their first call
	deadlines     map[clientMethod]*deadline
	deadlineOrder []*deadline // in order of their first call
	leastTimeout  int64       // of all sampled requests, in milliseconds; 0 if they have none
	// latestDeadlines is a cache of deadlines, by the numbers of client and method. There are many more of them than methods.
	latestDeadlines [8 * recent]*deadline
	attempts        attempts
	serverNumbers   map[string]uint32
	exhausted       map[string]*exhausted
	servers         []*exhausted // in order of their first call
	httpConns       []httpConn
	targets         map[targetKey]lastResponse
	bodies          int // bytes of copies
	fields          int // of all methods
	unansweredLen   int // times in memory
	// rest has the calls of methods beyond the limit, unknown those without a request or with one that does not tell its method.
	rest, unknown method
}

// methodKey is a method of a protocol: bodies of two protocols have different contents.
type methodKey struct {
	protocol        *rpc.Protocol
	service, method string
}

// connKey is a connection and the side that sent the requests.
type connKey struct {
	key  uint64
	side int
}

// conn holds the client and the large responses of a connKey.
type conn struct {
	connKey
	client *client
	large  *largeResponses
	server uint32 // its number, 0: not yet known
	listed bool   // in httpConns
}

// New returns an empty collector.
func New() *Collector {
	k := &Collector{
		largeFrom: largeResponse, waitFrom: leastWait,
		unknown: method{service: call.Unknown, name: call.Unknown, rare: &noneRare}, rest: method{service: call.Unknown, name: call.Unknown, rare: &noneRare},
		methods: make([]methodPlace, 1<<6), byNames: make(map[*rpc.Operation]*method),
		clients: make(map[string]*client), conns: make(map[connKey]*conn),
		targets:     make(map[targetKey]lastResponse),
		mislabelled: make(map[labelKey]*mislabelled), failures: make(map[cause]*failure), deadlines: make(map[clientMethod]*deadline), serverNumbers: make(map[string]uint32), exhausted: make(map[string]*exhausted),
	}
	k.unknown.request.near, k.unknown.response.near = new(near), new(near) // its calls may have several limits
	return k
}

// Call adds a closed call, which is borrowed. Copies of bodies in it are kept.
func (k *Collector) Call(c *call.Call) {
	k.calls++
	m, conn := k.method(c), k.conn(c)
	m.calls++
	if c.Request == nil {
		m.rarely().unasked++
	}
	if r := c.Request; r != nil {
		m.requests(r)
		if r.Operation != nil {
			conn.client.addUse(r)
			if conn.client.untracked {
				k.untrackedCalls++
			}
		}
		k.addMessages(c, r, m, 0)
		if r.TwoWay {
			millis := k.addDeadline(c, conn, m)
			k.addAttempt(c, conn, m, millis)
		}
	}
	p := c.Response
	if p == nil || c.State() == call.NoResponse {
		switch {
		case c.Aborted != "":
			k.addFailure(c, conn, m)
		case !c.Request.TwoWay:
			m.oneWay++
		default:
			k.addUnanswered(m, c.Request)
		}
		m.addUse(c, nil)
		return
	}
	m.answered++
	m.response.messages(p)
	if c.Request != nil && p.Protocol.PlainHTTP && !conn.listed {
		k.addHTTPConn(c, conn)
	}
	if ns, ok := c.Latency(); ok && ns > m.longest {
		m.longest = ns
	}
	if c.Request != nil {
		m.addUse(c, p)
	}
	if c.Failed() {
		k.addFailure(c, conn, m)
	} else {
		k.addBig(m, c.Request, p)
		if c.Request != nil && p.Protocol.PlainHTTP {
			k.addGET(c, conn, m)
		}
	}
	k.addMessages(c, p, m, 1)
	if p.Interleaved {
		return
	}
	if conn.large != nil {
		k.addWaits(c, conn.large)
	}
	if p.Complete && p.BodyLen >= k.largeFrom {
		k.addLarge(conn, p, m)
	}
}

// addMessages adds the labels and the samples of the messages of one side of a call, of which m is the first.
func (k *Collector) addMessages(c *call.Call, m *call.Message, of *method, side int) {
	for ; m != nil; m = m.Next {
		if m.HeaderSerialization != "" {
			k.addMislabelled(c, m, of)
		}
		if m.Sampled {
			k.sampled++
			if of.number > 0 {
				of.sample(side).add(m)
				k.addFields(of.sample(side), m)
			}
		}
	}
}

// addBig counts the large messages of a successful response to q, which may be nil, of which p is the first, and keeps copies of some.
func (k *Collector) addBig(of *method, q, p *call.Message) {
	for ; p != nil; p = p.Next {
		if !p.Complete || p.BodyLen < leastBody || p.Encoding != "" {
			continue
		}
		r := of.rarely()
		r.big++
		r.bigBytes += int64(p.BodyLen)
		if q != nil && q.Sample != nil && q.Sample.HTTP != nil {
			r.acceptable.add(q.Sample.HTTP.AcceptsEncoding)
		}
		if p.Sampled && p.Sample != nil && p.Sample.Body != nil {
			k.keepBody(of, p)
		}
	}
}

// method returns the counters of a call's method.
func (k *Collector) method(c *call.Call) *method {
	r := c.Request
	if r == nil || r.Operation == nil || r.Operation.Service == call.Unknown {
		return &k.unknown
	}
	n := r.Operation
	if n.Method == call.Unknown && n.Service == call.Unknown {
		return &k.unknown
	}
	if r.GenericMethod != "" || n.Hash == 0 { // names that are not interned all have different addresses
		return k.methodByName(methodKey{r.Protocol, r.Service(), r.Method()})
	}
	at := &k.latest[n.Hash&(recent-1)]
	if at.names == n && at.method.protocol == r.Protocol {
		return at.method
	}
	m := k.byNames[n]
	if m == nil || m.protocol != r.Protocol {
		m = k.methodByName(methodKey{r.Protocol, n.Service, n.Method})
		if len(k.byNames) >= maxKnown {
			clear(k.byNames)
		}
		k.byNames[n] = m
	}
	at.names, at.method = n, m
	return m
}

// methodByName returns the counters of a method.
func (k *Collector) methodByName(key methodKey) *method {
	hash := uint32(maphash.Comparable(methodSeed, key))
	at := k.methodPlace(hash, &key)
	if at.number > 0 {
		return k.order[at.number-1]
	}
	bytes := len(key.service) + len(key.method)
	if len(k.order) >= maxMethods || k.nameBytes+bytes > maxNameBytes {
		return &k.rest
	}
	m := &method{protocol: key.protocol, service: key.service, name: key.method, rare: &noneRare, number: uint32(len(k.order) + 1)}
	k.nameBytes += bytes
	*at = methodPlace{hash, m.number}
	k.order = append(k.order, m)
	if 4*len(k.order) >= 3*len(k.methods) {
		old := k.methods
		k.methods = make([]methodPlace, 2*len(old))
		for _, p := range old {
			if p.number > 0 {
				m := k.order[p.number-1]
				*k.methodPlace(p.hash, &methodKey{m.protocol, m.service, m.name}) = p
			}
		}
	}
	return m
}

var methodSeed = maphash.MakeSeed()

// methodPlace has the hash of a method and its number, which is 0 where the place is free.
type methodPlace struct{ hash, number uint32 }

// methodPlace returns the place of a method in the table, or the one for it.
func (k *Collector) methodPlace(hash uint32, key *methodKey) *methodPlace {
	mask := uint32(len(k.methods) - 1)
	for i := hash; ; i++ {
		at := &k.methods[i&mask]
		if at.number == 0 || at.hash == hash && k.order[at.number-1].is(key) {
			return at
		}
	}
}

// is reports whether the method is that of a key.
func (m *method) is(key *methodKey) bool {
	return m.name == key.method && m.service == key.service && m.protocol == key.protocol
}

// conn returns the counters of the side of a connection that sent the request.
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

// forgetConns removes the connections without large responses, or all if too many have large responses.
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
	host := call.Host(address)
	if c := k.clients[host]; c != nil {
		return c
	}
	c := &client{host: host, number: uint32(len(k.clientOrder) + 1)}
	if len(k.clients) >= maxClients {
		c.untracked = true // belongs to this connection only
		return c
	}
	k.clients[host] = c
	k.clientOrder = append(k.clientOrder, c)
	return c
}
