package http2

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/http2/hpack"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/triple"
	_ "dubbo-wire/internal/dev/testkit" // the flag -update
	"dubbo-wire/internal/rpc"
)

// upper is a Mapper whose replacements are easy to tell: it replaces each letter by the first other one that is allowed.
type upper struct{ decode.Mapper }

func (upper) Runes() []rune { return nil }

func (upper) UTF8([]byte) bool { return false }

func (upper) Text(runes []rune) {
	for i, r := range runes {
		switch {
		case r|0x20 >= 'a' && r|0x20 <= 'z':
			runes[i] = 'Z'
		case r >= '0' && r <= '9':
			runes[i] = '0' + (r-'0'+1)%10
		case r == 0x4f60:
			runes[i] = 0x9b00
		}
	}
}

func (upper) Digits(text []byte) {
	for i, c := range text {
		text[i] = '1' + (c-'0')%9
	}
}

func (upper) Bytes(b []byte) {
	for i := range b {
		b[i] = 0x80
	}
}

func (upper) Within(n, lo, hi int64) int64 { return lo + (n-lo+1)%(hi-lo+1) }

func (upper) Alike(text []byte, alike func(i int, c byte) string) {
	for i, c := range text {
		for _, o := range []byte(alike(i, c)) {
			if o != c {
				text[i] = o
				break
			}
		}
	}
}

// scrubbedBlock replaces the values of a header block in two pieces, and returns the fields of both.
func scrubbedBlock(t *testing.T, b []byte, half int) (was, is []rpc.Header, after []byte, ok bool) {
	var d blockDecoder
	before, later := newTable(false), newTable(false)
	ok = d.decode(b, &before, defaultTableSize, true)
	was = append(was, d.fields...)
	m := &rpc.Message{Head: b, Headers: was, Summary: rpc.Summary{Protocol: GRPC}}
	var n native
	n.pieces.add(pieceFields, half)
	n.pieces.add(pieceFields, len(b)-half)
	m.Native = &n
	after = bytes.Clone(b)
	scrubHead(after, m, upper{})
	require.Equal(t, ok, d.decode(after, &later, defaultTableSize, true))
	is = append(is, d.fields...)
	require.Len(t, is, len(was))
	require.Equal(t, len(before.entries), len(later.entries))
	require.Equal(t, before.size, later.size, "the tables have the same size")
	return was, is, after, ok
}

var headers = []hpack.HeaderField{
	{Name: ":method", Value: "POST"},
	{Name: ":path", Value: "/org.acme.Users/find?name=anna"},
	{Name: ":authority", Value: "10.1.2.3:20880"},
	{Name: "content-type", Value: "application/grpc+proto"},
	{Name: "grpc-timeout", Value: "5000m"},
	{Name: "tri-service-version", Value: "1.2.0"},
	{Name: "tri-service-group", Value: "blue team"},
	{Name: "tri-consumer-appname", Value: "shop"},
	{Name: "trace", Value: "0a1b2c3d-ABCXZ"},
	{Name: "count", Value: "-120"},
	{Name: "flag", Value: "true"},
	{Name: "key-bin", Value: "c2VjcmV0IGJ5dGVz"},
	{Name: "grpc-message", Value: "no %E4%BD%A0 found"},
	{Name: "a secret name", Value: "x"},
	{Name: "tri-header-convert", Value: "%7B%22trace%22%3A%22Trace%22%7D"},
	{Name: "trace", Value: "0a1b2c3d-ABCXZ"},
}

// Values become others of the same length, with Huffman's code and without; what is called stays.
func TestScrubHead(t *testing.T) {
	for _, huffman := range []bool{true, false} {
		var block bytes.Buffer
		if e := hpack.NewEncoder(&block); huffman {
			for _, f := range headers {
				require.NoError(t, e.WriteField(f))
			}
		} else {
			for _, f := range headers {
				block.Write([]byte{0x40, byte(len(f.Name))})
				block.WriteString(f.Name)
				block.WriteByte(byte(len(f.Value)))
				block.WriteString(f.Value)
			}
		}
		was, is, after, ok := scrubbedBlock(t, block.Bytes(), block.Len()/2)
		require.True(t, ok)
		got := map[string]string{}
		for i := range was {
			assert.Equal(t, was[i].Off, is[i].Off)
			assert.Equal(t, was[i].Len, is[i].Len)
			assert.Equal(t, was[i].PlainLen, is[i].PlainLen)
			if was[i].Name != "a secret name" {
				assert.Equal(t, was[i].Name, is[i].Name)
				got[is[i].Name] = is[i].Value
			}
		}
		for _, name := range []string{":method", "content-type", "grpc-timeout", "tri-service-version", "flag", "tri-header-convert"} {
			assert.Equal(t, headers[index(name)].Value, got[name], name)
		}
		assert.True(t, strings.HasPrefix(got[":path"], "/org.acme.Users/find?"), got[":path"])
		for _, secret := range []string{"anna", "10.1.2.3", "blue", "team", "shop", "a1b2c", "secret", "120", "%E4%BD%A0", "found", "c2Vjcm"} {
			for name, value := range got {
				assert.NotContains(t, value, secret, name)
			}
			assert.NotContains(t, string(after), secret)
		}
	}
}

func index(name string) int {
	for i := range headers {
		if headers[i].Name == name {
			return i
		}
	}
	return -1
}

// Whatever a block has: what is replaced is decoded as before, or fails as before.
func FuzzScrubHead(f *testing.F) {
	var block bytes.Buffer
	e := hpack.NewEncoder(&block)
	for _, h := range headers {
		require.NoError(f, e.WriteField(h))
	}
	f.Add(block.Bytes(), uint8(7))
	f.Add([]byte("\x3f\xe1\x1f\x40\x01a\x85\xff\xff\xff\xff\xff\x82"), uint8(3))
	f.Add([]byte("\x40\x02ab\x7f\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), uint8(0))
	f.Add([]byte("\x10\x07grpc-me\x00\xbe\x80"), uint8(1))
	f.Fuzz(func(t *testing.T, b []byte, half uint8) {
		if len(b) == 0 || len(b) > 1<<12 {
			return
		}
		was, is, after, _ := scrubbedBlock(t, b, min(int(half), len(b)))
		for i := range was {
			require.Equal(t, was[i].Off, is[i].Off)
			require.Equal(t, was[i].Len, is[i].Len)
			require.Equal(t, was[i].PlainLen, is[i].PlainLen)
			require.Equal(t, was[i].Entry, is[i].Entry)
		}
		require.Equal(t, parses(b), parses(after), "the search finds the same frames")
	})
}

// turned is a Mapper that takes another one of the allowed characters each time.
type turned struct {
	upper
	n *int
}

func (m turned) Alike(text []byte, alike func(i int, c byte) string) {
	for i, c := range text {
		if of := alike(i, c); of != "" {
			*m.n++
			text[i] = of[*m.n%len(of)]
		}
	}
}

// TestScrubbedPathsKeepTheirNames checks that a redacted path has the name of the original, whether its texts are in Huffman's code or not, and
// that no id and no matrix parameter is left.
func TestScrubbedPathsKeepTheirNames(t *testing.T) {
	ids := strings.Fields(`17 007 12a 0xdeadbeef 2024-02-29T12:30:00Z user123 INV-2024-001 v12345 8b8a3c9e-6f0e-4c39-9d2e-1c2f7c3a5b60 FACEFEED-BBCD-BBCD-BBCD-BBCDEFBBCDEF
		d41d8cd98f00b204e9800998ecf8427e deadbeef1 BBCDEFBBCDEFBBCDEF 01ARZ3NDEKTSV4RRFFQ69G5FAV dQw4w9WgXcQ QWxhZGRpbjpvcGVuIHNlc2FtZQ cjfqkxwzvbnmplkd
		ann@example.org hello%20world %E5%A4%8F p153`)
	for i := range 200 {
		sum := sha256.Sum256([]byte{byte(i)})
		ids = append(ids, hex.EncodeToString(sum[:4+i%20]), base64.RawURLEncoding.EncodeToString(sum[:12+i%20]))
	}
	d := triple.NewDecoder(nil)
	d.Route = func(_, path string) string {
		if strings.HasPrefix(path, "/named/") {
			return "/named/{name}/of/{rest...}"
		}
		return ""
	}
	name := func(path string) *rpc.Operation {
		h := triple.HeadOf([]rpc.Header{{Name: ":method", Value: "GET"}, {Name: ":path", Value: path}, {Name: ":authority", Value: "a"}})
		return d.Operation(&h)
	}
	n := 0
	for _, id := range ids {
		for _, path := range []string{"/users/" + id + "/v2beta1", "/cars/red;q=" + id + "/2fa", "/named/" + id + "/of/" + id + "/" + id} {
			for _, alike := range []func(byte) string{nil, alike} {
				op := name(path)
				copied := []byte(path)
				triple.ScrubHeaderValue(":path", copied, triple.CalleeOf(op, true), alike, turned{n: &n})
				assert.Same(t, op, name(string(copied)), "%s became %s", path, copied)
				if len(id) > 9 && !strings.Contains(op.Method, id) { // it is taken for a name
					assert.NotContains(t, string(copied), id)
				}
			}
		}
	}
}
