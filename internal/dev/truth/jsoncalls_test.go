package truth

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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

// onResource reports whether a method is that of HTTP on a path, without matrix parameters, of which any segments may be ids.
func onResource(method, verb, path string) bool {
	got, ok := strings.CutPrefix(method, verb+" ")
	segments, want := strings.Split(got, "/"), strings.Split(path, "/")
	return ok && slices.EqualFunc(segments, want, func(a, b string) bool {
		b, _, _ = strings.Cut(b, ";")
		return a == b || a == "{id}"
	})
}

// allResourceCalls: the calls that a client of HTTP made one after the other are the calls of the capture, with their status and, where it is JSON, the text of the answer.
func allResourceCalls(t *testing.T, lines []http2Line, r *http2Run) {
	lines = slices.DeleteFunc(lines, func(l http2Line) bool { return l.Side != "consumer" })
	require.Len(t, r.calls, len(lines))
	for i := range r.calls {
		c, l := &r.calls[i], &lines[i]
		path, _, _ := strings.Cut(l.Path, "?")
		if c.Service+"/"+c.Method != path[1:] { // of an interface
			assert.Equal(t, c.Server, c.Service, "%s %s", l.Verb, l.Path)
			assert.True(t, onResource(c.Method, l.Verb, path), "%s is not %s %s", c.Method, l.Verb, path)
		}
		require.NotNil(t, c.Status, "stream %s of %s %s", c.ID, l.Verb, l.Path)
		assert.Equal(t, l.Status, *c.Status, "stream %s of %s %s", c.ID, l.Verb, l.Path)
		assert.Equal(t, l.Status >= 400, c.State == "error", "stream %s of %s %s", c.ID, l.Verb, l.Path)
		if text := fmt.Sprint(l.Result); l.Status < 400 && (strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[")) {
			got, err := json.Marshal(c.Result)
			require.NoError(t, err)
			assert.JSONEq(t, text, string(got), "stream %s of %s %s", c.ID, l.Verb, l.Path)
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
