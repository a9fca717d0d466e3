package kryo

import (
	"bytes"
	"encoding/hex"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/dubbo"
	"dubbo-wire/internal/decode/formats/formattest"
	"dubbo-wire/internal/dev/testkit"
)

// ascii and counted write a text of n characters in one of the two forms.
func ascii(n int) string {
	b := bytes.Repeat([]byte("x"), n)
	b[n-1] |= 0x80
	return hex.EncodeToString(b)
}

func counted(n int) string {
	head := []byte{0x80 | byte(n+1)}
	if n+1 > 0x3f {
		head = []byte{0xc0 | byte(n+1)&0x3f, byte((n + 1) >> 6)}
	}
	return hex.EncodeToString(append(head, bytes.Repeat([]byte("x"), n)...))
}

func TestTell(t *testing.T) {
	const short = "322e302eb2" // 2.0.2
	for _, c := range []struct {
		name, hex  string
		kind       decode.BodyKind
		four, five decode.Verdict
	}{
		{"short texts", short + ascii(32) + "81 80" + counted(64), decode.BodyRequest, decode.Unsure, decode.Unsure},
		{"33 characters", short + ascii(33), decode.BodyRequest, decode.Own, decode.Foreign},
		{"33 characters counted", short + counted(33), decode.BodyRequest, decode.Foreign, decode.Own},
		{"63 characters", short + ascii(63), decode.BodyRequest, decode.Own, decode.Foreign},
		{"63 characters counted", short + counted(63), decode.BodyRequest, decode.Foreign, decode.Own},
		{"the last text", strings.Repeat(short, 4) + ascii(40), decode.BodyRequest, decode.Own, decode.Foreign},
		{"behind the texts", strings.Repeat(short, 5) + ascii(40), decode.BodyRequest, decode.Unsure, decode.Unsure},
		{"64 characters never have the ASCII form", short + ascii(64), decode.BodyRequest, decode.Unsure, decode.Unsure},
		{"not only ASCII", short + "a3" + strings.Repeat("78", 33) + "e4b8ad", decode.BodyRequest, decode.Unsure, decode.Unsure},
		{"cut", short + counted(40)[:60], decode.BodyRequest, decode.Unsure, decode.Unsure},
		{"cut at the length", short + "c0", decode.BodyRequest, decode.Unsure, decode.Unsure},
		{"cut before the end", short + ascii(40)[:60], decode.BodyRequest, decode.Unsure, decode.Unsure},
		{"a character cut", short + "83 e4b8", decode.BodyRequest, decode.Unsure, decode.Unsure},
		{"no character", short + "82 ff", decode.BodyRequest, decode.Unsure, decode.Unsure},
		{"nothing", "", decode.BodyRequest, decode.Unsure, decode.Unsure},
		{"an error text", ascii(40), decode.BodyText, decode.Own, decode.Foreign},
		{"an error text counted", counted(40), decode.BodyText, decode.Foreign, decode.Own},
		{"a result", "04 0301" + ascii(40), decode.BodyResult, decode.Own, decode.Foreign},
		{"a result counted", "01 0301" + counted(40), decode.BodyResult, decode.Foreign, decode.Own},
		{"a short result", "04 0301 68e9", decode.BodyResult, decode.Unsure, decode.Unsure},
		{"another result", "04 020a" + ascii(40), decode.BodyResult, decode.Unsure, decode.Unsure},
		{"no result", "02", decode.BodyResult, decode.Unsure, decode.Unsure},
		{"a heartbeat", "00", decode.BodyEvent, decode.Unsure, decode.Unsure},
	} {
		b := formattest.Hex(c.hex)
		assert.Equal(t, c.four, Tell4(b, c.kind), "%s, Kryo 4", c.name)
		assert.Equal(t, c.five, Tell5(b, c.kind), "%s, Kryo 5", c.name)
	}
}

const shortTexts = "322e302eb2 642e48e9 302e302eb0 68e9 4c6a6176612f6c616e672f537472696e673bc9"

func TestTellWhole(t *testing.T) {
	for _, c := range []struct {
		name, hex string
		untagged  bool
		kind      decode.BodyKind
		want      *dialect
	}{
		{"attachments behind an object", shortTexts + pojo + attachments, false, decode.BodyRequest, kryo4},
		{"attachments behind an object, Kryo 5", shortTexts + pojo + attachments5, false, decode.BodyRequest, kryo5},
		{"attachments without class id", shortTexts + "010e01626fe2 01" + attachments[4:], true, decode.BodyRequest, kryo4},
		{"two attachments without class id", shortTexts + "010e01626fe2 01 02 0301 706174e8 03018261 03018262 0202", true, decode.BodyRequest, kryo4},
		{"attachments without class id, Kryo 5", shortTexts + "010e01626fe2 01 02 0301 706174e8 0301 642e48e9", true, decode.BodyRequest, kryo5},
		{"of a result", "04" + pojo + "2301 01 0301 64756262ef 0301 322e302eb2", false, decode.BodyResult, kryo4},
		{"of a result, Kryo 5", "04" + pojo + "2201 02 0301 64756262ef 0301 322e302eb2", false, decode.BodyResult, kryo5},
		{"of null, Kryo 5", "05 2201 02 0301 64756262ef 0301 322e302eb2", false, decode.BodyResult, kryo5},
		{"a value alone", "01 2401 02 03018261 0202", false, decode.BodyResult, kryo4},
		{"a value alone, Kryo 5", "01 2301 03 03018261 0202", false, decode.BodyResult, kryo5},
		{"an empty map alone", "01 2301 00", false, decode.BodyResult, kryo4},
		{"a value that both write", "01 0301 68e9", false, decode.BodyResult, nil},
		{"a value that needs a class", "01" + pojo, false, decode.BodyResult, nil},
		{"a class that one has registered", "01 37 01 02 3ff8000000000000", false, decode.BodyResult, nil},
		{"a value alone, untagged", "01 01 02 03018261 0202", true, decode.BodyResult, nil},
		{"null", "02", false, decode.BodyResult, nil},
		{"texts cut", "322e302eb2 642e", false, decode.BodyRequest, nil},
		{"a text", "68e9", false, decode.BodyText, nil},
		{"an event", "03018252", false, decode.BodyEvent, nil},
		{"nothing", "", false, decode.BodyResult, nil},
	} {
		b := formattest.Hex(c.hex)
		want4, want5 := decode.Judge(c.want, kryo4), decode.Judge(c.want, kryo5)
		assert.Equal(t, want4, tellsWhole(kryo4, c.untagged)(b, c.kind), "%s: Kryo 4", c.name)
		assert.Equal(t, want5, tellsWhole(kryo5, c.untagged)(b, c.kind), "%s: Kryo 5", c.name)
	}
}

// Measured frames of one dialect are never taken for the other's, whatever its connection knows, and most tell their own.
func TestMeasuredFramesTell(t *testing.T) {
	for _, c := range []struct {
		file string
		want string
	}{{"testdata/frames.tsv", "kryo"}, {"testdata/frames5.tsv", "kryo (Kryo 5)"}} {
		told := 0
		d := dubbo.NewDecoder([]decode.Format{Format, Format5})
		for _, row := range formattest.Frames(t, c.file) {
			f := &dubbo.Frame{Body: row.Body, Captured: len(row.Body), MissingAt: len(row.Body)}
			f.Flags, f.Status, f.BodyLen = row.Header[2], row.Header[3], len(row.Body)
			if f.Event() {
				continue
			}
			m := d.Decode(f, dubbo.Envelope, &dubbo.Dialects{})
			assert.Equal(t, c.want, m.Serialization, "%s in %s", row.Name, c.file)
			told++
		}
		assert.Greater(t, told, 8, c.file)
	}
}

func TestTellAllocatesNothing(t *testing.T) {
	b := formattest.Hex("322e302eb2", counted(40))
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		Tell4(b, decode.BodyRequest)
		Tell5(b, decode.BodyRequest)
	}))
}

// Telling by the whole body is linear, whatever it is full of.
func TestTellWholeIsBounded(t *testing.T) {
	for name, unit := range map[string]string{
		"maps": "2301 2201", "maps of one entry": "2201 02 0301", "lists": "2301 83 0300", "nulls": "2301 82 00",
	} {
		body := append([]byte{1}, bytes.Repeat(formattest.Hex(unit), 1<<18)...)
		used := testkit.CPU()
		tellWhole(body, decode.BodyResult, false)
		body[0] = 4
		tellWhole(body, decode.BodyResult, false)
		tellWhole(body, decode.BodyResult, true)
		assert.Less(t, used(), 20*time.Second, name)
	}
}

func FuzzTell(f *testing.F) {
	for _, file := range []string{"testdata/frames.tsv", "testdata/frames5.tsv"} {
		for _, row := range formattest.Frames(f, file) {
			f.Add(row.Body)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		for k := decode.BodyRequest; k <= decode.BodyEvent; k++ {
			assert.LessOrEqual(t, Tell4(b, k)+Tell5(b, k), decode.Unsure, "both claim it")
			for _, untagged := range []bool{false, true} {
				assert.LessOrEqual(t, tellsWhole(kryo4, untagged)(b, k)+tellsWhole(kryo5, untagged)(b, k), decode.Unsure, "both claim it")
			}
		}
	})
}
