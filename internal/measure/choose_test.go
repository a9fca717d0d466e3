package measure

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/exit"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/rpc"
)

// A frame that matches only after more bodies have come than are kept is named, and not explained as if it were damaged.
func TestExplainBodyNotKept(t *testing.T) {
	row := func(n int64) *pipeline.Row {
		return &pipeline.Row{Number: n, Msg: &rpc.Message{Summary: rpc.Summary{Kind: rpc.Request, BodyLen: 6}, Body: []byte("\x052.0.2"), Captured: 6}}
	}
	c := &FrameChoice{room: 10, kept: map[int64]*keptFrame{}}
	first, second := c.keep(row(1)), c.keep(row(2))
	assert.False(t, first.dropped)
	require.True(t, second.dropped)
	c.found = second
	var out bytes.Buffer
	_, _, err := c.Chosen(&Input{}, nil, nil)
	require.Error(t, err)
	assert.Equal(t, exit.Nothing, exit.Report(err, &out))
	assert.Contains(t, out.String(), "explain it by its number: --frame 2")

	c.kept[1] = first
	c.drop(1)
	assert.False(t, c.keep(row(3)).dropped, "room is given back")
}
