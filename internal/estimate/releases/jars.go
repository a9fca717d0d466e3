package releases

import (
	"archive/zip"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Jars returns the jars of a folder and of those in it, sorted, and the release of the Dubbo among them. The release is empty if the Dubbo does not
// tell it; without a Dubbo, or with two releases, there is an error.
func Jars(dir string) (jars []string, release string, err error) {
	const most = 10_000
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if !e.IsDir() && strings.HasSuffix(path, ".jar") {
			if jars = append(jars, path); len(jars) > most {
				return fmt.Errorf("%s: more than %d jars", dir, most)
			}
		}
		return nil
	})
	if err != nil {
		return nil, "", err
	}
	slices.Sort(jars)
	found := ""
	for _, j := range jars {
		r, ok, err := dubboRelease(j)
		switch {
		case err != nil:
			return nil, "", fmt.Errorf("%s: %w", j, err)
		case !ok:
		case found != "" && r != "" && release != "" && r != release:
			return nil, "", fmt.Errorf("two releases of Dubbo: %s (%s) and %s (%s); keep one", found, release, j, r)
		case found == "" || release == "":
			found, release = j, r
		}
	}
	if found == "" {
		return nil, "", fmt.Errorf("%s: no jar of Dubbo among its %d jars; --print-pom names what is needed", dir, len(jars))
	}
	return jars, release, nil
}

var dubboFile = regexp.MustCompile(`^dubbo(?:-common)?-(\d+\.\d+\.\d+(?:[.-][0-9A-Za-z.-]+)?)\.jar$`)

// dubboRelease reports whether a jar has Dubbo's own classes, and their release, which may be unknown.
func dubboRelease(path string) (release string, ok bool, err error) {
	z, err := zip.OpenReader(path)
	if err != nil {
		return "", false, err
	}
	defer z.Close() //nolint:errcheck // only read
	var properties, manifest *zip.File
	for _, f := range z.File {
		switch f.Name {
		case "org/apache/dubbo/common/Version.class", "com/alibaba/dubbo/common/Version.class":
			ok = true
		case "META-INF/maven/org.apache.dubbo/dubbo/pom.properties", "META-INF/maven/com.alibaba/dubbo/pom.properties":
			properties = f
		case "META-INF/maven/org.apache.dubbo/dubbo-common/pom.properties", "META-INF/maven/com.alibaba/dubbo-common/pom.properties":
			if properties == nil {
				properties = f
			}
		case "META-INF/MANIFEST.MF":
			manifest = f
		}
	}
	if !ok {
		return "", false, nil
	}
	if v := value(properties, "version="); isRelease(v) {
		return v, true, nil
	}
	if m := dubboFile.FindStringSubmatch(filepath.Base(path)); m != nil {
		return m[1], true, nil
	}
	if v := value(manifest, "Implementation-Version:"); isRelease(v) {
		return v, true, nil
	}
	return "", true, nil
}

// value returns what follows a word at the start of a line in a small file of a jar.
func value(f *zip.File, word string) string {
	if f == nil {
		return ""
	}
	r, err := f.Open()
	if err != nil {
		return ""
	}
	defer r.Close()                                  //nolint:errcheck // only read
	text, _ := io.ReadAll(io.LimitReader(r, 64<<10)) //nolint:errcheck // what there is
	for l := range strings.Lines(string(text)) {
		if v, ok := strings.CutPrefix(l, word); ok {
			return strings.TrimSpace(v)
		}
	}
	return ""
}
