package jsonrpc

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	_ "dubbo-wire/internal/dev/testkit"
)

// all returns the members of b as name=value, with where the object ends.
func all(b string) (members []string) {
	s := Scan([]byte(b))
	for s.Next() {
		value := "…"
		if to := s.To(); to >= 0 {
			value = b[s.From:to]
		}
		members = append(members, fmt.Sprintf("%s=%s", s.Name, value))
	}
	return append(members, fmt.Sprint(s.End()))
}

func TestScan(t *testing.T) {
	for _, row := range []struct{ body, want string }{
		{`{"id":"1","jsonrpc":"2.0","method":"find","params":["bob",5]}`, `id="1" jsonrpc="2.0" method="find" params=["bob",5] 61`},
		{" {\n\"a\" : {\"b\":[{},\"]}\\\"\"]} ,\t\"c\":-1.5e3\r\n} x", `a={"b":[{},"]}\""]} c=-1.5e3 42`},
		{`{}`, `2`},
		{`{"a":null}`, `a=null 10`},
		{`{"a":"x\\"}`, `a="x\\" 11`},
		{`{"a":[1,2`, `a=… -1`},
		{`{"a":12`, `a=… -1`},
		{`{"a":"b`, `a=… -1`},
		{`{"a":`, `-1`},
		{`{"a`, `-1`},
		{`{"a":1`, `a=… -1`},
		{`{"a":1,`, `a=1 -1`},
		{`{"a":1 2}`, `a=1 -1`},
		{`{"a":}`, `a=… -1`},
		{`{a:1}`, `-1`},
		{`[1]`, `-1`},
		{``, `-1`},
	} {
		assert.Equal(t, row.want, strings.Join(all(row.body), " "), row.body)
	}
	assert.True(t, IsBatch([]byte(" [{}]")))
	assert.False(t, IsBatch([]byte(`{"a":[]}`)))
}

// FuzzScan: the members of JSON are those that Go's reader finds, and no bytes do harm.
func FuzzScan(f *testing.F) {
	for _, body := range []string{
		`{"id":"1","jsonrpc":"2.0","method":"find","params":["bob",5]}`, `{"result":{"a":[{},"]}\""]}}`, `{"a":`, `{"a":"\`, `{"\"":1,"a":2}`, `[`, "",
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		s := Scan(b)
		found := map[string]string{}
		at := 0
		for s.Next() {
			if s.NameFrom <= at || s.From <= s.NameFrom || s.To() > len(b) || s.To() >= 0 && s.To() <= s.From {
				t.Fatalf("a member at %d with a value from %d to %d", s.NameFrom, s.From, s.To())
			}
			at = s.From
			if _, ok := s.Text(); ok && s.To() < 0 {
				t.Fatal("a text without end")
			}
			if s.To() >= 0 {
				found[string(s.Name)] = string(b[s.From:s.To()])
			}
		}
		var want map[string]json.RawMessage
		if json.Unmarshal(b, &want) != nil || want == nil {
			return
		}
		if s.End() < 0 {
			t.Fatalf("%q has no end", b)
		}
		for name, value := range want {
			if got, ok := found[name]; ok && got != string(value) {
				t.Fatalf("%q is %q instead of %q", name, got, value)
			}
		}
	})
}

// A text full of escapes takes time that grows with its length only.
func TestEscapes(t *testing.T) {
	b := []byte(`{"jsonrpc":"2.0","params":"` + strings.Repeat(`\n`, 4<<20) + `","method":"find"}`)
	var names []string
	for o := Scan(b); o.Next(); {
		names = append(names, string(o.Name))
	}
	assert.Equal(t, []string{"jsonrpc", "params", "method"}, names)
}
