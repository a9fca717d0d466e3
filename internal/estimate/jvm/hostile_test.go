package jvm_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/estimate"
	"dubbo-wire/internal/estimate/jvm"
	"dubbo-wire/internal/estimate/releases"
	"dubbo-wire/internal/rpc"
)

// A test's capture is hostile: it names classes that it wishes to have loaded, in the places where a capture can.

// node is a value as it is sent. Its text is a number of bytes where it is a Ref.
type node struct {
	kind     decode.Kind
	label    decode.Label
	name     string
	class    string
	text     string
	children []node
}

func (n node) append(b []byte) []byte {
	text := func(s string) {
		if s == "" {
			b = binary.BigEndian.AppendUint32(b, math.MaxUint32)
			return
		}
		b = append(binary.BigEndian.AppendUint32(b, uint32(len(s))), s...)
	}
	b = append(b, byte(n.kind), byte(n.label))
	text(n.name)
	text(n.class)
	switch n.kind {
	case decode.Null:
	case decode.Int:
		b = binary.BigEndian.AppendUint64(b, 7)
	case decode.String, decode.Bytes:
		b = append(binary.BigEndian.AppendUint32(b, uint32(len(n.text))), n.text...)
	case decode.Enum, decode.Date:
		b = append(binary.BigEndian.AppendUint32(b, uint32(len(n.text))), n.text...)
		b = binary.BigEndian.AppendUint64(b, 0)
	default:
		b = appendNodes(b, n.children)
	}
	return b
}

func appendNodes(b []byte, nodes []node) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(len(nodes)))
	for _, n := range nodes {
		b = n.append(b)
	}
	return b
}

func object(class string, fields ...node) node {
	return node{kind: decode.Object, class: class, children: fields}
}

func list(class string, elements ...node) node {
	return node{kind: decode.List, class: class, children: elements}
}

func dict(class string, keysAndValues ...node) node {
	for i := range keysAndValues {
		keysAndValues[i].label = decode.ByKey
		if i%2 == 1 {
			keysAndValues[i].label = decode.ByEntry
		}
	}
	return node{kind: decode.Map, class: class, children: keysAndValues}
}

func text(s string) node { return node{kind: decode.String, text: s} }

// in is a field of an Order.
func in(field string, n node) node {
	n.label, n.name = decode.ByField, field
	return object("hostile.Order", n)
}

// message is a request with an Order, and attachments. It is the only one of its group.
func message(id int64, order node, attachments ...node) []byte {
	r := estimate.Record{ID: id, Group: int32(id), Operation: operation("Lhostile/Order;"), Values: append(appendNodes(nil, []node{order}), byte(len(attachments)))}
	for _, a := range attachments {
		r.Values = a.append(r.Values)
	}
	return r.Append(nil)
}

func operation(descriptor string) *rpc.Operation {
	return &rpc.Operation{ProtocolVersion: "2.0.2", Service: "hostile.Service", Method: "echo", Descriptor: descriptor}
}

// compile compiles Java files of a folder below testdata.
func compile(t *testing.T, folder string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", folder, "*", "*.java"))
	require.NoError(t, err)
	to := t.TempDir()
	out, err := exec.Command("javac", append([]string{"-nowarn", "-proc:none", "-d", to}, files...)...).CombinedOutput() //nolint:gosec // files of the test
	require.NoError(t, err, "%s", out)
	return to
}

// hostile is a configuration with the hostile jar. Traps leave files in the folder; loaded has the classes that were loaded.
func hostile(t *testing.T, targets ...string) (c jvm.Config, folder string, loaded func() string) {
	t.Helper()
	needJDK(t)
	if _, err := exec.LookPath("mvn"); err != nil {
		t.Skip("no Maven to find Dubbo's jars: mvn is not in PATH")
	}
	jars, err := dubboJars()
	if err != nil {
		t.Skipf("no jars of Dubbo: %v", err)
	}
	folder = t.TempDir()
	jar, outside := compile(t, "hostile/jar"), compile(t, "hostile/outside")
	t.Setenv("TMPDIR", folder)
	log := filepath.Join(folder, "classes.log")
	t.Cleanup(jvm.SetMoreOptions("-Xlog:class+load:file=" + log))
	c = jvm.Config{Cache: cache, UserPath: []string{jar}, ClassPath: append([]string{outside}, jars...), Targets: targets, Timeout: 20 * time.Second, HeapMiB: 256, MaxBody: 8 << 20}
	return c, folder, func() string {
		text, err := os.ReadFile(log)
		require.NoError(t, err)
		return string(text)
	}
}

// dubboJars are the jars of a release.
var dubboJars = sync.OnceValues(func() ([]string, error) {
	pom, err := releases.POM("2.7.23", nil)
	if err != nil {
		return nil, err
	}
	return releases.Resolve(context.Background(), "", cache, pom)
})

// send sends an Order in each message.
func send(t *testing.T, c jvm.Config, orders ...node) (*answers, *jvm.Child) {
	t.Helper()
	var records [][]byte
	for i, o := range orders {
		records = append(records, message(int64(i), o))
	}
	return sendRecords(t, c, records...)
}

func sendRecords(t *testing.T, c jvm.Config, records ...[]byte) (*answers, *jvm.Child) {
	t.Helper()
	a := &answers{}
	child, err := jvm.Start(t.Context(), c, a.add)
	require.NoError(t, err)
	for _, r := range records {
		require.NoError(t, child.Send(r))
	}
	_, err = child.Finish()
	require.NoError(t, err)
	require.Len(t, a.all, len(records))
	return a, child
}

func sprung(t *testing.T, folder string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "sprung *"))
	require.NoError(t, err)
	var names []string
	for _, f := range files {
		names = append(names, strings.TrimPrefix(filepath.Base(f), "sprung "))
	}
	return strings.Join(names, ", ")
}

// acting are classes that act when they are built, read, compared or closed, of the JDK and of what is on the class path.
var acting = []string{
	"java.lang.ProcessBuilder", "java.lang.ProcessImpl", "javax.swing.JEditorPane", "com.sun.org.apache.xalan.internal.xsltc.trax.TemplatesImpl", "java.lang.Class",
	"java.lang.Runtime", "java.lang.Thread", "java.lang.ClassLoader", "java.net.URLClassLoader", "java.lang.reflect.Proxy", "com.sun.proxy.$Proxy0", "jdk.proxy1.$Proxy0",
	"java.lang.reflect.Method", "java.beans.EventHandler", "java.rmi.server.UnicastRemoteObject", "java.util.logging.FileHandler", "java.io.FileOutputStream",
	"java.security.SignedObject", "java.util.ServiceLoader", "sun.misc.Unsafe", "javax.script.ScriptEngineManager", "javax.management.BadAttributeValueExpException",
	"com.sun.rowset.JdbcRowSetImpl", "sun.print.UnixPrintService", "java.util.PropertyResourceBundle", "java.lang.invoke.MethodHandles$Lookup", "dubbowire.Main",
	"dubbowire.Classes", "outside.Outside", "no.such.Class", "../../x", "java/lang/ProcessBuilder", "[Ljava.lang.ProcessBuilder;", "hostile.Order$1",
}

// harmless are those whose names are loaded at the start of Java, or by the helper.
var harmless = regexp.MustCompile(`^(java\.lang\.(Class|Runtime|Thread|ClassLoader|ProcessImpl|ProcessBuilder|reflect\.|invoke\.)|java\.io\.|java\.net\.URLClassLoader|java\.util\.ServiceLoader|sun\.misc\.Unsafe|jdk\.proxy1|dubbowire\.|.*[/;]|hostile)`)

// TestForeignClasses: classes that are neither in the user's jars nor values of the JDK are not loaded, wherever a capture names them.
func TestForeignClasses(t *testing.T) {
	c, folder, loaded := hostile(t, "protobuf", "hessian2")
	// A class of this name in the user's jar is not the JDK's.
	swing := filepath.Join(c.UserPath[0], "javax", "swing", "JEditorPane.class")
	require.NoError(t, os.MkdirAll(filepath.Dir(swing), 0o700))
	require.NoError(t, os.WriteFile(swing, nil, 0o600))
	var records [][]byte
	var what []string
	add := func(record []byte, of any) {
		records, what = append(records, record), append(what, fmt.Sprintf("%.300s", fmt.Sprint(of)))
	}
	for _, class := range acting {
		o := object(class, node{kind: decode.String, label: decode.ByField, name: "text", text: "x"})
		for _, order := range []node{
			in("any", o), in("any", object("hostile.Order$Holder", node{kind: decode.Object, label: decode.ByField, name: "inner", class: class})),
			in("any", list("java.util.ArrayList", o)), in("any", list(class+"[]", text("x"))), in("any", list(class, text("x"))), in("any", dict(class, text("k"), o)),
			in("any", dict("java.util.HashMap", o, text("v"))), in("any", dict("java.util.TreeMap", o, text("v"))), in("items", list("", o)), in("map", dict("", text("k"), o)),
			in("item", o), in("number", o), in("primitive", o), in("array", list("", o)), in("kind", node{kind: decode.Enum, class: class, text: "ONE"}),
			in("any", node{kind: decode.Enum, class: class, text: "ONE"}), in("any", node{kind: decode.Date, class: class, text: "2020-01-01T00:00:00Z"}),
			in("any", node{kind: decode.Int, class: class}), in("any", node{kind: decode.Bytes, class: class, text: "x"}), in("any", node{kind: decode.String, class: class, text: "x"}),
			o, list(class + "[][]"),
		} {
			add(message(int64(len(records)), order), order)
		}
		add(message(int64(len(records)), in("name", text("x")), dict("", text("k"), o)), "attachment "+class)
		for kind := range int8(6) { // results, exceptions too
			r := estimate.Record{ID: int64(len(records)), Response: true, Operation: operation("Lhostile/Order;"), ResultKind: kind, Values: append(appendNodes(nil, []node{o}), 0)}
			add(r.Append(nil), fmt.Sprint("result ", kind, class))
		}
		r := estimate.Record{ID: int64(len(records)), Operation: operation("L" + strings.ReplaceAll(class, ".", "/") + ";"), Values: append(appendNodes(nil, []node{o}), 0)}
		add(r.Append(nil), "parameter "+class)
	}
	a, child := sendRecords(t, c, records...)
	assert.Zero(t, child.Deaths())
	assert.Empty(t, sprung(t, folder))
	for i, r := range a.all {
		if !strings.HasPrefix(r.Targets[0].Cause, "not built: ") && !strings.HasPrefix(what[i], "result 2") && !strings.HasPrefix(what[i], "result 5") { // null
			t.Errorf("%s: %.200s", what[i], fmt.Sprint(r.Targets))
		}
	}
	log := loaded()
	require.Contains(t, log, " hostile.Order ")
	for _, class := range acting {
		if !harmless.MatchString(class) {
			assert.False(t, strings.Contains(log, " "+class+" "), "%s is loaded", class)
		}
	}
}

// TestDeclaredTypes: a class of the user's jars is not even initialized where it does not fit the declared type.
func TestDeclaredTypes(t *testing.T) {
	c, folder, _ := hostile(t, "protobuf")
	bad := object("hostile.Initialized")
	a, _ := send(t, c,
		in("item", bad), in("items", list("", bad)), in("items", list("java.util.ArrayList", bad)), in("array", list("hostile.Item[]", bad)), in("array", list("hostile.Initialized[]", bad)),
		in("map", dict("", text("k"), bad)), in("number", bad), in("primitive", bad), in("name", bad), in("kind", bad), in("kind", node{kind: decode.Enum, class: "hostile.Initialized", text: "ONE"}),
		in("holder", bad), in("holder", object("hostile.Order$Holder", node{kind: decode.Null, label: decode.ByField, name: "inner"})), bad,
		in("items", list("hostile.Initialized", text("x"))), in("map", dict("hostile.Initialized", text("k"), text("v"))),
	)
	for i, r := range a.all {
		assert.True(t, i == 12 || strings.HasPrefix(r.Targets[0].Cause, "not built: "), "%d: %q", i, r.Targets[0].Cause)
	}
	assert.Empty(t, sprung(t, folder))
}

// TestInitializer: a class of the user's jars that fits is initialized, which its own code notices. This is what remains, and the proof that traps
// work.
func TestInitializer(t *testing.T) {
	c, folder, _ := hostile(t, "protobuf")
	send(t, c, in("any", object("hostile.Initialized")))
	assert.Equal(t, "initializer", sprung(t, folder))
}

// TestActingClasses: classes of the user's jars that act rather than hold values are not built where everything fits.
func TestActingClasses(t *testing.T) {
	c, folder, _ := hostile(t, "protobuf")
	comparator := node{kind: decode.Object, label: decode.ByField, name: "comparator", class: "hostile.Ordered"}
	tree := dict("java.util.TreeMap", text("a"), text("b"), text("c"), text("d"))
	tree.children = append([]node{comparator}, tree.children...)
	set := list("java.util.TreeSet", text("a"), text("b"))
	set.children = append([]node{comparator}, set.children...)
	queue := list("java.util.PriorityQueue", text("a"), text("b"))
	queue.children = append([]node{comparator}, queue.children...)
	a, _ := send(t, c, in("any", tree), in("any", set), in("any", queue), in("any", object("hostile.Ordered")), in("any", object("hostile.Ordered$Handler")),
		in("any", object("hostile.Ordered$Loader")), in("any", object("hostile.Ordered$Runner")), in("any", list("java.util.ArrayList", object("hostile.Ordered"))))
	for i, r := range a.all {
		assert.True(t, strings.HasPrefix(r.Targets[0].Cause, "not built: "), "%d: %q", i, r.Targets[0].Cause)
	}
	assert.Empty(t, sprung(t, folder))
}

// TestConstructors: objects are made without constructors and setters, and nothing is read back.
func TestConstructors(t *testing.T) {
	c, folder, _ := hostile(t, "hessian2", "java", "nativejava", "fastjson", "kryo", "protobuf")
	a, _ := send(t, c, in("any", object("hostile.Constructed", node{kind: decode.String, label: decode.ByField, name: "text", text: "x"})),
		in("any", dict("java.util.HashMap", object("hostile.Constructed"), text("v"))))
	assert.Empty(t, a.all[0].Targets[0].Cause)
	assert.Empty(t, a.all[0].Targets[1].Cause)
	assert.Empty(t, sprung(t, folder))
}

// TestOwnCode: what the user's own classes do while they are written stays without consequences for other messages and this process.
func TestOwnCode(t *testing.T) {
	c, folder, _ := hostile(t, "java", "fastjson")
	c.Timeout = 8 * time.Second
	good := in("name", text("x"))
	key := func(class string) node {
		return in("any", dict("java.util.HashMap", object("hostile."+class), text("v")))
	}
	start := time.Now()
	a, child := send(t, c, good, key("Exits"), good, key("Deep"), good, in("any", object("hostile.Huge")), good, key("Endless"), good, key("Starts"), good,
		in("any", object("hostile.Exits", node{kind: decode.String, label: decode.ByField, name: "text", text: "x"})), good, key("Huge"), good, key("Threads"), good)
	for i, r := range a.all {
		if i%2 == 0 {
			assert.Equal(t, a.all[0], jvm.Result{ID: 0, Targets: r.Targets}, i)
			assert.Empty(t, r.Targets[0].Cause, i)
		} else {
			t.Logf("%d: %v", i, r)
		}
	}
	assert.Contains(t, a.all[1].Targets[0].Cause, "the Java process died: exit status 0")
	assert.Contains(t, a.all[3].Targets[0].Cause, "not built: nested too deep")
	assert.Equal(t, "too large", a.all[5].Targets[0].Cause)
	assert.Contains(t, a.all[7].Targets[0].Cause, "the Java process died: it did not answer within 8s")
	assert.Contains(t, a.all[11].Targets[1].Cause, "the Java process died: exit status 0")
	assert.Contains(t, a.all[15].Targets[0].Cause, "its classes started more than 500 threads")
	assert.NotZero(t, child.Deaths())
	assert.Less(t, time.Since(start), 2*time.Minute)
	assert.Empty(t, sprung(t, folder))
}

// TestDeepValues: what is nested too deep, or too large, costs at most its message.
func TestDeepValues(t *testing.T) {
	c, _, _ := hostile(t, "protobuf")
	deep := text("x")
	for range 5000 {
		deep = list("java.util.ArrayList", deep)
	}
	wide := list("java.util.ArrayList", make([]node, 3<<20)...)
	for i := range wide.children {
		wide.children[i].kind = decode.Null
	}
	good := in("name", text("x"))
	a, _ := send(t, c, good, in("any", deep), good, in("any", wide), good, in("any", node{kind: decode.Bytes, text: strings.Repeat("x", 9<<20)}), good)
	for i, r := range a.all {
		assert.Equal(t, i%2 == 0, r.Targets[0].Cause == "", "%d: %s", i, r.Targets[0].Cause)
	}
}
