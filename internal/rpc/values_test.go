package rpc

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"dubbo-wire/internal/decode"
	_ "dubbo-wire/internal/dev/testkit"
)

// The timeout is the value of the first key that the protocol names, as a text or a number of milliseconds.
func TestTimeout(t *testing.T) {
	type entry struct {
		key  string
		kind decode.Kind
		text string
		num  int64
	}
	for _, c := range []struct {
		name    string
		entries []entry
		want    int64
	}{
		{"none", nil, 0},
		{"text", []entry{{"path", decode.String, "5", 0}, {"timeout", decode.String, "300", 0}}, 300},
		{"number", []entry{{"timeout", decode.Int, "", 3000}}, 3000},
		{"first of two", []entry{{"_TO", decode.Int, "", 100}, {"timeout", decode.String, "300", 0}}, 300},
		{"second", []entry{{"_TO", decode.Int, "", 100}}, 100},
		{"no number", []entry{{"timeout", decode.String, "soon", 0}}, 0},
		{"too large", []entry{{"timeout", decode.String, "99999999999", 0}}, 0},
		{"too large a number", []entry{{"timeout", decode.Int, "", 1 << 40}}, 0},
		{"negative", []entry{{"timeout", decode.String, "-1", 0}}, 0},
		{"another kind", []entry{{"timeout", decode.List, "", 300}}, 0},
		{"reference", []entry{{"other", decode.String, "300", 0}, {"timeout", decode.Ref, "", 1}}, 300},
		{"bad reference", []entry{{"timeout", decode.Ref, "", 99}}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			tree := new(decode.Tree)
			tree.Open(decode.Map, decode.ByField, "attachments", 0, 0)
			for i, e := range c.entries {
				n := tree.Leaf(e.kind, decode.ByEntry, e.key, i, i, i+1)
				n.Text, n.Num = e.text, e.num
			}
			tree.Close()
			m := &Message{Tree: tree, Body: make([]byte, len(c.entries))}
			m.Kind, m.Protocol = Request, &Protocol{Attachments: Attachments{Timeout: []string{"timeout", "_TO"}}}
			got, key := m.Timeout()
			assert.Equal(t, c.want, got)
			assert.Equal(t, got > 0, key != "")
			m.Kind = Response
			got, _ = m.Timeout()
			assert.Zero(t, got)
		})
	}
}

func TestAddedAttachments(t *testing.T) {
	a := &Attachments{Request: []string{"path", "callback.*"}, Response: []string{"dubbo"}}
	assert.True(t, a.Added(true, "path"))
	assert.True(t, a.Added(true, "callback.5"))
	assert.True(t, a.Added(false, "dubbo"))
	assert.False(t, a.Added(true, "paths"))
	assert.False(t, a.Added(true, "dubbo"))
	assert.False(t, a.Added(false, "path"))
}

func TestHeaderTextBeyondASCII(t *testing.T) {
	m := &Message{Headers: []Header{{Name: "latin", Key: "latin", Value: "\xfcn\xefcode ??"}, {Name: "utf", Key: "utf", Value: "ünïcode 北"}}}
	assert.JSONEq(t, `{"latin": "ünïcode ??", "utf": "ünïcode 北"}`, string(m.AppendAttachments(nil, false)))
	assert.Equal(t, map[string]string{"latin": "ünïcode ??", "utf": "ünïcode 北"}, m.AttachmentTexts())
	text, ok := m.Attachment("latin")
	assert.True(t, ok)
	assert.Equal(t, "ünïcode ??", text)
}
