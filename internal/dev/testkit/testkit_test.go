package testkit

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The captures and what Java logged are those that the rig recorded: every file has its checksum in provenance.json.
func TestCapturesAreAsRecorded(t *testing.T) {
	if os.Getenv("CAPTURES") != "" {
		t.Skip("for the committed captures")
	}
	data, err := os.ReadFile(filepath.Join(Dir(), "provenance.json"))
	require.NoError(t, err)
	var all []struct{ File, Sha256, Truth, TruthSha256 string }
	require.NoError(t, json.Unmarshal(data, &all))
	// The other end's half of both-ends is the one file that the rig does not describe.
	recorded := map[string]string{"both-ends.consumer.pcap.zst": "fa627c588df76b24e11826e6b3501355f723e5bddd89e4cba7334ac3d6a44b4f"}
	for _, c := range all {
		recorded[c.File], recorded[c.Truth] = c.Sha256, c.TruthSha256
	}
	require.Len(t, recorded, 2*len(all)+1)
	entries, err := os.ReadDir(Dir())
	require.NoError(t, err)
	seen := 0
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".json") {
			continue // written by the rig for all captures
		}
		seen++
		if want, ok := recorded[e.Name()]; assert.True(t, ok, "%s has no provenance", e.Name()) {
			data, err := os.ReadFile(filepath.Join(Dir(), e.Name()))
			require.NoError(t, err)
			assert.Equal(t, want, fmt.Sprintf("%x", sha256.Sum256(data)), e.Name())
		}
	}
	assert.Equal(t, len(recorded), seen, "files with a provenance")
}

func TestWithin(t *testing.T) {
	captures := filepath.Join(Root(), "testdata", "captures")
	assert.True(t, within(filepath.Join(captures, "mixed.truth.jsonl.zst"), captures))
	assert.True(t, within(filepath.Join(Root(), "testdata", "golden", "..", "captures", "x"), captures))
	assert.False(t, within(filepath.Join(Root(), "testdata", "golden", "json", "x.golden"), captures))
	assert.False(t, within(filepath.Join(Root(), "testdata", "captures2"), captures))
}

func TestKnown(t *testing.T) {
	if os.Getenv("CAPTURES") != "" {
		t.Skip("another folder need not have all captures")
	}
	assert.NoError(t, known([]string{"mixed", "loss"}))
	assert.ErrorContains(t, known([]string{"mixed", "no-such"}), `no capture "no-such"`)
	assert.Panics(t, func() { Paths(50, "no-such") })
}

func TestWithoutColor(t *testing.T) {
	assert.Equal(t, "red, plain", WithoutColor("\x1b[1;37;41mred\x1b[m, plain"))
	for _, s := range []string{"\x1b", "\x1b[2J", "a\x1b]0;title\a", "\x1b[1;2", "\x9b1m"} {
		assert.Equal(t, s, WithoutColor(s))
	}
}
