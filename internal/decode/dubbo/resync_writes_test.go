package dubbo

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// packets delivers pieces as feed does, each as a packet.
func packets(f *Framer, pieces ...any) {
	pos := int64(0)
	for i, p := range pieces {
		c := &Chunk{Origin: Origin{Time: int64(i), Packet: int64(i + 1)}, Pos: pos, Overhead: 66}
		switch p := p.(type) {
		case []byte:
			f.Data(p, c)
			pos += int64(len(p))
		case int:
			f.Gap(int64(p), 0, c)
			pos += int64(p)
		}
	}
	f.End()
}

// holding is a request whose body holds whole requests, and something after them.
func holding(id int64, ids ...int64) []byte {
	inner := []byte("\x052.0.2\x01s\x050.0.0\x01a\x00")
	for _, id := range ids {
		inner = append(inner, request(id, 40)...)
	}
	b := request(id, len(inner)+10)
	copy(b[HeaderLen:], inner)
	return b
}

// A direction of which nothing is known, because its first header was lost or nobody saw it begin, may be one whose
// bodies hold frames. What the capture lacks or begins with there must not make frames of them; what a sender wrote is told
// by where packets start.
func TestBeginnings(t *testing.T) {
	nest := holding(1, 7, 8, 9, 10)
	for name, c := range map[string]struct {
		joined bool
		pieces []any
		lines  []string
	}{
		"joined at a frame that holds some": {true, []any{nest[:100], nest[100:], request(2, 30)}, []string{
			"request 1 body 251 found by search", "request 2 body 30",
		}},
		"and a part of it is lost": {true, []any{nest[:100], 80, nest[180:], request(2, 30)}, []string{
			"request 1 body 251 captured 171 missing at 84 lost found by search", "request 2 body 30",
		}},
		"joined inside of it, up to the next loss": {true, []any{nest[36:200], 50}, nil},
		"its header is lost":                       {false, []any{30, nest[30:200], 50}, nil},
		"its header is lost, and no more":          {false, []any{30, nest[30:260]}, nil},
		"frames that begin packets": {false, []any{30, request(1, 99)[30:], request(2, 50), request(3, 40), request(4, 30), 5}, []string{
			"request 2 body 50 found by search", "request 3 body 40", "request 4 body 30",
		}},
		"those of a body do not": {false, []any{30, join(nest[30:60]), nest[60:80], nest[80:150], nest[150:170], nest[170:200], 50}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var n notes
			packets(NewFramer(&Config{Recognizer: recognizer}, &n, !c.joined), c.pieces...)
			assert.Equal(t, c.lines, n.lines)
			assert.Equal(t, captured(c.pieces), n.framed+n.skipped)
		})
	}
}

// On a short connection a later body tells that bodies hold frames.
func TestLateNesting(t *testing.T) {
	for late := int64(1); late < firstInspected; late++ {
		var pieces []any
		for id := int64(1); id <= late; id++ {
			pieces = append(pieces, request(id, 30))
		}
		var n notes
		f := NewFramer(&Config{Recognizer: recognizer}, &n, true)
		packets(f, append(pieces, holding(late+1, late+5, late+6))...)
		assert.Equal(t, nests, f.resync.nesting, "after %d", late)
	}
}

// The first bodies are inspected once, then one in sixteen, however many come.
func TestInspectedBodies(t *testing.T) {
	r := resynchronizer{nesting: notNesting}
	inspected := []int{}
	for i := 1; i <= 1000; i++ {
		if r.beginBody(); r.inspecting && i > firstInspected {
			inspected = append(inspected, i)
		}
	}
	assert.Len(t, inspected, 1000/16-1)
}

// Answers speak for requests whose direction is not known to hold none inside bodies when there are several.
func TestAnswersToTheUnknown(t *testing.T) {
	for _, answered := range []int{minAnswers - 1, minAnswers} {
		var n notes
		f := NewFramer(&Config{Recognizer: recognizer}, &n, true)
		f.Gap(30, 0, &Chunk{})
		b := []byte("rest of a body")
		for id := range int64(6) {
			b = append(b, request(id, 40)...)
		}
		f.Data(b, &Chunk{Pos: 30})
		for id := range answered {
			f.Answered(int64(id))
			f.Answered(int64(id)) // the same again says nothing
			f.Settle()
		}
		if answered < minAnswers {
			assert.Empty(t, n.lines)
		} else {
			assert.Len(t, n.lines, 6, "and what stands after them")
		}
	}
}

// A peer that answers the same request again, when nobody remembers the first answer, changes nothing.
func TestAnsweredAgain(t *testing.T) {
	var n notes
	f := NewFramer(&Config{Recognizer: recognizer}, &n, true)
	packets := [][]byte{request(1, 8), join(request(3, 40), request(4, 40), request(5, 40))}
	f.Data(packets[0], &Chunk{})
	f.Gap(30, 0, &Chunk{Pos: 24})
	f.Data(packets[1], &Chunk{Pos: 54})
	for range 3 {
		f.Answered(3) // and no Settle
	}
	assert.Equal(t, []string{"request 1 body 8", "request 3 body 40 found by search"}, n.lines)
	assert.False(t, f.Asks(3))
	assert.True(t, f.Asks(5))
	f.Answered(5)
	f.Answered(4)
	f.End()
	assert.Len(t, n.lines, 4)
	assert.Equal(t, int64(24+3*56), n.framed+n.skipped)
}
