package screen

import (
	"testing"

	"dubbo-wire/internal/live"
)

// What a snapshot and a picture of it cost, a second's worth of rows.
func BenchmarkSnapshot(b *testing.B) {
	for name, s := range map[string]*live.Snapshot{"rows=6": steady(), "rows=5000": many(5000)} {
		b.Run(name, func(b *testing.B) {
			m := start(160, 50)
			b.ReportAllocs()
			for b.Loop() {
				m = m.update(snapshotMsg{s})
				_ = m.view()
			}
		})
	}
}
