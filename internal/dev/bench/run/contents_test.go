package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Every kind of body that HTTP carries has a row, and the heads have one.
func TestContents(t *testing.T) {
	var b strings.Builder
	require.NoError(t, measureContents(&b, "../../../../"+captures, 1))
	lines := fieldsOf(b.String())
	require.Len(t, lines, 10, lines)
	for i, name := range []string{"", "bodies of HTTP", "json", "xml", "form", "multipart", "text", "hessian", "hessian2", "heads of HTTP/1"} {
		assert.Contains(t, lines[i], name)
	}
}
