package pipeline

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/decode/classpath"
	"dubbo-wire/internal/decode/formats"
	"dubbo-wire/internal/decode/protocols"
	"dubbo-wire/internal/rpc"
)

const models = "../../testdata/models/rig.jar"

// resultSink counts results by method and by what is printed of them.
type resultSink map[string]map[string]int

func (resultSink) Frame(*Row) {}

func (s resultSink) Call(c *call.Call, _ bool) {
	if c.Request == nil || c.Response == nil || c.Request.Operation == nil || c.Response.ResultKind != 4 {
		return
	}
	method := c.Request.Operation.Method
	if s[method] == nil {
		s[method] = map[string]int{}
	}
	s[method][string(c.Response.Values)]++
}

// TestTypedResults: kryo2 writes results without their class, which only the service's interface tells.
func TestTypedResults(t *testing.T) {
	p, err := classpath.Open(classpath.Options{Paths: []string{models}})
	require.NoError(t, err)
	defer func() { assert.NoError(t, p.Close()) }()
	for _, name := range []string{"kryo2.pcap.zst", "kryo2-3.2.16.pcap.zst"} {
		for _, jobs := range []int{1, 2} {
			src, err := capture.Open([]string{"../../testdata/captures/" + name}, capture.Options{})
			require.NoError(t, err)
			results := resultSink{}
			_, err = Run(src, Options{
				Protocols: protocols.All(), Formats: formats.With(p), Detail: rpc.Values, WholeBodies: true, RenderValues: true, Jobs: jobs,
			}, results)
			require.NoError(t, err)
			src.Close()
			for _, method := range []string{"existUser", "createUser"} {
				assert.Positive(t, results[method]["true"], "%s %s", name, method)
				for value := range results[method] {
					assert.Contains(t, []string{"true", "false"}, value, "%s %s", name, method)
				}
			}
		}
	}
}
