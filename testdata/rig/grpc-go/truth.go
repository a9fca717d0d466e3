package main

import (
	"encoding/json"
	"io"
	"os"
	"sync"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// truthLog is the file with a JSON object a line.
type truthLog struct {
	mu   sync.Mutex
	side string
	out  io.Writer
}

func openTruth(side, file string) (*truthLog, error) {
	out, err := os.Create(file)
	return &truthLog{side: side, out: out}, err
}

func (l *truthLog) line(v any) {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, err := l.out.Write(append(b, '\n')); err != nil {
		panic(err)
	}
}

// call is the line of a call, as the Java side writes it.
type call struct {
	Side        string            `json:"side"`
	Kind        string            `json:"kind"`
	Protocol    string            `json:"protocol"`
	Provider    string            `json:"provider"`
	Service     string            `json:"service"`
	Method      string            `json:"method"`
	Streaming   bool              `json:"streaming"`
	Arguments   []any             `json:"arguments"`
	Attachments map[string]any    `json:"attachments"`
	Status      codes.Code        `json:"status"`
	ResultKind  string            `json:"resultKind"`
	Result      []any             `json:"result"`
	Exception   map[string]string `json:"exception,omitempty"`

	mu    sync.Mutex
	ended bool
	log   *truthLog
}

func (l *truthLog) call(provider, method string, md metadata.MD) *call {
	c := &call{
		Side: l.side, Kind: "call", Protocol: "grpc", Provider: provider, Service: serviceName, Method: method, Streaming: true,
		Arguments: []any{}, Result: []any{}, Attachments: map[string]any{}, log: l,
	}
	for k, v := range md {
		if len(k) > 4 && k[len(k)-4:] == "-bin" {
			c.Attachments[k] = map[string]any{"@bytes": []byte(v[0])}
		} else {
			c.Attachments[k] = v[0]
		}
	}
	return c
}

// value is a message in the form that the Java side gives it.
func value(m any) any {
	text := m.(*wrapperspb.StringValue).GetValue()
	fields := []any{}
	if text != "" {
		fields = append(fields, map[string]any{"number": 1, "name": "value", "type": "string", "value": text})
	}
	return map[string]any{"@class": "google.protobuf.StringValue", "@fields": fields}
}

func (c *call) request(m any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.Arguments = append(c.Arguments, value(m))
}

func (c *call) response(m any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.Result = append(c.Result, value(m))
}

func (c *call) end(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return
	}
	c.ended = true
	c.Status, c.ResultKind = status.Code(err), "value"
	if err != nil {
		c.ResultKind, c.Exception = "exception", map[string]string{"message": status.Convert(err).Message()}
	}
	c.log.line(c)
}
