package pipeline

import (
	"hash/maphash"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/rpc"
)

// Sample says how many calls are looked into: their bodies are taken apart by path, with their attachments, whatever is
// wanted of all the others.
//
// The calls are the first of each method in each lane. A lane's connections are the same for any number of jobs, so the
// calls are, too.
type Sample struct {
	// Calls of a method in a lane; 0 looks into none, [AllCalls] into all.
	Calls int
	// Bytes bounds the bodies that are looked into in a lane: to so many, and one of growth more of all bodies that passed;
	// those of one method to half of it. At least leastCalls are looked into nevertheless. 0 is no bound.
	Bytes int
	// Packets: calls in so many first packets of the capture are all looked into, so that all of a small one is; within
	// earlyBytes in a lane. It needs Calls.
	Packets int64
	// Paths asks for the bytes by path.
	Paths bool
	// Bodies asks for copies of the responses' bodies, of the first few.
	Bodies bool
}

// AllCalls are looked into.
const AllCalls = -1

func (k Sample) on() bool { return k.Calls != 0 }

// growth is how many bytes of bodies pass for each one more that is looked into.
const sampleGrowth = 256

// earlyBytes is how many bytes of bodies are looked into in a lane because they come early in the capture.
const earlySampleBytes = 4 << 20

// A method's first calls, which are looked into however large they are.
const minCalls = 1

const (
	// maxLooked is how many bytes a body may have that crosses packets and is looked into, where not all are.
	maxSampledBody = 16 << 20
	// maxCharged is how many bytes of a body count: a large one must not leave nothing for all others of its lane.
	// maxLarge bounds what larger ones have in a lane.
	maxCharged, maxLarge = 16 << 10, 16 << 20
	// maxLookedMethods bounds the methods of a lane whose calls are counted; those of others are not looked into.
	maxSampledMethods = 1 << 12
	// maxUnread is how many bodies of requests a lane keeps whole though it cannot say yet what they call.
	maxUnidentified = 1 << 10
	// maxCopied is how many bytes a copied body may have, leastCopied how many at least, and copies how many of a method's
	// are copied in a lane.
	maxCopied, minCopied, copiesPerMethod = 256 << 10, 1 << 10, 2
	// maxInside bounds the memory of what was seen in requests that wait for an answer, of all lanes.
	maxSampleMemory = 128 << 20
)

// sampler is the books of a lane about what it looked into.
type sampler struct {
	Sample
	methods      map[*rpc.Operation]*methodSample
	bytes        int // of all bodies that were looked into, of large ones as far as they are charged
	large        int // of large ones, all of their bytes
	passed       int // of all bodies
	unidentified int
	memory       int // memory of what waits for the end of its call
	anatomy      decode.Anatomist
	current      *methodSample // the books of the message that is being read, where it is looked into
}

type methodSample struct {
	calls, bytes, copied int
}

func newSampler(w *worker) *sampler {
	return &sampler{Sample: w.opt.Sample, methods: make(map[*rpc.Operation]*methodSample)}
}

// more reports whether one more call of a method is to be looked into.
func (k *sampler) needsCall(l *lane, n *rpc.Operation) bool {
	if k.Calls == AllCalls || l.now>>orderLaneBits <= uint64(k.Packets) && k.bytes < earlySampleBytes {
		return true
	}
	of := k.methods[n]
	switch {
	case of == nil:
		return n.Hash != 0 && len(k.methods) < maxSampledMethods // names that are not shared would all be different
	case of.calls < minCalls:
		return true
	case of.calls >= k.Calls:
		return false
	}
	budget := k.Bytes + k.passed/sampleGrowth
	return k.Bytes == 0 || k.bytes < budget && of.bytes < budget/2
}

// book is the books of a method; those of one that has none, because its name is not known or there are too many, are thrown
// away, and no bodies are copied of it.
func (k *sampler) method(n *rpc.Operation) *methodSample {
	of := k.methods[n]
	switch {
	case of != nil:
	case n == nil || n.Hash == 0 || len(k.methods) >= maxSampledMethods:
		of = &methodSample{copied: copiesPerMethod}
	default:
		of = new(methodSample)
		k.methods[n] = of
	}
	return of
}

// wants reports whether a whole message is to be looked into, and charges it.
func (k *sampler) wants(l *lane, d *direction, m *rpc.Message) bool {
	k.passed += m.BodyLen
	k.current = nil
	switch {
	case k.memory >= share(maxSampleMemory) || m.Kind.Control():
		return false
	case k.Calls != AllCalls && m.BodyLen > maxCharged && k.large > maxLarge:
		return false
	case m.Kind == rpc.Request:
		if k.Calls != AllCalls && (m.Operation == nil || !k.needsCall(l, m.Operation)) {
			return false
		}
		k.current = k.method(m.Operation)
		k.current.calls++
	default:
		request := l.pairer.OpenRequest(d.conn.call, int(d.side), m.Exchange)
		switch {
		case request != nil && request.Sampled:
			k.current = k.method(request.Operation)
		case k.Calls == AllCalls:
			k.current = k.method(nil)
		default:
			return false
		}
	}
	charged := min(m.BodyLen, maxCharged)
	k.current.bytes += charged
	k.bytes += charged
	if m.BodyLen > maxCharged {
		k.large += m.BodyLen
	}
	return true
}

// message looks into a message, if that was wanted.
func (k *sampler) message(m *call.Message, msg *rpc.Message) {
	of := k.current
	k.current = nil
	if of == nil || msg.Tree == nil {
		return
	}
	m.Parts, m.Sampled = msg.Parts, true
	in := &call.Sample{Attachments: k.attachments(msg)}
	if k.Paths {
		in.Paths = k.anatomy.Append(nil, msg.Tree)
	}
	if k.Bodies && msg.Kind == rpc.Response && msg.BodyLen >= minCopied && msg.BodyLen <= maxCopied && of.copied < copiesPerMethod {
		of.copied++
		in.Body = append(in.Body, msg.Body...)
	}
	m.Detail().Sample = in
	m.ErrorMessage = msg.ErrorMessage // which is not read of bodies that are only measured
	k.memory += in.Size()
}

// attachments are those of a frame with what each weighs.
func (k *sampler) attachments(msg *rpc.Message) []call.Attachment {
	var list []call.Attachment
	msg.Attachments(func(key string, value, end, bytes int) {
		a := call.Attachment{Key: key, Bytes: bytes}
		if n := &msg.Tree.Nodes[value]; n.Kind == decode.String {
			a.Value = maphash.String(seed, n.Text)
		} else {
			a.Value = hashOf(msg.Body, msg.Tree.Nodes[value:end])
		}
		list = append(list, a)
	})
	return list
}

// hashOf is a number of the bytes of nodes. Values that are equal may be written in different ways, and have different ones
// then.
func hashOf(body []byte, nodes []decode.Node) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	for i := range nodes {
		n := &nodes[i]
		_ = h.WriteByte(byte(n.Kind))
		_, _ = h.Write(body[n.Off : n.Off+n.Len])
	}
	return h.Sum64()
}

// closed gives up what was seen in the messages of a call to those who take it.
func (k *sampler) release(c *call.Call) {
	for _, m := range [2]*call.Message{c.Request, c.Response} {
		if m != nil && m.Sample != nil {
			k.memory -= m.Sample.Size()
		}
	}
}

// keeps reports whether the body of m, of which the beginning is there, is kept whole to be looked into.
func (k *sampler) keeps(l *lane, d *direction, m *rpc.Message) bool {
	switch {
	case k.Calls == AllCalls || m.Kind.Control() || m.BodyLen > maxSampledBody:
		return false
	case m.Kind == rpc.Response:
		request := l.pairer.OpenRequest(d.conn.call, int(d.side), m.Exchange)
		return request != nil && request.Sampled
	case m.Operation != nil:
		return k.needsCall(l, m.Operation)
	case k.unidentified >= maxUnidentified:
		return false
	}
	k.unidentified++
	return true
}
