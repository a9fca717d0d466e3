// Package bodies turns captures into the bodies of the frames in them, each with the serialization that it is written in.
// It copies what it returns.
package bodies

import (
	"bytes"
	"io"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/dubbo"
	"dubbo-wire/internal/decode/formats"
	"dubbo-wire/internal/decode/protocols"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/rpc"
)

// A Body is a frame of which the capture has everything.
type Body struct {
	dubbo.Frame
	// Format is its serialization, nil where its id is registered to none.
	Format *decode.Format
	// Service and Method are those of the call; "" for frames that belong to none.
	Service, Method string
	// Operation is what the request of the call says, nil for frames that belong to none.
	Operation *rpc.Operation
}

// Read returns the frames of a capture in wire order.
func Read(file string) ([]*Body, error) { return read(file, nil) }

// ReadFrom is Read for a capture that comes from r.
func ReadFrom(r io.Reader) ([]*Body, error) { return read("-", r) }

func read(file string, r io.Reader) ([]*Body, error) {
	src, err := capture.Open([]string{file}, capture.Options{Stdin: r})
	if err != nil {
		return nil, err
	}
	defer src.Close()
	c := &collector{requests: map[key]*rpc.Operation{}}
	// Only whole frames come whole to a sink that sees all of a message.
	_, err = pipeline.Run(src, pipeline.Options{Detail: dubbo.Values, Rows: true, Jobs: 1, Protocols: protocols.All(), Formats: formats.All()}, c)
	return c.all, err
}

// key is what a response has in common with its request.
type key struct {
	conn *call.Conn
	side int // of the consumer
	id   uint64
}

type collector struct {
	all      []*Body
	requests map[key]*rpc.Operation
}

func (c *collector) Frame(r *pipeline.Row) {
	if !r.Msg.Protocol.Numbered {
		return // its bodies have other fields around the values
	}
	f := dubbo.FrameOf(r.Msg)
	if len(f.Body) != f.BodyLen {
		return
	}
	b := &Body{Frame: f, Format: r.Msg.Format}
	b.Body = bytes.Clone(f.Body)
	k := key{r.Conn, r.Side, uint64(f.ID)}
	switch r.Msg.Kind {
	case dubbo.Request:
		c.requests[k] = r.Msg.Operation
	case dubbo.Response:
		k.side = 1 - k.side
	}
	if n := c.requests[k]; n != nil && r.Msg.Kind <= dubbo.Response {
		b.Service, b.Method, b.Operation = n.Service, n.Method, n
	}
	c.all = append(c.all, b)
}

func (c *collector) Call(*call.Call, bool) {}
