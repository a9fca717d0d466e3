package pipeline

import (
	"hash/maphash"
	"strings"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/rpc"
)

// Sample selects the calls whose bodies are sampled: decoded by path, with attachments, regardless of the detail for
// other calls.
//
// The calls are the first of each method in each lane. The connections of a lane do not depend on the number of jobs,
// so neither does the sample.
type Sample struct {
	// Calls is the number per method and lane; 0 samples none, [AllCalls] all.
	Calls int
	// Bytes bounds the sampled bodies of a lane: this much, and 1/sampleGrowth of all bodies so far; one method gets
	// at most half. The first call of a method is sampled anyway. 0 means no bound.
	Bytes int
	// Packets is the number of first packets of the capture whose calls are all sampled, up to earlySampleBytes and maxSampledMethods
	// per lane, so that a small capture is sampled completely. It needs Calls.
	Packets int64
	// Paths adds the bytes by path.
	Paths bool
	// Bodies adds copies of the first few response bodies, hashes of all whole request bodies, and what heads of plain HTTP tell.
	Bodies bool
}

// AllCalls samples every call.
const AllCalls = -1

func (k Sample) on() bool { return k.Calls != 0 }

// sampleGrowth is the number of body bytes that add one byte to the budget.
const sampleGrowth = 256

// earlySampleBytes bounds the bodies of a lane that are sampled because they come early in the capture.
const earlySampleBytes = 4 << 20

const (
	// maxSampledBody is the maximum size of a sampled body that crosses packets, unless all are sampled.
	maxSampledBody = 16 << 20
	// maxCharged is the number of bytes that one body costs at most, so that a large one does not use up its lane's
	// budget. maxLarge bounds all larger bodies of a lane.
	maxCharged, maxLarge = 16 << 10, 16 << 20
	// maxSampledMethods bounds the methods of a lane that are sampled: with tens of thousands of methods decoding one call of each would
	// cost several times what measuring all calls does, and their paths most of the memory.
	maxSampledMethods = 1 << 9
	// maxUnidentified is the number of request bodies that a lane keeps whole before their operation is known.
	maxUnidentified = 1 << 10
	// maxCopied and minCopied bound the size of a copied body, copiesPerMethod the number of copies per method and
	// lane. Fewer would never be enough for the finding about compression, since one connection has one lane.
	maxCopied, minCopied, copiesPerMethod = 256 << 10, 1 << 10, 3
	// maxCauses is the number of failures of a lane whose text is read although they are not sampled, maxCauseBody the
	// maximum size of their bodies.
	maxCauses, maxCauseBody = 256, 64 << 10
	// maxClassName bounds the name of a missing class.
	maxClassName = 256
	// maxSampleMemory bounds the samples of requests that wait for a response, over all lanes.
	maxSampleMemory = 128 << 20
)

// sampler selects the bodies that a lane samples.
type sampler struct {
	Sample
	methods      map[*rpc.Operation]*methodSample
	recent       [recentSamples]recentSample // a cache of methods
	bytes        int                         // charged bytes of sampled bodies
	large        int                         // bytes of sampled bodies above maxCharged
	passed       int                         // bytes of all bodies
	unidentified int
	causes       int
	open, memory int // samples whose calls are open, and their bytes
	anatomy      decode.Anatomist
	paths        []decode.PathBytes // of the current body
	fields       []decode.FieldUse
	pathKeys     decode.KeyCache[decode.PathKey]
	fieldKeys    decode.KeyCache[string]
	uncalled     bool          // a method may have sampled responses only: the name of its request was not known in time
	current      *methodSample // of the message that is being decoded, nil if it is not sampled
	envelopes    bool          // other bodies are read up to the envelope
}

// recentSamples is the size of the cache of methods.
const recentSamples = 1 << 7

type recentSample struct {
	operation *rpc.Operation
	method    *methodSample
}

// known returns the counters of a method, nil if it has none.
func (k *sampler) known(n *rpc.Operation) *methodSample {
	if n == nil {
		return nil
	}
	at := &k.recent[n.Hash%recentSamples]
	if at.operation == n {
		return at.method
	}
	of := k.methods[n]
	if of != nil {
		*at = recentSample{n, of}
	}
	return of
}

type methodSample struct {
	calls, bytes, copied int
}

func newSampler(w *worker) *sampler {
	return &sampler{Sample: w.opt.Sample, methods: make(map[*rpc.Operation]*methodSample), envelopes: w.opt.Detail == rpc.Envelope}
}

// early reports whether all calls of the lane are sampled because the capture has just begun.
func (k *sampler) early(l *lane) bool {
	return l.now>>orderLaneBits <= uint64(k.Packets) && k.hasRoom()
}

// hasRoom reports whether the first packets of the capture have neither used up their bytes nor the methods of the lane.
func (k *sampler) hasRoom() bool {
	return k.bytes < earlySampleBytes && len(k.methods) < maxSampledMethods
}

// takesAll reports whether bodies are sampled that belong to no known method or request, too: bytes by path of a small capture
// are those of all bodies, also of those that its end completes.
func (k *sampler) takesAll(l *lane) bool {
	return k.Calls == AllCalls || k.Paths && l.lastSegment <= k.Packets && k.hasRoom()
}

// needsCall reports whether one more call of a method is to be sampled.
func (k *sampler) needsCall(l *lane, n *rpc.Operation) bool {
	if k.Calls == AllCalls || k.early(l) {
		return true
	}
	full := len(k.methods) >= maxSampledMethods
	budget := k.Bytes + k.passed/sampleGrowth
	spent := k.Bytes != 0 && k.bytes >= budget // as mostly in a large capture, where known methods need not be looked at
	if full && spent && !k.uncalled {
		return false
	}
	of := k.known(n)
	switch {
	case of == nil:
		return n.Hash != 0 && !full // operations that are not shared would all be different methods
	case spent && !k.uncalled:
		return false
	case of.calls == 0:
		return true
	}
	return !spent && of.calls < k.Calls && (k.Bytes == 0 || of.bytes < budget/2)
}

// method returns the counters of a method. Without a known name, or beyond maxSampledMethods, they are temporary, and
// no bodies are copied.
func (k *sampler) method(n *rpc.Operation) *methodSample {
	of := k.known(n)
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

// wants reports whether a whole message is to be sampled, and charges it.
func (k *sampler) wants(l *lane, d *direction, m *rpc.Message) bool {
	k.passed += m.BodyLen
	k.current = nil
	switch {
	case k.memory >= share(maxSampleMemory) || m.Kind.Control():
		return false
	case k.Calls != AllCalls && m.BodyLen > maxCharged && k.large > maxLarge:
		return false
	case m.Kind == rpc.Request:
		if !k.takesAll(l) && (m.Operation == nil || !k.needsCall(l, m.Operation)) {
			return false
		}
		k.current = k.method(m.Operation)
		k.current.calls++
	default:
		switch request := k.sampledRequest(l, d, m); {
		case request != nil:
			k.current = k.method(request.Operation)
			k.uncalled = k.uncalled || k.current.calls == 0
		case k.takesAll(l):
			k.current = k.method(nil)
		default:
			return k.wantsCause(m)
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

// sampledRequest returns the request of a response if it is open and was sampled, else nil.
func (k *sampler) sampledRequest(l *lane, d *direction, m *rpc.Message) *call.Message {
	if k.open == 0 { // as mostly in a large capture
		return nil
	}
	if request := l.pairer.OpenRequest(d.conn.call, int(d.side), m.Exchange); request != nil && request.Sampled {
		return request
	}
	return nil
}

// wantsCause reports whether the text of a failure that is not sampled is to be read, and counts it.
func (k *sampler) wantsCause(m *rpc.Message) bool {
	if !m.Failed && !m.Exception || m.BodyLen > maxCauseBody || k.causes >= maxCauses {
		return false
	}
	k.causes++
	return true
}

// message samples a message if wants selected it.
func (k *sampler) message(m *call.Message, msg *rpc.Message) {
	of := k.current
	k.current = nil
	asked := uint64(0) // a hash of what a request has in its target, besides the body
	if k.Bodies && msg.Kind == rpc.Request {
		var known bool
		if asked, known = targetHash(msg); known {
			m.BodyHash = maphash.Bytes(seed, msg.Body) + asked
		}
	}
	if msg.Tree == nil {
		return
	}
	if of == nil {
		if k.envelopes {
			m.Parts = decode.PartBytes{} // the body was decoded for the text of a failure
		}
		return
	}
	m.Sampled = true
	in := &call.Sample{Attachments: k.attachments(msg), Sent: sentFields(msg)}
	if k.Bodies {
		in.HTTP = httpSample(msg)
	}
	in.Timeout, in.TimeoutKey = msg.Timeout()
	if from, end, ok := msg.ArgumentNodes(); ok && msg.Kind == rpc.Request {
		in.Arguments = hashOf(msg.Content(), msg.Tree.Nodes[from:end]) + asked
	}
	if err := msg.Err; err != nil && err.Cause == decode.Unsupported && msg.Format != nil && msg.Format.Classes > 0 {
		in.Misfit = err.Misfit
		in.NoResultType = err.Class == "" && err.Found == decode.NoType && msg.Kind == rpc.Response
		if err.Misfit == nil && len(err.Class) <= maxClassName && decode.CanBeName(strings.TrimPrefix(err.Class, "#")) {
			in.Missing = err.Class
		}
	}
	if k.Paths || k.Bodies {
		var ok bool
		if k.fields, ok = msg.AppendFields(k.fields[:0], &k.anatomy); ok {
			in.Fields = decode.PackFields(k.fields, &k.fieldKeys)
		}
	}
	if k.Paths {
		k.paths = msg.AppendPaths(k.paths[:0], &k.anatomy)
		in.Paths = decode.PackPaths(k.paths, &k.pathKeys)
	}
	if k.Bodies && msg.Kind == rpc.Response && msg.Encoding == "" && msg.BodyLen >= minCopied && msg.BodyLen <= maxCopied && of.copied < copiesPerMethod {
		of.copied++
		in.Body = append(in.Body, msg.Body...)
	}
	m.Detail().Sample = in
	k.open++
	k.memory += in.Size()
}

// attachments returns the attachments of a message with their bytes, those of headers first.
func (k *sampler) attachments(msg *rpc.Message) []call.Attachment {
	var list []call.Attachment
	for i := range msg.Headers {
		if h := &msg.Headers[i]; h.Key != "" && !h.Unknown {
			list = append(list, call.Attachment{Key: h.Key, Value: maphash.String(seed, h.Value), Bytes: int(h.Len), InHeader: true})
		}
	}
	msg.Attachments(func(key string, value, end, bytes int) {
		a := call.Attachment{Key: key, Bytes: bytes}
		if msg.Encoding != "" {
			a.Bytes = 0 // only the whole body has a size
		}
		switch n := &msg.Tree.Nodes[value]; n.Kind {
		case decode.String:
			a.Value = maphash.String(seed, n.String())
		case decode.Bool, decode.Int: // the class of an Integer may be a reference in one body and not in another
			a.Value = maphash.Comparable(seed, n.Num)
		default:
			a.Value = hashOf(msg.Content(), msg.Tree.Nodes[value:end])
		}
		list = append(list, a)
	})
	return list
}

// maxReference is the length of the longest reference to an entry of a table of header fields.
const maxReference = 5

// sentFields returns the fields of a message's header that were sent in full.
func sentFields(msg *rpc.Message) (list []call.SentField) {
	for i := range msg.Headers {
		if h := &msg.Headers[i]; h.Len > 0 && (h.Entry == 0 || h.Len > maxReference) && h.Name != "" {
			list = append(list, call.SentField{Name: h.Name, Bytes: int(h.Len)})
		}
	}
	return list
}

// hashOf hashes the bytes of nodes. Equal values in different encodings have different hashes.
func hashOf(body []byte, nodes []decode.Node) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	var space [256]byte
	b := space[:0] // what is not in the hash yet: most nodes are short
	for i := range nodes {
		n := &nodes[i]
		if len(b)+1+int(n.Len) > len(space) {
			_, _ = h.Write(b)
			b = space[:0]
		}
		b = append(b, byte(n.Kind))
		if own := body[n.Off : n.Off+n.Len]; len(own) < len(space) {
			b = append(b, own...)
		} else {
			_, _ = h.Write(b)
			_, _ = h.Write(own)
			b = space[:0]
		}
	}
	_, _ = h.Write(b)
	return h.Sum64()
}

// release passes the samples of a closed call to its receiver.
func (k *sampler) release(c *call.Call) {
	for _, m := range [2]*call.Message{c.Request, c.Response} {
		for ; m != nil; m = m.Next {
			if m.Sample != nil {
				k.open--
				k.memory -= m.Sample.Size()
			}
		}
	}
}

// keeps reports whether the body of m, of which the start is known, is kept whole for sampling.
func (k *sampler) keeps(l *lane, d *direction, m *rpc.Message) bool {
	switch {
	case k.Calls == AllCalls || m.Kind.Control() || m.BodyLen > maxSampledBody:
		return false
	case k.takesAll(l):
		return true
	case m.Kind == rpc.Response:
		return k.sampledRequest(l, d, m) != nil || m.Failed && m.BodyLen <= maxCauseBody && k.causes < maxCauses
	case m.Operation != nil:
		return k.needsCall(l, m.Operation)
	case k.unidentified >= maxUnidentified:
		return false
	}
	k.unidentified++
	return true
}
