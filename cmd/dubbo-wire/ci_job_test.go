package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/dev/testkit"
)

// The commands of the job in docs/ci.md run in a shell as the job runs them: with an archive as make release writes it, in a network
// of their own, with peers in place of Maven's tests and a gh that only says what it would send.
func TestJobOfContinuousIntegration(t *testing.T) {
	testkit.Needs(t, "root, curl and setcap")
	for _, tool := range []string{"bash", "curl", "setcap", "unshare", "ip", "tar"} {
		if _, err := exec.LookPath(tool); err != nil || os.Getuid() != 0 {
			t.Skipf("needs root and %s", tool)
		}
	}
	page, err := os.ReadFile("../../docs/ci.md")
	require.NoError(t, err)
	_, job, _ := strings.Cut(string(page), "```yaml\n")
	job, _, _ = strings.Cut(job, "```")
	step := regexp.MustCompile(`(?m)^      - name: (.+)\n(?:        .*\n)*?        run: (.+\n(?:          .*\n)*)`)
	commands := make(map[string]string)
	for _, m := range step.FindAllStringSubmatch(job, -1) {
		commands[m[1]] = strings.TrimPrefix(m[2], "|\n")
	}
	require.Len(t, commands, 4)

	dir := t.TempDir()
	file := func(name, text string) {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o755))
	}
	archive := filepath.Join(dir, "archive", "dubbo-wire_1.0.0_linux_amd64")
	build := exec.Command("go", "build", "-pgo=off", "-o", filepath.Join(archive, "dubbo-wire"), ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	out, err = exec.Command("tar", "-C", filepath.Dir(archive), "-czf", archive+".tar.gz", filepath.Base(archive)).CombinedOutput()
	require.NoError(t, err, "%s", out)
	captures, err := filepath.Abs(testkit.Dir())
	require.NoError(t, err)
	file("bin/sudo", "#!/bin/sh\nexec \"$@\"\n")
	file("bin/gh", "#!/bin/sh\necho \"gh $*\"\ncat sizes.md\n")
	file("bin/mvn", "#!/bin/sh\nexec replay "+captures+"/$CAPTURE.pcap.zst 300ms\n")
	file("work/path", "")
	run := func(capture string, steps ...string) (string, int) {
		// The runner adds the folders of GITHUB_PATH between steps.
		script := "set -e\nip link set lo up\n"
		for _, s := range steps {
			require.NotEmpty(t, commands[s], s)
			script += "bash -eo pipefail -c '" + strings.ReplaceAll(commands[s], "'", `'\''`) + "'\nPATH=$(tail -1 path):$PATH\n"
		}
		cmd := exec.Command("unshare", "-n", "bash", "-c", script)
		cmd.Dir = filepath.Join(dir, "work")
		cmd.Env = append(os.Environ(), "HOME="+dir, "PATH="+filepath.Join(dir, ".local/bin")+":"+filepath.Join(dir, "bin")+":"+os.Getenv("PATH"),
			"DUBBO_WIRE=file://"+archive+".tar.gz", "GITHUB_PATH="+filepath.Join(dir, "work/path"), "PR=7", "CAPTURE="+capture)
		out, _ := cmd.CombinedOutput()
		return string(out), cmd.ProcessState.ExitCode()
	}

	text, code := run("hessian2", "Install dubbo-wire", "Record the tests")
	require.Zero(t, code, text)
	golden := exec.Command(filepath.Join(dir, ".local/bin/dubbo-wire"), "check", "it.pcapng", "--golden", "sizes.json", "--update")
	golden.Dir = filepath.Join(dir, "work")
	out, err = golden.CombinedOutput()
	require.NoError(t, err, "%s", out)
	text, code = run("hessian2", "Record the tests", "Check the sizes", "Comment on the pull request")
	assert.Zero(t, code, text)
	assert.Contains(t, text, "gh pr comment 7 --body-file sizes.md --edit-last --create-if-none")
	assert.Contains(t, text, "9 methods within")

	text, code = run("hessian2-3.2.16", "Record the tests", "Check the sizes")
	assert.Equal(t, 3, code, text)
	assert.Contains(t, text, "::error title=Sizes on the wire%3A over::")
	text, _ = run("", "Comment on the pull request")
	assert.Contains(t, text, "**DRIFT of body bytes**")
}
