package pipeline

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/decode/formats"
	"dubbo-wire/internal/decode/protocols"
	"dubbo-wire/internal/dev/testkit"
	"dubbo-wire/internal/rpc"
)

// selectedCalls notes which calls a filter selects, which attachments they have, and how many rows have a tree.
type selectedCalls struct {
	selected []bool
	found    map[string]string // the shortest value of each key
	trees    int
}

func (s *selectedCalls) Frame(r *Row) {
	if r.Msg.Tree != nil && r.Msg.IsWhole() && r.Msg.SerializationID == hessian2ID && r.Msg.Protocol.Name == "dubbo" {
		s.trees++
	}
}

func (s *selectedCalls) Call(c *call.Call, selected bool) {
	s.selected = append(s.selected, selected)
	for _, m := range [2]*call.Message{c.Request, c.Response} {
		if m == nil || m.Details == nil {
			continue
		}
		for key, value := range m.Attachments {
			if old, found := s.found[key]; !found || len(value) < len(old) || len(value) == len(old) && value < old {
				s.found[key] = value
			}
		}
	}
}

const hessian2ID = 2

// TestForAttachments: a filter selects the same calls if only bodies that may have its attachments are decoded to values.
func TestForAttachments(t *testing.T) {
	testkit.Each(t, 24, func(t *testing.T, c *testkit.Capture) {
		all, none := selectSome(t, c.Path())
		if all.trees > 100 { // the first request of each operation is decoded before it is known which one it is
			assert.Less(t, none.trees, all.trees*2/3)
		}
	})
}

// TestForAttachmentsOfOthers: the same of bodies in another serialization than Hessian2, which the headers name.
func TestForAttachmentsOfOthers(t *testing.T) {
	for _, name := range []string{"kryo-3.2.16", "java-3.2.16", "fastjson2-3.2.16"} {
		b := testkit.Get(t, name).Bytes(t)
		headers := 0
		for i := range b[:len(b)-16] {
			if b[i] == 0xda && b[i+1] == 0xbb && b[i+2]&0x20 == 0 && (b[i+3] == 0 || b[i+3] == 20) {
				b[i+2] = b[i+2]&^0x1f | hessian2ID
				headers++
			}
		}
		require.Positive(t, headers)
		path := filepath.Join(t.TempDir(), "altered.pcap")
		require.NoError(t, os.WriteFile(path, b, 0o600))
		all, _ := selectSome(t, path)
		assert.Contains(t, all.found, "dubbo", "%s: responses have attachments", name)
	}
}

// selectSome selects calls of a capture by some of its attachments, and by a key that none of them has; it returns what was read to do so with
// all bodies decoded to values, and without.
func selectSome(t *testing.T, path string) (all, none *selectedCalls) {
	read := func(only bool, key, glob string) *selectedCalls {
		src, err := capture.Open([]string{path}, capture.Options{})
		require.NoError(t, err)
		defer src.Close()
		s := &selectedCalls{found: map[string]string{}}
		_, err = Run(src, Options{
			Protocols: protocols.All(), Formats: formats.All(), Detail: rpc.Values, Rows: true, ForAttachments: only,
			Filter: &call.Filter{Attachment: map[string]call.Glob{key: call.ParseGlob(glob)}},
		}, s)
		require.NoError(t, err)
		return s
	}
	all, none = read(false, "no such key", "*"), read(true, "no such key", "*")
	assert.Equal(t, all.selected, none.selected)
	assert.NotContains(t, all.selected, true)
	for i, key := range slices.Sorted(maps.Keys(all.found)) {
		glob := all.found[key]
		switch i % 3 {
		case 1:
			glob = "*" + glob[len(glob)/2:]
		case 2:
			glob = "?" + strings.Repeat("?", len(glob)/2) + "*"
		}
		want := read(false, key, glob)
		assert.Equal(t, want.selected, read(true, key, glob).selected, "%s=%s", key, glob)
		if i == 2 {
			break
		}
	}
	return all, none
}
