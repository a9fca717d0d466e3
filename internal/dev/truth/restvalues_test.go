package truth

import (
	"encoding/json"
	"io"
	"mime/multipart"
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
	Side, Kind, Method, Verb, Path string
	Arguments                      []json.RawMessage
	Result                         json.RawMessage
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

func leaves(t *testing.T, value json.RawMessage) []string {
	all, err := javalog.Leaves(value)
	require.NoError(t, err)
	return all
}

// leavesOf returns the texts of values without the names that lead to them, but for empty ones.
func leavesOf(t *testing.T, all []json.RawMessage) (values []string) {
	for _, one := range all {
		for _, leaf := range leaves(t, one) {
			if _, value, _ := strings.Cut(leaf, "="); value != "" {
				values = append(values, value)
			}
		}
	}
	return values
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

// partsOf returns the names, the names of files and the contents of a body of parts that a client logged, as Go's reader finds them.
func partsOf(t *testing.T, body json.RawMessage) (all []string) {
	var bytes struct {
		Raw []byte `json:"@bytes"`
	}
	require.NoError(t, json.Unmarshal(body, &bytes))
	boundary, _, _ := strings.Cut(strings.TrimPrefix(string(bytes.Raw), "--"), "\r\n")
	for r := multipart.NewReader(strings.NewReader(string(bytes.Raw)), boundary); ; {
		part, err := r.NextRawPart()
		if err == io.EOF {
			slices.Sort(all)
			return all
		}
		require.NoError(t, err)
		content, err := io.ReadAll(part)
		require.NoError(t, err)
		path := "." + part.FormName()
		if part.FileName() != "" {
			all = append(all, path+".filename="+part.FileName())
			path += ".content"
		}
		all = append(all, path+"="+string(content))
	}
}

// TestRESTValues compares the values of bodies of JSON, XML, forms and parts with the objects that Java's peers had, plain and compressed.
func TestRESTValues(t *testing.T) {
	compared := map[string]int{}
	for _, c := range testkit.Captures() {
		if !strings.HasPrefix(c.Name, "rest-") || !c.Sampled(1) {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			var bids, filled, uploaded, searched []*restLine
			require.NoError(t, javalog.Read(strings.NewReader(c.TruthLog(t)), func(l *restLine) {
				switch {
				case l.Kind != "call":
				case l.Side == "consumer" && l.Method == "bid" && strings.HasPrefix(string(l.Result), "{"): // of a client of Dubbo
					bids = append(bids, l)
				case l.Side == "provider" && l.Method == "form":
					filled = append(filled, l)
				case l.Side == "provider" && l.Method == "search":
					searched = append(searched, l)
				case l.Side == "consumer" && l.Verb == "POST" && strings.HasSuffix(l.Path, "/upload"):
					uploaded = append(uploaded, l)
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
				case strings.HasSuffix(c.Method, "/search") && len(c.Arguments) > 0 && len(searched) > 0: // the rest have no parameters
					// Dubbo 3.2 takes only the first one of parameters with equal names.
					assert.Subset(t, leavesOf(t, c.Arguments), leavesOf(t, searched[0].Arguments))
					searched = searched[1:]
					compared["query"]++
					continue
				case c.Serialization == "multipart" && len(uploaded) > 0:
					assert.Equal(t, partsOf(t, uploaded[0].Arguments[0]), leaves(t, c.Arguments[0]))
					uploaded = uploaded[1:]
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
			assert.Empty(t, uploaded)
			assert.Empty(t, searched)
		})
	}
	t.Log(compared)
	if testkit.All {
		for _, name := range []string{"json", "xml", "form", "multipart", "query"} {
			assert.Positive(t, compared[name], name)
		}
	}
}
