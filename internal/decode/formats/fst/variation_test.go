package fst

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"dubbo-wire/internal/decode"
)

// TestVaryEmulated: fields are counted over all sections, and those of the JDK's classes do not change.
func TestVaryEmulated(t *testing.T) {
	own := section{class: "a.B", fields: []field{{name: "text", simple: "String"}}}
	p := plan{emulated: true, sections: []section{{class: "java.util.Calendar", fields: make([]field, 3)}, own}}
	for at, want := range []bool{false, false, false, true, true, false} {
		c := p
		c.sections = append([]section(nil), p.sections...)
		assert.Equal(t, want, c.vary(&decode.Variation{Index: at, Type: "Ljava/lang/String;"}), at)
		assert.Len(t, c.sections[0].fields, 3)
	}
}
