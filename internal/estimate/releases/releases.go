// Package releases knows which serializations a release of Dubbo can write, and the jars that this takes: the text of a pom for them, the jars
// that the user's Maven finds for it, and the release of jars that the user brings.
//
// The artifacts and their versions are those of testdata/rig, whose captures they have written: the bytes depend on them.
package releases

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// lines are the newest releases of each line, oldest first: what "2.7" or "2.7.x" stands for.
var lines = []string{"2.5.10", "2.6.12", "2.7.23", "3.0.15", "3.1.11", "3.2.16", "3.3.6"}

// others are releases that write what the newest one of their line does not.
var others = []string{"2.5.3", "2.6.0", "2.7.1", "2.7.5"}

// entry says which releases write a serialization in one dialect.
type entry struct {
	name, dialect string // dialect is as package formats has it: "Kryo 5"; empty for the usual one
	since, until  string // the first and the last release; "2.7" as the last one is every 2.7.x, an empty text every release
	libraries     []string
}

// table has the names of Dubbo's extensions, in the order of their ids.
var table = []entry{
	{"dubbo", "", "", "2.6.0", nil},
	{"hessian2", "", "", "", nil},
	{"java", "", "", "3.2", nil},
	{"java", "", "3.3", "", []string{"extension jdk"}},
	{"compactedjava", "", "", "3.2", nil},
	{"compactedjava", "", "3.3", "", []string{"extension jdk"}},
	{"json", "", "", "2.5.3", nil},
	{"fastjson", "", "", "2.7", []string{"fastjson"}},
	{"fastjson", "", "3.0", "3.1", []string{"extension fastjson"}},
	{"fastjson", "length-prefixed", "3.2", "", []string{"extension fastjson"}},
	{"nativejava", "", "", "3.2", nil},
	{"nativejava", "", "3.3", "", []string{"extension jdk"}},
	{"kryo", "", "2.6", "2.7", []string{"kryo", "kryo-serializers"}},
	{"kryo", "Kryo 5", "3.0", "", []string{"extension kryo"}},
	{"fst", "", "2.6", "2.7", []string{"fst"}},
	{"fst", "", "3.0", "", []string{"extension fst"}},
	{"native-hessian", "", "2.7.2", "2.7", []string{"hessian"}},
	{"native-hessian", "", "3.2", "", []string{"extension native-hession"}},
	{"avro", "", "2.7.2", "2.7", []string{"avro"}},
	{"avro", "", "3.2", "", []string{"extension avro"}},
	{"protostuff", "id 10", "2.7.0", "2.7.1", []string{"protostuff-core", "protostuff-runtime"}},
	{"protostuff", "", "2.7.2", "2.7", []string{"protostuff-core", "protostuff-runtime"}},
	{"protostuff", "", "3.2", "", []string{"extension protostuff"}},
	{"smartbuf", "", "2.6", "2.7", []string{"smartbuf-dubbo"}},
	{"gson", "", "2.7.2", "2.7", []string{"gson"}},
	{"gson", "", "3.0", "", []string{"extension gson"}},
	{"jackson", "", "3.2", "", []string{"extension jackson"}},
	{"protobuf-json", "", "2.7.4", "2.7", []string{"protobuf-java", "protobuf-java-util"}},
	{"protobuf-json", "", "3.2", "", []string{"extension protobuf"}},
	{"protobuf", "id 21", "2.7.5", "2.7.5", []string{"protobuf-java", "protobuf-java-util"}},
	{"protobuf", "", "2.7.6", "2.7", []string{"protobuf-java", "protobuf-java-util"}},
	{"protobuf", "", "3.2", "", []string{"extension protobuf"}},
	{"fastjson2", "", "3.1", "", nil},
	{"kryo2", "", "2.7.5", "2.7", []string{"kryo", "kryo-serializers"}},
	{"kryo2", "Kryo 5", "3.0", "", []string{"extension kryo"}},
	{"msgpack", "", "2.7.12", "2.7", []string{"msgpack-core", "jackson-dataformat-msgpack"}},
	{"msgpack", "", "3.2", "", []string{"extension msgpack"}},
	{"fury", "", "3.2", "", []string{"extension fury"}},
	{"fury-compatible", "", "3.2", "", []string{"extension fury"}},
}

// written reports whether a release has the serialization.
func (e *entry) written(release string) bool {
	return compare(release, e.since) >= 0 && (e.until == "" || comparePrefix(release, e.until) <= 0)
}

// All returns the names of all serializations, in the order of their ids.
func All() []string {
	var names []string
	for _, e := range table {
		if !slices.Contains(names, e.name) {
			names = append(names, e.name)
		}
	}
	return names
}

// Of returns the names of the serializations that a release writes, in the order of their ids.
func Of(release string) []string {
	var names []string
	for _, e := range table {
		if e.written(release) {
			names = append(names, e.name)
		}
	}
	return names
}

// Find returns the release that a text names: a release ("2.7.8") or a line ("2.7", "2.7.x"), which is its newest release.
func Find(text string) (string, error) {
	release := strings.TrimSuffix(strings.TrimSuffix(text, ".x"), ".")
	parts := strings.Split(release, ".")
	for _, newest := range lines {
		if line(newest) != strings.Join(parts[:min(2, len(parts))], ".") {
			continue
		}
		switch {
		case len(parts) == 2:
			return newest, nil
		case isRelease(release):
			return release, nil
		}
	}
	return "", fmt.Errorf("unknown Dubbo release %q; choose a release or a line of %s to %s", text, line(lines[0]), line(lines[len(lines)-1]))
}

// Nearest returns the release nearest to another one that writes a serialization: of the same line if there is one, else of the nearest line. ok is
// false if no release does.
func Nearest(serialization, release string) (nearest string, ok bool) {
	if slices.Contains(Of(release), serialization) {
		return release, true
	}
	for _, candidate := range byDistance(release) {
		if slices.Contains(Of(candidate), serialization) {
			return candidate, true
		}
	}
	return "", false
}

// byDistance returns the releases of the table, those of the nearest line first. Newer ones come first among equals.
func byDistance(release string) []string {
	all := append(slices.Clone(lines), others...)
	at := lineIndex(release)
	slices.SortStableFunc(all, func(a, b string) int {
		return cmp.Or(cmp.Compare(abs(lineIndex(a)-at), abs(lineIndex(b)-at)), -compare(a, b))
	})
	return all
}

// Guess returns the release that probably wrote a capture. versions are what its requests say: a protocol version ("2.0.2"), a release
// ("2.5.3") or a line ("2.6.x"). observed are the names of its serializations as package formats has them, with their dialects.
func Guess(versions, observed []string) string {
	named := ""
	for _, v := range versions {
		if release, err := Find(v); err == nil {
			if isRelease(v) {
				return release
			}
			named = release
		}
	}
	// The releases that users have most come first.
	candidates := []string{"2.7.23", "3.3.6", "3.2.16", "3.1.11", "3.0.15", "2.6.12", "2.7.5", "2.7.1", "2.6.0", "2.5.10", "2.5.3"}
	if named != "" {
		candidates = append([]string{named}, candidates...)
	}
	best, most := candidates[0], -1
	for _, c := range candidates {
		n := 0
		for _, o := range observed {
			if slices.ContainsFunc(table, func(e entry) bool { return e.written(c) && e.full() == o }) {
				n++
			}
		}
		if n > most {
			best, most = c, n
		}
	}
	return best
}

// full returns the name with the dialect: "kryo (Kryo 5)".
func (e *entry) full() string {
	if e.dialect == "" {
		return e.name
	}
	return e.name + " (" + e.dialect + ")"
}

// group returns the Maven group of a release, which begins the names of its packages.
func group(release string) string {
	if compare(release, "2.7") < 0 {
		return "com.alibaba"
	}
	return "org.apache.dubbo"
}

// line returns the line of a release: "2.7" of "2.7.23".
func line(release string) string {
	parts := strings.SplitN(release, ".", 3)
	return strings.Join(parts[:min(2, len(parts))], ".")
}

// lineIndex returns the index of a release's line in lines; of an unknown line that of the next older one, at least 0.
func lineIndex(release string) int {
	at := 0
	for i, newest := range lines {
		if compare(release, line(newest)) >= 0 {
			at = i
		}
	}
	return at
}

// isRelease reports whether a text is a complete release: three or more numbers, which a word may follow, as in 3.3.0-beta.1.
func isRelease(text string) bool {
	head, rest, hasRest := strings.Cut(text, "-")
	parts := strings.Split(head, ".")
	if len(text) > 40 || len(parts) < 3 || hasRest && strings.Trim(rest, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-") != "" {
		return false
	}
	for _, p := range parts {
		if _, err := strconv.ParseUint(p, 10, 16); err != nil {
			return false
		}
	}
	return true
}

// compare compares two releases by their numbers. A line is older than its releases, and the empty text older than all.
func compare(a, b string) int { return slices.Compare(numbers(a), numbers(b)) }

// comparePrefix compares a release with the beginning of another one: 2.7.23 and 2.7 are equal.
func comparePrefix(release, prefix string) int {
	n, p := numbers(release), numbers(prefix)
	return slices.Compare(n[:min(len(n), len(p))], p)
}

func numbers(release string) []int {
	head, _, _ := strings.Cut(release, "-")
	var all []int
	for part := range strings.SplitSeq(head, ".") {
		n, err := strconv.Atoi(part)
		if err != nil {
			break
		}
		all = append(all, n)
	}
	return all
}

func abs(n int) int { return max(n, -n) }
