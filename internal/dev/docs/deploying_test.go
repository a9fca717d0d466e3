package docs

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/assert/yaml"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/capture/pcapng"
	"dubbo-wire/internal/dev/testkit"
	"dubbo-wire/internal/term"
)

// settings are the lines NAME=VALUE of a unit or an environment file, the last one of each name.
func settings(text string) map[string]string {
	all := map[string]string{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok && !strings.HasPrefix(name, "#") {
			all[name] = strings.Trim(value, `"`)
		}
	}
	return all
}

// serviceFlags are the flags in packaging/default, also those that are commented out.
func serviceFlags(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, m := range regexp.MustCompile(`(?m)^#?FLAGS="(.*)"$`).FindAllStringSubmatch(read(t, "packaging/default"), -1) {
		all = append(all, m[1])
	}
	require.Len(t, all, 2)
	return all
}

// serviceArgs are the arguments of the program in the service, with other flags and on another interface.
func serviceArgs(t *testing.T, flags, iface string) []string {
	t.Helper()
	values := settings(read(t, "packaging/default"))
	assert.Equal(t, "any", values["INTERFACE"])
	values["INTERFACE"], values["FLAGS"] = iface, flags
	words := strings.Fields(settings(read(t, "packaging/dubbo-wire.service"))["ExecStart"])
	require.Equal(t, []string{"/usr/bin/dubbo-wire", "capture"}, words[:2])
	var args []string
	for _, word := range words[1:] {
		switch name, ok := strings.CutPrefix(word, "$"); {
		case !ok:
			args = append(args, word)
		case strings.HasPrefix(name, "{"): // one word
			args = append(args, values[strings.Trim(name, "{}")])
		default:
			assert.NotContains(t, values[name], "'")
			args = append(args, strings.Fields(values[name])...)
		}
	}
	return args
}

// accepts checks that the program accepts the arguments of a capture, which are on an interface that does not exist.
func accepts(t *testing.T, args []string) {
	t.Helper()
	path, err := program()
	require.NoError(t, err)
	out, err := exec.Command(path, args...).CombinedOutput()
	require.Error(t, err)
	assert.Contains(t, string(out), "no such network interface", "%q", args)
}

const noInterface = "no-such-interface"

func TestService(t *testing.T) {
	if os.PathSeparator != '/' {
		t.Skip("captures are for Linux")
	}
	sources(t)
	for _, flags := range serviceFlags(t) {
		accepts(t, serviceArgs(t, flags, noInterface))
	}
}

// TestServiceRuns starts the service as systemd does, with the user, the capability and the restrictions that the unit has, and ends it
// as systemd does.
func TestServiceRuns(t *testing.T) {
	testkit.Needs(t, "root, and setpriv")
	if _, err := exec.LookPath("setpriv"); err != nil || os.Geteuid() != 0 {
		t.Skip("needs root, and setpriv")
	}
	unit := settings(read(t, "packaging/dubbo-wire.service"))
	assert.Equal(t, "CAP_NET_RAW", unit["AmbientCapabilities"])
	assert.Equal(t, "CAP_NET_RAW", unit["CapabilityBoundingSet"])
	assert.Equal(t, "yes", unit["NoNewPrivileges"])
	assert.Equal(t, "yes", unit["DynamicUser"])
	assert.NotContains(t, unit, "KillSignal") // SIGTERM
	path, err := program()
	require.NoError(t, err)
	dir, err := os.MkdirTemp("", "dubbo-wire-service")
	require.NoError(t, err)
	defer os.RemoveAll(dir)
	require.NoError(t, os.Chown(dir, 61234, 61234))
	require.NoError(t, os.Chmod(filepath.Dir(path), 0o755))
	for _, flags := range serviceFlags(t) {
		require.Contains(t, flags, "--metrics :9464 ")
		flags = strings.Replace(flags, ":9464", "127.0.0.1:0", 1) // other tests may use the port
		args := append([]string{
			"--reuid=61234", "--regid=61234", "--clear-groups", "--no-new-privs",
			"--inh-caps=-all,+net_raw", "--ambient-caps=-all,+net_raw", "--bounding-set=-all,+net_raw", path,
		}, serviceArgs(t, flags, "lo")...)
		c := exec.Command("setpriv", args...)
		c.Dir = dir
		out := stopped(t, c, syscall.SIGTERM, func(pid int) {
			status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
			require.NoError(t, err)
			assert.Regexp(t, `CapPrm:\s0000000000000000\nCapEff:\s0000000000000000\n`, string(status))
			assert.Regexp(t, `Uid:(\s61234){4}\n`, string(status))
		})
		assert.Contains(t, out, "COVERAGE", flags)
	}
	recorded(t, dir)
}

// container is the part of a manifest that the tests read.
type container struct {
	Args []string
}

type podTemplate struct {
	Kind string
	Spec struct {
		Template struct {
			Spec struct {
				Containers []container
				Volumes    []struct {
					Name     string
					EmptyDir struct {
						SizeLimit string `yaml:"sizeLimit"`
					} `yaml:"emptyDir"`
				}
			}
		}
	}
}

// TestKubernetes: the program accepts the arguments in the manifests, and the volume has room for --max-disk.
func TestKubernetes(t *testing.T) {
	sources(t)
	found := 0
	for _, document := range strings.Split(read(t, "examples/kubernetes/daemonset.yaml"), "\n---\n") {
		var d podTemplate
		require.NoError(t, yaml.Unmarshal([]byte(document), &d))
		for _, c := range d.Spec.Template.Spec.Containers {
			found++
			require.Equal(t, []string{"capture", "any"}, c.Args[:2])
			if os.PathSeparator == '/' {
				accepts(t, append([]string{"capture", noInterface}, c.Args[2:]...))
			}
			i := slices.IndexFunc(c.Args, func(arg string) bool { return strings.HasPrefix(arg, "--max-disk=") })
			require.Positive(t, i)
			most, err := term.ParseBytes(strings.TrimPrefix(c.Args[i], "--max-disk="))
			require.NoError(t, err)
			volume := d.Spec.Template.Spec.Volumes[0]
			assert.Equal(t, "data", volume.Name)
			room, err := term.ParseBytes(volume.EmptyDir.SizeLimit + "B")
			require.NoError(t, err)
			assert.Less(t, most, room)
		}
	}
	assert.Equal(t, 1, found)
	var profile map[string]any
	require.NoError(t, yaml.Unmarshal([]byte(read(t, "examples/kubernetes/debug-profile.yaml")), &profile))
	assert.Contains(t, profile, "securityContext")
}

// indented is the program, or its image, with arguments in an indented block.
var indented = regexp.MustCompile(`(?m)^ {4,}(?:.* -- |.*\| |sudo |docker run .* )?dubbo-wire(?::1\.0\.0)?((?: [^|>\n\\]*)?)`)

// TestDeployingCommands: no command in the pages about deploying has a flag that does not exist.
func TestDeployingCommands(t *testing.T) {
	flags := helpFlags(t)
	for page, least := range map[string]int{"examples/kubernetes/README.md": 8, "docs/deploying.md": 3} {
		found := indented.FindAllStringSubmatch(read(t, page), -1)
		assert.GreaterOrEqual(t, len(found), least, page)
		for _, m := range found {
			checkInvocation(t, flags, page, m[1])
		}
	}
	for _, m := range link.FindAllStringSubmatch(read(t, "examples/kubernetes/README.md"), -1) {
		_, err := os.Stat(filepath.Join(root, "examples/kubernetes", m[1]))
		assert.NoError(t, err)
	}
}

// TestStop: each signal that ends a capture completes its rotated files and prints the report.
func TestStop(t *testing.T) {
	testkit.Needs(t, "root, to capture")
	if os.Geteuid() != 0 {
		t.Skip("needs root, to capture")
	}
	path, err := program()
	require.NoError(t, err)
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if signal.Ignored(s) { // with nohup, the capture ignores it, too
			continue
		}
		dir := t.TempDir()
		c := exec.Command(path, "capture", "lo", "--interval", "0", "-w", "%s.pcapng", "-G", "3600", "-C", "1", "--max-disk", "2MB", "-o", "report.json")
		c.Dir = dir
		stopped(t, c, s, nil)
		assert.FileExists(t, filepath.Join(dir, "report.json"))
		recorded(t, dir)
	}
}

// stopped starts a capture, and ends it with a signal when it runs, after a look at it. It returns what the capture prints.
func stopped(t *testing.T, c *exec.Cmd, s os.Signal, running func(pid int)) string {
	t.Helper()
	var out bytes.Buffer
	c.Stdout = &out
	stderr, err := c.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, c.Start())
	lines := bufio.NewReader(stderr)
	for text := ""; !strings.Contains(text, "capturing on lo"); { // after privileges are dropped
		text, err = lines.ReadString('\n')
		require.NoError(t, err, text)
	}
	if running != nil {
		running(c.Process.Pid)
	}
	require.NoError(t, c.Process.Signal(s))
	rest, err := io.ReadAll(lines)
	require.NoError(t, err)
	require.NoError(t, c.Wait(), "%v: %s", s, rest)
	return out.String()
}

// recorded checks that the folder has one recording, which ends with its statistics.
func recorded(t *testing.T, dir string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.pcapng"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	b, err := os.ReadFile(files[0])
	require.NoError(t, err)
	last := int(binary.LittleEndian.Uint32(b[len(b)-4:]))
	assert.Equal(t, uint32(pcapng.Statistics), binary.LittleEndian.Uint32(b[len(b)-last:]))
}
