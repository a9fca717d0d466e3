package classfile

import (
	"bufio"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// jdkClasses are the classes of a JDK: lib/modules since Java 9, rt.jar and the jars beside it before.
type jdkClasses struct {
	image   *image
	jars    *index
	release int // 0 if the JDK does not say
}

// openJDK opens the home of a JDK or JRE. On macOS it may be the folder that has Contents/Home.
func openJDK(home string, release int) (*jdkClasses, error) {
	home, err := filepath.Abs(home)
	if err != nil {
		return nil, located(home, err)
	}
	for _, dir := range []string{home, filepath.Join(home, "Contents", "Home")} {
		j := &jdkClasses{release: releaseOf(dir)}
		modules := filepath.Join(dir, "lib", "modules")
		if info, err := os.Stat(modules); err == nil && info.Mode().IsRegular() {
			if j.image, err = openImage(modules); err != nil {
				return nil, err
			}
			return j, nil
		}
		for _, lib := range []string{filepath.Join(dir, "jre", "lib"), filepath.Join(dir, "lib")} {
			rt := filepath.Join(lib, "rt.jar")
			if _, err := os.Stat(rt); err != nil {
				continue
			}
			jars := []string{rt}
			for _, pattern := range []string{"*.jar", "ext/*.jar"} {
				found, _ := filepath.Glob(filepath.Join(lib, filepath.FromSlash(pattern)))
				slices.Sort(found)
				jars = append(jars, slices.DeleteFunc(found, func(s string) bool { return s == rt })...)
			}
			if j.jars, err = openIndex(jars, max(release, 8)); err != nil {
				return nil, err
			}
			if j.release == 0 {
				j.release = 8
			}
			return j, nil
		}
	}
	return nil, &Error{
		Place: home, Problem: "no JDK: lib/modules, lib/rt.jar and jre/lib/rt.jar are missing",
		Advice: "pass the home of a JDK, as java.home names it",
	}
}

// releaseOf reads the release from the file "release": JAVA_VERSION="17.0.15" or "1.8.0_402".
func releaseOf(home string) int {
	f, err := os.Open(filepath.Join(home, "release"))
	if err != nil {
		return 0
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for n := 0; lines.Scan() && n < 100; n++ {
		if v, ok := strings.CutPrefix(lines.Text(), "JAVA_VERSION="); ok {
			v = strings.TrimPrefix(strings.Trim(v, `"`), "1.")
			end := strings.IndexFunc(v, func(c rune) bool { return c < '0' || c > '9' })
			if end < 0 {
				end = len(v)
			}
			release, _ := strconv.Atoi(v[:end])
			return release
		}
	}
	return 0
}

func (j *jdkClasses) class(name string) (data []byte, place string, err error) {
	if j.image != nil {
		return j.image.class(name)
	}
	return j.jars.class(name)
}

func (j *jdkClasses) close() error {
	if j.image != nil {
		return j.image.close()
	}
	return j.jars.close()
}
