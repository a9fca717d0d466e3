package jvm

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzAnswers: whatever a Java process writes, reading it ends, and takes no times that were not asked for.
func FuzzAnswers(f *testing.F) {
	const targets, times = 2, 3
	text := func(b []byte, s string) []byte {
		return append(binary.BigEndian.AppendUint32(b, uint32(len(s))), s...)
	}
	hello := text(binary.BigEndian.AppendUint32(nil, magic), "17 VM")
	hello = binary.BigEndian.AppendUint32(hello, targets)
	hello = text(append(hello, 0xff, 0xff, 0xff, 0xff), "it is not there")
	result := binary.BigEndian.AppendUint64([]byte{1}, 7)
	result = append(binary.BigEndian.AppendUint32(append(result, 0), 100), 1, 2, 3, 4, 5, 6, 7, 8)
	result = text(append(result, 1), "null in Order.note")
	measured := append(append([]byte{2}, make([]byte, 8)...), 1)
	measured = append(measured, make([]byte, 32)...)
	f.Add([]byte{})
	f.Add(append(bytes.Clone(hello), 0))
	f.Add(append(append(bytes.Clone(hello), result...), 0))
	f.Add(append(text(append(append(bytes.Clone(hello), measured...), 3), "not readable"), 0))
	f.Add(append(bytes.Clone(hello), 1, 0x7f, 0xff))
	f.Fuzz(func(t *testing.T, data []byte) {
		p := &process{targets: targets, answer: func(r Result) error {
			require.Len(t, r.Targets, targets)
			for _, e := range r.Targets {
				require.True(t, e.Cause != "" || e.Bytes >= 0)
				require.LessOrEqual(t, len(e.Cause), len(data))
			}
			return nil
		}}
		p.times.Store(times)
		r := &reader{r: bufio.NewReader(bytes.NewReader(data))}
		if !p.greeting(r) {
			return
		}
		require.Len(t, p.unavailable, targets)
		if err := p.read(r); err == nil {
			require.Zero(t, data[len(data)-1])
		}
		require.LessOrEqual(t, len(p.timings), times)
	})
}
