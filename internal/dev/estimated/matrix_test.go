//go:build alltests

package estimated

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/dev/testkit"
	"dubbo-wire/internal/estimate/jvm"
	"dubbo-wire/internal/estimate/releases"
)

// captured are the releases with captures of the same calls in several serializations.
var captured = []string{"2.5.3", "2.6.12", "2.7.23", "3.2.16", "3.3.6"}

// Workloads: the published calls, calls at the edges of each type, and calls with everything that an application may do.
const (
	published = "published"
	edge      = "edge"
	zoo       = "zoo"
)

// captures returns those of a release, with one serialization and without a difference of another kind.
func captures(release string) (list []Capture) {
	for _, c := range testkit.Captures() {
		if c.Dubbo != release || len(c.Serializations) != 1 || len(c.Protocols) > 0 {
			continue
		}
		s := c.Serializations[0]
		if !slices.Contains(releases.Of(release), s) {
			continue
		}
		for _, w := range []struct{ workload, prefix string }{{published, ""}, {edge, "edge-"}, {zoo, "zoo-"}} {
			as, base := s, strings.TrimSuffix(c.Name, "-"+release)
			if plain, ok := strings.CutSuffix(base, "-optimizer"); ok {
				as, base = s+registeredSuffix, plain
			}
			if base == w.prefix+s {
				list = append(list, Capture{w.workload, as, c.Path(), filepath.Join(testkit.Dir(), c.Truth)})
			}
		}
	}
	return list
}

// TestEstimates encodes the calls of each capture in the serializations of all other captures of its release, and compares the bodies with those
// that Java logged. ESTIMATES is a file for the report. SOURCES and EXAMPLES are for those who look for the reason of a difference: from which
// serializations, and how many differences of each cell.
func TestEstimates(t *testing.T) {
	testkit.Needs(t, "a JDK and Maven")
	for _, program := range []string{"java", "javac", "mvn"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("no %s in PATH", program)
		}
	}
	list := filepath.Join(testkit.Root(), "testdata", "models", "registered.txt")
	registered := registeredClasses(t, list)
	var kept strings.Builder
	if file := os.Getenv("ESTIMATES"); file != "" {
		defer func() { assert.NoError(t, os.WriteFile(file, []byte(kept.String()), 0o644)) }()
	}
	all := map[string]map[Key]*Cell{}
	bids := map[string]map[string][2]int{} // by release and target: the most frequent sizes of a request and a response of the published object
	for _, release := range captured {
		t.Run(release, func(t *testing.T) {
			pom, err := releases.POM(release, nil)
			require.NoError(t, err)
			jars, err := releases.Resolve(t.Context(), "", filepath.Join(jvm.Cache(), "jars"), pom)
			if err != nil {
				t.Skipf("Maven has no jars of Dubbo %s here: %v", release, err)
			}
			m := Matrix{
				ClassPath: jars, UserPath: []string{filepath.Join(testkit.Root(), "testdata", "models", "rig.jar"), filepath.Join(testkit.Root(), "testdata", "models", "messages.jar")},
				Registered: registered, List: list, Captures: captures(release), Examples: 1,
				Usual: func(c *Capture, b *Body) bool {
					return c.Workload == published && c.Serialization == "hessian2" && b.Method == "bid"
				},
			}
			if release >= "3" {
				for _, s := range []string{"fastjson2", "fst", "gson", "hessian2", "jackson", "kryo", "msgpack"} {
					if slices.Contains(releases.Of(release), s) {
						m.Others = append(m.Others, "triple/"+s)
					}
				}
			}
			if s := os.Getenv("SOURCES"); s != "" {
				m.Sources = strings.Split(s, ",")
			}
			if s := os.Getenv("EXAMPLES"); s != "" {
				_, err := fmt.Sscan(s, &m.Examples)
				require.NoError(t, err)
			}
			start := time.Now()
			cells, err := m.Run(context.Background())
			require.NoError(t, err)
			t.Logf("Dubbo %s: %d captures in %.0f s", release, len(m.Captures), time.Since(start).Seconds())
			for _, workload := range []string{published, edge, zoo} {
				text := report(release, workload, cells)
				t.Log(text)
				kept.WriteString(text)
			}
			check(t, cells)
			all[release] = cells
			bids[release] = map[string][2]int{}
			for target, sizes := range m.Sizes {
				bids[release][target] = [2]int{mostFrequent(sizes[0]), mostFrequent(sizes[1])}
			}
		})
	}
	if len(all) < len(captured) || os.Getenv("SOURCES") != "" {
		kept.WriteString(Table(all[documented], published, share) + "\n" + errorsTable(all) + "\n" + sourcesTable(all))
		return
	}
	t.Run("documented", func(t *testing.T) {
		dir := filepath.Join(testkit.Root(), "testdata", "golden", "estimated")
		nearGolden(t, filepath.Join(dir, "matrix.md"), Table(all[documented], published, share))
		nearGolden(t, filepath.Join(dir, "errors.md"), errorsTable(all))
		nearGolden(t, filepath.Join(dir, "sources.md"), sourcesTable(all))
		text, err := json.MarshalIndent(bids, "", "  ")
		require.NoError(t, err)
		testkit.Golden(t, filepath.Join(dir, "bids.json"), string(text)+"\n") // which docs/comparison.md has
	})
}

// TestSchemas encodes messages of protocol buffers that have no classes, with the schemas of .proto files: requests say what they are.
func TestSchemas(t *testing.T) {
	testkit.Needs(t, "a JDK and Maven")
	for _, program := range []string{"java", "javac", "mvn"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("no %s in PATH", program)
		}
	}
	pom, err := releases.POM(documented, []string{"protobuf", "protobuf-json"})
	require.NoError(t, err)
	jars, err := releases.Resolve(t.Context(), "", filepath.Join(jvm.Cache(), "jars"), pom)
	if err != nil {
		t.Skipf("Maven has no jars of Dubbo %s here: %v", documented, err)
	}
	m := Matrix{
		ClassPath: jars, Protos: []string{filepath.Join(testkit.Root(), "testdata", "rig", "common", "src", "main", "proto")}, Examples: 3,
		Usual: func(*Capture, *Body) bool { return false }, Only: func(b *Body) bool { return !b.Response },
	}
	for _, c := range captures(documented) {
		if strings.HasPrefix(c.Serialization, "protobuf") {
			m.Captures = append(m.Captures, c)
		}
	}
	cells, err := m.Run(t.Context())
	require.NoError(t, err)
	assert.Len(t, cells, 4)
	for k, c := range cells {
		assert.GreaterOrEqual(t, c.Share(), 95.0, "%v: %v %v", k, c.Causes, c.Examples)
	}
}

// decimals are the figures of a table.
var decimals = regexp.MustCompile(`[0-9]+\.[0-9]\b`)

// nearGolden compares a table with that of a golden file. A few bodies are of another size in each virtual machine, since the order of their fields
// is: figures may differ by 1, and -update keeps a file whose figures differ by less than 0.3. "same bytes" may differ by 6: a target of twenty may write
// half of its bodies in another order.
func nearGolden(t *testing.T, file, got string) {
	t.Helper()
	want, err := os.ReadFile(file)
	if err == nil && decimals.ReplaceAllString(string(want), "0") == decimals.ReplaceAllString(got, "0") {
		near, most := true, 0.0
		var header []string
		is := strings.Split(got, "\n")
		for i, line := range strings.Split(string(want), "\n") {
			cells, others := strings.Split(line, "|"), strings.Split(is[i], "|")
			if header == nil {
				header = cells
			}
			for k, cell := range cells {
				a, err := strconv.ParseFloat(strings.TrimSpace(cell), 64)
				if err != nil || k >= len(others) {
					continue
				}
				b, err := strconv.ParseFloat(strings.TrimSpace(others[k]), 64)
				require.NoError(t, err)
				tolerance := 1.0
				if k < len(header) && strings.TrimSpace(header[k]) == "same bytes" {
					tolerance = 6
				}
				most, near = max(most, math.Abs(a-b)), near && math.Abs(a-b) <= tolerance
			}
		}
		if most < 0.3 || near && !*testkit.Update {
			return
		}
	}
	testkit.Golden(t, file, got)
}

// mostFrequent returns the most frequent size, of two equally frequent ones the smaller.
func mostFrequent(sizes map[int]int) (size int) {
	for _, n := range slices.Sorted(maps.Keys(sizes)) {
		if sizes[n] > sizes[size] {
			size = n
		}
	}
	return size
}

// documented is the release whose matrix is in the documentation.
const documented = "2.7.23"

// Sources that keep the types of values, and how many percent of the estimates from them must have the captured size in each target, of the calls
// at the edges and of the zoo. Of the published calls it is everywhere 99, but for what follows.
var typed = map[string]struct{ edge, zoo float64 }{
	"compactedjava":   {94, 84},
	"dubbo":           {96, 75},
	"fastjson2":       {92, 80},
	"fst":             {95, 100},
	"fst registered":  {95, 100},
	"hessian2":        {91, 68},
	"java":            {94, 87},
	"kryo":            {95, 100},
	"kryo registered": {95, 100},
	"kryo2":           {80, 100}, // which cannot be decoded where several classes fit
	"native-hessian":  {91, 65},
	"nativejava":      {94, 85},
	"fury":            {89, 100},
	"fury-compatible": {89, 100},
	"protobuf":        {},
	"protobuf-json":   {},
	"protostuff":      {79, 100}, // which has no elements for some collections of the JDK
}

// asPublished is how many percent of the estimates of published calls must have the captured size.
func asPublished(k Key) float64 {
	switch target := strings.TrimSuffix(k.Target, registeredSuffix); {
	case strings.HasPrefix(k.Target, "protobuf"): // one in a hundred has a message in an Object, or fields of another version
		return 97
	case target == "protostuff" && k.Source != "fastjson2":
		return 98 // it writes whether the hash of a String is known
	case !slices.Contains(identical, target):
		return 99
	}
	switch k.Source {
	case "hessian2", "native-hessian", "dubbo", "protostuff", "fury", "fury-compatible": // do not write that two fields have the same String
		return 92
	case "fastjson2": // nor that they have the same date
		return 76
	}
	return 99
}

// identical are the targets that write an object once, and then refer to it.
var identical = []string{"compactedjava", "fst", "java", "kryo", "kryo2", "nativejava", "protostuff"}

// plain are the targets that write values only: neither their classes nor which of them are the same object.
var plain = []string{"avro", "gson", "jackson", "json", "msgpack", "smartbuf"}

// band returns how far estimates of published calls from a source that does not keep types may be from the captured bytes, in percent of them.
func band(k Key) float64 {
	switch {
	case k.Source == "avro": // what it does not write is a cause
		return 0
	case slices.Contains(plain, k.Target):
		return 1
	}
	return 15
}

// check asserts that estimates are as good as they were.
func check(t *testing.T, cells map[Key]*Cell) {
	for k, c := range cells {
		floors, types := typed[k.Source]
		if k.Source == "avro" && k.Target == "avro" {
			floors.edge, types = 79, k.Workload != zoo
		}
		switch {
		case k.Workload == published && types:
			assert.GreaterOrEqual(t, c.Share(), asPublished(k), "%v", k)
			assert.LessOrEqual(t, c.Error(), 4.0, "%v", k)
		case k.Workload == published:
			assert.LessOrEqual(t, c.Error(), band(k), "%v", k)
		case k.Workload == edge && types:
			assert.GreaterOrEqual(t, c.Share(), floors.edge, "%v", k)
		case k.Workload == zoo && types:
			assert.GreaterOrEqual(t, c.Share(), floors.zoo, "%v", k)
		}
	}
}

// share prints the percentage of estimates with the captured size: 100 if all have it, else less.
func share(c *Cell) string { return fmt.Sprintf("%.1f", math.Floor(10*c.Share())/10) }

// errorsTable has the largest error of each source in each target, over all releases, of the published calls.
func errorsTable(all map[string]map[Key]*Cell) string {
	worst := map[Key]*Cell{}
	for _, cells := range all {
		for _, k := range Keys(cells, published) {
			if _, types := typed[k.Source]; types {
				continue
			}
			if c := cells[k]; c.Bytes > 0 && (worst[k] == nil || c.Error() > worst[k].Error()) {
				worst[k] = c
			}
		}
	}
	return Table(worst, published, func(c *Cell) string { return fmt.Sprintf("%.1f", c.Error()) })
}

// sourcesTable has what share of the estimates from each source has the captured size, over all targets.
func sourcesTable(all map[string]map[Key]*Cell) string {
	var b strings.Builder
	fmt.Fprintf(&b, "| from | Dubbo | published | same bytes | edge | zoo |\n| --- | --- | ---: | ---: | ---: | ---: |\n")
	type row struct{ source, release string }
	rows := map[row]map[string]*Cell{}
	for release, cells := range all {
		for k, c := range cells {
			r := row{k.Source, release}
			if rows[r] == nil {
				rows[r] = map[string]*Cell{published: {}, edge: {}, zoo: {}}
			}
			rows[r][k.Workload].Add(c)
		}
	}
	for _, r := range slices.SortedFunc(maps.Keys(rows), func(x, y row) int {
		return cmp.Or(strings.Compare(x.source, y.source), slices.Index(captured, x.release)-slices.Index(captured, y.release))
	}) {
		fmt.Fprintf(&b, "| %s | %s |", r.source, r.release)
		for _, workload := range []string{published, edge, zoo} {
			c := rows[r][workload]
			if c.Bodies == 0 {
				b.WriteString("  |")
				continue
			}
			fmt.Fprintf(&b, " %s |", share(c))
			if workload == published {
				fmt.Fprintf(&b, " %.1f |", math.Floor(10*percent(c.Same, c.Bodies))/10)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// report returns the table of a workload, and what differs.
func report(release, workload string, cells map[Key]*Cell) string {
	keys := Keys(cells, workload)
	if len(keys) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Dubbo %s, %s calls: estimates with the captured size, of all\n\n%s\n", release, workload, Table(cells, workload, func(c *Cell) string {
		if c.Equal == c.Bodies {
			return fmt.Sprintf("all %d", c.Bodies)
		}
		return fmt.Sprintf("%d of %d", c.Equal, c.Bodies)
	}))
	for _, k := range keys {
		c := cells[k]
		if c.Same == c.Bodies {
			continue
		}
		fmt.Fprintf(&b, "%s to %s: %d of %d with the captured size, %d with the same bytes; %d of %d bytes differ\n",
			k.Source, k.Target, c.Equal, c.Bodies, c.Same, c.Apart, c.Bytes)
		for _, cause := range slices.SortedFunc(maps.Keys(c.Causes), func(x, y string) int {
			return cmp.Or(cmp.Compare(c.Causes[y], c.Causes[x]), strings.Compare(x, y))
		}) {
			fmt.Fprintf(&b, "    %d %s\n", c.Causes[cause], cause)
		}
		for _, e := range c.Examples {
			fmt.Fprintf(&b, "    %s\n", e)
		}
	}
	b.WriteByte('\n')
	return b.String()
}

// registeredClasses returns the classes of a list.
func registeredClasses(t *testing.T, list string) (names []string) {
	text, err := os.ReadFile(list)
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			names = append(names, line)
		}
	}
	assert.NotEmpty(t, names)
	return names
}
