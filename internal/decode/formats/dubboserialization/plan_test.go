package dubboserialization

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/formats/formattest"
)

const (
	classA = "8a 83 83 4c413b" // descriptor LA;
	classL = "8a 83 88 4c4d794c6973743b"
	hi     = "8b90 83 82 6869"
)

// What can be read in several ways is read in the one that leads to the attachments at the end of the body, past the other
// arguments.
func TestChoices(t *testing.T) {
	for _, c := range []struct{ name, first, want string }{
		{"text", classA + "801b 83 81 c3a9 1a", `{"@class":"A","#0":"é","#1":1}`},
		{"bytes that look like a text", classA + "801b 83 82 c3a9 1a", `{"@class":"A","#0":{"@bytes":"w6k="},"#1":1}`},
		{"bytes that look like the start of a text", classA + "801b 83 81 c3 1a", `{"@class":"A","#0":{"@bytes":"ww=="},"#1":1}`},
		{"object, number", classA + "801b 801a 20 1a", `{"@class":"A","#0":{"#0":7},"#1":1}`},
		{"object, 0", classA + "801b 801a 20 19", `{"@class":"A","#0":{"#0":7},"#1":0}`},
		{"object, 1, object", classA + "801c 801a 20 1a " + hi, `{"@class":"A","#0":{"#0":7},"#1":1,"#2":"hi"}`},
		{"collection with a field", classA + "801a 801a 20 1a " + hi, `{"@class":"A","#0":{"#0":7,"#1":["hi"]}}`},
		{"collection with a field, number", classA + "801b 801a 20 1a " + hi + "1c", `{"@class":"A","#0":{"#0":7,"#1":["hi"]},"#1":3}`},
		{"LinkedList, number", classA + "801b 8019 1a " + hi + "1c", `{"@class":"A","#0":["hi"],"#1":3}`},
		{"empty LinkedList, number", classA + "801b 8019 19 1c", `{"@class":"A","#0":[],"#1":3}`},
		{"object without fields, number", classA + "801b 8019 1c", `{"@class":"A","#0":{},"#1":3}`},
		{"TreeMap", classA + "801a 801a94 1a " + hi + hi, `{"@class":"A","#0":{"hi":"hi"}}`},
		{"LinkedHashMap", classA + "801a 801c 19 03 0000403f 25 1a " + hi + hi, `{"@class":"A","#0":{"hi":"hi"}}`},
		{"empty LinkedHashMap, false", classA + "801b 801c 19 03 0000403f 25 19 19", `{"@class":"A","#0":{},"#1":0}`},
		{"empty EnumMap, object, 0", classA + "801c 801a 82 a7 aced0005767201000956656324436f6c6f72787201000e6a6176612e6c616e672e456e756d7870 19 801a 20 19", `{"@class":"A","#0":{},"#1":{"#0":7},"#2":0}`},
		{"a class of the application that is a list", classL + "801a 1a 1a " + hi, `{"@class":"MyList","#0":1,"#1":["hi"]}`},
		{"array of 128 elements", classA + "801b 80 0081 " + strings.Repeat("94", 128) + "1a", `{"@class":"A","#0":[` + strings.Repeat("null,", 127) + `null],"#1":1}`},
		{"object in an object at the end", classA + "801a 801a 801a 20", `{"@class":"A","#0":{"#0":{"#0":7}}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			body := request("LA;I", c.first+"8b8c 84 1e")
			m := formattest.Request(Format, body, decode.Malformed)
			require.Nil(t, m.Err, "%v", m.Err)
			assert.Equal(t, `[`+c.want+`,5]`, m.Value("args"))
			assert.Equal(t, `{"path":"d.Hi"}`, m.Value("attachments"))
			formattest.Balance(t, &m.Tree, len(body))
			formattest.Check(t, Format, body)

			// Of an answer without attachments the value ends with the body.
			body = formattest.Hex("1a", c.first)
			m = formattest.Response(Format, body, decode.Malformed)
			require.Nil(t, m.Err, "%v", m.Err)
			assert.Equal(t, c.want, m.Value("result"))
		})
	}
}

// Where no way leads to the end, reading stops at the first choice; what was read stands.
func TestUndecided(t *testing.T) {
	m := formattest.Request(Format, request("LA;", classA+"801c 20 83 82 c3a9 1a ff"), decode.Malformed)
	require.NotNil(t, m.Err)
	assert.Equal(t, decode.Unsupported, m.Err.Cause)
	assert.Equal(t, []int{38, 43}, []int{m.Err.At, m.Err.Offset()}, "%v", m.Err)
	assert.Contains(t, m.Err.Error(), "expected in the way to read this that leads farthest an object, found byte ff")
	assert.Contains(t, m.Value("args"), `{"@class":"A","#0":7`)
	assert.Equal(t, `{"path":"d.Hi"}`, m.Value("attachments"))
}

// A body that is cut has no end to be led to: the likely way is taken.
func TestChoicesInCutBody(t *testing.T) {
	body := request("LA;", classA+"801b 83 81 c3a9 1a")
	m := formattest.Request(Format, body[:len(body)-4], decode.Cut)
	require.NotNil(t, m.Err)
	assert.Equal(t, decode.Cut, m.Err.Cause)
	assert.Equal(t, `[{"@class":"A","#0":"é","#1":1}]`, m.Value("args"))
}

// What package java cannot read of a stream is opaque, and reading goes on after it.
func TestStreams(t *testing.T) {
	stream := func(content string) string {
		b := formattest.Hex(content)
		return "8a 83 83 4c413b 82" + string("0123456789abcdef"[8+len(b)>>4]) + string("0123456789abcdef"[len(b)&15]) + content
	}
	for _, c := range []struct{ name, content, want string }{
		{"a class without fields", "aced0005 7372 01 0001 41 78 70", `{"@class":"A"}`},
		{"fields that only the class can divide", "aced0005 7372 01 0001 41 78 70 0000002a", `{"@class":"A","#0":{"@bytes":"AAAAKg=="}}`},
		{"a number, a null or half of it, a text", "aced0005 7372 01 0001 41 78 70 00000070 70 740001 62", `{"@class":"A","#0":{"@bytes":"AAAAcHA="},"#1":"b"}`},
		{"fields of two classes", "aced0005 7372 01 0001 41 78 72 01 0001 42 78 70 00000001 740001 62 02 740001 61", `{"@class":"A","#0":{"@bytes":"AAAAAQ=="},"#1":"b","#2":{"@bytes":"Ag=="},"#3":"a"}`},
		{"more places to divide than classes", "aced0005 7372 01 0001 41 78 70 00000001 740001 62 02 740001 61", `{"@class":"A","#0":{"@bytes":"AAAAAXQAAWIC"},"#1":"a"}`},
		{"an enum constant", "aced0005 7e72 01 0001 41 78 72 01 000e 6a6176612e6c616e672e456e756d 78 70 74 0001 42", `{"@enum":"A","name":"B"}`},
		{"an array", "aced0005 7572 00 0002 5b49 0000000000000000 02 0000 78 70 00000001 00000007", `[7]`},
		{"no stream", "0102", `{"@class":"A","#opaque":{"@opaque":2}}`},
		{"nothing", "", `{"@class":"A"}`},
		{"a map that is cut", "aced0005 7372 01 0011 6a6176612e7574696c2e486173684d6170 78 70 3f400000 0000000c 7708 00000010 00000001 74", `{"@class":"A","#opaque":{"@opaque":47}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			assert.Equal(t, c.want, formattest.Value(t, Format, formattest.Hex(stream(c.content))))
			m := formattest.Request(Format, request("LA;I", stream(c.content)+"8b8c 84 1e"), decode.Malformed)
			require.Nil(t, m.Err)
			assert.Equal(t, `[`+c.want+`,5]`, m.Value("args"))
		})
	}
}
