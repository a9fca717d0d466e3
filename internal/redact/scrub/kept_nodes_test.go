package scrub

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"dubbo-wire/internal/decode/dubbo"
	"dubbo-wire/internal/decode/formats"
	"dubbo-wire/internal/rpc"
)

// The values of attachments that name the callee, classes and constants stay only if they can be such names.
func TestKeptNames(t *testing.T) {
	text := func(s string) string { return string(rune(len(s))) + s }
	class := func(s string) string { return "C\x0fjava.lang.Class\x91\x04name\x60" + text(s) }
	s := New(formats.All(), [32]byte{})
	d := dubbo.NewDecoder(formats.All())
	for _, c := range []struct {
		argument, key, value string
		argumentStays, stays bool
	}{
		{text("a name of"), "path", "com.acme.OrderService", false, true},
		{text("a name of"), "path", "Jane Doe", false, false},
		{text("a name of"), "interface", "jane@doe.example", false, false},
		{text("a name of"), "version", "1.2.0-beta_1", false, true},
		{text("a name of"), "version", "my secret", false, false},
		{text("a name of"), "group", "blue/eu-1", false, true},
		{text("a name of"), "group", "Jane, John", false, false},
		{text("a name of"), "dubbo", "2.0.2", false, true},
		{text("a name of"), "dubbo", "password", false, false},
		{text("a name of"), "user", "1.2.3", false, false},
		{class("com.acme.Order"), "path", "com.acme.OrderService", true, true},
		{class("[Lcom.acme.Order;"), "path", "com.acme.OrderService", true, true},
		{class("Jane Doe"), "path", "com.acme.OrderService", false, true},
	} {
		body := text("2.0.2") + text("a.S") + text("0.0.0") + text("find") + text("Ljava/lang/Object;") + c.argument +
			"H" + text(c.key) + text(c.value) + "Z"
		frame := dubbo.Frame{Header: dubbo.Header{Flags: 0xc2, BodyLen: len(body)}, Body: []byte(body)}
		frame.Captured, frame.MissingAt = len(body), len(body)
		m := d.Decode(&frame, rpc.Values, new(dubbo.Dialects))
		m.Protocol = dubbo.Protocol
		if !assert.Nil(t, m.Err, body) {
			continue
		}
		out, _ := s.Message(nil, &m.Message)
		argument := c.argument[strings.LastIndexByte(c.argument, '`')+1:][1:]
		assert.Equal(t, c.argumentStays, strings.Contains(string(out), argument), "%q", out)
		assert.Equal(t, c.stays, strings.Contains(string(out), c.value), "%q", out)
		assert.Contains(t, string(out), c.key)
	}
}

// What a generic call invokes stays only if a method and types are in its places.
func TestKeptGenericCall(t *testing.T) {
	const types = "Ljava/lang/String;[Ljava/lang/String;[Ljava/lang/Object;"
	text := func(s string) string { return string(rune(len(s))) + s }
	bytes := func(s string) string { return string([]byte{byte(0x20 + len(s))}) + s }
	list := func(class, e string) string { return "q" + text(class) + e }
	s := New(formats.All(), [32]byte{})
	for _, c := range []struct {
		method, types string
		stay, gone    []string
	}{
		{text("find"), list("[string", text("java.lang.String")), []string{"find", "java.lang.String"}, nil},
		{text("Jane, John"), list("[string", text("java.lang.String")), []string{"java.lang.String"}, []string{"Jane"}},
		{bytes("Jane"), list("[string", text("int")), []string{"int"}, []string{"Jane"}},
		{list("[string", text("Jane, John")), list("[string", text("Mary, Sue")), nil, []string{"Jane", "Mary"}},
		{text("find"), bytes("Jane"), []string{"find"}, []string{"Jane"}},
	} {
		body := text("2.0.2") + text("a.S") + text("0.0.0") + text("$invoke") + "\x30" + text(types) + c.method + c.types + list("[object", text("secret")) + "HZ"
		frame := dubbo.Frame{Header: dubbo.Header{Flags: 0xc2, BodyLen: len(body)}, Body: []byte(body)}
		frame.Captured, frame.MissingAt = len(body), len(body)
		m := dubbo.NewDecoder(formats.All()).Decode(&frame, rpc.Values, new(dubbo.Dialects))
		m.Protocol = dubbo.Protocol
		if !assert.Nil(t, m.Err, body) {
			continue
		}
		out, _ := s.Message(nil, &m.Message)
		for _, name := range c.stay {
			assert.Contains(t, string(out), name)
		}
		for _, value := range append(c.gone, "secret") {
			assert.NotContains(t, string(out), value)
		}
	}
}
