package http2_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/decode/formats"
	"dubbo-wire/internal/decode/protocols"
	"dubbo-wire/internal/dev/testkit"
	"dubbo-wire/internal/pipeline"
)

// callOf keeps what is said of the calls of a stream.
type callOf struct {
	stream uint64
	said   []string
}

func (s *callOf) Frame(*pipeline.Row) {}

func (s *callOf) Call(c *call.Call, _ bool) {
	if c.Request == nil || c.Request.Exchange != s.stream {
		return
	}
	text := c.State().String() + " " + c.Aborted
	for m := c.Response; m != nil; m = m.Next {
		text += " answered"
	}
	s.said = append(s.said, text)
}

// Frames that were in flight when their stream was reset belong to no message, and change nothing in the call.
func TestClosedStreams(t *testing.T) {
	for _, test := range []struct {
		capture string
		stream  uint64 // of the frame
		bytes   int64
		said    string // of the call
	}{
		{"grpc-go-1.72.0-multiplexed", 305, 9, "ok  answered"},     // the end of the request, after the response and a reset without an error
		{"triple-protobuf-3.2.16", 155, 85, "error CANCEL"},        // the only headers of a response
		{"triple-midway-3.2.16", 353, 10, "error CANCEL answered"}, // the trailers after one message of several
	} {
		src, err := capture.Open([]string{testkit.Get(t, test.capture).Path()}, capture.Options{})
		require.NoError(t, err)
		s := callOf{stream: test.stream}
		totals, err := pipeline.Run(src, pipeline.Options{Protocols: protocols.All(), Formats: formats.All()}, &s)
		require.NoError(t, err)
		src.Close()
		if other := totals.Other["http2 closed streams"]; assert.NotNil(t, other, test.capture) {
			assert.Equal(t, test.bytes, other.Bytes, test.capture)
		}
		assert.Equal(t, []string{test.said}, s.said, test.capture)
	}
}
