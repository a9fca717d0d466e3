package dubbo_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/dubbo"
	"dubbo-wire/internal/decode/formats/fst"
	"dubbo-wire/internal/decode/formats/hessian2"
	"dubbo-wire/internal/decode/formats/java"
	"dubbo-wire/internal/decode/formats/kryo"
)

// frameOf returns a whole request of a serialization.
func frameOf(id byte, body string) *dubbo.Frame {
	f := &dubbo.Frame{Body: []byte(body), Captured: len(body), MissingAt: len(body)}
	f.Flags, f.BodyLen = 0xc0|id, len(body)
	return f
}

// The bodies of forks are read as what they are, and never guessed. A message is service, method, types and arguments, and where
// decoding stopped.
func TestLayouts(t *testing.T) {
	const (
		hessianTexts = "\x052.8.4\x03a.S\x050.0.0\x04find"
		kryoTexts    = "2.8.\xb4a.\xd30.0.\xb0fin\xe4"
		fstTexts     = "\x052.8.4\x03a.S\x050.0.0\x04find"
		descriptor   = "\x12Ljava/lang/String;"
		hi           = "\x03\x01h\xe9" // kryo: a String
		noMap        = "\x23\x01\x00"  // kryo: an empty HashMap
	)
	for _, c := range []struct {
		name  string
		id    byte
		body  string
		types string
		args  string
		layer string
		cause decode.Cause
	}{
		{"Dubbo", 2, hessianTexts + descriptor + "\x02hiHZ", "java.lang.String", `["hi"]`, "", decode.None},
		{"Dubbox, hessian2", 2, hessianTexts + "\x8f" + descriptor + "\x02hiHZ", "java.lang.String", `["hi"]`, "Dubbox", decode.None},
		{"Dubbox, no arguments", 2, hessianTexts + "\x8f\x00HZ", "", `[]`, "Dubbox", decode.None},
		{"hessian2 never has the number alone", 2, hessianTexts + "\x91\x02hiHZ", "...", `opaque`, "another Dubbo fork's layout", decode.Unsupported},
		{"another number", 2, hessianTexts + "L\x00\x00\x01\x8b\xcf\xe5\x68\x00" + descriptor + "\x02hiHZ", "...", `opaque`, "another Dubbo fork's layout", decode.Unsupported},
		{"a text that is not types", 2, hessianTexts + "\x08Jane Doe\x02hiHZ", "...", `opaque`, "another Dubbo fork's layout", decode.Unsupported},
		{"a text whose start are types", 2, hessianTexts + "\x05I am \x02hiHZ", "...", `opaque`, "another Dubbo fork's layout", decode.Unsupported},
		{"kryo, numbered", 8, kryoTexts + "\x00\x00\x00\x02" + hi + hi + noMap, "?, ?", `["hi","hi"]`, "Dubbox", decode.None},
		{"kryo, none", 8, kryoTexts + "\x00\x00\x00\x00" + noMap, "", `[]`, "Dubbox", decode.None},
		{"kryo, typed", 8, kryoTexts + "\xff\xff\xff\xffLjava/lang/String\xbb\x00" + noMap, "java.lang.String", `[null]`, "Dubbox", decode.None},
		{"kryo, older", 8, kryoTexts + "\xff\xff\xff\xff\x00" + hi + noMap, "...", `[null,"hi"]`, "Dubbox before 2.8.4", decode.None},
		{"kryo, too many", 8, kryoTexts + "\x00\x00\x01\x8b" + hi + noMap, "...", `opaque`, "another Dubbo fork's layout", decode.Unsupported},
		{"fst, numbered", 9, fstTexts + "\x01\xfc\x02hi\xff", "?", `["hi"]`, "Dubbox", decode.None},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := dubbo.NewDecoder([]decode.Format{hessian2.Format, kryo.Format, fst.Format})
			for _, detail := range []dubbo.Detail{dubbo.Envelope, dubbo.Parts, dubbo.Values} {
				m := d.Decode(frameOf(c.id, c.body), detail, new(dubbo.Dialects))
				if !assert.NotNil(t, m.Names) {
					return
				}
				assert.Equal(t, "a.S/find("+c.types+")", m.Names.Signature())
				assert.Equal(t, strings.Trim(c.types, "?, .") != c.types, m.Names.Types == nil)
				if detail == dubbo.Values {
					if c.args == "opaque" {
						assert.Contains(t, string(m.AppendArguments(nil)), `[{"@opaque":`)
						assert.JSONEq(t, `{"@opaque":0}`, string(m.AppendAttachments(nil, false)), "the same bytes")
					} else {
						assert.Equal(t, c.args, string(m.AppendArguments(nil)))
					}
					assert.Equal(t, c.layer, m.Names.Layout)
					cause := decode.None
					if m.Err != nil {
						cause = m.Err.Cause
					}
					assert.Equal(t, c.cause, cause, m.Err)
				}
			}
		})
	}
}

// After a request that was read, one that cannot be is damaged.
func TestDamagedTypes(t *testing.T) {
	d := dubbo.NewDecoder([]decode.Format{hessian2.Format})
	dialects := new(dubbo.Dialects)
	assert.Nil(t, d.Decode(frameOf(2, "\x052.0.2\x03a.S\x050.0.0\x04find\x00HZ"), dubbo.Values, dialects).Err)
	m := d.Decode(frameOf(2, "\x052.0.2\x03a.S\x050.0.0\x04find\x08Jane DoeHZ"), dubbo.Values, dialects)
	assert.Equal(t, decode.Malformed, m.Err.Cause)
	assert.Empty(t, m.Names.Layout)
	assert.Nil(t, m.Names.Types)
	assert.NotContains(t, m.Err.Error(), "Jane")
	assert.Nil(t, d.Decode(frameOf(2, "\x052.0.2\x03a.S\x050.0.0\x04find\x00HZ"), dubbo.Values, dialects).Err)
}

// A Java stream whose only block is longer than the body: its texts can be read as the start of a longer body, but not as a whole one.
func TestBlockLongerThanBody(t *testing.T) {
	const texts = "\x00\x00\x00\x05\x00\x052.8.4\x00\x00\x00\x03\x00\x03a.S\x00\x00\x00\x05\x00\x050.0.0\x00\x00\x00\x04\x00\x04find"
	d := dubbo.NewDecoder([]decode.Format{java.Format})
	for _, detail := range []dubbo.Detail{dubbo.Envelope, dubbo.Parts, dubbo.Values} {
		dialects := new(dubbo.Dialects)
		assert.NotNil(t, d.Decode(frameOf(java.Format.ID, "\xac\xed\x00\x05\x77\x2f"+texts+"\x00\x00\x00\x00\x00\x00\x70"), detail, dialects).Names)
		m := d.Decode(frameOf(java.Format.ID, "\xac\xed\x00\x05\x77\x4f"+texts+"\x00\x00"), detail, dialects)
		assert.Nil(t, m.Names)
		assert.Equal(t, decode.Malformed, m.Err.Cause)
	}
}

// Every byte of a request has one owner, whatever it is.
func FuzzLayouts(f *testing.F) {
	known := []decode.Format{hessian2.Format, kryo.Format, fst.Format, java.Format}
	f.Add(byte(2), []byte("\x052.8.4\x03a.S\x050.0.0\x04find\x8f\x00HZ"))
	f.Add(byte(8), []byte("2.8.\xb4a.\xd30.0.\xb0fin\xe4\xff\xff\xff\xff\x00\x03\x01h\xe9\x23\x01\x00"))
	f.Add(byte(9), []byte("\x052.8.4\x03a.S\x050.0.0\x04find\x01\xfc\x02hi\xff"))
	f.Add(byte(3), []byte("\xac\xed\x00\x05w\x04\x00\x00\x00\x05"))
	f.Fuzz(func(t *testing.T, id byte, body []byte) {
		d, dialects := dubbo.NewDecoder(known), new(dubbo.Dialects)
		m := d.Decode(frameOf(id&0x1f, string(body)), dubbo.Values, dialects)
		sum := 0
		for i := range m.Tree.Nodes {
			sum += int(m.Tree.Nodes[i].Len)
		}
		assert.Equal(t, len(body), sum)
		d.Decode(frameOf(2, "\x052.8.4\x03a.S\x050.0.0\x04find\x00HZ"), dubbo.Values, dialects)
		d.Decode(frameOf(id&0x1f, string(body)), dubbo.Values, dialects) // as of a connection whose layout is known
	})
}
