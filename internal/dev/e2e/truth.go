package e2e

import (
	"fmt"

	"dubbo-wire/internal/dev/truth/javalog"
)

// Key identifies a group of calls.
type Key struct {
	SerializationID int
	Service, Method string
}

// Sizes are body sizes in bytes.
type Sizes struct{ Count, Total, Min, Max int64 }

func (s *Sizes) add(n int64) { s.join(&Sizes{1, n, n, n}) }

func (s *Sizes) join(o *Sizes) {
	if o.Count == 0 {
		return
	}
	if s.Count == 0 || o.Min < s.Min {
		s.Min = o.Min
	}
	s.Max = max(s.Max, o.Max)
	s.Count += o.Count
	s.Total += o.Total
}

// Group holds the numbers of the calls of a Key.
type Group struct {
	Calls, OneWay, Errors, Exceptions, Unanswered int64
	Request, Response                             Sizes
}

// Truth holds what the peers sent, according to their own log.
type Truth struct {
	Groups map[Key]*Group
	// Frames counts the frames sent, by the text that Header returns.
	Frames                   map[string]int
	Sent, Heartbeats, Events int64
	RequestsWithoutResponse  int64
	BodyBytes, Connections   int64
	requests                 map[call]*javalog.Frame
	answers                  map[call]*javalog.Frame
	connections              map[[2]string]bool
	duplicates               int
	order                    []call
}

// call is the client, the server and the id of a request.
type call struct{ client, server, id string }

// Header returns the addresses and the header fields of a frame as text.
func Header(src, dst, kind, id string, serialization, status, body int) string {
	return fmt.Sprintf("%s > %s %s %s serialization %d status %d body %d", src, dst, kind, id, serialization, status, body)
}

// Truth returns what the peers have sent since it was last called.
func (b *Bed) Truth(peers ...*Peer) (*Truth, error) {
	t := &Truth{
		Groups: map[Key]*Group{}, Frames: map[string]int{}, requests: map[call]*javalog.Frame{}, answers: map[call]*javalog.Frame{},
		connections: map[[2]string]bool{},
	}
	for _, p := range peers {
		if err := newLines(p, t.frame); err != nil {
			return nil, err
		}
	}
	return t, t.groups()
}

func (t *Truth) frame(f *javalog.Frame) {
	if f.Dir != "out" {
		return
	}
	local, remote := f.Local, f.Remote
	status := f.Status
	if f.Flags&0x80 != 0 {
		status = 0
	}
	t.Frames[Header(local, remote, f.Kind, f.ID, f.SerializationID, status, f.BodyBytes)]++
	t.Sent++
	t.BodyBytes += int64(f.BodyBytes)
	if f.Side == "consumer" {
		t.connections[[2]string{local, remote}] = true
	} else {
		t.connections[[2]string{remote, local}] = true
	}
	t.Connections = int64(len(t.connections))
	switch f.Kind {
	case "request":
		c := call{local, remote, f.ID}
		if t.requests[c] != nil {
			t.duplicates++
		}
		t.requests[c] = f
		t.order = append(t.order, c)
	case "response":
		c := call{remote, local, f.ID}
		if t.answers[c] != nil {
			t.duplicates++
		}
		t.answers[c] = f
	case "heartbeat":
		t.Heartbeats++
	case "event":
		t.Events++
	}
}

func (t *Truth) groups() error {
	if t.duplicates > 0 {
		return fmt.Errorf("%d ids were used twice on a connection: calls cannot be told apart", t.duplicates)
	}
	for c := range t.answers {
		if t.requests[c] == nil {
			return fmt.Errorf("nobody has logged the request of %v", c)
		}
	}
	for _, c := range t.order {
		q, a := t.requests[c], t.answers[c]
		k := Key{SerializationID: q.SerializationID, Service: *q.Service, Method: q.Method}
		g := t.Groups[k]
		if g == nil {
			g = new(Group)
			t.Groups[k] = g
		}
		g.Calls++
		g.Request.add(int64(q.BodyBytes))
		switch {
		case a != nil:
			g.Response.add(int64(a.BodyBytes))
			exception := a.Status == 20 && a.ResultKind == "exception"
			if exception {
				g.Exceptions++
			}
			if exception || a.Status != 20 { // as docs/counting.md has it
				g.Errors++
			}
		case q.TwoWay:
			g.Unanswered++
			t.RequestsWithoutResponse++
		}
		if !q.TwoWay {
			g.OneWay++
		}
	}
	return nil
}
