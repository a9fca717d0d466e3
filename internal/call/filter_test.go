package call

import (
	"strings"
	"testing"

	hessian "github.com/apache/dubbo-go-hessian2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/rpc"
)

// An attachment is found although dubbo-go writes long texts in pieces.
func TestMayHaveAttachmentsInPieces(t *testing.T) {
	for _, before := range []int{0, 10, 4090, 4096, 9000} {
		e := hessian.NewEncoder()
		require.NoError(t, e.Encode(map[any]any{"token": strings.Repeat("x", before) + "the needle"}))
		m := &rpc.Message{Format: &decode.Format{TextsInPlace: true}, Body: e.Buffer()}
		assert.True(t, (&Filter{Attachment: map[string]Glob{"token": ParseGlob("*the needle")}}).MayHaveAttachments(m), "%d", before)
		assert.False(t, (&Filter{Attachment: map[string]Glob{"other": ParseGlob("*")}}).MayHaveAttachments(m))
	}
}
