package dubbo

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestText(t *testing.T) {
	for in, want := range map[string]bool{
		"ls\r\n":                              true,
		"com.acme.订单Service\r\ndubbo>":        true,
		"dubbo>":                              true,
		"status -l\n\x1b[A":                   true,
		"\xff\xf4\xff\xfd\x06exit\r\n":        true,
		"no line":                             false,
		"\x00\x01binary\n":                    false,
		"bad \x80 character\n":                false,
		"cut \xe4\xb8":                        false,
		"":                                    false,
		strings.Repeat("x", maxLine+1) + "\n": false,
	} {
		var whole, split text
		whole.add([]byte(in))
		for i := range len(in) {
			split.add([]byte(in[i : i+1]))
		}
		assert.Equal(t, want, whole.is(), "%.40q", in)
		assert.Equal(t, whole, split)
	}
}
