package truth

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode/formats"
)

// jars are the libraries among the peers of each Dubbo release.
var jars = sync.OnceValues(func() (all map[string][]string, err error) {
	b, err := os.ReadFile(filepath.Join(captures, "jars.json"))
	if err != nil {
		return nil, err
	}
	return all, json.Unmarshal(b, &all)
})

// serializationNames checks that every call has the serialization that its peers were configured with: of ids that several
// serializations share, the one that the library among the peers' jars writes. It returns that name, or "" where no frame
// has it.
func serializationNames(t *testing.T, p *provenance, r *run) (seen string) {
	if len(p.Serializations) != 1 || !strings.Contains(p.Name, p.Serializations[0]) {
		return ""
	}
	all, err := jars()
	require.NoError(t, err)
	want := writtenAs(p.Serializations[0], p.Dubbo, all[p.Dubbo])
	if strings.HasSuffix(p.Name, "-fst-1.55") { // in place of the jar of that release
		want = "fst (FST 1)"
	}
	id := idOf(t, want)
	for i := range r.frames {
		// Some errors are answered in the provider's default serialization.
		if f := &r.frames[i]; f.SerializationID == id && (f.Kind == "request" || f.Kind == "response") {
			require.Equal(t, want, f.Serialization, "frame %d (%s), serialization id %d", f.Frame, f.Kind, f.SerializationID)
			seen = want
		}
	}
	return seen
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
