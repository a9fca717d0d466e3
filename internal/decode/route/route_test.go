package route

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	_ "dubbo-wire/internal/dev/testkit"
)

func TestMatch(t *testing.T) {
	s, err := Parse([]string{
		"GET /users/{id}", "/users/me", "/users/{name}", "DELETE  /users/{id}/cards/{card}", "/users/{id}/cards/all", "GET /files/{path...}", "/files/**", "HEAD /files/a",
		"/", "/v1items", "/a/{b}/c", "/a/x/{d}", "/shop/", "GET /both", "/both",
	})
	require.NoError(t, err)
	for _, c := range [][3]string{
		{"GET", "/users/7", "/users/{id}"},
		{"HEAD", "/users/7", "/users/{id}"},
		{"PUT", "/users/7", "/users/{name}"},
		{"GET", "/users/me", "/users/me"},
		{"GET", "/users/", ""},
		{"GET", "/users", ""},
		{"GET", "/users/7/", ""},
		{"GET", "/users/7;v=2", "/users/{id}"},
		{"GET", "/users/me;v=2", "/users/me"},
		{"DELETE", "/users/7/cards/all", "/users/{id}/cards/all"},
		{"DELETE", "/users/7/cards/8", "/users/{id}/cards/{card}"},
		{"DELETE", "/users/me/cards/8", "/users/{id}/cards/{card}"}, // back from the text
		{"GET", "/users/7/cards/8", ""},
		{"GET", "/files/a/b/c", "/files/{path...}"},
		{"PUT", "/files/a/b/c", "/files/**"},
		{"HEAD", "/files/a", "/files/a"},
		{"GET", "/files/", "/files/{path...}"},
		{"GET", "/files", ""},
		{"GET", "/", "/"},
		{"GET", "/x", ""},
		{"GET", "/v1/items", ""},
		{"GET", "/v1items", "/v1items"},
		{"GET", "/a/x/c", "/a/x/{d}"},
		{"GET", "/a/y/c", "/a/{b}/c"},
		{"GET", "/shop/", "/shop/"},
		{"GET", "/shop", ""},
		{"GET", "/both", "/both"},
		{"GET", "http://host/users/7", ""},
		{"OPTIONS", "*", ""},
		{"GET", "", ""},
	} {
		assert.Equal(t, c[2], s.Match(c[0], c[1]), "%s %s", c[0], c[1])
	}
	assert.Zero(t, testing.AllocsPerRun(100, func() { s.Match("DELETE", "/users/me/cards/8") }))
	assert.Empty(t, (*Set)(nil).Match("GET", "/users/7"))
}

func TestWrongPatterns(t *testing.T) {
	for _, c := range [][2]string{
		{"", "must begin with /"},
		{"users/{id}", "must begin with /"},
		{"GET users/{id}", "must begin with /"},
		{"get /users", `"get" is not a method`},
		{" /users", `"" is not a method`},
		{"GET /users?id=1", "no query"},
		{"GET /users /7", "no spaces"},
		{"/users/{id", "{id is not {name}"},
		{"/users/{id}.json", "{id}.json is not {name}"},
		{"/users/*", "* is not {name}"},
		{"/users/{}", "{} has no name"},
		{"/users/{id:[0-9]+}", "a name has letters"},
		{"/users/{1}", "a name has letters"},
		{"/{id}/{id}", "{id} is there twice"},
		{"/{all...}/x", "must be the last segment"},
		{"/**/x", "must be the last segment"},
		{"GET /users/{user}", "matches the same requests as 'GET /users/{id}'"},
		{"/" + strings.Repeat("x", maxPattern), "longer than"},
	} {
		_, err := Parse([]string{"GET /users/{id}", c[0]})
		assert.ErrorContains(t, err, c[1], c[0])
	}
}

// FuzzMatch checks that a pattern without names matches its own path only.
func FuzzMatch(f *testing.F) {
	f.Add("GET /users/{id}", "/users/7")
	f.Add("/files/{path...}", "/files/a/b")
	f.Add("/a/{b}/c", "/a/b/c;d")
	f.Fuzz(func(t *testing.T, pattern, path string) {
		s, err := Parse([]string{pattern})
		if err != nil {
			return
		}
		own := pattern[strings.IndexByte(pattern, '/'):]
		got := s.Match("GET", path)
		assert.Contains(t, []string{"", own}, got)
		if verb, _, ok := strings.Cut(pattern, " "); !ok || verb == "GET" {
			if !strings.ContainsAny(own, "{*") && !strings.Contains(path, ";") {
				assert.Equal(t, own == path, got != "")
			}
		}
	})
}
