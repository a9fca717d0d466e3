package findings

import "dubbo-wire/internal/call"

// method is what is kept of the calls of a method.
type method struct {
	service, name string
	// calls is all of them; oneWay those that want no answer, answered those that have one.
	calls, oneWay, answered int64
	request, response       direction
	longest                 int64 // latency, in nanoseconds
	errors                  int64
	failures                []failure
	uses                    []use
	looks                   [2]*look // requests, responses; nil: none was looked into
	bodies                  *bodies
	unanswered              *unanswered
	waits                   *waits
	refused                 *refused
}

// place is where something is seen.
type place struct {
	frame int64
	file  int
}

func placeOf(m *call.Message) place { return place{m.Number, m.Last.File} }

// direction is the sizes of a method's requests or responses.
type direction struct {
	count, bodyBytes, frameBytes int64 // of whole messages
	// largest is the largest body, announced or whole.
	largest   int
	at        place
	cut       bool  // it is not whole
	near      int64 // messages of at least half the payload limit, and their bytes
	nearBytes int64
	big       int64 // whole ones of at least leastBody that are no failure, and their bytes
	bigBytes  int64
}

func (d *direction) message(m *call.Message) {
	n := m.BodyLen
	if m.Complete {
		d.count++
		d.bodyBytes += int64(n)
		d.frameBytes += int64(m.FrameLen())
	}
	if n > d.largest {
		d.largest, d.at, d.cut = n, placeOf(m), !m.Complete
	}
	if n >= payloadLimit/2 {
		d.near++
		d.nearBytes += int64(n)
	}
}

// look is what was seen inside its requests (0) or responses (1).
func (m *method) look(side int) *look {
	if m.looks[side] == nil {
		m.looks[side] = new(look)
	}
	return m.looks[side]
}

// use is the calls of a method whose request is in one serialization and whose answer in one.
type use struct {
	request, response string // "": no answer
	calls, bytes      int64
	first             place // of the answer where there is one
}

// used counts a call by its serializations.
func (m *method) used(request, response *call.Message) {
	answer, bytes := "", request.FrameBytes()
	if response != nil {
		answer = response.Serialization
		bytes += response.FrameBytes()
	}
	for i := range m.uses {
		if u := &m.uses[i]; u.request == request.Serialization && u.response == answer {
			u.calls++
			u.bytes += bytes
			return
		}
	}
	if len(m.uses) >= maxUses {
		return // there are not so many serializations
	}
	at := placeOf(request)
	if response != nil {
		at = placeOf(response)
	}
	m.uses = append(m.uses, use{request: request.Serialization, response: answer, calls: 1, bytes: bytes, first: at})
}

// client is what is kept of a client's calls: a host, whatever its port.
type client struct {
	host      string
	stranger  bool // beyond the limit
	uses      []clientUse
	otherUses int64
}

// clientUse is the requests of a client that say one version of Dubbo and are in one serialization.
type clientUse struct {
	version, serialization string
	calls, bytes           int64
	first                  place
}

func (c *client) used(r *call.Message) {
	bytes := int64(r.FrameLen())
	for i := range c.uses {
		if u := &c.uses[i]; u.version == r.Operation.ProtocolVersion && u.serialization == r.Serialization {
			u.calls++
			u.bytes += bytes
			return
		}
	}
	if len(c.uses) >= maxUses {
		c.otherUses++
		return
	}
	c.uses = append(c.uses, clientUse{
		version: r.Operation.ProtocolVersion, serialization: r.Serialization, calls: 1, bytes: bytes, first: placeOf(r),
	})
}
