package hessian2

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"dubbo-wire/internal/decode/formats/formattest"
)

// TestEnumEvidence: where an object stands, and what its class is called, tells what its name does not.
func TestEnumEvidence(t *testing.T) {
	type w = *writer
	obj := func(class string, names ...string) func(w) w {
		return func(w w) w {
			for _, n := range names {
				w.object(class, "name").str(n)
			}
			return w
		}
	}
	key := func(typ string, key func(w) w) func(w) w {
		return func(w w) w {
			if typ == "" {
				w.hex("48")
			} else {
				w.hex("4d").str(typ)
			}
			return key(w).int(1).hex("5a")
		}
	}
	sorted := func(f func(w) w) func(w) w { return func(w w) w { return f(w.typed("java.util.TreeSet", 1)) } }
	constant := func(name string) string { return fmt.Sprintf(`{"@enum":"E","name":%q}`, name) }
	bean := func(name string) string { return fmt.Sprintf(`{"@class":"E","name":%q}`, name) }
	for _, c := range []struct {
		name   string
		values []func(w) w
		want   string
	}{
		{
			"a key of an EnumMap",
			[]func(w) w{obj("E", "paid"), key("java.util.EnumMap", obj("E", "open"))},
			constant("paid") + `,{"@map":[[` + constant("open") + `,1]]}`,
		},
		{
			"a key of an EnumMap that was a bean for sure",
			[]func(w) w{obj("E", "a b"), key("java.util.EnumMap", obj("E", "open"))},
			constant("a b") + `,{"@map":[[` + constant("open") + `,1]]}`,
		},
		{"a key", []func(w) w{obj("E", "paid"), key("", obj("E", "已取消"))}, constant("paid") + `,{"@map":[[` + constant("已取消") + `,1]]}`},
		{"a key, later a blank", []func(w) w{key("", obj("E", "open")), obj("E", "a b")}, `{"@map":[[` + bean("open") + `,1]]},` + bean("a b")},
		{"a blank, later a key", []func(w) w{obj("E", "a b"), key("", obj("E", "open"))}, bean("a b") + `,{"@map":[[` + bean("open") + `,1]]}`},
		{"a key with a digit first", []func(w) w{key("", obj("E", "1st")), obj("E", "x")}, `{"@map":[[` + bean("1st") + `,1]]},` + bean("x")},
		{
			"two keys of one name",
			[]func(w) w{key("", obj("E", "a")), key("", obj("E", "a"))},
			`{"@map":[[` + bean("a") + `,1]]},{"@map":[[` + bean("a") + `,1]]}`,
		},
		{"an element of a TreeSet", []func(w) w{obj("E", "$x"), sorted(obj("E", "Shipped_2"))}, constant("$x") + ",[" + constant("Shipped_2") + "]"},
		{
			"a reference as a key",
			[]func(w) w{obj("E", "paid"), key("", func(w w) w { return w.ref(1) })},
			constant("paid") + `,{"@map":[[` + constant("paid") + `,1]]}`,
		},
		{"no place", []func(w) w{obj("E", "paid"), func(w w) w { return w.ref(1) }}, bean("paid") + `,{"@ref":"result[0]"}`},
	} {
		body := new(writer).list(len(c.values))
		for _, v := range c.values {
			v(body)
		}
		assert.Equal(t, "["+c.want+"]", formattest.Value(t, Format, body.b), c.name)
		formattest.Check(t, Format, body.b)
	}
	for class, want := range map[string]string{
		"a.OrderStatus": `[{"@enum":"a.OrderStatus","name":"paid"}]`,
		"a.Shop$State":  `[{"@enum":"a.Shop$State","name":"paid"}]`,
		"a.ColorEnum":   `[{"@enum":"a.ColorEnum","name":"paid"}]`,
		"a.Order":       `[{"@class":"a.Order","name":"paid"}]`,
	} {
		assert.Equal(t, want, formattest.Value(t, Format, obj(class, "paid")(new(writer).list(1)).b))
	}
	const red = `{"@enum":"a.ColorEnum","name":"red"}`
	assert.Equal(t, "["+red+","+red+"]", formattest.Value(t, Format, obj("a.ColorEnum", "red", "red")(new(writer).list(2)).b), "by a Go peer")
	assert.Equal(t, `[{"@class":"a.Status","name":"a b"}]`, formattest.Value(t, Format, obj("a.Status", "a b")(new(writer).list(1)).b))
}
