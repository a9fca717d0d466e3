package truth

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// declared is the serializations that leave out what the receiver knows from the declared types: classes, and fields
// that have their default value.
var declared = map[string]bool{"fastjson2": true}

// isDefault reports whether a value is that of a field that was never set.
func isDefault(want any) bool {
	switch w := want.(type) {
	case nil:
		return true
	case bool:
		return !w
	case json.Number:
		f, err := w.Float64()
		return err == nil && f == 0
	}
	return false
}

// boxed compares an object of the JDK, of which the log has the text or the one value that it holds, with what
// fastjson2 writes of it: that value, a date, the bits of a UUID, or its fields.
func (c *comparer) boxed(path string, got any, want map[string]any) (diff string, ok bool) {
	class, _ := want["@class"].(string)
	value, ok := want["value"]
	if class == "java.util.BitSet" {
		value, ok = want["words"]
	}
	if !ok || len(want) > 2 && want["isPresent"] == nil || !strings.HasPrefix(class, "java.") && !strings.HasPrefix(class, "sun.") {
		return "", false
	}
	g, ok := got.(map[string]any)
	if !ok {
		return c.compare(path, got, value), true
	}
	text := fmt.Sprint(value)
	switch {
	case g["@class"] != nil:
		return "", false
	case g["@date"] != nil:
		return c.compare(path, g["@date"], value), true
	case g["@bytes"] != nil:
		encoded, _ := g["@bytes"].(string)
		bits, err := base64.StdEncoding.DecodeString(encoded)
		if words, is := value.([]any); is && err == nil && len(words) == 1 {
			slices.Reverse(bits)
			return c.compare(path, json.Number(new(big.Int).SetBytes(bits).String()), words[0]), true
		}
		if err != nil || class != "java.util.UUID" {
			return "", false
		}
		return c.compare(path, hex.EncodeToString(bits), strings.ReplaceAll(text, "-", "")), true
	}
	for k, v := range g {
		if n, is := v.(json.Number); !is || !strings.Contains(text, n.String()) {
			return fmt.Sprintf("at %s.%s: %s is not in %s", path, k, short(v), text), true
		}
	}
	return "", true
}

// constant reports whether ours is the name or ordinal of the constant of an enum whose type is declared.
func constant(got any, want map[string]any) bool {
	switch g := got.(type) {
	case string:
		return want["@enum"] != nil && g == want["name"]
	case json.Number:
		n, err := g.Int64()
		return want["@enum"] != nil && err == nil && n >= 0 && n < math.MaxInt16
	}
	return false
}

// sameTime reports whether ours is a time as fastjson2 writes it: a java.sql.Time as its clock, an OffsetTime with a day,
// a ZonedDateTime without the offset of its region.
func sameTime(got any, want map[string]any) bool {
	w, _ := want["@date"].(string)
	switch g := got.(type) {
	case string:
		return len(g) == len("00:00:00") && strings.Contains(w, "T"+g)
	case map[string]any:
		ours, _ := g["@date"].(string)
		local, region, zoned := strings.Cut(ours, "[")
		return ours != "" && (ours == "1970-01-01T"+w || ours+"Z" == w || ours+":00Z" == w || zoned && strings.HasPrefix(w, local) && strings.HasSuffix(w, "["+region))
	}
	return false
}

// What a declared type tells may be missing, nothing else.
func TestDeclaredComparer(t *testing.T) {
	parse := func(s string) (v any) {
		d := json.NewDecoder(strings.NewReader(s))
		d.UseNumber()
		require.NoError(t, d.Decode(&v), s)
		return v
	}
	for _, c := range []struct {
		ours, truth string
		same        bool
	}{
		{`[{"x":1}]`, `[{"@class":"a.B","x":1}]`, true},
		{`[{"@class":"a.C","x":1}]`, `[{"@class":"a.B","x":1}]`, false},
		{`[{"x":1}]`, `[{"@class":"a.B","x":1,"y":0,"z":null,"b":false,"d":0.0}]`, true},
		{`[{"x":1}]`, `[{"@class":"a.B","x":1,"y":2}]`, false},
		{`[{"x":1}]`, `[{"@class":"a.B","x":1,"y":""}]`, false},
		{`[{"x":1}]`, `[{"@class":"a.B","x":1,"y":true}]`, false},
		{`[{"x":1,"y":2}]`, `[{"@class":"a.B","x":1}]`, false},
		{`["X"]`, `[{"@enum":"a.B","name":"X"}]`, true},
		{`["Y"]`, `[{"@enum":"a.B","name":"X"}]`, false},
		{`[2]`, `[{"@enum":"a.B","name":"X"}]`, true},
		{`[5]`, `[{"@class":"java.util.concurrent.atomic.AtomicInteger","value":5}]`, true},
		{`[6]`, `[{"@class":"java.util.concurrent.atomic.AtomicInteger","value":5}]`, false},
		{`[3]`, `[{"@class":"java.util.OptionalInt","isPresent":true,"value":3}]`, true},
		{`[{"@bytes":"AAAAAAAAAAEAAAAAAAAAAg=="}]`, `[{"@class":"java.util.UUID","value":"00000000-0000-0001-0000-000000000002"}]`, true},
		{`[{"@bytes":"AAAAAAAAAAEAAAAAAAAAAw=="}]`, `[{"@class":"java.util.UUID","value":"00000000-0000-0001-0000-000000000002"}]`, false},
		{`[{"@bytes":"BQE="}]`, `[{"@class":"java.util.BitSet","words":[261]}]`, true},
		{`[{"@bytes":"BQI="}]`, `[{"@class":"java.util.BitSet","words":[261]}]`, false},
		{`[{"year":2019,"month":7}]`, `[{"@class":"java.time.YearMonth","value":"2019-07"}]`, true},
		{`[{"year":2019,"month":8}]`, `[{"@class":"java.time.YearMonth","value":"2019-07"}]`, false},
		{`[{"@date":"2020-01-02T00:00:00Z"}]`, `[{"@class":"java.util.GregorianCalendar","value":"2020-01-02T00:00:00Z"}]`, true},
		{`[{"@date":"2020-01-03T00:00:00Z"}]`, `[{"@class":"java.util.GregorianCalendar","value":"2020-01-02T00:00:00Z"}]`, false},
		{`["08:00:00"]`, `[{"@date":"2019-11-19T08:00:00.123Z"}]`, true},
		{`["09:00:00"]`, `[{"@date":"2019-11-19T08:00:00.123Z"}]`, false},
		{`[{"@date":"2019-11-19T08:00:00"}]`, `[{"@date":"2019-11-19T08:00:00Z"}]`, true},
		{`[{"@date":"2019-11-19T08:00"}]`, `[{"@date":"2019-11-19T08:00:00Z"}]`, true},
		{`[{"@date":"2019-11-19T08:01"}]`, `[{"@date":"2019-11-19T08:00:00Z"}]`, false},
		{`[{"@date":"2019-11-19T08:00:01"}]`, `[{"@date":"2019-11-19T08:00:00Z"}]`, false},
		{`[{"@date":"1970-01-01T01:02:03Z"}]`, `[{"@date":"01:02:03Z"}]`, true},
		{`[{"@date":"2019-11-19T16:00:01.500[Asia/Tokyo]"}]`, `[{"@date":"2019-11-19T16:00:01.500+09:00[Asia/Tokyo]"}]`, true},
		{`[{"@date":"2019-11-19T16:00:01.500[Asia/Seoul]"}]`, `[{"@date":"2019-11-19T16:00:01.500+09:00[Asia/Tokyo]"}]`, false},
		{`[{"@opaque":3}]`, `["b"]`, false},
	} {
		ours, truth := parse(c.ours), parse(c.truth)
		k := comparer{ours: ours, truth: truth, full: true, declared: true}
		assert.Equal(t, c.same, k.compare("", ours, truth) == "", "%s against %s", c.ours, c.truth)
	}
}
