package traffic

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestRepeat: each copy of a recorded packet has its bytes but for two of each address, which no other copy has.
func TestRepeat(t *testing.T) {
	captures := []string{"../../../../testdata/captures/rest-3.3.6.pcap.zst", "../../../../testdata/captures/mixed-3.3.6.pcap.zst"}
	var recorded [2][][]byte
	for i, name := range captures {
		var err error
		recorded[i], err = readPackets(name)
		require.NoError(t, err)
	}
	file := filepath.Join(t.TempDir(), "repeated.pcap")
	n, err := Repeat(file, 2e6, captures)
	require.NoError(t, err)
	repeated, err := readPackets(file)
	require.NoError(t, err)
	require.Len(t, repeated, int(n))
	require.Zero(t, len(repeated)%(len(recorded[0])+len(recorded[1])))
	addresses := map[[4]byte]int{}
	for k, p := range repeated[:2] {
		want := append([]byte{}, recorded[k][0]...)
		copy(want[sourceIP+1:], p[sourceIP+1:sourceIP+3])
		copy(want[destIP+1:], p[destIP+1:destIP+3])
		assert.Equal(t, want, p)
	}
	for _, p := range repeated {
		addresses[[4]byte(p[sourceIP:])]++
	}
	copies := len(repeated) / (len(recorded[0]) + len(recorded[1]))
	assert.Greater(t, copies, 1)
	assert.GreaterOrEqual(t, len(addresses), 2*copies)

	_, err = Repeat(file, 1e6, []string{"../../../../testdata/captures/nflog.pcap.zst"})
	assert.ErrorContains(t, err, "packet 1 is not a whole one of IPv4 over Ethernet")
}
