package formattest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode"
)

// Find is a body in which the attachments are to be found after an argument that cannot be read, or from its start if Before is "".
type Find struct {
	Name, Before, Body string // hexadecimal; Before is the argument
	Want               int    // the offset within Body, -1: not found
}

// FindAttachments checks that the attachments of each body are found after an argument of class, a JVM descriptor, and are read to the end of
// the body. whole, attachments alone, are not looked for where the end of the body is missing, because the search would start there.
func FindAttachments(t *testing.T, f decode.Format, class, whole string, bodies []Find) {
	t.Helper()
	for _, c := range bodies {
		t.Run(c.Name, func(t *testing.T) {
			body, before := Hex(c.Before, c.Body), len(Hex(c.Before))
			var tree decode.Tree
			r := f.New()
			r.Reset(body, decode.Malformed, &tree)
			if before > 0 {
				r.Value(decode.ByIndex, "", 0, class)
				require.Equal(t, decode.Unsupported, r.Err().Cause)
			}
			at, ok := r.(decode.AttachmentFinder).FindAttachments(r.Offset())
			require.Equal(t, c.Want >= 0, ok)
			if !ok {
				return
			}
			assert.Equal(t, before+c.Want, at)
			require.Nil(t, r.Err())
			r.Attachments()
			require.Nil(t, r.Err())
			assert.Equal(t, len(body), r.Offset())
		})
	}
	t.Run("without the end", func(t *testing.T) {
		r := f.New()
		r.Reset(Hex(whole), decode.Cut, nil)
		_, ok := r.(decode.AttachmentFinder).FindAttachments(0)
		assert.False(t, ok)
	})
}
