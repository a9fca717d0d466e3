package findings

import (
	"slices"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/rpc"
)

// method holds the counters of a method.
type method struct {
	service, name string
	protocol      *rpc.Protocol // nil if unknown
	// calls counts all calls, oneWay those that expect no response, answered those with a response.
	calls, oneWay, answered int64
	request, response       direction
	largestRequest          int // the size of its body, complete or not
	largestRequestAt        place
	longest                 int64          // latency, in nanoseconds
	uses                    uses           // by serialization of request and response
	samples                 [2]*bodySample // of requests and responses, nil without any
	*rare                                  // written to through rarely
	compared                int64          // requests that were compared with earlier ones
	number                  uint32         // from 1; 0: unknown
}

// rare holds the counters that most of many methods do not need.
type rare struct {
	unasked int64 // calls without a request
	// big counts the complete responses of at least leastBody without a failure.
	big, bigBytes int64
	bodies        *bodyCopies
	acceptable    acceptable
	repeated      *repeated
	unanswered    *unanswered
	waits         *waits
	refused       *refused
	retries       *retries // among those that are not in attempts any more, nil without any
}

var noneRare rare

// rarely returns the rare counters, to change them.
func (m *method) rarely() *rare {
	if m.rare == &noneRare {
		m.rare = new(rare)
	}
	return m.rare
}

// place is a frame of an input.
type place struct {
	frame int64
	file  int
}

func placeOf(m *call.Message) place { return place{m.Number, int(m.File)} }

// direction holds the sizes of the requests or responses of a method.
type direction struct {
	count, bodyBytes, frameBytes int64 // complete messages
	near                         *near // nil if no message of a method that is known is
	*extras                            // nil if no message has any
}

// near counts the messages of at least half the protocol's payload limit.
type near struct {
	messages, bytes int64
	limit           int // 0 if the protocol has none
	largest         int // the size of the largest body, complete or not
	at              place
	cut             bool // the largest body is not complete
}

// requests counts a request and those that follow it in a streaming call.
func (m *method) requests(r *call.Message) {
	m.request.messages(r)
	for ; r != nil; r = r.Next {
		if r.BodyLen > m.largestRequest {
			m.largestRequest, m.largestRequestAt = r.BodyLen, placeOf(r)
		}
	}
}

// messages counts a message and those that follow it in its direction of a streaming call.
func (d *direction) messages(m *call.Message) {
	for ; m != nil; m = m.Next {
		d.message(m)
	}
}

func (d *direction) message(m *call.Message) {
	if m.FieldsLen > 0 || m.Encoding != "" || m.Stalled > 0 || hasUncompressedHead(m) {
		d.addExtras(m)
	}
	if m.Complete {
		d.count++
		d.bodyBytes += int64(m.BodyLen)
		d.frameBytes += int64(m.FrameLen())
	}
	limit := m.Protocol.PayloadLimit
	isNear := limit > 0 && m.BodyLen >= limit/2
	if isNear && d.near == nil {
		d.near = new(near)
	}
	if n := d.near; n != nil {
		n.limit = limit
		if m.BodyLen > n.largest {
			n.largest, n.at, n.cut = m.BodyLen, placeOf(m), !m.Complete
		}
		if isNear {
			n.messages++
			n.bytes += int64(m.BodyLen)
		}
	}
}

// sample returns the sample of the requests (0) or responses (1).
func (m *method) sample(side int) *bodySample {
	if m.samples[side] == nil {
		m.samples[side] = new(bodySample)
	}
	return m.samples[side]
}

// sum adds up calls.
type sum struct {
	calls, bytes int64
	first        place // the frame with the lowest number
}

func (s *sum) add(o sum) {
	if s.calls == 0 || o.first.frame < s.first.frame {
		s.first = o.first
	}
	s.calls += o.calls
	s.bytes += o.bytes
}

// use counts the calls in a serialization with another property: the serialization of the response, "" if it has none, or the Dubbo
// version.
type use struct {
	sum
	serialization, other string
}

// uses is a list of at most maxUses uses.
type uses []use

// add counts a call, and reports whether the list has space for it.
func (u *uses) add(serialization, other string, bytes int64, at place) bool {
	i := slices.IndexFunc(*u, func(x use) bool { return x.serialization == serialization && x.other == other })
	if i < 0 {
		if i = len(*u); i >= maxUses {
			return false
		}
		*u = append(*u, use{sum{first: at}, serialization, other})
	}
	(*u)[i].calls++
	(*u)[i].bytes += bytes
	return true
}

// tally returns the calls by serialization of the request.
func (u uses) tally() tally {
	t := make(tally)
	for i := range u {
		t.add(u[i].serialization, u[i].sum)
	}
	return t
}

// addUse counts a call by the serializations of its request and response, which may be nil, if that of the request is known.
func (m *method) addUse(c *call.Call, response *call.Message) {
	request := c.Request
	if !named(request) {
		return
	}
	if request.Protocol.PlainHTTP {
		if c.Failed() {
			return // the server may not know the request's media type, and errors have others than results
		}
		if response.BodyBytes() == 0 {
			response = nil
		}
		if response == nil && request.BodyBytes() == 0 {
			return // its serialization would be that of the response
		}
	}
	if response == nil {
		m.uses.add(request.SerializationName(), "", request.FrameBytes(), placeOf(request))
		return
	}
	other := ""
	if named(response) {
		other = response.SerializationName()
	}
	m.uses.add(request.SerializationName(), other, request.FrameBytes()+response.FrameBytes(), placeOf(response))
}

// noVersion is the version of requests of protocols that do not send any.
const noVersion = "\x00"

// named reports whether a message has a serialization, be it by number.
func named(m *call.Message) bool {
	return m.Serialization != "" || m.SerializationID != rpc.NoSerialization
}

// client holds the counters of a client, which is a host with any port.
type client struct {
	host      string
	number    uint32 // from 1
	untracked bool   // beyond maxClients
	uses      uses   // by serialization and Dubbo version
	otherUses int64
}

// addUse counts a request by its serialization and Dubbo version. Those of plain HTTP have a media type for each operation, and often
// none of their own.
func (c *client) addUse(r *call.Message) {
	if !named(r) || r.Protocol.PlainHTTP {
		return
	}
	version := r.Operation.ProtocolVersion
	if version == "" && !r.Protocol.Numbered {
		version = noVersion
	}
	if !c.uses.add(r.SerializationName(), version, int64(r.FrameLen()), placeOf(r)) {
		c.otherUses++
	}
}

// asked returns the number of calls whose request expects a response.
func (m *method) asked() int64 { return m.calls - m.oneWay - m.unasked }
