package main

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

type partBytes struct {
	Path  string
	Bytes int64
}

// unnamed is the last segment of a value that has a number for a name, of what the application's own code wrote, and of a
// key that the edge captures have in a map.
var unnamed = regexp.MustCompile(`^#(-?\d|custom\[|hash$)`)

// classOf returns the class of a part by its path alone, as docs/counting.md has it.
func classOf(path string) string {
	last := path[strings.LastIndexAny(path, ".")+1:]
	switch root, _, _ := strings.Cut(strings.ReplaceAll(path, "[", "."), "."); {
	case path == "opaque", path == "compressed":
		return path
	case root == "attachments":
		return "attachments"
	case last == "#class" || last == "#field":
		return "names"
	case strings.HasPrefix(last, "#") && !unnamed.MatchString(last):
		return "overhead"
	case root == "args" || root == "result" || root == "exception":
		return "values"
	}
	return "envelope"
}

// What analyze --parts adds up without taking bodies apart into trees is the sum over the parts of all frames, class by
// class, and the bytes of bodies group by group.
func partsAddUp(t *testing.T, p *printed) {
	want := make(map[string]int64)
	for _, f := range p.frames(t) {
		if !f.Complete || f.Kind != "request" && f.Kind != "response" {
			continue
		}
		require.Equal(t, "header", f.Parts[0].Path)
		for _, part := range f.Parts[1:] {
			want[classOf(part.Path)] += part.Bytes
		}
	}
	var r struct {
		Groups []struct {
			Parts             []partBytes
			Request, Response direction
		}
	}
	require.NoError(t, json.Unmarshal([]byte(p.must(t, "analyze", "--parts", "--format", "json")), &r))
	got := make(map[string]int64)
	for _, g := range r.Groups {
		all := int64(0)
		for _, part := range g.Parts {
			all += part.Bytes
			if part.Bytes > 0 {
				got[part.Path] += part.Bytes
			}
		}
		require.Contains(t, []int{6, 7}, len(g.Parts)) // compressed bodies only where there are some
		require.EqualValues(t, g.Request.BodyBytes.Total+g.Response.BodyBytes.Total, all)
	}
	require.Equal(t, want, got)
}
