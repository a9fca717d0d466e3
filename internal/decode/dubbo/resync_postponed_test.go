package dubbo

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// A chain that reaches a gap before anybody knows whether bodies hold frames is handed on once that is known, in order, with
// the frame that the gap is in.
func TestPostponedSearch(t *testing.T) {
	early := []any{30, join([]byte("rest"), request(1, 40), request(2, 40), request(3, 90)[:60]), 60}
	for name, c := range map[string]struct {
		pieces []any
		lines  []string
	}{
		"known in the end": {
			append(early, request(4, 99)[14:], request(5, 50), request(6, 40), request(7, 30)),
			[]string{
				"request 1 body 40 found by search", "request 2 body 40",
				"request 3 body 90 captured 44 missing at 44 lost",
				"request 5 body 50 found by search", "request 6 body 40", "request 7 body 30",
			},
		},
		"never known":    {append(early, request(4, 99)[14:]), nil},
		"they hold some": {append(early, holding(4, 7, 8)[30:], request(5, 50), holding(6, 8, 9), request(7, 30), request(8, 30)), []string{"request 6 body 139 found by search", "request 7 body 30", "request 8 body 30"}},
	} {
		t.Run(name, func(t *testing.T) {
			var n notes
			packets(NewFramer(&Config{Recognizer: recognizer}, &n, true), c.pieces...)
			assert.Equal(t, c.lines, n.lines)
			assert.Equal(t, captured(c.pieces), n.framed+n.skipped)
		})
	}
}
