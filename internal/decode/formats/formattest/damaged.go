package formattest

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"dubbo-wire/internal/decode"
)

// Damaged checks f on damaged copies of the rows of the given files of frames: what is counted without a tree is what the tree says, and both
// walks end at the same offset for the same cause. The damages are the same in every run.
func Damaged(t *testing.T, f decode.Format, files ...string) {
	if testing.Short() {
		t.Skip("one goroutine: the race detector finds nothing")
	}
	var all [][]byte
	for _, file := range files {
		for _, row := range Frames(t, file) {
			if n := len(row.Body); n > 0 && n < 4096 {
				all = append(all, row.Body)
			}
		}
	}
	r := rand.New(rand.NewPCG(1, uint64(len(all))))
	for range 100 {
		body := bytes.Clone(all[r.IntN(len(all))])
		for range 1 + r.IntN(3) {
			at := r.IntN(len(body))
			switch r.IntN(4) {
			case 0:
				body[at] = byte(r.Uint32())
			case 1:
				body[at] = byte(r.IntN(4)) // null, a new object, a reference, a small number
			case 2:
				body[at] = body[r.IntN(len(body))]
			default:
				body = body[:max(at, 1)]
			}
		}
		Check(t, f, body)
	}
}
