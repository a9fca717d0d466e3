package truth

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/classpath"
	"dubbo-wire/internal/decode/formats"
	"dubbo-wire/internal/decode/protocols"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/rpc"
	"dubbo-wire/internal/sizes"
)

// The same 625 objects were sent in each serialization: as many of their fields are null or 0. What these cost is theirs.
func TestFieldsOfSameObjects(t *testing.T) {
	path, err := classpath.Open(classpath.Options{Paths: []string{models + "rig.jar"}})
	require.NoError(t, err)
	defer path.Close()
	defaults := map[string]int64{"byName": 625, "children": 625, "id": 5, "parent": 326, "self": 325}
	for _, c := range []struct {
		name   string
		zero   int64 // bytes of a field that is 0
		absent int64 // of one that is null
	}{
		{"edge-hessian2", 1, 1},
		{"edge-java", 4, 1},
		{"edge-compactedjava", 4, 1},
		{"edge-kryo", 1, 1},
		{"edge-fst", 1, 1},
		{"edge-fury-3.2.16", 1, 1},
		{"edge-fury-compatible-3.2.16", 5, 9}, // tags of four and eight bytes
		{"edge-protostuff", 2, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			u := fieldsOfRequests(t, c.name+".pcap.zst", path, "echoNodes")
			got := map[string]int64{}
			for _, f := range u.List() {
				for name, n := range defaults {
					if f.Path != "args[0][*]."+name {
						continue
					}
					got[name] = f.Defaults
					bytes := c.absent
					if name == "id" {
						bytes = c.zero
					}
					assert.EqualValues(t, 625, f.Set+f.Defaults, name)
					assert.Equal(t, bytes*n, f.DefaultBytes, name)
					assert.Zero(t, f.UndeclaredBytes, name)
				}
			}
			assert.Equal(t, defaults, got)
			var never []string
			for _, f := range u.NeverSet() {
				never = append(never, f.Path)
			}
			assert.ElementsMatch(t, []string{"args[0][*].byName", "args[0][*].children"}, never)
		})
	}
}

// Documents of Fury that a later version of the classes wrote, read with the earlier one: what the later one has in addition is unknown, and
// nothing is with its own classes.
func TestUnknownFieldsOfFury(t *testing.T) {
	for dialect, all := range readGraphs(t) {
		if !strings.HasPrefix(dialect, "fury-compatible") || !strings.HasSuffix(dialect, "-skewed") {
			continue
		}
		for _, jar := range []string{"graphs.jar", "graphs-later.jar"} {
			p, err := classpath.Open(classpath.Options{Paths: []string{models + jar}})
			require.NoError(t, err)
			defer p.Close()
			var a decode.Anatomist
			unknown := map[string]bool{}
			eachBody(all, p, rpc.Values, func(_ *graph, m *rpc.Message) {
				list, _ := m.AppendFields(nil, &a)
				for _, f := range list {
					if f.UndeclaredBytes > 0 {
						unknown[f.Path[strings.LastIndexByte(f.Path, '.')+1:]] = true
					}
				}
			})
			if jar == "graphs-later.jar" {
				assert.Empty(t, unknown, dialect)
				continue
			}
			t.Log(dialect, slices.Sorted(maps.Keys(unknown)))
			assert.Contains(t, unknown, "note", dialect)
		}
	}
}

// fieldsOfRequests returns how the requests of a method use fields.
func fieldsOfRequests(t *testing.T, name string, path *classpath.Path, method string) *decode.FieldUses {
	src, err := capture.Open([]string{filepath.Join(captures, name)}, capture.Options{})
	require.NoError(t, err)
	defer src.Close()
	groups := groupSink{sizes.New(sizes.DefaultBy(), 0, []string{name})}
	_, err = pipeline.Run(src, pipeline.Options{
		Protocols: protocols.All(), Formats: formats.With(path), Sample: pipeline.Sample{Calls: pipeline.AllCalls, Paths: true},
	}, groups)
	require.NoError(t, err)
	for _, g := range groups.agg.Groups() {
		if g.Values[len(g.Values)-1] == method {
			require.NotNil(t, g.Anatomy)
			return &g.Anatomy.Request.Fields
		}
	}
	require.Fail(t, "no such method")
	return nil
}
