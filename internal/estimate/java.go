package estimate

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"dubbo-wire/internal/decode/protoschema"
	"dubbo-wire/internal/estimate/helper"
	"dubbo-wire/internal/estimate/jvm"
	"dubbo-wire/internal/estimate/releases"
)

// Java finds the jars of Dubbo, and starts Java virtual machines with them.
type Java struct {
	// Program is java or the home of a JDK, "" for java in PATH.
	Program string
	// Jars is a folder with the jars of a Dubbo, "" without one. Maven lets the user's Maven find those of other releases, or of all.
	Jars  string
	Maven bool
	// UserPath are the jars, wars and folders with the application's classes, Registered the classes that are registered, in order.
	UserPath, Registered []string
	// Schemas are those of --proto, nil without any.
	Schemas *protoschema.Generated
	// Release is that of --release; Check sets it to that of the jars that the user has if it is empty.
	Release string

	folder  []string            // jars of the folder
	have    string              // where the user's Dubbo is; "": nowhere
	release string              // of that Dubbo; "" if it does not tell
	paths   map[string][]string // class paths by release
}

// Times are measured for baseTiming and for targetTiming more of each target, in milliseconds. The targets share the time.
const (
	baseTiming   = 2000
	targetTiming = 300
)

// Check reports what is missing before anything is read.
func (j *Java) Check() error {
	if _, err := jvm.Find(j.Program); err != nil {
		return err
	}
	if j.Jars != "" {
		if info, err := os.Stat(j.Jars); err != nil || !info.IsDir() {
			return fmt.Errorf("--jars %s: is not a folder", j.Jars)
		}
		var err error
		if j.folder, j.release, err = releases.Jars(j.Jars); err != nil {
			return fmt.Errorf("--jars %w", err)
		}
		j.have = "--jars " + j.Jars
	} else if j.release = dubboIn(j.UserPath); j.release != "" {
		j.have = "the class path"
	}
	switch {
	case j.have == "" && !j.Maven:
		return errors.New("--as needs the jars of Dubbo: add --maven, which lets your Maven find them, or --jars DIR with a folder that has them (--print-pom prints a pom that names them)")
	case j.Release == "":
		j.Release = j.release
	case j.have != "" && j.release != "" && j.Release != j.release && !j.Maven:
		return fmt.Errorf("%s has Dubbo %s, not %s; leave out --release, or add --maven", j.have, j.release, j.Release)
	}
	return nil
}

// dubboFile matches the names of jars with Dubbo.
var dubboFile = regexp.MustCompile(`^dubbo(?:-common|-rpc-api)?-(\d+\.\d+\.\d+(?:[.-][0-9A-Za-z.-]+)?)\.jar$`)

// dubboIn returns the release of the Dubbo in jars, folders of jars, and the jars that are packed in jars; "" without one.
func dubboIn(paths []string) (release string) {
	named := func(name string) bool {
		if m := dubboFile.FindStringSubmatch(path.Base(filepath.ToSlash(name))); m != nil && release == "" {
			if found, err := releases.Find(m[1]); err == nil {
				release = found
			}
		}
		return release != ""
	}
	for _, p := range paths {
		_ = filepath.WalkDir(p, func(name string, e fs.DirEntry, err error) error {
			switch {
			case err != nil || e.IsDir():
				return nil
			case named(name):
				return fs.SkipAll
			case name != p:
				return nil
			}
			z, err := zip.OpenReader(name)
			if err != nil {
				return nil
			}
			defer z.Close() //nolint:errcheck // only read
			for _, f := range z.File {
				if named(f.Name) {
					return fs.SkipAll
				}
			}
			return nil
		})
	}
	return release
}

// Usable returns why a release cannot be used, "" if it can.
func (j *Java) Usable(release string) string {
	if j.Maven || j.has(release) {
		return ""
	}
	return fmt.Sprintf("needs the jars of Dubbo %s, and %s has %s: add --maven", release, j.have, j.release)
}

// has reports whether the user has brought the jars of a release.
func (j *Java) has(release string) bool {
	return j.have != "" && (j.release == "" || j.release == release)
}

// Resolve finds the jars of releases for these targets of each.
func (j *Java) Resolve(ctx context.Context, targets map[string][]string, status func(string)) error {
	j.paths = make(map[string][]string)
	for _, release := range slices.Sorted(maps.Keys(targets)) {
		if j.has(release) && (j.Jars != "" || !j.Maven) {
			j.paths[release] = j.folder
			continue
		}
		status("Maven finds the jars of Dubbo " + release)
		text, err := POM(release, targets[release])
		if err != nil {
			return err
		}
		if j.paths[release], err = releases.Resolve(ctx, "", jvm.Cache(), text); err != nil {
			return fmt.Errorf("jars of Dubbo %s: %w", release, err)
		}
	}
	return nil
}

// POM returns the text of a pom for targets of a release, for all serializations of the release if there are none.
func POM(release string, as []string) (string, error) {
	var names []string
	for _, name := range as {
		if name == "all" {
			return releases.POM(release, nil)
		}
		if name = strings.TrimSuffix(strings.TrimPrefix(name, triplePrefix), registeredSuffix); name == derived && !slices.Contains(releases.Of(release), name) {
			name = "hessian2" // what every pom has is enough for a schema that is derived from classes
		}
		if !slices.Contains(names, name) && slices.Contains(releases.Of(release), name) {
			names = append(names, name)
		}
	}
	slices.Sort(names) // so that equal ones are remembered
	if len(names) == 0 && len(as) > 0 {
		return "", errors.New("Dubbo " + release + " writes none of " + strings.Join(as, ", "))
	}
	return releases.POM(release, names)
}

// Start starts a machine.
func (j *Java) Start(ctx context.Context, vm *VM, timing bool, received func(Encoded)) (Child, error) {
	c := jvm.Config{Source: helper.Source, Java: j.Program, ClassPath: j.paths[vm.Release], UserPath: j.UserPath, Targets: vm.Targets, Schemas: j.Schemas}
	if vm.Registered {
		c.Registered = j.Registered
	}
	if timing {
		c.TimingMillis = baseTiming + targetTiming*len(vm.Targets)
	}
	child, err := jvm.Start(ctx, c, func(r jvm.Result) {
		e := Encoded{ID: r.ID, Targets: make([]EncodedBody, len(r.Targets))}
		for i, t := range r.Targets {
			e.Targets[i] = EncodedBody(t)
		}
		received(e)
	})
	if err != nil {
		return nil, err
	}
	return javaChild{child}, nil
}

type javaChild struct{ *jvm.Child }

func (c javaChild) Finish() ([]Timing, error) {
	list, err := c.Child.Finish()
	var out []Timing
	for _, t := range list {
		out = append(out, Timing{t.Target, t.Group, t.Kind == 2, t.EncodeLow, t.EncodeHigh, t.DecodeLow, t.DecodeHigh, t.Unreadable})
	}
	return out, err
}

// processor returns the name of the machine's processor, and how many it has.
func processor() string {
	name := runtime.GOARCH
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(text[:min(len(text), 1<<16)])) {
			if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
				name = strings.Join(strings.Fields(value), " ")
				break
			}
		}
	}
	return fmt.Sprintf("%s, %d processors", name, runtime.NumCPU())
}
