package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/capture"
)

// TestCaptureEnds: a limit ends a capture with exit code 0, whatever was on the wire.
func TestCaptureEnds(t *testing.T) {
	src, err := capture.OpenLive([]string{"lo"}, capture.LiveOptions{})
	if err != nil {
		t.Skip("no right to capture:", err)
	}
	require.NoError(t, src.Close())
	var out, stderr bytes.Buffer
	code := run([]string{"capture", "lo", "--duration", "200ms", "--method", "no-such-method"}, strings.NewReader(""), &out, &stderr)
	require.Zero(t, code, stderr.String())
	require.Contains(t, out.String(), "COVERAGE")
	require.True(t, strings.HasPrefix(stderr.String(), "capturing on lo; Ctrl-C ends it and prints the report\ndubbo-wire: "), stderr.String())
}
