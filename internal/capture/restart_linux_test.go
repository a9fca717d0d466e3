package capture

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/dev/testkit"
)

// TestStartAgain: built with cgo, the program captures without any right in any thread, as root, as another user, and
// for an ordinary user whom its file gives the right.
func TestStartAgain(t *testing.T) {
	testkit.Needs(t, "root and a C compiler")
	if testing.Short() {
		t.Skip("builds the program")
	}
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("needs a C compiler")
	}
	dir, err := os.MkdirTemp("", "dubbo-wire-cgo-") // t.TempDir is closed to other users
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	require.NoError(t, os.Chmod(dir, 0o755))
	binary := filepath.Join(dir, "dubbo-wire")
	build := exec.Command("go", "build", "-o", binary, "dubbo-wire/cmd/dubbo-wire")
	build.Env = append(os.Environ(), "CGO_ENABLED=1")
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)

	// The command after -- has the rights of the program that starts it.
	status := []string{"--", "sh", "-c", "cat /proc/$PPID/task/*/status"}
	run := func(name string, args ...string) string {
		c := exec.Command(name, append(args, status...)...)
		c.Dir = dir
		out, err := c.CombinedOutput()
		require.NoError(t, err, "%s", out)
		return string(out)
	}
	check := func(out, uid string) {
		threads := 0
		for line := range strings.Lines(out) {
			key, value, _ := strings.Cut(strings.TrimSpace(line), ":")
			value = strings.TrimSpace(value)
			switch key {
			case "CapPrm", "CapEff", "CapInh", "CapAmb":
				assert.Equal(t, "0000000000000000", value, key)
			case "NoNewPrivs":
				threads++
				assert.Equal(t, "1", value)
			case "Uid":
				assert.Equal(t, uid, strings.Fields(value)[1])
			}
		}
		assert.Greater(t, threads, 2)
		assert.Contains(t, out, "COVERAGE")
	}
	check(run(binary, "capture", "lo", "--interval", "0"), "0")
	check(run(binary, "capture", "lo", "--interval", "0", "--user", "65534"), "65534")
	if _, err := exec.LookPath("setpriv"); err == nil {
		if out, err := exec.Command("setcap", "cap_net_raw+ep", binary).CombinedOutput(); err == nil {
			check(run("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", binary, "capture", "lo", "--interval", "0"), "65534")
		} else {
			t.Logf("not run with a file capability: %s", out)
		}
	}
}
