package redact

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/dev/bench/traffic"
)

// A body of parts keeps its size, its boundaries and the names of its parts; what its parts contain, the names of files, and what their header
// fields may tell are replaced. Texts in Latin-1 and parts of JSON, XML and bytes are among them.
func TestMultipart(t *testing.T) {
	body := strings.ReplaceAll(`preamble of anna
--b
Content-Disposition: form-data; name="note"; x="anna-x"

hello anna
--b
Content-Disposition: form-data; name="upload"; filename="anna \"m\".txt"; filename*=UTF-8''anna
Content-Type: text/plain; charset=ISO-8859-1
Content-ID: <anna-id@example.org>

anna J`+"\xf6"+`rg
--b
Content-Disposition: form-data; name="data"
Content-Type: application/json

{"name":"anna-maria","age":48213}
--b
Content-Disposition: form-data; name="page"
Content-Type: text/xml

<a name="anna"><!-- anna --><b>48213</b></a>
--b
Content-Disposition: form-data; name="image"; filename=anna.png
Content-Type: image/png

`+"\x89PNG anna \x00\xff"+`
--b--
epilogue of anna
`, "\n", "\r\n")
	withoutComment := strings.Replace(body, "<!-- anna -->", "", 1)
	for _, body := range []string{body, withoutComment} {
		file := t.TempDir() + "/parts.pcap"
		request := fmt.Sprintf("POST /upload?user=anna HTTP/1.1\r\nHost: h.internal\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
		require.NoError(t, os.WriteFile(file, traffic.Talk([]traffic.Segment{
			{Side: 0, Data: []byte(request)}, {Side: 1, Data: []byte("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")},
		}), 0o600))
		x := redactFile(t, Options{}, file)
		was, is := factsOf(t, file), factsOf(t, x.path)
		assert.Equal(t, was.Totals, is.Totals)
		out, err := os.ReadFile(x.path)
		require.NoError(t, err)
		for _, secret := range []string{"anna", "48213", "rg\r\n", "example.org"} {
			assert.NotContains(t, string(out), secret)
		}
		if body == withoutComment { // else the whole body is filler
			assert.Equal(t, was.Rows, is.Rows)
			assert.Equal(t, was.Calls, is.Calls)
			for _, name := range []string{`name="note"`, `name="upload"`, `name="data"`, "application/json", "--b--"} {
				assert.Contains(t, string(out), name)
			}
		}
	}
}
