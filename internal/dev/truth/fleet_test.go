package truth

import (
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/decode/formats"
	"dubbo-wire/internal/decode/protocols"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/sizes"
)

// grouped is what a group of calls adds up to.
type grouped struct{ calls, requestBytes, responses, responseBytes int64 }

type groupSink struct{ agg *sizes.Aggregator }

func (groupSink) Frame(*pipeline.Row)         {}
func (s groupSink) Call(c *call.Call, _ bool) { s.agg.Call(c) }

// Many applications of all generations in one capture: who called what, in which release and serialization, and what it
// was answered in, is what their logs add up to.
func TestFleet(t *testing.T) {
	for _, p := range allCaptures(t) {
		if !strings.HasPrefix(p.Name, "fleet") && !strings.HasPrefix(p.Name, "mixed") {
			continue
		}
		t.Run(p.Name, func(t *testing.T) {
			sent, _, _, _ := readTruth(t, p.Truth)
			want := loggedGroups(sent)
			got := measuredGroups(t, p.File)
			assert.Equal(t, want, got)
			assert.Greater(t, len(want), 20, "groups")
		})
	}
}

// loggedGroups adds the senders' logs up.
func loggedGroups(sent map[way][]logged) map[string]grouped {
	groups := map[string]grouped{}
	for w, log := range sent {
		answers := map[string][]*logged{}
		for back, i := sent[way{w.dst, w.src}], 0; i < len(back); i++ {
			if l := &back[i]; l.Kind == "response" {
				answers[l.ID] = append(answers[l.ID], l)
			}
		}
		host, _, _ := net.SplitHostPort(w.src)
		for i := range log {
			l := &log[i]
			if l.Kind != "request" {
				continue
			}
			answer := 0
			var a *logged
			if queue := answers[l.ID]; l.TwoWay && len(queue) > 0 {
				a, answers[l.ID] = queue[0], queue[1:]
				answer = a.SerializationID
			}
			method := l.Method
			if strings.HasPrefix(method, "$invoke") {
				method, _ = l.Arguments[0].(string)
			}
			version, name := l.DubboVersion, text(l.Service)+"/"+method
			if l.SerializationID == 31 { // users' own: nobody can read who is called
				version, name = "?", "?/?"
			}
			key := fmt.Sprint(host, " ", version, " ", l.SerializationID, " ", answer, " ", name)
			g := groups[key]
			g.calls++
			g.requestBytes += int64(l.BodyBytes)
			if a != nil {
				g.responses++
				g.responseBytes += int64(a.BodyBytes)
			}
			groups[key] = g
		}
	}
	return groups
}

// measuredGroups is the same from the capture.
func measuredGroups(t *testing.T, file string) map[string]grouped {
	by, err := sizes.ParseBy("client,dubboVersion,serialization,responseSerialization,service,method")
	require.NoError(t, err)
	src, err := capture.Open([]string{filepath.Join(captures, file)}, capture.Options{})
	require.NoError(t, err)
	defer src.Close()
	agg := sizes.New(by, 0, []string{file})
	_, err = pipeline.Run(src, pipeline.Options{Protocols: protocols.All(), Formats: formats.All()}, groupSink{agg})
	require.NoError(t, err)
	ids := map[string]int{}
	for _, f := range formats.All() {
		ids[f.FullName()] = int(f.ID)
	}
	groups := map[string]grouped{}
	for _, g := range agg.Groups() {
		v := g.Values
		key := fmt.Sprint(v[0], " ", v[1], " ", ids[v[2]], " ", ids[v[3]], " ", v[4], "/", v[5])
		x := groups[key]
		x.calls += g.Calls
		x.requestBytes += g.Request.Body.Total
		x.responses += g.Response().Body.Count
		x.responseBytes += g.Response().Body.Total
		groups[key] = x
	}
	return groups
}
