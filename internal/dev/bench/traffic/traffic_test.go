package traffic

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	_ "dubbo-wire/internal/dev/testkit" // the flag -update
)

// The sum says what every machine writes. It changes only with the version.
const twoMegabytes = "d74f08661c9ba92c9246ab2c3ebff0516a274bd38a88b7245a6ae50162721397"

func TestSameBytesEachTime(t *testing.T) {
	var one, two bytes.Buffer
	first, err := Write(&one, Config{Size: 2e6})
	require.NoError(t, err)
	second, err := Write(&two, Config{Size: 2e6})
	require.NoError(t, err)
	assert.True(t, bytes.Equal(one.Bytes(), two.Bytes()))
	assert.Equal(t, first, second)
	assert.Equal(t, twoMegabytes, first.SHA256)
	assert.EqualValues(t, one.Len(), first.FileBytes)
	assert.Positive(t, first.Retransmissions)
	assert.Positive(t, first.Swapped)
}

func TestMixes(t *testing.T) {
	for _, m := range Mixes {
		var b bytes.Buffer
		truth, err := Write(&b, Config{Size: 3e6, Mix: m.Name, Connections: 5})
		require.NoError(t, err)
		if m.Name != "http2" { // calls may have many messages
			assert.Equal(t, truth.Requests, truth.Responses, m.Name)
		}
		// A mix is what it says, within what chance leaves.
		assert.InEpsilon(t, m.mean(), (truth.RequestBytes+truth.ResponseBytes)/truth.Frames, 0.4, m.Name)
		assert.InEpsilon(t, 3e6, truth.FileBytes, 0.15, m.Name)
	}
	_, err := Write(nil, Config{Mix: "none"})
	assert.ErrorContains(t, err, "default")
}

func TestTruthBelongsToItsCapture(t *testing.T) {
	path := t.TempDir() + "/a.pcap"
	cfg := Config{Size: 1e5, Connections: 2}
	assert.Nil(t, ReadTruth(path, cfg))
	truth, err := WriteFile(path, cfg)
	require.NoError(t, err)
	assert.Equal(t, truth, ReadTruth(path, cfg))
	assert.Nil(t, ReadTruth(path, Config{Size: 1e5, Connections: 3}))
}

func TestParseSize(t *testing.T) {
	for text, want := range map[string]int64{"1GB": 1e9, "1.5KB": 1500, "2MiB": 2 << 20, "7": 7, "9B": 9} {
		got, err := ParseSize(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, got, text)
	}
	for _, text := range []string{"", "GB", "-1MB", "1XB", "1 TB", "NaN"} {
		_, err := ParseSize(text)
		assert.Error(t, err, text)
	}
}
