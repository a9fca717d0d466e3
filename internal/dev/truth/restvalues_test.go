package truth

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/decode/formats"
	"dubbo-wire/internal/decode/protocols"
	"dubbo-wire/internal/dev/testkit"
	"dubbo-wire/internal/dev/truth/javalog"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/report"
	"dubbo-wire/internal/rpc"
)

// restLine is a call that a peer of REST logged.
type restLine struct {
	Side, Kind, Method string
	Arguments          []json.RawMessage
	Result             json.RawMessage
}

// restCalls collects calls.
type restCalls struct {
	t   *testing.T
	all []restCall
}

type restCall struct {
	Serialization, Method string
	Arguments             []json.RawMessage
	Result                json.RawMessage
}

func (*restCalls) Frame(*pipeline.Row) {}

func (r *restCalls) Call(c *call.Call, _ bool) {
	var one restCall
	require.NoError(r.t, json.Unmarshal((&report.Calls{Inputs: []string{"-"}}).AppendJSON(nil, c), &one))
	r.all = append(r.all, one)
}

// leaves returns the texts of a value, sorted, each with the names that lead to it: XML has neither types nor lists, and writes no nulls.
func leaves(t *testing.T, value json.RawMessage) (all []string) {
	d := json.NewDecoder(strings.NewReader(string(value)))
	d.UseNumber()
	var read func(path string)
	read = func(path string) {
		token, err := d.Token()
		require.NoError(t, err)
		switch token {
		case json.Delim('{'):
			for d.More() {
				name, err := d.Token()
				require.NoError(t, err)
				if name == "@class" {
					_, err = d.Token()
					require.NoError(t, err)
					continue
				}
				read(path + "." + name.(string))
			}
		case json.Delim('['):
			for d.More() {
				read(path)
			}
		default:
			if token != nil {
				all = append(all, strings.TrimSuffix(fmt.Sprintf("%s=%v", path, token), ".0")) // calls print the shortest decimal
			}
			return
		}
		_, err = d.Token()
		require.NoError(t, err)
	}
	read("")
	slices.Sort(all)
	return all
}

// sent returns what the peer of a provider sent that took a text for Latin-1, as the servlets of Dubbo 2.7 take forms.
func sent(text string) string {
	var b []byte
	for _, c := range text {
		if c > 0xff {
			return text
		}
		b = append(b, byte(c))
	}
	if utf8.Valid(b) {
		return string(b)
	}
	return text
}

// TestRESTValues compares the values of bodies of JSON, XML and forms with the objects that Java's peers had, plain and compressed.
func TestRESTValues(t *testing.T) {
	compared := map[string]int{}
	for _, c := range testkit.Captures() {
		if !strings.HasPrefix(c.Name, "rest-") || !c.Sampled(1) {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			var bids, filled []*restLine
			require.NoError(t, javalog.Read(strings.NewReader(c.TruthLog(t)), func(l *restLine) {
				switch {
				case l.Kind != "call":
				case l.Side == "consumer" && l.Method == "bid" && strings.HasPrefix(string(l.Result), "{"): // of a client of Dubbo
					bids = append(bids, l)
				case l.Side == "provider" && l.Method == "form":
					filled = append(filled, l)
				}
			}))
			src, err := capture.Open([]string{c.Path()}, capture.Options{})
			require.NoError(t, err)
			defer src.Close()
			r := &restCalls{t: t}
			_, err = pipeline.Run(src, pipeline.Options{
				Protocols: protocols.All(), Formats: formats.All(), Detail: rpc.Values, WholeBodies: true, RenderValues: true, Jobs: 1,
			}, r)
			require.NoError(t, err)
			for i := range r.all {
				c := &r.all[i]
				switch {
				case c.Serialization == "form" && len(filled) > 0: // else the provider logged none
					var values, want []string
					for _, leaf := range leaves(t, c.Arguments[0]) {
						_, value, _ := strings.Cut(leaf, "=")
						values = append(values, value)
					}
					for _, argument := range filled[0].Arguments {
						_, value, _ := strings.Cut(leaves(t, argument)[0], "=")
						want = append(want, sent(value))
					}
					assert.ElementsMatch(t, want, values)
					filled = filled[1:]
				case strings.HasSuffix(c.Method, "/bid") && len(bids) > 0:
					assert.Equal(t, leaves(t, bids[0].Arguments[0]), leaves(t, c.Arguments[0]))
					assert.Equal(t, leaves(t, bids[0].Result), leaves(t, c.Result))
					bids = bids[1:]
				default:
					continue
				}
				compared[c.Serialization]++
			}
			assert.Empty(t, bids)
			assert.Empty(t, filled)
		})
	}
	t.Log(compared)
	if testkit.All {
		for _, name := range []string{"json", "xml", "form"} {
			assert.Positive(t, compared[name], name)
		}
	}
}
