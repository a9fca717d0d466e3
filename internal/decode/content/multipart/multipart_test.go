package multipart

import (
	"bytes"
	"io"
	"math/rand/v2"
	mime "mime/multipart"
	"net/textproto"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/content/form"
	"dubbo-wire/internal/decode/content/xml"
	"dubbo-wire/internal/decode/formats/formattest"
)

const formData = `multipart/form-data; charset=UTF-8; boundary="b"`

// reader returns a reader whose parts may contain XML, forms and texts.
func reader(mediaType string) *Reader {
	x, f := new(xml.Reader), new(form.Reader)
	return &Reader{MediaType: mediaType, Content: func(kind string) (Whole, func([]byte) string) {
		kind, _, _ = strings.Cut(kind, ";")
		switch kind {
		case "text/xml":
			return x, decode.UTF8
		case "application/x-www-form-urlencoded":
			return f, decode.UTF8
		}
		if strings.HasPrefix(kind, "text/") {
			return nil, decode.UTF8
		}
		return nil, nil
	}}
}

// lines joins lines as they are on the wire.
func lines(all ...string) string { return strings.Join(all, "\r\n") }

const (
	named  = `Content-Disposition: form-data; name="a"`
	ofFile = `Content-Disposition: form-data; name="f"; filename="C:\dir\"x\".txt"`
)

func TestWhole(t *testing.T) {
	whole := lines("--b", named, "", "1", "--b", ofFile, "Content-Type: text/plain", "", "x", "", "--b--", "")
	for _, row := range []struct {
		kind, body string
		short      decode.Cause
		want       string
		cause      decode.Cause
		at         int
	}{
		{formData, whole, decode.Malformed, `{"a":"1","f":{"filename":"C:\\dir\"x\".txt","content":"x\r\n"}}`, decode.None, 0},
		{formData, strings.ReplaceAll(whole, "\r", ""), decode.Malformed, `{"a":"1","f":{"filename":"C:\\dir\"x\".txt","content":"x\n"}}`, decode.None, 0},
		{formData, lines("hello", "--b \t", named, "", "", "--b", "", "2", "--b--", "bye"), decode.Malformed, `{"a":"","":"2"}`, decode.None, 0},
		{formData, lines("--b", named, "", "--b-", "x--b", "--bc", "--b--"), decode.Malformed, `{"a":"--b-\r\nx--b\r\n--bc"}`, decode.None, 0},
		{formData, lines("--b", named, "Content-Type: text/xml", "", "<a><b>1</b></a>", "--b--"), decode.Malformed, `{"a":{"b":"1"}}`, decode.None, 0},
		{formData, lines("--b", named, "Content-Type: text/xml", "", "<a><b>1</a>", "--b--"), decode.Malformed, `{"a":"<a><b>1</a>"}`, decode.None, 0},
		{formData, lines("--b", named, "Content-Type: application/x-www-form-urlencoded", "", "x=%41", "--b--"), decode.Malformed, `{"a":{"x":"A"}}`, decode.None, 0},
		{formData, lines("--b", named, "Content-Type: image/png", "", "\x00\xff", "--b--"), decode.Malformed, `{"a":{"@bytes":"AP8="}}`, decode.None, 0},
		{formData, lines("--b", named, "", "\xff", "--b--"), decode.Malformed, `{"a":{"@bytes":"/w=="}}`, decode.None, 0},
		{formData, lines("--b", "content-DISPOSITION:form-data;", ` filename=z; NAME=a ;x="y;="`, "X-A: b", "", "1", "--b--"), decode.Malformed, `{"a":"1"}`, decode.None, 0},
		{"multipart/mixed;boundary=b", lines("--b", "", "1", "--b", ofFile, "", "2", "--b--"), decode.Malformed, `["1",{"filename":"C:\\dir\"x\".txt","content":"2"}]`, decode.None, 0},
		{formData, lines("--b", named, "Content-Type: multipart/mixed; boundary=c", "", "--c", "", "1", "--c", "", "2", "--c--", "--b--"), decode.Malformed, `{"a":["1","2"]}`, decode.None, 0},
		{formData, "--b--", decode.Malformed, `{}`, decode.None, 0},
		{formData, lines("--b", named, "", "1"), decode.Malformed, `{}`, decode.Malformed, 5},
		{formData, lines("--b", named, "", "1"), decode.Cut, `{}`, decode.Cut, 5},
		{formData, lines("--b", named, "", "1", "--b"), decode.Lost, `{}`, decode.Lost, 5},
		{formData, lines("--b", named, "", "1", "--b--"), decode.Cut, `{"a":"1"}`, decode.Cut, 57},
		{formData, lines("--b", "x", "", "1", "--b--"), decode.Malformed, `{}`, decode.Malformed, 5},
		{formData, "", decode.Malformed, ``, decode.Malformed, 0},
		{"multipart/form-data", "--b--", decode.Malformed, ``, decode.Unsupported, 0},
	} {
		if row.want != "" && row.cause != decode.None {
			tree, err := formattest.ReadWhole(t, reader(row.kind), row.body, row.short, 0)
			require.NotNil(t, err, "%q", row.body)
			assert.Equal(t, row.cause, err.Cause, "%q", row.body)
			assert.Equal(t, row.at, err.At, "%q", row.body)
			assert.Equal(t, row.want, string(tree.AppendJSON(nil, 0)), "%q", row.body)
			continue
		}
		formattest.WantsWhole(t, reader(row.kind), row.body, row.short, row.want, row.cause, row.at)
	}
}

// TestNesting: parts within parts are read to a fixed depth.
func TestNesting(t *testing.T) {
	body := "x"
	for level := range 6 {
		b := strconv.Itoa(level)
		body = lines("--"+b, "Content-Type: multipart/mixed; boundary="+strconv.Itoa(level-1), "", body, "--"+b+"--")
	}
	_, err := formattest.ReadWhole(t, reader("multipart/mixed; boundary=5"), body, decode.Malformed, 0)
	require.NotNil(t, err)
	assert.Equal(t, decode.Limit, err.Cause)
}

// TestParts: the bytes of names and values are exactly those on the wire.
func TestParts(t *testing.T) {
	tree, err := formattest.ReadWhole(t, reader(formData), lines("--b", ofFile, "X-A: b", "", "123", "--b--"), decode.Malformed, 0)
	require.Nil(t, err)
	sum := tree.Bytes()
	assert.EqualValues(t, len("f"), sum[decode.ClassNames])
	assert.EqualValues(t, len(`C:\dir\"x\".txt`)+len("123"), sum[decode.ClassValues])
}

// TestPeer: Go's reader finds the same names, file names and contents.
func TestPeer(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	alphabet := []string{"a", "\r\n", "\n", "--", "-", "0", " ", "é", "\"", "\\", ";", "=", ":"}
	text := func(most int) string {
		s := ""
		for range random.IntN(most) {
			s += alphabet[random.IntN(len(alphabet))]
		}
		return s
	}
	for range 2000 {
		var body bytes.Buffer
		w := mime.NewWriter(&body)
		require.NoError(t, w.SetBoundary("0a-Z"))
		for range random.IntN(4) {
			var to io.Writer
			var err error
			switch name := strings.NewReplacer("\r", "", "\n", "").Replace(text(6)); random.IntN(3) {
			case 0:
				to, err = w.CreateFormField(name)
			case 1:
				to, err = w.CreateFormFile(name, strings.NewReplacer("\r", "", "\n", "", "\\", "", "/", "").Replace("x"+text(6)))
			default:
				to, err = w.CreatePart(textproto.MIMEHeader{"Content-Disposition": {`form-data; name="n"`}, "Content-Type": {"text/plain"}, "X": {"y"}})
			}
			require.NoError(t, err)
			_, err = io.WriteString(to, text(30))
			require.NoError(t, err)
		}
		require.NoError(t, w.Close())
		tree, err := formattest.ReadWhole(t, reader(w.FormDataContentType()), body.String(), decode.Malformed, 0)
		require.Nil(t, err, "%q", body.String())
		var got []string
		for i := 1; i < len(tree.Nodes); i++ {
			switch n := &tree.Nodes[i]; {
			case n.Label == decode.ByMember && n.Parent == 0:
				got = append(got, "name "+n.Text)
			case n.Kind == decode.String && n.Label == decode.ByEntry && n.Name == fileName && n.Parent > 0:
				got = append(got, "file "+n.Text)
			case n.Kind == decode.String && n.Label == decode.ByEntry:
				got = append(got, n.Text)
			case n.Kind == decode.Bytes:
				got = append(got, string(n.Raw))
			}
		}
		var want []string
		peer := mime.NewReader(&body, "0a-Z")
		for {
			part, err := peer.NextRawPart()
			if err == io.EOF {
				break
			}
			require.NoError(t, err)
			want = append(want, "name "+part.FormName())
			if part.FileName() != "" {
				want = append(want, "file "+part.FileName())
			}
			b, err := io.ReadAll(part)
			require.NoError(t, err)
			want = append(want, string(b))
		}
		require.Equal(t, want, got, "%q", tree)
	}
}

// FuzzWhole: whatever the body is, every byte that was taken has an owner.
func FuzzWhole(f *testing.F) {
	formattest.FuzzWhole(f, reader(formData),
		lines("--b", named, "", "1", "--b", ofFile, "Content-Type: text/plain", "", "x", "", "--b--", ""),
		lines("pre", "--b", named, "Content-Type: multipart/mixed; boundary=c", "", "--c", "", "1", "--c", "", "2", "--c--", "--b--", "post"),
		lines("--b", named, "Content-Type: text/xml", "", "<a><b>1</b></a>", "--b--"),
		lines("--b", named, "Content-Type: multipart/mixed; boundary=b", "", "--b--"),
		lines("--b", "Content-Disposition: form-data; filename=z; name=a; x=\"y;=", " b", "", "", "--b"),
		"--b\n\n--b--", "--b\r\n:\r\n", "--b", "--b--", "--b\n--b\n", "", "\xff",
	)
}
