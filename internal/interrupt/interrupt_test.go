package interrupt

import (
	"bytes"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	_ "dubbo-wire/internal/dev/testkit" // the flag -update
)

// TestInterruptible: what is read through it is what was there, in whatever pieces.
func TestInterruptible(t *testing.T) {
	data := bytes.Repeat([]byte("0123456789"), 50_000)
	i := Catch(func() {})
	defer i.Release()
	got, err := io.ReadAll(i.Reader(bytes.NewReader(data)))
	require.NoError(t, err)
	require.True(t, bytes.Equal(data, got))
	r, w := io.Pipe()
	defer w.Close()
	reader := i.Reader(r)
	go func() { _, _ = w.Write([]byte("abc")) }()
	buf := make([]byte, 2)
	n, err := reader.Read(buf)
	require.NoError(t, err)
	require.Equal(t, "ab", string(buf[:n]))
	i.stopped.Store(true)
	close(i.done)
	n, err = reader.Read(buf)
	require.NoError(t, err)
	require.Equal(t, "c", string(buf[:n]), "what has come is not lost")
	_, err = reader.Read(buf)
	require.ErrorIs(t, err, io.EOF)
}
