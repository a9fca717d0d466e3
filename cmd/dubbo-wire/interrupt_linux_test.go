package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestInterrupt: Ctrl-C while nothing comes from standard input prints what was read and gives exit code 4.
func TestInterrupt(t *testing.T) {
	data, err := readCapture(capturesDir(t), "hessian2")
	require.NoError(t, err)
	cmd := exec.Command("dubbo-wire", "analyze", "-")
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	// More than a pipe holds: when it is written, the program is reading.
	_, err = stdin.Write(data)
	require.NoError(t, err)
	time.Sleep(100 * time.Millisecond)
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		_ = cmd.Process.Kill()
		t.Fatal("it goes on reading")
	}
	require.Equal(t, exitPartly, cmd.ProcessState.ExitCode(), stderr.String())
	require.Contains(t, stderr.String(), "dubbo-wire: stopped; the report covers the ")
	require.Contains(t, out.String(), "COVERAGE")
}

// TestInterruptible: what is read through it is what was there, in whatever pieces.
func TestInterruptible(t *testing.T) {
	data := bytes.Repeat([]byte("0123456789"), 50_000)
	i := catch()
	defer i.release()
	got, err := io.ReadAll(i.reader(bytes.NewReader(data)))
	require.NoError(t, err)
	require.True(t, bytes.Equal(data, got))
	r, w := io.Pipe()
	defer w.Close()
	reader := i.reader(r)
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
