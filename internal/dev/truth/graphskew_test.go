package truth

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode/classpath"
	"dubbo-wire/internal/rpc"
)

// TestGraphsWithOtherClasses: bodies of avro, of which a part has objects of classes of another version than those of the class path. What is
// printed of them is right nevertheless, or not at all.
func TestGraphsWithOtherClasses(t *testing.T) {
	for dialect, all := range readGraphs(t) {
		if !strings.HasPrefix(dialect, "avro-") || !strings.Contains(dialect, "-reflected") {
			continue
		}
		t.Run(dialect, func(t *testing.T) {
			t.Parallel()
			jar := "reflected-later.jar"
			if strings.HasSuffix(dialect, "-skewed") {
				jar = "reflected.jar"
			}
			p, err := classpath.Open(classpath.Options{Paths: []string{models + jar}})
			require.NoError(t, err)
			defer p.Close()
			var wrong []string
			misfits, causes, named := 0, 0, 0
			eachBody(all, p, rpc.Values, func(g *graph, m *rpc.Message) {
				if diff := g.compare(m); diff != "" {
					wrong = append(wrong, fmt.Sprintf("%s %d: %s", dialect, g.N, diff))
				}
				if m.Err != nil && m.Err.Misfit != nil {
					misfits++
					if len(m.Err.Misfit.Causes) > 0 {
						causes++
					}
					if m.Err.Misfit.Field != "" {
						named++
					}
				}
			})
			t.Logf("%-30s %6d bodies, %d do not fit, %d of them with a cause, %d with a field; %d wrong", dialect, len(all), misfits, causes, named, len(wrong))
			// Another class may fit by chance: a float may be the bytes of an empty list and three integers.
			assert.LessOrEqual(t, len(wrong), 1+len(all)/100, "%q", wrong[:min(len(wrong), shown)])
			assert.Greater(t, misfits, len(all)/4)
			assert.Greater(t, named, misfits*3/4, "misfits with a field")
		})
	}
}
