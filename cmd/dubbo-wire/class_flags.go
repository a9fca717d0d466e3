package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"dubbo-wire/internal/decode/classpath"
	"dubbo-wire/internal/exit"
	"dubbo-wire/internal/measure"
	"dubbo-wire/internal/term"
)

// classFlags are the flags with the application's classes, for bodies that do not describe themselves.
type classFlags struct {
	paths, lists, optimizers, protos, schemas []string
	jdk                                       string
	find                                      bool
}

// addClasses adds the flags to a command that decodes bodies. The command's Args and RunE must be set.
func (i *inputFlags) addClasses(cmd *cobra.Command) {
	c := &i.classes
	addFlags(cmd.Flags(), classGroup, func(fs *pflag.FlagSet) {
		fs.StringArrayVar(&c.paths, "classpath", nil, "read the application's classes from `PATH`: a jar, war, Spring Boot jar or folder, or several, joined by "+string(filepath.ListSeparator)+
			" as for java; globs are expanded (lib/*.jar); provider=PATH or consumer=PATH if the sides differ; may be repeated")
		fs.StringVar(&c.jdk, "jdk", "", "read the classes of Java itself from the JDK in the folder `HOME`, where the built-in ones are not enough")
		fs.StringArrayVar(&c.lists, "register", nil, "number registered classes in the order of the lines of `FILE`: a class, or a class and its number; may be repeated")
		fs.StringSliceVar(&c.optimizers, "optimizer", nil, "number the classes that the SerializationOptimizer `CLASS` in the class path registers; may be repeated")
		fs.StringArrayVar(&c.protos, "proto", nil, "read the schemas of protocol buffers from `PATH`: a .proto file, a folder of them, or a descriptor set; may be repeated")
		fs.StringArrayVar(&c.schemas, "avro-schema", nil, "read objects in avro by the schema in `FILE` (JSON, .avsc), which names their classes, in place of those of the class path; may be repeated")
		fs.BoolVar(&c.find, "find-optimizers", false, "list the SerializationOptimizers in the class path with the classes that they register, and exit")
	})
	arguments, run := cmd.Args, cmd.RunE
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if c.find {
			return nil // captures are not read
		}
		return arguments(cmd, args)
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		var err error
		if i.Classes, err = c.options(); err != nil {
			return err
		}
		if c.find {
			return i.findOptimizers(cmd.OutOrStdout())
		}
		if takesFiles(cmd) {
			if err := noJars(args); err != nil {
				return err
			}
		}
		defer i.CloseClasses()
		return run(cmd, args)
	}
}

// options returns what the flags name, or nil if none was given.
func (c *classFlags) options() (*classpath.Options, error) {
	if len(c.paths)+len(c.lists)+len(c.optimizers)+len(c.protos)+len(c.schemas) == 0 && c.jdk == "" {
		if c.find {
			return nil, exit.Usagef("--find-optimizers searches the class path; add --classpath app.jar")
		}
		return nil, nil
	}
	o := &classpath.Options{JDK: c.jdk, Lists: c.lists, Optimizers: c.optimizers, Protos: c.protos, AvroSchemas: c.schemas}
	for _, value := range c.paths {
		if err := addPaths(o, value); err != nil {
			return nil, err
		}
	}
	if len(c.optimizers) > 0 && len(c.paths) == 0 {
		return nil, exit.Usagef("--optimizer %s: add the jar that has this class: --classpath app.jar", c.optimizers[0])
	}
	return o, nil
}

// sidePrefixes are what stands before the paths of one side.
var sidePrefixes = []string{"consumer=", "provider="}

// addPaths adds the paths of one --classpath. A prefix counts for the rest of the value.
func addPaths(o *classpath.Options, value string) error {
	to, found := &o.Paths, false
	for _, path := range filepath.SplitList(value) {
		switch {
		case strings.HasPrefix(path, "consumer="):
			to, path = &o.Consumer, strings.TrimPrefix(path, "consumer=")
		case strings.HasPrefix(path, "provider="):
			to, path = &o.Provider, strings.TrimPrefix(path, "provider=")
		}
		if path == "" {
			continue // lists that scripts make end with a separator
		}
		paths, err := expand(path)
		if err != nil {
			return err
		}
		*to, found = append(*to, paths...), true
	}
	if !found {
		return exit.Usagef("--classpath %q: names nothing; pass a jar, a war or a folder of classes", value)
	}
	return nil
}

// expand returns the files that a glob matches, by name. As for java, * alone stands for the jars in a folder.
func expand(path string) ([]string, error) {
	if _, err := os.Lstat(path); err == nil || !strings.ContainsAny(path, "*?[") {
		return []string{path}, nil
	}
	pattern := path
	if filepath.Base(path) == "*" {
		pattern += ".[jJ][aA][rR]"
	}
	paths, err := filepath.Glob(pattern)
	switch {
	case err != nil:
		return nil, exit.Usagef("--classpath %s: is not a valid pattern: %v", path, err)
	case len(paths) == 0:
		return nil, exit.Usagef("--classpath %s: no file matches", path)
	}
	return paths, nil
}

// noJars refuses jars and schemas among captures: a shell expands an unquoted pattern to several arguments.
func noJars(args []string) error {
	for _, arg := range args {
		if strings.EqualFold(filepath.Ext(arg), ".proto") && exists(arg) {
			return exit.Usagef("%s is not a capture; pass it with --proto %s, or its folder", arg, arg)
		}
		if ext := strings.ToLower(filepath.Ext(arg)); (ext == ".jar" || ext == ".war") && exists(arg) {
			return exit.Usagef("%s is not a capture; pass it with --classpath %s, and quote patterns: --classpath 'lib/*.jar'", arg, arg)
		}
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// findOptimizers lists the optimizers in the class path.
func (i *inputFlags) findOptimizers(w io.Writer) error {
	list, err := i.Optimizers()
	if err != nil {
		return err
	}
	var b strings.Builder
	for _, o := range list {
		name := term.Clean(o.Name)
		switch {
		case o.Err != nil:
			fmt.Fprintf(&b, "%s, its classes are not known\n  %s\n", name, term.Clean(o.Err.Error()))
		case len(o.Classes) == 1:
			fmt.Fprintf(&b, "%s, 1 class\n  %s\n", name, term.Clean(o.Classes[0]))
		default:
			fmt.Fprintf(&b, "%s, %d classes\n", name, len(o.Classes))
			for _, class := range o.Classes {
				b.WriteString("  " + term.Clean(class) + "\n")
			}
		}
	}
	_, err = io.WriteString(w, b.String())
	return err
}

// completeClassPath completes the last path of a list.
func completeClassPath(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	at := strings.LastIndexByte(begun, filepath.ListSeparator) + 1
	before, last := begun[:at], begun[at:]
	var list []string
	for _, prefix := range sidePrefixes {
		if rest, ok := strings.CutPrefix(last, prefix); ok {
			before, last = before+prefix, rest
			list = nil
			break
		}
		if last != "" && strings.HasPrefix(prefix, last) {
			list = append(list, before+prefix)
		}
	}
	if before == "" && list == nil {
		return []string{"jar", "war"}, cobra.ShellCompDirectiveFilterFileExt
	}
	isJar := func(name string) bool { return slices.Contains([]string{".jar", ".war"}, filepath.Ext(name)) }
	return append(list, filesBegunWith(before, last, isJar)...), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// completeOptimizer completes the optimizers in the class path on the command line.
func completeOptimizer(cmd *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	paths, _ := cmd.Flags().GetStringArray("classpath")
	c := classFlags{paths: paths}
	o, err := c.options()
	if err != nil || o == nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return joinedWith(begun, measure.OptimizerNames(o)), cobra.ShellCompDirectiveNoFileComp
}
