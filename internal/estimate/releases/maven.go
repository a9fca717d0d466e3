package releases

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Resolve returns the jars of a pom as the user's Maven finds them; maven is its program, empty for mvn of PATH. They are remembered in folder
// while the text of the pom is the same and the jars are there; an empty folder remembers nothing. Maven may download jars, which takes minutes.
func Resolve(ctx context.Context, maven, folder, pom string) ([]string, error) {
	sum := sha256.Sum256([]byte(pom))
	known := ""
	if folder != "" {
		known = filepath.Join(folder, fmt.Sprintf("jars-%x", sum[:8]))
		if jars, ok := remembered(known, pom); ok {
			return jars, nil
		}
	}
	work, err := os.MkdirTemp(folder, "maven-")
	if err != nil {
		if work, err = os.MkdirTemp("", "dubbo-wire-maven-"); err != nil {
			return nil, err
		}
		known = ""
	}
	defer os.RemoveAll(work) //nolint:errcheck // a temporary folder; it may be renamed
	if err := os.WriteFile(filepath.Join(work, "pom.xml"), []byte(pom), 0o600); err != nil {
		return nil, err
	}
	if err := run(ctx, maven, work); err != nil {
		return nil, err
	}
	jars, ok := remembered(work, pom)
	if !ok {
		return nil, errors.New("maven wrote a class path without jars, or with jars that do not exist")
	}
	if known != "" {
		os.RemoveAll(known)    //nolint:errcheck // of jars that do not exist any more
		os.Rename(work, known) //nolint:errcheck // another process has written the same
	}
	return jars, nil
}

// run lets Maven write the class path of work/pom.xml to work/classpath.
func run(ctx context.Context, maven, work string) error {
	if maven == "" {
		var err error
		if maven, err = exec.LookPath("mvn"); err != nil {
			return errors.New("no mvn in PATH; install Maven, or pass a folder with the jars to --jars (--print-pom names them)")
		}
	}
	file := filepath.Join(work, "classpath")
	cmd := exec.CommandContext(ctx, maven, "-q", "-B", "-f", filepath.Join(work, "pom.xml"),
		"dependency:build-classpath", "-Dmdep.outputFile="+file, "-Dmdep.includeScope=runtime")
	cmd.WaitDelay = 5 * time.Second
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return fmt.Errorf("maven did not find the jars: %s", mavenError(output.String(), err))
	}
	return nil
}

// mavenError returns the first line that says what Maven could not do, or the first error.
func mavenError(output string, err error) string {
	first := ""
	for text := range strings.Lines(output) {
		text = strings.TrimSpace(strings.ReplaceAll(strings.ReplaceAll(text, "\x1b[0m", ""), "\x1b[m", ""))
		rest, ok := strings.CutPrefix(text, "[ERROR]")
		for ok && strings.HasPrefix(strings.TrimSpace(rest), "[ERROR]") {
			rest = strings.TrimSpace(rest)[len("[ERROR]"):]
		}
		rest = strings.TrimSpace(rest)
		switch rest = rest[:min(len(rest), 500)]; {
		case !ok || rest == "" || strings.HasPrefix(rest, "Some problems were encountered"):
		case strings.Contains(rest, "Could not ") || strings.Contains(rest, "Cannot access "):
			return rest
		case first == "":
			first = rest
		}
	}
	return cmp.Or(first, err.Error())
}

// remembered returns the class path that a folder has for a pom, unless a jar has gone.
func remembered(folder, pom string) ([]string, bool) {
	text, err := os.ReadFile(filepath.Join(folder, "pom.xml"))
	if err != nil || string(text) != pom {
		return nil, false
	}
	text, err = os.ReadFile(filepath.Join(folder, "classpath"))
	if err != nil {
		return nil, false
	}
	jars := filepath.SplitList(strings.TrimSpace(string(text)))
	for _, j := range jars {
		if info, err := os.Stat(j); err != nil || !info.Mode().IsRegular() {
			return nil, false
		}
	}
	return jars, len(jars) > 0
}
