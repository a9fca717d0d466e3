package truth

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A serialization of a user's own has taken the id of kryo and writes Hessian2: the bytes decide, in every frame, and the
// books say how many there were. TestLogs compares the values.
func TestMislabelled(t *testing.T) {
	const file = "mislabelled-3.3.6.pcap.zst"
	r := analyze(t, file)
	bodies := int64(0)
	for i := range r.frames {
		f := &r.frames[i]
		require.Equal(t, 8, f.SerializationID, "frame %d", f.Frame)
		if f.Kind == "request" || f.Kind == "response" {
			require.Equal(t, "hessian2", f.Serialization, "frame %d", f.Frame)
			require.Equal(t, "full", f.Decoded, "frame %d", f.Frame)
		}
		if f.Serialization == "hessian2" { // also events with a body
			bodies++
		}
	}
	assert.Greater(t, bodies, int64(300))
	told := int64(0)
	for of, n := range r.totals.Contradicted {
		assert.Equal(t, "hessian2", of.Body)
		assert.Equal(t, "kryo", of.Header[:4])
		assert.Equal(t, 8, int(of.HeaderID))
		told += n
	}
	assert.Equal(t, bodies, told)
}
