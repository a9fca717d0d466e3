package hessian2

import (
	"testing"

	"dubbo-wire/internal/decode/formats/formattest"
)

// TestGraphs reads bodies of random values of every generation: beans, collections, maps, arrays, handles, shared and
// cyclic references. What a row wants was equal to what a dump of the values in the writing JVM says.
func TestGraphs(t *testing.T) { formattest.WantsBodies(t, Format, "testdata/graphs.tsv") }

// TestWritten reads results that real writers wrote for what is rare.
func TestWritten(t *testing.T) { formattest.WantsBodies(t, Format, "testdata/written.tsv") }
