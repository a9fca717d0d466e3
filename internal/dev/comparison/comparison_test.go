package main

import (
	"bytes"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	_ "dubbo-wire/internal/dev/testkit" // the flag -update
)

// docs/comparison.md is what the captures give.
func TestDocument(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, write(&b, "../../../testdata/captures", "../../../testdata/rig/tables"))
	doc, err := os.ReadFile("../../../docs/comparison.md")
	require.NoError(t, err)
	assert.Equal(t, string(doc), b.String(), "run: make comparison")
}
