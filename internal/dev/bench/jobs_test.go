package bench_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/dev/bench/traffic"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/rpc"
)

// BenchmarkJobs is a capture of 100 MB, read by one goroutine or by several.
func BenchmarkJobs(b *testing.B) {
	file := filepath.Join(b.TempDir(), "trace.pcap")
	f, err := os.Create(file)
	require.NoError(b, err)
	_, err = traffic.Write(f, traffic.Config{Size: 100e6})
	require.NoError(b, err)
	require.NoError(b, f.Close())
	for _, jobs := range []int{1, 2, 4} {
		b.Run(fmt.Sprint(jobs), func(b *testing.B) {
			b.SetBytes(100e6)
			b.ReportAllocs()
			for b.Loop() {
				src, err := capture.Open([]string{file}, capture.Options{})
				require.NoError(b, err)
				opt := options(rpc.Envelope)
				opt.Jobs = jobs
				_, err = pipeline.Run(src, opt, newSink())
				require.NoError(b, err)
				require.NoError(b, src.Close())
			}
		})
	}
}
