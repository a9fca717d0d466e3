package findings

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"slices"
	"strconv"
	"strings"

	"dubbo-wire/internal/report"
)

const (
	// A finding about a route needs leastValues methods of plain HTTP whose paths differ in one place only.
	leastValues = 20
	// maxPlaces is the number of segments of a path, from its start, that are compared. Memory is bounded by it and by maxMethods.
	maxPlaces = 16
	// maxRounds is the number of places of a path that a pattern may name.
	maxRounds = 4
)

// route is a method of plain HTTP, or several that a pattern joins.
type route struct {
	of     *method // the first one
	path   string
	named  int // places of the path with a name
	values int // methods
	calls  int64
	bytes  int64
	at     place
	merged bool // it is part of another one
}

// sameElsewhere are routes whose paths are equal but for one place.
type sameElsewhere struct {
	place  int
	routes []int // indexes, ascending
}

// routes proposes patterns for paths that have many values in one place.
func routes(k *Collector, e *evidence) {
	var list []route
	for _, m := range k.order {
		if m.protocol == nil || !m.protocol.PlainHTTP {
			continue
		}
		if _, path, ok := strings.Cut(m.name, " /"); ok {
			list = append(list, route{of: m, path: "/" + path, values: 1, calls: m.calls, bytes: m.request.frameBytes + m.response.frameBytes, at: m.largestRequestAt})
		}
	}
	if len(list) < leastValues {
		return
	}
	for range maxRounds {
		joined := joinRoutes(list)
		if len(joined) == 0 {
			break
		}
		list = append(slices.DeleteFunc(list, func(r route) bool { return r.merged }), joined...)
	}
	for i := range list {
		r := &list[i]
		if r.named == 0 {
			continue
		}
		verb, _, _ := strings.Cut(r.of.name, " ")
		pattern := verb + " " + numbered(r.path)
		f := r.of.finding(r.at)
		f.Method, f.Subject, f.Weight = pattern, f.Service+"/"+pattern, r.bytes
		f.Verb, f.Args = "analyze", []string{"--route", pattern}
		places := "one place"
		if r.named > 1 {
			places = strconv.Itoa(r.named) + " places"
		}
		f.Text = fmt.Sprintf("%s differ in %s only, and each is a method of its own (%s); to join them: --route %s",
			report.Plural(int64(r.values), "path"), places, report.Plural(r.calls, "call"), report.ShellWord(pattern))
		f.Facts = []report.Fact{fact("values", int64(r.values)), fact("calls", r.calls), words("route", pattern)}
		e.add(f)
	}
}

// joinRoutes joins routes that differ in one place, most at a time first, and marks them.
func joinRoutes(list []route) (joined []route) {
	seed := maphash.MakeSeed()
	counts := make(map[uint64]int32)
	for i := range list {
		list[i].eachPlace(seed, func(_ int, key uint64) { counts[key]++ })
	}
	groups := make(map[uint64]*sameElsewhere)
	var order []*sameElsewhere
	for i := range list {
		list[i].eachPlace(seed, func(at int, key uint64) {
			if counts[key] < leastValues {
				return
			}
			g := groups[key]
			if g == nil {
				g = &sameElsewhere{place: at}
				groups[key] = g
				order = append(order, g)
			}
			g.routes = append(g.routes, i)
		})
	}
	slices.SortStableFunc(order, func(a, b *sameElsewhere) int {
		return cmp.Or(cmp.Compare(len(b.routes), len(a.routes)), cmp.Compare(a.place, b.place), cmp.Compare(a.routes[0], b.routes[0]))
	})
	for _, g := range order {
		of := slices.DeleteFunc(g.routes, func(i int) bool { return list[i].merged })
		if len(of) < leastValues {
			continue
		}
		r := list[of[0]]
		r.values, r.calls, r.bytes = 0, 0, 0
		for _, i := range of {
			one := &list[i]
			one.merged = true
			r.values += one.values
			r.calls += one.calls
			r.bytes += one.bytes
		}
		segments := strings.Split(r.path, "/")
		segments[g.place] = "{name}"
		r.path = strings.Join(segments, "/")
		r.named++
		joined = append(joined, r)
	}
	return joined
}

// eachPlace calls f for the places of the path that have a name, with what is equal for routes that differ there only.
func (r *route) eachPlace(seed maphash.Seed, f func(at int, key uint64)) {
	verb, _, _ := strings.Cut(r.of.name, " ")
	var h maphash.Hash
	h.SetSeed(seed)
	at := 0
	for from := 0; from <= len(r.path) && at <= maxPlaces; at++ {
		to := strings.IndexByte(r.path[from:], '/')
		if to < 0 {
			to = len(r.path) - from
		}
		to += from
		if segment := r.path[from:to]; segment != "" && segment[0] != '{' {
			h.Reset()
			for _, text := range [...]string{r.of.protocol.Name, r.of.service, verb, r.path[:from], r.path[to:]} {
				var n [4]byte
				binary.LittleEndian.PutUint32(n[:], uint32(len(text)))
				_, _ = h.Write(n[:])
				_, _ = h.WriteString(text)
			}
			f(at, h.Sum64())
		}
		from = to + 1
	}
}

// numbered gives each place of a path its own name: {id}, {id2}.
func numbered(path string) string {
	counts := map[string]int{}
	segments := strings.Split(path, "/")
	for i, segment := range segments {
		if !strings.HasPrefix(segment, "{") {
			continue
		}
		if counts[segment]++; counts[segment] > 1 {
			segments[i] = strings.TrimSuffix(segment, "}") + strconv.Itoa(counts[segment]) + "}"
		}
	}
	return strings.Join(segments, "/")
}
