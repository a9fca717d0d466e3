package estimate

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

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
	// Of are the targets that were asked for. Release is that of --release; Check sets it to that of the folder if it is empty.
	Of      []string
	Release string

	folder  []string // jars of the folder
	release string   // of them
	mu      sync.Mutex
	paths   map[string][]string // class paths by release
}

// timingMillis is the time to measure one target.
const timingMillis = 3000

// Check reports what is missing before anything is read.
func (j *Java) Check() error {
	if _, err := jvm.Find(j.Program); err != nil {
		return err
	}
	if j.Jars == "" && !j.Maven {
		return fmt.Errorf("--as needs the jars of Dubbo; add --maven, which lets your Maven find them, or --jars DIR with a folder that has them (--print-pom prints a pom for mvn dependency:copy-dependencies)")
	}
	if j.Jars == "" {
		return nil
	}
	var err error
	if j.folder, j.release, err = releases.Jars(j.Jars); err != nil {
		return fmt.Errorf("--jars %w", err)
	}
	switch {
	case j.Release == "":
		j.Release = j.release
	case j.release != "" && j.Release != j.release && !j.Maven:
		return fmt.Errorf("--jars %s has Dubbo %s, not %s; leave out --release, or add --maven", j.Jars, j.release, j.Release)
	}
	return nil
}

// Usable returns why a release cannot be used, "" if it can.
func (j *Java) Usable(release string) string {
	switch {
	case j.Maven || j.Jars != "" && (j.release == "" || j.release == release):
		return ""
	case j.Jars != "":
		return fmt.Sprintf("needs the jars of Dubbo %s, and --jars %s has %s: add --maven", release, filepath.Base(j.Jars), j.release)
	}
	return "needs the jars of Dubbo " + release
}

// Resolve finds the jars of releases for these targets of each.
func (j *Java) Resolve(ctx context.Context, targets map[string][]string, status func(string)) error {
	j.paths = make(map[string][]string)
	for release, names := range targets {
		if j.Jars != "" && (j.release == "" || j.release == release) {
			j.paths[release] = j.folder
			continue
		}
		status("Maven finds the jars of Dubbo " + release)
		text, err := POM(release, names)
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
		name = strings.TrimSuffix(strings.TrimPrefix(name, triplePrefix), registeredSuffix)
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
	c := jvm.Config{Source: helper.Source, Java: j.Program, ClassPath: j.paths[vm.Release], UserPath: j.UserPath, Targets: vm.Targets}
	if vm.Registered {
		c.Registered = j.Registered
	}
	if timing {
		c.TimingMillis = timingMillis
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
		out = append(out, Timing{t.Target, t.Group, t.Kind == 2, t.EncodeLow, t.EncodeHigh, t.DecodeLow, t.DecodeHigh})
	}
	return out, err
}
