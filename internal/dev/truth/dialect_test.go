package truth

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode/formats"
)

// Every call has the serialization that its peers were configured with: of ids that several serializations share, the
// one that the library among the peers' jars writes.
func TestSerializationNames(t *testing.T) {
	if testing.Short() {
		t.Skip("for time: TestCaptures reads some of them")
	}
	b, err := os.ReadFile(filepath.Join(captures, "jars.json"))
	require.NoError(t, err)
	var jars map[string][]string
	require.NoError(t, json.Unmarshal(b, &jars))
	seen := map[string]bool{}
	for _, p := range allCaptures(t) {
		if p.foreign() || len(p.Serializations) != 1 || !strings.Contains(p.Name, p.Serializations[0]) {
			continue
		}
		t.Run(p.Name, func(t *testing.T) {
			r := analyze(t, p.File)
			want := writtenAs(p.Serializations[0], p.Dubbo, jars[p.Dubbo])
			id := idOf(t, want)
			for i := range r.frames {
				// Some errors are answered in the provider's default serialization.
				if f := &r.frames[i]; f.SerializationID == id && (f.Kind == "request" || f.Kind == "response") {
					require.Equal(t, want, f.Serialization, "frame %d (%s), serialization id %d", f.Frame, f.Kind, f.SerializationID)
					seen[want] = true
				}
			}
		})
	}
	for _, name := range []string{"kryo", "kryo (Kryo 5)", "fastjson", "fastjson (length-prefixed)", "native-hessian", "protostuff", "protostuff (id 10)"} {
		assert.True(t, seen[name], "no capture of %s", name)
	}
}

func idOf(t *testing.T, name string) int {
	for _, f := range formats.All() {
		if f.FullName() == name {
			return int(f.ID)
		}
	}
	require.Fail(t, "no format is named "+name)
	return 0
}

// writtenAs is the name that reports give to a configured serialization.
func writtenAs(configured, dubbo string, jars []string) string {
	three := strings.HasPrefix(dubbo, "3.") && !strings.HasSuffix(dubbo, "-extensions-1.0.1") // whose fastjson writes lines, as 2.7 does
	switch configured {
	case "own": // serialization of the rig itself, with the id that is left to users
		return "custom"
	case "kryo", "kryo2":
		if slices.ContainsFunc(jars, func(jar string) bool { return strings.HasPrefix(jar, "kryo5-") || strings.HasPrefix(jar, "kryo-5") }) {
			return configured + " (Kryo 5)"
		}
	case "fastjson":
		if three {
			return "fastjson (length-prefixed)"
		}
	case "protostuff":
		if dubbo == "2.7.0" || dubbo == "2.7.1" {
			return "protostuff (id 10)"
		}
	case "protobuf":
		if dubbo == "2.7.5" {
			return "protobuf (id 21)"
		}
	}
	return configured
}
