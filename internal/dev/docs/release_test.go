package docs

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
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

// TestRelease builds the archives and packages of make release for one platform of each system and looks into them.
func TestRelease(t *testing.T) {
	testkit.Needs(t, "GNU tar, and nfpm from the Go module proxy")
	script := read(t, "scripts/release.sh")
	nfpm := regexp.MustCompile(`\S+/nfpm@v\S+`).FindString(script)
	require.NotEmpty(t, nfpm)
	// One set of flags for all, which .ci/run has, too: with another one all packages are compiled again.
	environment := append(os.Environ(), "VERSION=v1.2.3", "PLATFORMS=linux/amd64 darwin/arm64 windows/amd64", "GOFLAGS=-trimpath -pgo=off")
	c := exec.Command("go", "run", nfpm, "--version")
	c.Env = environment
	if out, err := c.CombinedOutput(); err != nil {
		t.Skipf("no nfpm: %s", out)
	}
	dir := t.TempDir()
	c = exec.Command("bash", filepath.Join(root, "scripts", "release.sh"), dir)
	c.Env = environment
	out, err := c.CombinedOutput()
	require.NoError(t, err, "%s", out)

	var files []string
	sums := readFile(t, dir, "SHA256SUMS")
	for line := range strings.Lines(string(sums)) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		assert.Equal(t, fmt.Sprintf("%x", sha256.Sum256(readFile(t, dir, name))), sum, name)
		files = append(files, name)
	}
	assert.ElementsMatch(t, []string{
		"dubbo-wire_1.2.3_darwin_arm64.tar.gz", "dubbo-wire_1.2.3_linux_amd64.deb", "dubbo-wire_1.2.3_linux_amd64.rpm",
		"dubbo-wire_1.2.3_linux_amd64.tar.gz", "dubbo-wire_1.2.3_windows_amd64.tar.gz",
	}, files)

	for _, system := range []struct{ platform, program, magic string }{
		{"linux_amd64", "dubbo-wire", "\x7fELF"},
		{"darwin_arm64", "dubbo-wire", "\xcf\xfa\xed\xfe"},
		{"windows_amd64", "dubbo-wire.exe", "MZ"},
	} {
		name := "dubbo-wire_1.2.3_" + system.platform
		content := unpacked(t, filepath.Join(dir, name+".tar.gz"))
		file := func(path string) string { return content[name+"/"+path] }
		assert.True(t, strings.HasPrefix(file(system.program), system.magic), "%s is a program of %s", system.program, system.platform)
		for path, part := range map[string]string{
			"completion/dubbo-wire.bash": "complete -", "completion/_dubbo-wire": "#compdef dubbo-wire",
			"completion/dubbo-wire.fish": "complete -c dubbo-wire", "completion/dubbo-wire.ps1": "Register-ArgumentCompleter -CommandName 'dubbo-wire'",
			"man/man1/dubbo-wire.1": ".SH NAME", "man/man1/dubbo-wire-analyze.1": "min-coverage",
			"README.md": "# dubbo-wire", "docs/README.md": "# Documentation", "docs/images/page.png": "PNG",
			"examples/kubernetes/daemonset.yaml": "kind: DaemonSet",
		} {
			assert.Contains(t, file(path), part, "%s of %s", path, name)
		}
		for _, command := range helpCommands(t) {
			assert.NotEmpty(t, file("man/man1/dubbo-wire-"+command+".1"), command)
		}
		if system.platform == "linux_amd64" {
			path := filepath.Join(dir, "program")
			require.NoError(t, os.WriteFile(path, []byte(file(system.program)), 0o755))
			version, err := exec.Command(path, "--version").Output()
			assert.NoError(t, err)
			assert.Equal(t, "dubbo-wire version 1.2.3\n", string(version))
		}
	}
	assert.True(t, strings.HasPrefix(string(readFile(t, dir, "dubbo-wire_1.2.3_linux_amd64.rpm")), "\xed\xab\xee\xdb"))
	if _, err := exec.LookPath("dpkg-deb"); err == nil {
		list, err := exec.Command("dpkg-deb", "--contents", filepath.Join(dir, "dubbo-wire_1.2.3_linux_amd64.deb")).Output()
		require.NoError(t, err)
		for _, path := range []string{"/usr/bin/dubbo-wire", "/usr/share/man/man1/dubbo-wire-analyze.1.gz", "/usr/lib/systemd/system/dubbo-wire.service", "/etc/default/dubbo-wire", "/usr/share/bash-completion/completions/dubbo-wire"} {
			assert.Contains(t, string(list), path+"\n")
		}
	}
}

func readFile(t *testing.T, dir, name string) []byte {
	b, err := os.ReadFile(filepath.Join(dir, name))
	require.NoError(t, err)
	return b
}

// unpacked returns the files of an archive by path.
func unpacked(t *testing.T, archive string) map[string]string {
	f, err := os.Open(archive)
	require.NoError(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	files := map[string]string{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			return files
		}
		require.NoError(t, err)
		b, err := io.ReadAll(r)
		require.NoError(t, err)
		files[h.Name] = string(b)
	}
}

// helpCommands are the commands that help lists.
func helpCommands(t *testing.T) (names []string) {
	for name := range helpFlags(t) {
		if name != "" {
			names = append(names, name)
		}
	}
	return names
}
