package hessian2

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	hessian "github.com/apache/dubbo-go-hessian2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/formats/formattest"
	"dubbo-wire/internal/decode/jdk"
)

// dubbo-go-hessian2 is a second opinion. It never sees bytes that the walk has not accepted: it believes lengths.

// encoded returns what dubbo-go-hessian2 writes for v.
func encoded(tb testing.TB, v any) []byte {
	tb.Helper()
	e := hessian.NewEncoder()
	require.NoError(tb, e.Encode(v))
	return e.Buffer()
}

type goUser struct {
	Name  string
	Email *string
	Age   int32
	Tags  []string
	Self  *goUser
	Since time.Time
}

func (goUser) JavaClassName() string { return "org.example.User" }

type goColor int32

func (goColor) JavaClassName() string             { return "org.example.Color" }
func (c goColor) String() string                  { return [...]string{"RED", "GREEN"}[c] }
func (goColor) EnumValue(string) hessian.JavaEnum { return 0 }

func parseJSON(tb testing.TB, body []byte) (v any) {
	tb.Helper()
	require.NoError(tb, json.Unmarshal([]byte(formattest.Value(tb, Format, body)), &v))
	return v
}

// TestReadsGoPeers reads what a Go consumer or provider writes.
func TestReadsGoPeers(t *testing.T) {
	hessian.RegisterPOJO(&goUser{})
	hessian.RegisterJavaEnum(goColor(0))
	read := func(v any) string { return formattest.Value(t, Format, encoded(t, v)) }

	for _, n := range []int{0, 1, 31, 32, 1023, 1024, 4095, 4096, 4097, 8192, 65535, 65536, 100_000} {
		for _, unit := range []string{"a", "é", "中", "😀", "a😀中"} {
			s := strings.Repeat(unit, n)
			body := encoded(t, s)
			tree := decode.Tree{WithValues: true}
			r := New()
			r.Reset(body, decode.Malformed, &tree)
			r.Value(decode.ByField, "v", 0, "")
			require.Nil(t, r.Err())
			require.Equal(t, len(body), r.Offset())
			require.True(t, s == tree.Nodes[0].Text, "%d times %s", n, unit)
		}
		raw := bytes.Repeat([]byte{1, 2, 3}, n)
		body := encoded(t, raw)
		tree := decode.Tree{WithValues: true}
		r := New()
		r.Reset(body, decode.Malformed, &tree)
		r.Value(decode.ByField, "v", 0, "")
		require.Nil(t, r.Err())
		require.Equal(t, len(body), r.Offset())
		require.True(t, bytes.Equal(raw, tree.Nodes[0].Raw), "%d bytes", n)
	}

	for _, i := range []int32{0, -1, -16, 47, 48, -17, 2047, -2048, 2048, 262143, -262144, 262144, math.MaxInt32, math.MinInt32} {
		assert.Equal(t, fmt.Sprint(i), read(i))
		assert.Equal(t, fmt.Sprint(i), read(int64(i)))
		assert.Equal(t, fmt.Sprint(int64(i)*4096), read(int64(i)*4096))
	}
	for _, f := range []float64{0, 1, -1, 127, 128, -129, 32767, 32768, 0.1, 1.5, -2.25, 123456.789, 1e15} {
		assert.InDelta(t, f, parseJSON(t, encoded(t, f)), 0, "%v", f)
		assert.InDelta(t, f, parseJSON(t, encoded(t, float32(f))), math.Abs(f)/1e6)
	}
	at := time.Date(2026, 11, 21, 3, 4, 11, 224e6, time.UTC)
	assert.Equal(t, `{"@date":"2026-11-21T03:04:11.224Z"}`, read(at))
	assert.Equal(t, `[true,false,null,"x",{"a":1}]`, read([]any{true, false, nil, "x", map[string]any{"a": int32(1)}}))
	assert.Equal(t, `["a","b"]`, read([]string{"a", "b"}))
	assert.Equal(t, `[[1],[2,3]]`, read([][]int32{{1}, {2, 3}}))
	assert.Equal(t, `{"@map":[[1,"x"]]}`, read(map[int32]string{1: "x"}))

	user := &goUser{Name: "张三", Age: 7, Tags: []string{"a"}, Since: at}
	user.Self = user
	assert.Equal(t, map[string]any{
		"@class": "org.example.User", "name": "张三", "email": nil, "age": 7.0, "tags": []any{"a"},
		"self": map[string]any{"@ref": "result"}, "since": map[string]any{"@date": "2026-11-21T03:04:11.224Z"},
	}, parseJSON(t, encoded(t, user)))
	assert.Equal(t, `{"@enum":"org.example.Color","name":"GREEN"}`, read(goColor(1)))
	// A Go peer writes the same constant again, where a Java peer refers to it: see enums.go.
	assert.Equal(t, `[{"@class":"org.example.Color","name":"RED"},{"@class":"org.example.Color","name":"RED"}]`, read([]any{goColor(0), goColor(0)}))
}

// TestReadsRandomValues: trees of lists and maps come back equal.
func TestReadsRandomValues(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	letters := []rune("abcXYZ019 \"\\\n.é中文😀👩\u0000")
	text := func() string {
		s := make([]rune, rng.IntN(40))
		for i := range s {
			s[i] = letters[rng.IntN(len(letters))]
		}
		return string(s)
	}
	var value func(depth int) any
	value = func(depth int) any {
		switch k := rng.IntN(10); {
		case k < 2 && depth > 0:
			list := make([]any, rng.IntN(12)+1)
			for i := range list {
				list[i] = value(depth - 1)
			}
			return list
		case k < 4 && depth > 0:
			m := make(map[string]any)
			for range rng.IntN(6) + 1 {
				m["k"+text()] = value(depth - 1)
			}
			return m
		case k < 6:
			return text()
		case k == 6:
			return int32(rng.Uint32()) >> rng.IntN(32)
		case k == 7:
			return rng.Int64N(1<<53) >> rng.IntN(53) // as JSON carries it
		case k == 8:
			return rng.Float64()
		}
		return []any{nil, true, false}[rng.IntN(3)]
	}
	for range 2000 {
		v := value(5)
		want, err := json.Marshal(v)
		require.NoError(t, err)
		var plain any
		require.NoError(t, json.Unmarshal(want, &plain))
		body := encoded(t, v)
		require.Equal(t, plain, parseJSON(t, body))
		formattest.Check(t, Format, body)
	}
}

// TestSecondOpinion: of bodies that the walk accepts, dubbo-go-hessian2 reads the same values, where it keeps them.
func TestSecondOpinion(t *testing.T) {
	compared := 0
	rows := formattest.Values(t, valueRows)
	for name, body := range benchBodies() {
		rows = append(rows, formattest.Row{Name: name, Body: body})
	}
	for _, row := range rows {
		tree := decode.Tree{WithValues: true}
		r := New()
		r.Reset(row.Body, decode.Malformed, &tree)
		r.Value(decode.ByField, "v", 0, "")
		require.Nil(t, r.Err())
		ours, ok := canonNode(&tree, 0)
		if !ok {
			continue
		}
		theirs, err := hessian.NewDecoder(row.Body[:r.Offset()]).Decode()
		require.NoError(t, err, row.Name)
		want, ok := canon(reflect.ValueOf(theirs))
		if !ok {
			continue
		}
		compared++
		assert.Equal(t, want, ours, row.Name)
	}
	assert.Greater(t, compared, 80)
}

// canonNode writes a value so that both readings can be compared: maps by key, objects as maps with their class. ok is
// false where dubbo-go-hessian2 keeps less, or turns the value into a type of its own.
func canonNode(tree *decode.Tree, i int) (s string, ok bool) {
	n := &tree.Nodes[i]
	var children []string
	for c := i + 1; c < int(n.End); c = int(tree.Nodes[c].End) {
		if tree.Nodes[c].Kind == decode.Overhead {
			continue
		}
		s, ok := canonNode(tree, c)
		if !ok {
			return "", false
		}
		if n.Kind == decode.Object {
			children = append(children, fmt.Sprintf("%q", tree.Nodes[c].Name))
		}
		children = append(children, s)
	}
	switch n.Kind {
	case decode.Null:
		return "null", true
	case decode.Bool:
		return fmt.Sprint(n.Num != 0), true
	case decode.Int:
		return fmt.Sprint(n.Num), n.End == int32(i+1)
	case decode.Float64, decode.Float32:
		return fmt.Sprintf("%g", float32(n.Float)), n.End == int32(i+1)
	case decode.String:
		return fmt.Sprintf("%q", n.Text), !strings.ContainsRune(n.Text, '\ufffd')
	case decode.Bytes:
		return fmt.Sprintf("%x", n.Raw), true
	case decode.Date:
		return n.Text, n.End == int32(i+1)
	case decode.List:
		return fmt.Sprint(children), true
	case decode.Object:
		return canonMap(append(children, `"_class"`, fmt.Sprintf("%q", n.Class))), !strings.HasPrefix(n.Class, "java.")
	case decode.Map:
		return canonMap(children), true
	}
	return "", false
}

func canonMap(pairs []string) string {
	entries := make([]string, 0, len(pairs)/2)
	for i := 0; i < len(pairs); i += 2 {
		entries = append(entries, pairs[i]+":"+pairs[i+1])
	}
	slices.Sort(entries)
	return "{" + strings.Join(slices.Compact(entries), " ") + "}"
}

func canon(v reflect.Value) (s string, ok bool) {
	for v.IsValid() && (v.Kind() == reflect.Interface || v.Kind() == reflect.Pointer) {
		v = v.Elem()
	}
	if !v.IsValid() {
		return "null", true
	}
	switch k := v.Kind(); {
	case v.Type() == reflect.TypeFor[time.Time]():
		at := v.Interface().(time.Time)
		return jdk.Instant(at), true
	case k == reflect.Bool:
		return fmt.Sprint(v.Bool()), true
	case v.CanInt():
		return fmt.Sprint(v.Int()), true
	case v.CanFloat():
		return fmt.Sprintf("%g", float32(v.Float())), true
	case k == reflect.String:
		return fmt.Sprintf("%q", v.String()), true
	case k == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8:
		return fmt.Sprintf("%x", v.Bytes()), true
	case k == reflect.Slice:
		var list []string
		for i := range v.Len() {
			s, ok := canon(v.Index(i))
			if !ok {
				return "", false
			}
			list = append(list, s)
		}
		return fmt.Sprint(list), true
	case k == reflect.Map:
		var pairs []string
		for it := v.MapRange(); it.Next(); {
			key, ok1 := canon(it.Key())
			value, ok2 := canon(it.Value())
			if !ok1 || !ok2 {
				return "", false
			}
			pairs = append(pairs, key, value)
		}
		return canonMap(pairs), true
	}
	return "", false
}
