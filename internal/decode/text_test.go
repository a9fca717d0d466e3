package decode_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"dubbo-wire/internal/decode"
)

// Java has one U+FFFD for each half of a surrogate pair that it reads in UTF-8.
func TestUTF8(t *testing.T) {
	for in, want := range map[string]string{
		"":                                     "",
		"plain":                                "plain",
		"é中😀\ud7ff\ue000":                      "é中😀\ud7ff\ue000",
		"\xed\xa0\xbd":                         "\ufffd",
		"\xed\xa0\xbd\xed\xa0\xbd":             "\ufffd\ufffd",
		"a\xed\xb8\x80é\xed\xbf\xbf\xed\xa0":   "a\ufffdé\ufffd\ufffd",
		"\xff\xfe\xed\xa0\x80\xff\xfe\xed\x9f": "\ufffd\ufffd\ufffd",
		"\xed":                                 "\ufffd",
		"\xed\x9f\xbf\xed\xed\xa0\x80\xed":     "\ud7ff\ufffd\ufffd\ufffd",
		strings.Repeat("\xed\xa0\x80", 1000):   strings.Repeat("\ufffd", 1000),
	} {
		assert.Equal(t, want, decode.UTF8([]byte(in)), "%q", in)
	}
}
