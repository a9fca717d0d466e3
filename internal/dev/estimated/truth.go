// Package estimated compares estimates with what Dubbo wrote: the calls of a capture, encoded again in each serialization of its release,
// against the captures of the same calls in these serializations. What calls are the same, and what their bodies weigh, Java has
// logged; this package takes neither from the captures.
package estimated

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/klauspost/compress/zstd"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/decode/classpath"
	"dubbo-wire/internal/decode/formats"
	"dubbo-wire/internal/decode/protocols"
	"dubbo-wire/internal/dev/truth/javalog"
	"dubbo-wire/internal/estimate"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/rpc"
)

// Body is a body that Java logged when it sent it.
type Body struct {
	ID       string // of the exchange
	Method   string
	Response bool
	// Key is the same for the same message in captures of the same calls: its values as Java logged them, and how often they were sent before.
	Key    string
	Bytes  int
	SHA256 string // its first 8 bytes, hexadecimal
}

type line struct {
	Side, Dir, Kind, ID, Method, BodySha256 string
	Event                                   bool
	BodyBytes, Status                       int
	ParameterTypes                          []string
	Service, Version                        *string
	Arguments, Attachments, Result          json.RawMessage
	ResultKind                              string
	Exception                               json.RawMessage
}

// Logged returns the bodies of requests and of responses with a result, by exchange and kind.
func Logged(path string) (map[string]Body, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := zstd.NewReader(f)
	if err != nil {
		return nil, err
	}
	defer z.Close()
	bodies, seen, requests, twice := map[string]Body{}, map[string]int{}, map[string]line{}, map[string]bool{}
	add := func(l *line, response bool, key string) {
		seen[key]++
		b := Body{ID: l.ID, Method: requests[l.ID].Method, Response: response, Key: fmt.Sprintf("%s #%d", key, seen[key]), Bytes: l.BodyBytes, SHA256: l.BodySha256}
		k := place(l.ID, response)
		if _, again := bodies[k]; again { // two connections with the same numbers
			twice[k] = true
		}
		bodies[k] = b
	}
	err = javalog.Read(z, func(l *line) {
		switch {
		case l.Dir != "out" || l.Event || l.BodySha256 == "":
		case l.Kind == "request":
			key := fmt.Sprintf("request %s %v %s %s", l.Method, l.ParameterTypes, l.Arguments, l.Attachments)
			requests[l.ID] = line{Method: l.Method, ParameterTypes: l.ParameterTypes}
			add(l, false, key)
		case l.Kind == "response" && l.Status == 20 && len(l.Exception) == 0:
			of := requests[l.ID]
			add(l, true, fmt.Sprintf("response %s%v %s %s", of.Method, of.ParameterTypes, l.Result, l.Attachments))
		}
	})
	for k := range twice {
		delete(bodies, k)
	}
	return bodies, err
}

func place(id string, response bool) string {
	if response {
		return "response " + id
	}
	return "request " + id
}

// Message is a message of a capture as the Java side takes it.
type Message struct {
	Place  string // that of its body among those logged
	Record estimate.Record
	Cause  string // why it cannot be sent
}

// Messages returns the requests and responses of a capture, decoded with the class files at paths, the list of registered classes, if there is one, and .proto files.
func Messages(file, list string, protos []string, paths ...string) ([]Message, error) {
	src, err := capture.Open([]string{file}, capture.Options{})
	if err != nil {
		return nil, err
	}
	defer src.Close()
	options := classpath.Options{Paths: paths, Protos: protos}
	if list != "" {
		options.Lists = []string{list}
	}
	p, err := classpath.Open(options)
	if err != nil {
		return nil, err
	}
	s := &sink{requests: map[string]*rpc.Operation{}}
	_, err = pipeline.Run(src, pipeline.Options{
		Protocols: protocols.All(), Formats: formats.With(p), Detail: rpc.Values, Rows: true,
	}, s)
	if err == io.EOF {
		err = nil
	}
	return s.messages, err
}

type sink struct {
	messages []Message
	requests map[string]*rpc.Operation
}

func (s *sink) Frame(r *pipeline.Row) {
	m := r.Msg
	if m.Kind.Control() {
		return
	}
	conn := fmt.Sprint(r.Conn.Number, " ", m.ID())
	response := m.Kind == rpc.Response
	if !response {
		s.requests[conn] = m.Operation
	}
	values, cause := estimate.AppendValues(nil, m)
	s.messages = append(s.messages, Message{
		Place: place(m.ID(), response), Cause: cause,
		Record: estimate.Record{ID: r.Number, Response: response, Operation: s.requests[conn], ResultKind: m.ResultKind, Values: values},
	})
}

func (s *sink) Call(*call.Call, bool) {}
