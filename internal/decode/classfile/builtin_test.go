package classfile

import (
	"bytes"
	"compress/flate"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/dev/testkit"
)

// builtinPackages are the packages whose classes applications keep in their objects, throw or implement.
var builtinPackages = regexp.MustCompile(`^(java\.(beans|io|lang|lang\.(annotation|invoke|ref|reflect)|math|net|nio|nio\.(charset|file)|rmi|security|sql|text|time|time\.\w+|` +
	`util|util\.(concurrent|concurrent\.\w+|function|regex|stream|zip))|javax\.(crypto|crypto\.spec|naming|sql|xml\.datatype|xml\.namespace)|sun\.util\.calendar|` +
	`com\.sun\.org\.apache\.xerces\.internal\.jaxp\.datatype)$`)

// TestBuiltinClasses: what is known without a JDK. A class path may have other releases' classes.
func TestBuiltinClasses(t *testing.T) {
	own := write(t, t.TempDir(), "rt.jar", jar(t, stored("java/util/UUID.class", class("java.util.UUID", "java/util/Other"))))
	types := open(t, Options{Paths: []string{own}})
	assert.Equal(t, "java/util/Other", strings.ReplaceAll(super(t, types, "java.util.UUID"), ".", "/"), "the class path's own")
	for name, want := range map[string]string{
		"java.lang.Throwable":                         "L detailMessage L cause [ stackTrace L suppressedExceptions",
		"java.math.BigDecimal":                        "I scale L intVal",
		"java.util.ArrayList":                         "I size",
		"java.util.Arrays$ArrayList":                  "[ a",
		"java.util.Collections$UnmodifiableList":      "L list",
		"java.util.concurrent.ConcurrentHashMap":      "I segmentMask I segmentShift [ segments",
		"java.lang.reflect.InvocationTargetException": "L target",
	} {
		s, err := types.ObjectStream(name)
		require.NoError(t, err, name)
		var got []string
		for _, f := range s.Fields() {
			got = append(got, f.Descriptor[:1], f.Name)
		}
		assert.ElementsMatch(t, strings.Fields(want), got, name)
		assert.Empty(t, s.Incomplete, name)
		assert.True(t, s.Serializable && s.SerialVersionUIDKnown, name)
	}
	unit, err := types.Class("java.util.concurrent.TimeUnit")
	require.NoError(t, err)
	assert.Equal(t, "NANOSECONDS MICROSECONDS MILLISECONDS SECONDS MINUTES HOURS DAYS", strings.Join(unit.Constants(), " "))
	s, err := types.ObjectStream("java.time.LocalDate")
	require.NoError(t, err)
	assert.True(t, s.WriteReplace)
	s, err = types.ObjectStream("java.time.Ser")
	require.NoError(t, err)
	assert.True(t, s.Externalizable)
	_, err = types.Class("")
	assert.ErrorIs(t, err, ErrMissing)
}

// TestBuiltin compares the table with a JDK of its release, whose modules and ObjectStreamClass say what it has; -update
// writes it.
func TestBuiltin(t *testing.T) {
	testkit.Needs(t, "Java 17")
	java, err := exec.LookPath("java")
	if err != nil {
		t.Skip("no java")
	}
	homes := slices.DeleteFunc(javaHomes(t, java), func(home string) bool { return releaseOf(home) != builtinRelease })
	if len(homes) == 0 {
		t.Skip("no Java 17")
	}
	text := builtinTable(t, homes[0])
	if f := flag.Lookup("update"); f != nil && f.Value.String() == "true" {
		for name, types := range dubboClasses(t, homes[0]) {
			require.NotNil(t, types, "Maven has to download the Dubbo of %s", name)
		}
		var b bytes.Buffer
		w, err := flate.NewWriter(&b, flate.BestCompression)
		require.NoError(t, err)
		_, err = w.Write([]byte(text))
		require.NoError(t, err)
		require.NoError(t, w.Close())
		require.NoError(t, os.WriteFile("builtin.bin", b.Bytes(), 0o644))
		t.Logf("%d classes, %d bytes, %d compressed", strings.Count(text, "\n")+1, len(text), b.Len())
		return
	}
	lines, dubbo := builtinLines(), dubboClasses(t, homes[0])
	for name, types := range dubbo {
		if types == nil { // what the table has of it is not compared
			lines = maps.Clone(lines)
			delete(lines, name)
		}
	}
	assert.Equal(t, strings.Count(text, "\n")+1, len(lines))
	for line := range strings.SplitSeq(text, "\n") {
		name, rest, _ := strings.Cut(line, "\t")
		assert.Equal(t, rest, lines[name], name)
	}

	// What the table leads to is what the JDK itself leads to.
	jdk, err := Open(Options{JDK: homes[0]})
	require.NoError(t, err)
	defer jdk.Close()
	own := open(t, Options{})
	for name := range lines {
		from := jdk
		if d := dubbo[name]; d != nil {
			from = d
		}
		want, err := from.ObjectStream(name)
		require.NoError(t, err)
		got, err := own.ObjectStream(name)
		require.NoError(t, err, name)
		if c, _ := from.Class(name); !c.PersistentFields {
			assert.Equal(t, fieldNames(want.Fields()), fieldNames(got.Fields()), name)
		}
		want.fieldsOf, got.fieldsOf = nil, nil
		assert.Equal(t, want, got, name)
	}
}

func fieldNames(fields []*Field) (names []string) {
	for _, f := range fields {
		names = append(names, f.Descriptor+" "+f.Name)
	}
	return names
}

// builtinTable returns the text of the table.
func builtinTable(t *testing.T, home string) string {
	jdk, err := Open(Options{JDK: home})
	require.NoError(t, err)
	defer jdk.Close()
	written := writtenFields(t, home)
	taken := map[string]*Class{}
	var take func(c *Class)
	take = func(c *Class) {
		if taken[c.Name] != nil {
			return
		}
		taken[c.Name] = c
		for _, super := range append([]string{c.Super}, c.Interfaces...) {
			if super != "" {
				above, err := jdk.Class(super)
				require.NoError(t, err)
				take(above)
			}
		}
	}
	image := jdk.boot.image
	for i := range uint32(len(image.offsets) / 4) {
		l, ok := image.location(i)
		name := strings.ReplaceAll(image.text(l.parent)+"/"+image.text(l.base), "/", ".")
		if !ok || image.text(l.extension) != "class" || !builtinPackages.MatchString(Package(name)) || strings.HasSuffix(name, "-info") {
			continue
		}
		c, err := jdk.Class(name)
		require.NoError(t, err)
		serializable, err := jdk.Is(name, "java.io.Serializable")
		require.NoError(t, err)
		collection, err := jdk.Is(name, "java.util.Collection")
		require.NoError(t, err)
		isMap, err := jdk.Is(name, "java.util.Map")
		require.NoError(t, err)
		if !serializable && !collection && !isMap && c.Modifiers&(Public|Protected) == 0 { // Kryo writes any collection
			continue
		}
		take(c)
	}
	var lines []string
	for name, c := range taken {
		lines = append(lines, builtinLine(t, jdk, c, written[name]))
	}
	for name, types := range dubboClasses(t, home) {
		if types == nil {
			continue
		}
		c, err := types.Class(name)
		require.NoError(t, err)
		lines = append(lines, builtinLine(t, types, c, ""))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// dubboClasses returns the classes of Dubbo that it writes itself, each with the release of Dubbo to take it from, or nil if
// Maven has not downloaded that. Those named com.alibaba are as in 2.6: later ones extend those named org.apache, which matters to
// Java serialization and FST.
func dubboClasses(t *testing.T, home string) map[string]*Types {
	m2, err := os.UserHomeDir()
	require.NoError(t, err)
	names := []string{
		"rpc.RpcException", "rpc.service.GenericException", "common.beanutil.JavaBeanDescriptor", "remoting.RemotingException", "remoting.TimeoutException",
		"remoting.ExecutionException",
	}
	classes := map[string]*Types{}
	for jar, names := range map[string][]string{
		"org/apache/dubbo/dubbo/3.2.16/dubbo-3.2.16.jar": append(names, "rpc.StatusRpcException", "rpc.TriRpcStatus", "rpc.TriRpcStatus$Code"),
		"com/alibaba/dubbo/2.6.12/dubbo-2.6.12.jar":      names,
	} {
		path := filepath.Join(m2, ".m2", "repository", jar)
		var types *Types
		if _, err := os.Stat(path); err == nil {
			types = open(t, Options{Paths: []string{path}, JDK: home})
		} else {
			t.Logf("Maven has not downloaded %s", jar)
		}
		prefix := strings.ReplaceAll(jar[:strings.Index(jar, "/dubbo/")+len("/dubbo/")], "/", ".")
		for _, name := range names {
			classes[prefix+name] = types
		}
	}
	return classes
}

// builtinLine returns the line of a class.
func builtinLine(t *testing.T, jdk *Types, c *Class, written string) string {
	columns := make([]string, builtinColumns)
	columns[builtinModifiers] = fmt.Sprintf("%x", c.Modifiers)
	columns[builtinSuper] = c.Super
	columns[builtinInterfaces] = strings.Join(c.Interfaces, " ")
	trait := func(is bool, letter string) {
		if is {
			columns[builtinTraits] += letter
		}
	}
	trait(c.Outer != "", builtinMember)
	trait(c.Local, builtinLocal)
	trait(c.Record, builtinRecord)
	trait(c.uid.declared, builtinDeclaresUID)
	if c.Outer != "" {
		require.Equal(t, c.Name[:strings.LastIndexByte(c.Name, '$')], c.Outer)
	}
	if c.HasConstructor {
		columns[builtinConstructor] = fmt.Sprintf("%x", c.Constructor)
	}
	s, err := jdk.ObjectStream(c.Name)
	require.NoError(t, err)
	if s.Serializable && !s.Enum && s.SerialVersionUIDKnown {
		columns[builtinUID] = fmt.Sprintf("%x", uint64(s.SerialVersionUID))
	}
	part := func(name, descriptor string, m Modifiers) string { return fmt.Sprintf("%s:%s:%x", name, descriptor, m) }
	var fields, methods []string
	for i := range c.Fields {
		if f := &c.Fields[i]; !f.Modifiers.Has(Static) || f.Modifiers.Has(Enum) {
			fields = append(fields, part(f.Name, f.Descriptor, f.Modifiers))
		}
	}
	for _, m := range c.methods {
		methods = append(methods, part(m.name, m.descriptor, m.modifiers))
	}
	columns[builtinFields], columns[builtinMethods] = strings.Join(fields, " "), strings.Join(methods, " ")
	if c.PersistentFields {
		columns[builtinPersistent] = written
	}
	return c.Name + "\t" + strings.Join(columns, "\t")
}

// writtenFields returns what ObjectStreamClass.getFields says of the classes of a JDK: name:descriptor, with spaces between.
func writtenFields(t *testing.T, home string) map[string]string {
	file := filepath.Join(t.TempDir(), "classes.txt")
	out, err := exec.Command(filepath.Join(home, "bin", "java"), "-Donly="+strings.TrimSuffix(builtinPackages.String(), "$")+`\.[^.]+$`, "-Xshare:off",
		"-Djava.awt.headless=true", "--add-opens", "java.base/java.lang=ALL-UNNAMED", "--add-opens", "java.base/java.io=ALL-UNNAMED", "--add-modules", "ALL-SYSTEM", "testdata/Describe.java", file).CombinedOutput()
	require.NoError(t, err, "%s", out)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	all, class := map[string]string{}, ""
	for line := range strings.SplitSeq(string(text), "\n") {
		if name, ok := strings.CutPrefix(line, "class "); ok {
			class = name
		} else if fields, ok := strings.CutPrefix(line, "written "); ok {
			words := strings.Fields(fields)
			for i := 0; i+1 < len(words); i += 2 {
				all[class] += " " + words[i] + ":" + words[i+1]
			}
			all[class] = strings.TrimSpace(all[class])
		}
	}
	return all
}
