package findings_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/decode/classpath"
	"dubbo-wire/internal/decode/formats"
	"dubbo-wire/internal/decode/protocols"
	"dubbo-wire/internal/findings"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/report"
)

// With the schema all fields are known. With one that lacks a field its bytes are those that frames without a schema have, with the tags.
func TestUnknownFields(t *testing.T) {
	const schemas = "../../testdata/rig/common/src/main/proto"
	older := t.TempDir()
	for _, name := range []string{"edge.proto", "published.proto"} {
		text, err := os.ReadFile(filepath.Join(schemas, name))
		require.NoError(t, err)
		lacks := strings.Replace(string(text), "  repeated Leaf children = 4;\n", "", 1)
		require.NoError(t, os.WriteFile(filepath.Join(older, name), []byte(lacks), 0o600))
	}
	list, _ := frameList(t, captures+"protobuf-2.7.23.pcap.zst")
	inChildren, bodies := int64(0), int64(0)
	for _, m := range list.list {
		if m.request && m.method == "echoLeaf" && m.service == "org.dubbowire.rig.proto.ProtoService" {
			bodies += m.body
			inChildren += m.numberFour
		}
	}
	require.Positive(t, inChildren)
	assert.Empty(t, unknownFields(t, schemas))
	found := unknownFields(t, older)
	require.Len(t, found, 1)
	assert.Equal(t, "org.dubbowire.rig.proto.ProtoService/echoLeaf", found[0].Subject)
	facts := map[string]float64{}
	for _, f := range found[0].Facts {
		facts[f.Name] = f.Value
	}
	assert.EqualValues(t, inChildren, facts["undeclaredBytes"])
	assert.EqualValues(t, bodies, facts["bodyBytes"])
}

func unknownFields(t *testing.T, schemas string) (found []report.Finding) {
	path, err := classpath.Open(classpath.Options{Protos: []string{schemas}})
	require.NoError(t, err)
	defer path.Close()
	src, err := capture.Open([]string{captures + "protobuf-2.7.23.pcap.zst"}, capture.Options{})
	require.NoError(t, err)
	defer src.Close()
	k := findings.New()
	totals, err := pipeline.Run(src, pipeline.Options{Protocols: protocols.All(), Formats: formats.With(path), Sample: all}, sink{k})
	require.NoError(t, err)
	for _, f := range k.Findings(totals) {
		if f.Kind == "unknown-fields" {
			found = append(found, f)
		}
	}
	return found
}
