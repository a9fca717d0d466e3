package findings_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode/route"
	"dubbo-wire/internal/findings"
)

// recountRoutes joins methods of plain HTTP whose names differ in one segment, one pattern at a time.
func recountRoutes(x expected, all []exchange) {
	type joined struct{ values, calls int64 }
	methods := map[string]joined{}
	for _, e := range all {
		if e.request != nil && e.request.plainHTTP && strings.Contains(e.name, " /") {
			methods[e.name] = joined{1, methods[e.name].calls + 1}
		}
	}
	for {
		groups := map[string][]string{}
		for name := range methods {
			service, path, _ := strings.Cut(name, " /")
			segments := strings.Split(path, "/")
			for i, segment := range segments {
				if segment != "" && segment[0] != '{' {
					other := slices.Clone(segments)
					other[i] = "{name}"
					key := fmt.Sprintf("%03d %s", i, service+" /"+strings.Join(other, "/"))
					groups[key] = append(groups[key], name)
				}
			}
		}
		best := ""
		for key, names := range groups {
			if n := len(names) - len(groups[best]); len(names) >= 20 && (n > 0 || n == 0 && key < best) {
				best = key
			}
		}
		if best == "" {
			break
		}
		var sum joined
		for _, name := range groups[best] {
			sum.values += methods[name].values
			sum.calls += methods[name].calls
			delete(methods, name)
		}
		methods[best[len("000 "):]] = sum
	}
	for name, j := range methods {
		if strings.Contains(name, "{name}") {
			for _, place := range []string{"{name}", "{id}"} {
				if last := strings.LastIndex(name, place); strings.Count(name, place) == 2 {
					name = name[:last] + place[:len(place)-1] + "2}" + name[last+len(place):]
				}
			}
			x.add("routes", name, map[string]any{"values": j.values, "calls": j.calls})
		}
	}
}

// Words in one place of a path are joined by the pattern that the finding proposes; words in two places by one with two names.
func TestRoutes(t *testing.T) {
	p := newPeers(t, answerOK)
	word := func(i int) string { return string(rune('a'+i%26)) + "x" + string(rune('a'+i/26)) }
	for i := range 25 {
		p.do("GET", "/users/"+word(i)+"?q=1", nil)
		p.do("GET", "/users/"+word(i), nil)
		p.do("GET", "/days/2024-02-29/of/17/"+word(i)+"/", nil)
	}
	for i := range 19 { // too few
		p.do("PUT", "/users/"+word(i), nil)
		p.do("GET", "/shops/"+word(i)+"/open", nil)
	}
	for i := range 400 {
		p.do("GET", "/users/"+word(i%20)+"/tags/"+word(i/20), nil)
	}
	found := p.found("routes", p.list())
	require.Len(t, found, 3)
	var patterns []string
	for i := range found {
		f := &found[i]
		pattern := f.Args[1]
		patterns = append(patterns, pattern)
		_, err := route.Parse([]string{pattern})
		require.NoError(t, err)
		assert.Equal(t, "analyze", f.Verb)
		assert.NotContains(t, fmt.Sprint(*f), "axa")
		switch pattern {
		case "GET /users/{name}":
			assert.Equal(t, "25 paths differ in one place only, and each is a method of its own (50 calls); to join them: --route 'GET /users/{name}'", f.Text)
		case "GET /users/{name}/tags/{name2}":
			assert.EqualValues(t, 400, findings.Value(t, f, "values"))
		}
	}
	assert.ElementsMatch(t, []string{"GET /users/{name}", "GET /days/{id}/of/{id2}/{name}/", "GET /users/{name}/tags/{name2}"}, patterns)
}
