package redact

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/decode/formats"
	"dubbo-wire/internal/decode/protocols"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/rpc"
)

// BenchmarkRedact is bytes of a capture as it lies on disk, without compression.
func BenchmarkRedact(b *testing.B) {
	path := os.Getenv("REDACT_CAPTURE")
	if path == "" {
		path = filepath.Join(captures, "mixed.pcap.zst")
	}
	for b.Loop() {
		src, err := capture.Open([]string{path}, capture.Options{})
		require.NoError(b, err)
		f, err := os.Create(filepath.Join(b.TempDir(), "out.pcapng"))
		require.NoError(b, err)
		r := New(Options{File: f, Protocols: protocols.All(), Formats: formats.All(), Key: testKey, Origin: src.Origin, Jobs: 1})
		opt := pipeline.Options{Protocols: protocols.All(), Formats: formats.All(), Detail: rpc.Values, WholeBodies: true, Rows: true, Instead: r.Instead, Tap: r}
		totals, err := pipeline.Run(src, opt, r)
		require.NoError(b, err)
		_, err = r.Close()
		require.NoError(b, err)
		require.NoError(b, src.Close())
		require.NoError(b, f.Close())
		b.SetBytes(totals.LinkBytes)
	}
}
