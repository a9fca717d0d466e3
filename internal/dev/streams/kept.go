package streams

import (
	"testing"

	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/rpc"
)

// RequireKept requires that keep, a protocol's KeepHead, keeps ordered spans of head if it is recognised, and that they are enough for
// that: the rest becomes filler in a redacted copy. It returns the head of the copy.
func RequireKept(t testing.TB, head []byte, keep func([]byte) []rpc.Span, recognised func([]byte) bool) []byte {
	spans := keep(head)
	require.Equal(t, recognised(head), len(spans) > 0)
	copied := make([]byte, len(head))
	for i, c := range head {
		if copied[i] = 0x0e; c >= ' ' && c <= '~' {
			copied[i] = '~'
		}
	}
	to := int64(0)
	for _, s := range spans {
		require.LessOrEqual(t, to, s.From)
		require.LessOrEqual(t, s.From, s.To)
		require.LessOrEqual(t, s.To, int64(len(head)))
		copy(copied[s.From:s.To], head[s.From:s.To])
		to = s.To
	}
	require.Equal(t, recognised(head), recognised(copied), "%q %q", head, copied)
	return copied
}
