package madeup

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/decode/formats"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/redact"
	"dubbo-wire/internal/rpc"
)

// redacted returns the bytes of a redacted capture of a talk.
func redacted(t *testing.T, talk []packet) []byte {
	file, err := os.Create(filepath.Join(t.TempDir(), "out.pcapng"))
	require.NoError(t, err)
	defer file.Close()
	src := source(t, talk)
	r := redact.New(redact.Options{File: file, Protocols: known(), Formats: formats.All(), Key: [32]byte{1}, Origin: src.Origin, Ended: src.Ended})
	_, err = pipeline.Run(src, pipeline.Options{
		Protocols: known(), Formats: formats.All(), Detail: rpc.Values, Rows: true, WholeBodies: true, Tap: r,
	}, r)
	require.NoError(t, err)
	_, err = r.Close()
	require.NoError(t, err)
	b, err := os.ReadFile(file.Name())
	require.NoError(t, err)
	return b
}

// A redacted copy has the same messages and calls without the values, also if a stream's first message ends within the first
// bytes, by which the protocol is recognised.
func TestRedact(t *testing.T) {
	talk := []packet{
		{0, []byte(greeting)},
		{1, []byte(greeting)},
		{0, piece(askPiece, 1, opening(true, 0, "head", 1), []byte("x"))},
		{1, piece(answerPiece, 1, opening(true, 0, "", 5000))},
		{0, piece(askPiece, 2, opening(true, 0, "get", 14), []byte("what is hidden"))},
		{1, piece(answerPiece, 2, opening(true, 7, "", 12), []byte("secret value"))},
		{0, piece(askPiece, 3, opening(true, 0, "get", 3), []byte("lag"))},
	}
	var bytewise []packet
	for _, p := range talk {
		for i := range p.data {
			bytewise = append(bytewise, packet{p.side, p.data[i : i+1]})
		}
	}
	joined := []packet{{0, append([]byte(greeting), talk[2].data...)}, {1, append([]byte(greeting), talk[3].data...)}}
	for _, talk := range [][]packet{talk, bytewise, append(joined, talk[4:]...)} {
		copied := redacted(t, talk)
		for _, value := range []string{"hidden", "secret", "lag"} {
			assert.NotContains(t, string(copied), value)
		}
		src, err := capture.Open([]string{"-"}, capture.Options{Stdin: bytes.NewReader(copied)})
		require.NoError(t, err)
		defer src.Close()
		want := outlineOf(t, source(t, talk))
		assert.Len(t, want.frames, 5)
		assert.Len(t, want.calls, 5)
		assert.Equal(t, want, outlineOf(t, src))
	}
}

// outline is what a redacted copy must not change.
type outline struct {
	frames, calls []string
	totals        string
}

func (o *outline) Frame(r *pipeline.Row) {
	m := r.Msg
	o.frames = append(o.frames, fmt.Sprint(r.Number, r.Side, m.Kind, m.Exchange, m.Status, m.Complete, m.Span, m.Wire, m.FirstTime, m.LastByte, string(m.Head)))
}

func (o *outline) Call(c *call.Call, _ bool) {
	o.calls = append(o.calls, fmt.Sprint(c.State(), c.Request.Operation.Method, c.Request.Number))
	if c.Response != nil {
		o.calls = append(o.calls, fmt.Sprint(c.Response.Number, c.Response.StatusName()))
	}
}

// outlineOf returns the outline of a capture.
func outlineOf(t *testing.T, src capture.Source) *outline {
	o := new(outline)
	totals, err := pipeline.Run(src, pipeline.Options{Protocols: known(), Formats: formats.All(), Rows: true}, o)
	require.NoError(t, err)
	o.totals = fmt.Sprint(totals.Frames, totals.FrameBytes, totals.RPCBytes, totals.Calls, totals.Errors, totals.Unanswered, totals.Skipped, totals.Protocols, totals.OtherBytes())
	return o
}

// A message in several pieces becomes filler, and so do pings and resets.
func TestRedactPieces(t *testing.T) {
	copied := string(redacted(t, talk))
	for _, value := range []string{"01234", "56789", "second", "enough", "rrrr", "lag"} {
		assert.NotContains(t, copied, value)
	}
}
