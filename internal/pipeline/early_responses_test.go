package pipeline

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// A connection joined in the middle of a request: what stands after it is searched and found late, after its answers.
// They still pair.
func TestAnswersBeforeRequestsThatAreHeld(t *testing.T) {
	s := &script{}
	rest := append([]byte("the end of a body"), 'Z')
	requests := append(frame(true, 2, 30), frame(true, 3, 40)...)
	s.send(cli, srv, ack, 1, rest)
	s.send(cli, srv, ack, uint32(1+len(rest)), requests)
	at := uint32(1)
	for id := byte(1); id <= 3; id++ {
		answer := frame(false, id, 0)
		s.send(srv, cli, ack, at, answer)
		at += uint32(len(answer))
	}
	totals, out := run(t, s)
	assert.EqualValues(t, 5, totals.Frames)
	assert.Equal(t, int64(len(rest)), totals.Skipped)
	assert.ElementsMatch(t, []string{"noRequest", "ok", "ok"}, out.calls)
	assert.EqualValues(t, 1, totals.Orphans)
	assert.Zero(t, totals.Unanswered)
}
