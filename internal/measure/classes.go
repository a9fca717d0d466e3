package measure

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/classfile"
	"dubbo-wire/internal/decode/classpath"
	"dubbo-wire/internal/decode/formats"
	"dubbo-wire/internal/decode/protoschema"
	"dubbo-wire/internal/decode/registration"
	"dubbo-wire/internal/exit"
	"dubbo-wire/internal/term"
)

// classes is the class path of all runs of an Input. It is opened once.
type classes struct {
	path    *classpath.Path
	formats []decode.Format
}

// OpenClasses opens the class path, if one was given and is not open. It must be called before Formats.
func (in *Input) OpenClasses() error {
	if in.Classes == nil || in.classes.path != nil {
		return nil
	}
	p, err := classpath.Open(*in.Classes)
	if err != nil {
		if errors.Is(err, classfile.ErrMissing) {
			return exit.Usagef("%v in the class path; --find-optimizers lists those in it", err)
		}
		return exit.Usagef("%v", err)
	}
	for _, l := range []registration.Library{registration.Kryo4, registration.Kryo5, registration.FST1, registration.FST2} {
		if _, err := p.Registries(l); err != nil {
			return errors.Join(exit.Usagef("--register %v", err), p.Close())
		}
	}
	in.classes = classes{p, formats.With(p)}
	if !in.Quiet {
		in.warnOfClasses()
	}
	return nil
}

// Optimizers returns the SerializationOptimizers in the class path.
func (in *Input) Optimizers() ([]classpath.Optimizer, error) {
	if err := in.OpenClasses(); err != nil {
		return nil, err
	}
	defer func() {
		_ = in.classes.path.Close()
		in.classes = classes{}
	}()
	list, err := in.classes.path.Optimizers()
	if err == nil && len(list) == 0 {
		return nil, exit.Errorf(exit.Nothing, "no SerializationOptimizer among %s of the class path; --register FILE takes a list of classes", classCount(in.classes.path))
	}
	return list, err
}

// OptimizerNames returns the names of the optimizers in a class path, for completion: none where finding them takes long.
func OptimizerNames(o *classpath.Options) []string {
	found := make(chan []string, 1)
	go func() {
		var names []string
		if p, err := classpath.Open(*o); err == nil {
			list, _ := p.Optimizers()
			for _, x := range list {
				names = append(names, x.Name)
			}
		}
		found <- names // the process ends soon, and with it the class path
	}()
	select {
	case names := <-found:
		return names
	case <-time.After(5 * completeTime):
		return nil
	}
}

// ClassFiles returns the paths of the class path.
func (in *Input) ClassFiles() []string {
	if in.Classes == nil {
		return nil
	}
	return slices.Concat(in.Classes.Consumer, in.Classes.Provider, in.Classes.Paths)
}

// Schemas returns what classes generated from the files of --proto would tell, nil without any.
func (in *Input) Schemas() *protoschema.Generated { return in.classes.path.Generated() }

// RegisteredClasses returns the classes of --register and --optimizer, in order.
func (in *Input) RegisteredClasses() (names []string) {
	for _, l := range in.classes.path.Lists() {
		for _, c := range l.Classes {
			names = append(names, c.Name)
		}
	}
	return names
}

// ReadFolders reads the classes in folders, so that they are known after the process may no longer read the files.
func (in *Input) ReadFolders() error {
	if in.classes.path == nil {
		return nil
	}
	if err := in.classes.path.ReadFolders(); err != nil {
		return exit.Usagef("--classpath %v", err)
	}
	return nil
}

// Formats returns the serializations; readers of those that do not describe their objects know the class path.
func (in *Input) Formats() []decode.Format {
	if in.classes.path == nil {
		return formats.All()
	}
	return in.classes.formats
}

// CloseClasses closes the class path, and prints how many of the captures' classes it has.
func (in *Input) CloseClasses() {
	p := in.classes.path
	if p == nil {
		return
	}
	if !in.Quiet {
		describeClasses(in.Stderr, p)
	}
	_ = p.Close()
	in.classes = classes{}
}

// warnOfClasses prints what could not be read of the class path, and which classes differ between its jars.
func (in *Input) warnOfClasses() {
	const most = 5
	var lines []string
	for _, s := range in.classes.path.Sides() {
		for _, w := range s.Warnings() {
			lines = append(lines, w.Error())
		}
		for _, d := range s.Duplicates() {
			if d.Differ > 0 {
				names := d.Names
				if d.Differ > len(names) {
					names = append(slices.Clip(names), fmt.Sprintf("%s more", term.Count(int64(d.Differ-len(names)))))
				}
				lines = append(lines, fmt.Sprintf("%s in %s and %s; the first one is used: %s",
					counted(d.Differ, "class differs", "classes differ"), d.Used, d.Ignored, strings.Join(names, ", ")))
			}
		}
	}
	lines = unique(lines)
	for i, line := range lines {
		if i == most {
			fmt.Fprintf(in.Stderr, "dubbo-wire: --classpath: %s more\n", counted(len(lines)-most, "warning", "warnings"))
			return
		}
		fmt.Fprintf(in.Stderr, "dubbo-wire: --classpath: %s\n", term.Clean(line))
	}
}

// unique removes later copies of lines: two sides may share jars.
func unique(lines []string) []string {
	var list []string
	for _, line := range lines {
		if !slices.Contains(list, line) {
			list = append(list, line)
		}
	}
	return list
}

func counted(n int, one, several string) string {
	if n == 1 {
		return "1 " + one
	}
	return term.Count(int64(n)) + " " + several
}

// describeClasses prints how many classes the class path has, and which classes of the decoded bodies are missing from it.
func describeClasses(w io.Writer, p *classpath.Path) {
	const most = 5
	var has []string
	what, several := "class", "classes"
	if p.HasClasses() || !p.HasProtos() && !p.HasAvroSchemas() {
		has = append(has, "class path: "+classCount(p))
	}
	if p.HasProtos() {
		has = append(has, "schema: "+counted(p.Protos(), "message", "messages"))
		if what, several = "message", "messages"; len(has) > 1 || p.HasAvroSchemas() {
			what, several = "class or message", "classes and messages"
		}
	}
	if p.HasAvroSchemas() {
		has = append(has, "schemas of Avro: "+counted(p.AvroSchemas(), "class", "classes"))
	}
	text := strings.Join(has, "; ")
	missing, found := p.Missing()
	switch {
	case len(missing)+found == 0:
		text += "; no decoded body needs them"
	case len(missing) == 0:
		text += fmt.Sprintf("; decoded bodies need %s, all known", counted(found, what, several))
	default:
		text += fmt.Sprintf("; decoded bodies need %s, %s known; missing: %s", counted(found+len(missing), what, several), term.Count(int64(found)), strings.Join(missing[:min(most, len(missing))], ", "))
		if len(missing) > most {
			text += fmt.Sprintf(", %s more", term.Count(int64(len(missing)-most)))
		}
	}
	fmt.Fprintln(w, term.Clean(text))
	differences := p.Differences()
	for _, d := range differences[:min(most, len(differences))] {
		var only []string
		for _, side := range []struct {
			name   string
			fields []string
		}{{"consumer", d.Consumer}, {"provider", d.Provider}} {
			if len(side.fields) > 0 {
				only = append(only, "only the "+side.name+" has "+strings.Join(side.fields, ", "))
			}
		}
		fmt.Fprintln(w, term.Clean("class "+d.Class+" differs: "+strings.Join(only, "; ")))
	}
	if n := len(differences) - most; n > 0 {
		fmt.Fprintf(w, "%s\n", counted(n, "other class differs", "other classes differ"))
	}
}

// classCount says how many classes the class path has.
func classCount(p *classpath.Path) string {
	var has []string
	for i, s := range p.Sides() {
		text := counted(s.Len(), "class", "classes")
		if p.Sided() {
			text += " of the " + [...]string{decode.Consumer: "consumer", decode.Provider: "provider"}[i]
		}
		has = append(has, text)
	}
	return strings.Join(has, ", ")
}
