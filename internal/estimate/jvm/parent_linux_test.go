package jvm_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/estimate/jvm"
)

// parent is a process that starts a child and waits to be killed.
func parent() {
	c := standIn()
	c.Cache = os.Args[2]
	c.Timeout = time.Hour
	child, err := jvm.Start(context.Background(), c, func(jvm.Result) {})
	if err == nil {
		err = child.Send(record(1, "hang"))
	}
	fmt.Println("started", err)
	time.Sleep(time.Hour)
}

// TestKilledParent: a child does not outlive a parent that is killed, even if it does not read.
func TestKilledParent(t *testing.T) {
	needJDK(t)
	cmd := exec.Command(os.Args[0], "be a parent", cache) //nolint:gosec // this test
	cmd.Env = append(os.Environ(), "TMPDIR="+t.TempDir()) // it cannot remove its files
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "started <nil>\n", line)
	children := childrenOf(cmd.Process.Pid)
	require.NotEmpty(t, children)
	require.NoError(t, cmd.Process.Kill())
	cmd.Wait() //nolint:errcheck // it was killed
	for _, pid := range children {
		assert.Eventually(t, func() bool { return gone(pid) }, 10*time.Second, 50*time.Millisecond, "java %d goes on", pid)
	}
}

// gone reports whether a process has ended, also if nobody has waited for it.
func gone(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return true
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return syscall.Kill(pid, 0) != nil || strings.HasPrefix(rest, "Z")
}

func childrenOf(parent int) []int {
	var all []int
	entries, _ := os.ReadDir("/proc") //nolint:errcheck // checked by the caller
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)) //nolint:errcheck // it may have ended
		if _, rest, ok := strings.Cut(string(stat), ") "); ok {
			if f := strings.Fields(rest); len(f) > 1 && f[1] == strconv.Itoa(parent) {
				all = append(all, pid)
			}
		}
	}
	return all
}
