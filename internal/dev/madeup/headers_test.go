package madeup

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/explain"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/rpc"
	"dubbo-wire/internal/sizes"
)

// gzipped returns a text with the compression of the protocol.
func gzippedText(text string) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(text))
	_ = w.Close()
	return b.Bytes()
}

// plainText is a text that compression makes smaller.
var plainText = strings.Repeat("all the same ", 40)

// headed is a connection whose messages have fields in their headers, and some of them compressed bodies.
func headed() []packet {
	small, broken := gzippedText(plainText), []byte("no gzip")
	return []packet{
		{0, []byte(greeting)},
		{1, []byte(greeting)},
		{0, piece(askPiece, 1, marked(ends|gzipped|stalled, 0, "get;.path=/up;trace=t1;own=app;.patience=5s;raw-bin=AQI", len(small)), small)},
		{1, bytes.Join([][]byte{
			piece(answerPiece, 1, marked(ends|trailing, 0, ";zone=b", 5), []byte("short")),
			piece(trailerPiece, 1, []byte(";cost=12")),
		}, nil)},
		{0, piece(askPiece, 2, marked(ends, 0, "get;.path=*;trace=*;own=app;patience=300;lost=*", 2), []byte("ab"))},
		{1, piece(answerPiece, 2, marked(gzipped, 0, ";zone=c", len(small)), small)},
		{1, bytes.Join([][]byte{
			piece(answerPiece, 2, marked(ends|gzipped|trailing, 0, "", len(broken)), broken),
			piece(trailerPiece, 2, []byte(";cost=13")),
		}, nil)},
		{0, piece(askPiece, 3, marked(ends, 0, "get;trace=t3", 2), []byte("cd"))},
		{1, piece(answerPiece, 3, marked(0, 0, "", 4), []byte("part"))},
		{0, piece(resetPiece, 3)},
	}
}

// record is a JSON record of frames or calls.
type record map[string]any

func records(t *testing.T, lines []string) (list []record) {
	for _, line := range lines {
		var r record
		require.NoError(t, json.Unmarshal([]byte(line), &r), line)
		list = append(list, r)
	}
	return list
}

// sum adds up a list of parts.
func (r record) sum(list string) (n float64) {
	for _, p := range r[list].([]any) {
		n += p.(map[string]any)["bytes"].(float64)
	}
	return n
}

// frames prints fields of headers, and both sizes and compositions of compressed bodies.
func TestHeaderFields(t *testing.T) {
	s, _, _ := run(t, headed(), nil)
	all := records(t, s.frames)
	require.Len(t, all, 7)
	for _, r := range all {
		assert.Equal(t, r["headerBytes"], r.sum("headerParts"), r)
		assert.Equal(t, r["headerBytes"].(float64)+r["bodyBytes"].(float64), r.sum("parts"), r)
	}
	asked := all[0]
	assert.Equal(t, "gzip", asked["encoding"])
	assert.EqualValues(t, len(plainText), asked["uncompressedBytes"])
	assert.EqualValues(t, len(plainText), asked.sum("uncompressedParts"))
	assert.EqualValues(t, 250_000, asked["stalledMicros"])
	assert.Contains(t, s.frames[0], `{"path":"compressed","bytes":`)
	assert.Contains(t, s.frames[0], `"headerParts":[{"path":"pieces","bytes":10},{"path":".path","bytes":10},{"path":"trace","bytes":9}`)
	assert.Contains(t, s.frames[1], `{"path":"cost","bytes":8}]`)
	assert.NotContains(t, s.frames[1], "encoding")
	first, last := all[3], all[4]
	assert.EqualValues(t, 1, first["message"])
	assert.EqualValues(t, 2, last["message"])
	assert.Contains(t, s.frames[4], `"encoding":"gzip","uncompressedBytes":null`)
	assert.Contains(t, s.frames[4], `{"path":"compressed","bytes":7}]`)
	assert.NotContains(t, last, "uncompressedParts")
	assert.Contains(t, s.frames[6], `"message":1`)

	explained := strings.Join(strings.Fields(s.explained[0]), " ")
	assert.Contains(t, explained, fmt.Sprintf("1f 8b 08 00 00 00 00 .. compressed %d gzip; its 520 bytes without compression follow", len(gzippedText(plainText))))
	assert.Contains(t, explained, `61 6c 6c 20 74 68 65 .. args[0] 520 "all the same`)
	assert.Regexp(t, `body: compressed \d+ \(100.0 %\)$`, explained)
	assert.Contains(t, s.explained[4], "body: compressed 7 (100.0 %)")
}

// calls prints the attachments of headers, and the reason of a reset.
func TestHeaderAttachments(t *testing.T) {
	s, _, _ := run(t, headed(), nil)
	all := records(t, s.calls)
	require.Len(t, all, 3)
	assert.Contains(t, s.calls[0], `"attachments":{"trace":"t1","own":"app","raw-bin":{"@bytes":"AQI="}}`)
	assert.Contains(t, s.calls[0], `"responseAttachments":{"zone":"b","cost":"12"}`)
	assert.Contains(t, s.calls[0], `"encoding":"gzip","requestUncompressedBytes":520`)
	assert.NotContains(t, all[0], "responseEncoding")
	assert.Contains(t, s.calls[1], `"attachments":{"trace":"t1","own":"app","patience":"300","lost":{"@opaque":7}}`)
	assert.Contains(t, s.calls[1], `"responseAttachments":{"zone":"c","cost":"13"}`)
	assert.Contains(t, s.calls[1], `"responseEncoding":"gzip","responseUncompressedBytes":null`)
	assert.EqualValues(t, 2, all[1]["responseMessages"])
	assert.Len(t, all[1]["result"], 2)
	assert.Contains(t, s.calls[2], `"status":null,"error":"RESET","state":"error"`)

	redacted, _, _ := run(t, headed(), func(o *pipeline.Options) { o.Redact = true })
	assert.Contains(t, redacted.calls[0], `"trace":{"@redacted":"string","length":2},"own":{"@redacted":"string","length":3},"raw-bin":{"@redacted":"bytes","bytes":2}}`)
}

// Redacted explanations have no texts of header fields.
func TestRedactedHeaders(t *testing.T) {
	s, _, _ := run(t, headed(), nil)
	assert.Contains(t, s.explained[0], "t1")
	row := new(kept)
	_, err := pipeline.Run(source(t, headed()), pipeline.Options{Protocols: known(), Detail: rpc.Values, Rows: true}, row)
	require.NoError(t, err)
	for _, secret := range []explain.Secret{explain.Redacted, explain.Hidden} {
		var text, json strings.Builder
		e := explain.New(&explain.Subject{Row: &row.Row, Stream: -1, Secret: secret})
		require.NoError(t, e.WriteText(&text, &explain.Style{}))
		require.NoError(t, e.WriteJSON(&json))
		for _, printed := range []string{text.String(), json.String()} {
			for _, value := range []string{"t1", "app", "AQI", "/up", "74 31", "7431", "all the"} {
				assert.NotContains(t, printed, value)
			}
			assert.Contains(t, printed, "trace")
		}
	}
}

// kept keeps the first row.
type kept struct{ pipeline.Row }

func (k *kept) Frame(r *pipeline.Row) {
	if k.Msg == nil {
		k.Row = *r
		k.Msg = r.Msg.Clone(true, true)
	}
}

func (*kept) Call(*call.Call, bool) {}

// Filters match attachments in headers, names of statuses and reasons of resets.
func TestHeaderFilters(t *testing.T) {
	for _, c := range []struct {
		name   string
		filter call.Filter
		want   int64
	}{
		{"attachment", call.Filter{Attachment: map[string]call.Glob{"trace": call.ParseGlob("t1")}}, 2},
		{"attachment of a trailer", call.Filter{Attachment: map[string]call.Glob{"cost": call.ParseGlob("1*")}}, 2},
		{"reset", call.Filter{Error: []call.Glob{call.ParseGlob("RES*")}}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := new(selected)
			_, err := pipeline.Run(source(t, headed()), pipeline.Options{Protocols: known(), Filter: &c.filter, Detail: c.filter.Detail()}, got)
			require.NoError(t, err)
			assert.EqualValues(t, c.want, *got)
		})
	}
}

// selected counts selected calls.
type selected int64

func (*selected) Frame(*pipeline.Row) {}

func (n *selected) Call(_ *call.Call, is bool) {
	if is {
		*n++
	}
}

// Groups have the sizes without compression beside the body bytes, and the classes of bodies add up to these.
func TestCompressedGroups(t *testing.T) {
	by, err := sizes.ParseBy("encoding,method")
	require.NoError(t, err)
	_, _, r := runBy(t, headed(), by, nil)
	small := float64(len(gzippedText(plainText)))
	groups := r["groups"].([]any)
	require.Len(t, groups, 2)
	none, compressed := groups[1].(map[string]any), groups[0].(map[string]any)
	assert.Equal(t, []any{"gzip", "identity"}, []any{compressed["encoding"], none["encoding"]})
	request := compressed["request"].(map[string]any)
	assert.Equal(t, [2]float64{2, small + 2}, sums(compressed, "request"))
	assert.EqualValues(t, len(plainText)+2, request["uncompressedBytes"].(map[string]any)["total"])
	assert.NotContains(t, request, "uncompressedCount")
	response := compressed["response"].(map[string]any)
	assert.EqualValues(t, 2, response["uncompressedCount"], "one body could not be read")
	assert.NotContains(t, none["request"], "uncompressedBytes")
	parts := record(compressed)
	assert.Equal(t, 2+small+5+small+7, parts.sum("parts"))
	for _, p := range parts["parts"].([]any) {
		if p := p.(map[string]any); p["path"] == "compressed" {
			assert.Equal(t, small+small+7, p["bytes"])
		}
	}
	assert.NotContains(t, none["parts"], map[string]any{"path": "compressed", "bytes": 0.0})
}
