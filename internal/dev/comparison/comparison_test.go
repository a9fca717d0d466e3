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

// Pairs of rows that were published with the same figure have no order.
func TestOrder(t *testing.T) {
	o := order{{"a", 1, 10}, {"b", 3, 20}, {"c", 2, 30}, {"d", 4, 30}}
	pairs, others := o.agreement()
	assert.Equal(t, 5, pairs)
	assert.Equal(t, [][2]ordered{{o[2], o[1]}}, others)
	assert.Equal(t, "4 of 5 pairs of rows stand in the published order; of the others, c is before b", o.text())
	assert.InDelta(t, (90+85+93.33+86.67)/4, o.deviation(), 0.01)
}
