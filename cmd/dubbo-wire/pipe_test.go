package main

import (
	"io"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/dev/bench/traffic"
)

// counting counts what is read, by a goroutine that may go on when the program has ended.
type counting struct {
	r io.Reader
	n atomic.Int64
}

func (c *counting) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.n.Add(int64(n))
	return n, err
}

// head takes some bytes and then is gone, as head is.
type head struct{ left int }

func (h *head) Write(b []byte) (int, error) {
	if h.left -= len(b); h.left < 0 {
		return 0, syscall.EPIPE
	}
	return len(b), nil
}

// When whoever reads the rows is gone, the capture is not read to its end, and nothing is said.
func TestRowsNobodyReads(t *testing.T) {
	var requests *traffic.Hostile
	for i := range traffic.Hostiles {
		if traffic.Hostiles[i].Name == "unanswered" {
			requests = &traffic.Hostiles[i]
		}
	}
	require.NotNil(t, requests)
	for _, format := range []string{"table", "markdown", "csv", "json", "jsonl"} {
		in := &counting{r: requests.Reader(1e6)}
		var stderr strings.Builder
		require.Zero(t, run([]string{"frames", "-", "--format", format}, in, &head{left: 100_000}, &stderr), stderr.String())
		require.Empty(t, stderr.String())
		require.Less(t, in.n.Load(), int64(10<<20), format)
	}
}
