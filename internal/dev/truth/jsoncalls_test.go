package truth

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// allJSONCalls compares calls with the lines of an HTTP client, which have the text of the answer, or its status. The bytes of
// messages are compared with those that the provider logged.
func allJSONCalls(t *testing.T, lines []http2Line, r *http2Run) {
	clients := byMethod(lines, "consumer")
	for i := range r.calls {
		c := &r.calls[i]
		assert.Equal(t, "json", c.Serialization, "stream %s", c.ID)
		assert.Nil(t, take(c, clients, sameAnswer), "stream %s of %s/%s: no line of the log is equal", c.ID, c.Service, c.Method)
	}
	for name, all := range clients {
		for i := range all.lines {
			assert.True(t, all.taken[i], "no call of %s is %s", name, short(all.lines[i].Arguments))
		}
	}
}

// sameAnswer returns how the answer of a call differs from what the client got.
func sameAnswer(c *http2Call, l *http2Line) string {
	if l.Exception != nil {
		status, _, _ := strings.Cut(*l.Exception.Message, " ")
		if c.State != "error" || c.Status == nil || fmt.Sprint(*c.Status) != status {
			return fmt.Sprintf("%s %v instead of %s", c.State, c.Status, status)
		}
		return ""
	}
	var want any
	d := json.NewDecoder(strings.NewReader(fmt.Sprint(l.Result)))
	d.UseNumber()
	if err := d.Decode(&want); err != nil {
		want = l.Result // a plain text
	}
	if !assert.ObjectsAreEqual(want, c.Result) || c.State != "ok" || len(c.Arguments) != len(l.Arguments) {
		return fmt.Sprintf("%s %s for %d arguments instead of %s for %d", c.State, short(c.Result), len(c.Arguments), short(want), len(l.Arguments))
	}
	return ""
}
