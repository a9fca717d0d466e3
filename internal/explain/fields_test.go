package explain

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/pipeline"
)

// The lines about fields name as many bytes as the nodes of the JSON with these paths have; with masked values there are none.
func TestFields(t *testing.T) {
	lines := 0
	each(t, "edge-hessian2-3.3.6.pcap.zst", nil, func(r *pipeline.Row) {
		s := Subject{Row: r, Stream: -1}
		var text, masked, j bytes.Buffer
		require.NoError(t, New(&s).WriteText(&text, &Style{Full: true}))
		require.NoError(t, New(&s).WriteJSON(&j))
		var got struct {
			Nodes []struct {
				Path, Kind string
				Bytes      int64
			}
			Fields []struct {
				Path                   string
				Defaults, DefaultBytes int64
				NeverSet               bool
			}
		}
		require.NoError(t, json.Unmarshal(j.Bytes(), &got))
		sum := int64(0)
		for _, f := range got.Fields {
			sum += f.DefaultBytes
			if strings.Contains(f.Path, "[*]") || f.Path == "(other)" || !f.NeverSet {
				continue
			}
			own := int64(0)
			for _, n := range got.Nodes {
				if n.Path == f.Path || strings.HasPrefix(n.Path, f.Path+".#") {
					own += n.Bytes
				}
			}
			assert.Equal(t, own, f.DefaultBytes, "frame %d %s", r.Number, f.Path)
			lines++
		}
		assert.Equal(t, sum > 0, strings.Contains(text.String(), "\ndefaults, "), "frame %d", r.Number)
		for _, secret := range []Secret{Redacted, Hidden} {
			s.Secret = secret
			masked.Reset()
			require.NoError(t, New(&s).WriteText(&masked, &Style{Full: true}))
			assert.NotContains(t, masked.String(), "\ndefaults, ")
			assert.NotContains(t, masked.String(), "\nnot set: ")
			j.Reset()
			require.NoError(t, New(&s).WriteJSON(&j))
			assert.NotContains(t, j.String(), `"fields":`)
		}
	})
	assert.Greater(t, lines, 20)
}
