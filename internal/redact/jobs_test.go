package redact

import (
	"crypto/sha256"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/decode/formats"
	"dubbo-wire/internal/decode/protocols"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/rpc"
)

// The output does not depend on the number of workers, nor on how much is remembered while they work, nor on whether messages are copied
// without a tree.
func TestRedactJobs(t *testing.T) {
	for _, name := range []string{"hessian2", "loss", "triple", "rest", "kryo", "fragments-v4", "triple-snap200", "fleet"} {
		paths, _ := filepath.Glob(filepath.Join(captures, name+"*.pcap*"))
		require.NotEmpty(t, paths, name)
		for _, memory := range []int{0, 256 << 10, 16 << 10} {
			without, _ := redactWith(t, paths[0], Options{Memory: memory}, false)
			for _, jobs := range []int{1, 3} {
				got, queued := redactWith(t, paths[0], Options{Memory: memory, Jobs: jobs}, true)
				assert.True(t, string(without) == string(got), "%s, %d jobs, %d bytes", paths[0], jobs, memory)
				if name != "kryo" && name != "triple-snap200" {
					assert.Equal(t, jobs > 1, queued > 0, "%s: %d messages for workers", name, queued)
				}
			}
		}
	}
}

// jobsKey makes a value of fleet.pcap one that cannot be replaced in one walk, which a comment tells.
var jobsKey = sha256.Sum256([]byte("0123456789abcdef0123\n"))

// redactWith returns the copy of a capture, and how many messages workers have copied; instead says whether messages are copied without a tree.
func redactWith(t *testing.T, path string, o Options, instead bool) (out []byte, queued int) {
	t.Helper()
	src, err := capture.Open([]string{path}, capture.Options{})
	require.NoError(t, err)
	defer src.Close()
	f, err := os.Create(filepath.Join(t.TempDir(), "out.pcapng"))
	require.NoError(t, err)
	defer f.Close()
	o.File, o.Protocols, o.Formats, o.Key, o.Origin, o.Ended = f, protocols.All(), formats.All(), jobsKey, src.Origin, src.Ended
	o.Window = o.Memory
	r := New(o)
	r.least = 1
	opt := pipeline.Options{Protocols: protocols.All(), Formats: formats.All(), Detail: rpc.Values, WholeBodies: true, Rows: true, Tap: r}
	if instead {
		opt.Instead = func() func(m *rpc.Message) any {
			own := r.Instead()
			return func(m *rpc.Message) any {
				x := own(m)
				if c, ok := x.(*copied); ok && c.batch != nil {
					queued++
				}
				return x
			}
		}
	}
	_, err = pipeline.Run(src, opt, r)
	require.NoError(t, err)
	_, err = r.Close()
	require.NoError(t, err)
	out, err = os.ReadFile(f.Name())
	require.NoError(t, err)
	return out, queued
}
