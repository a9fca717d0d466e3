package truth

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/classpath"
	"dubbo-wire/internal/decode/dubbo"
	"dubbo-wire/internal/decode/formats"
	"dubbo-wire/internal/decode/formats/protostuff"
	"dubbo-wire/internal/dev/truth/javalog"
	"dubbo-wire/internal/rpc"
)

// graphs is where the bodies are; GRAPHS names another folder, for those that the rig's graphs.sh has written there.
var graphs = cmp.Or(os.Getenv("GRAPHS"), "../../../testdata/graphs")

// graph is a body that a library of Java wrote, with the values that were written.
type graph struct {
	logged
	Dialect, Serialization string
	N                      int
	Body                   string   // hex
	Descriptors            []string // of the parameters, for responses
	Back                   *logged  // what Java read from the body, if that is something else
	compared               int      // values
}

// ownBytes are classes whose methods write whatever they like.
var ownBytes = regexp.MustCompile(`models\.(External|Written|WrittenBelow)( wrote)?$`)

// TestGraphs: random graphs of the models. With their jar, every value is the one that Java wrote; what is not read has one of the causes
// that why knows.
func TestGraphs(t *testing.T) {
	graphs := readGraphs(t)
	for i, dialect := range slices.Sorted(maps.Keys(graphs)) {
		if testing.Short() && i%5 != 0 { // the race detector finds nothing more in the others
			continue
		}
		all := graphs[dialect]
		t.Run(dialect, func(t *testing.T) {
			t.Parallel()
			p, err := classpath.Open(graphOptions(t, dialect))
			require.NoError(t, err)
			defer p.Close()
			var wrong []string
			values, opaque := 0, map[string]int{}
			parts := map[*graph]decode.PartBytes{}
			eachBody(all, p, rpc.Values, func(g *graph, m *rpc.Message) {
				parts[g] = m.BodyParts()
				owned := 0
				for i := range m.Tree.Nodes {
					owned += int(m.Tree.Nodes[i].Len)
				}
				if diff := g.compare(m); diff != "" {
					wrong = append(wrong, fmt.Sprintf("%s %d: %s", dialect, g.N, diff))
				} else if owned != m.BodyLen {
					wrong = append(wrong, fmt.Sprintf("%s %d: nodes have %d of %d bytes", dialect, g.N, owned, m.BodyLen))
				}
				values += g.compared
				if m.Err == nil {
					return
				}
				cause := g.why(m.Err)
				if cause == "" {
					wrong = append(wrong, fmt.Sprintf("%s %d: opaque from %d of %d bytes on: %s", dialect, g.N, m.Err.At, m.BodyLen, m.Err.Expected))
				}
				opaque[cause]++
			})
			// What is counted without a tree is what a tree has.
			eachBody(all, p, rpc.Parts, func(g *graph, m *rpc.Message) {
				if m.Parts != parts[g] {
					wrong = append(wrong, fmt.Sprintf("%s %d: parts are %v without a tree and %v with one", dialect, g.N, m.Parts, parts[g]))
				}
			})
			line := fmt.Sprintf("%-30s %6d bodies, %8d values, %d differ", dialect, len(all), values, len(wrong))
			for _, cause := range slices.Sorted(maps.Keys(opaque)) {
				line += fmt.Sprintf("; %d opaque in part: %s", opaque[cause], cause)
			}
			t.Log(line)
			if folder := os.Getenv("DIFFERENCES"); folder != "" {
				require.NoError(t, os.WriteFile(filepath.Join(folder, "graphs-"+dialect+".txt"), []byte(strings.Join(append([]string{line}, wrong...), "\n")+"\n"), 0o644))
				return
			}
			assert.Empty(t, wrong[:min(len(wrong), shown)], "%d in all", len(wrong))
		})
	}
}

// unseenChanges are the changes of classes that numbers do not tell: another name, a field that is not there any more and whose number
// another text has, another constant in between.
var unseenChanges = regexp.MustCompile(`skew\.FieldRenamed"|skew\.FieldRemoved"|\.(text|gone)[,:]|"SENT" instead of "P`)

// TestGraphsOfOtherClasses: protostuff's messages with an earlier version of their classes. What is read with it is what Java wrote, but
// for what the numbers do not tell; the rest is opaque, and its class and field are named.
func TestGraphsOfOtherClasses(t *testing.T) {
	for dialect, all := range readGraphs(t) {
		if !strings.HasPrefix(dialect, "protostuff") || !strings.HasSuffix(dialect, "-skewed") {
			continue
		}
		p, err := classpath.Open(classpath.Options{Paths: []string{models + "graphs.jar"}})
		require.NoError(t, err)
		defer p.Close()
		found, causes := 0, 0
		eachBody(all, p, rpc.Values, func(g *graph, m *rpc.Message) {
			if m.Err != nil && m.Err.Misfit != nil {
				found++
				causes += min(1, len(m.Err.Misfit.Causes))
				assert.Contains(t, m.Err.Misfit.Class, "models.skew.", "%s %d", dialect, g.N)
			}
			if diff := g.compare(m); diff != "" {
				assert.Regexp(t, unseenChanges, diff, "%s %d", dialect, g.N)
			}
		})
		assert.Greater(t, found, len(all)/3, dialect)
		t.Logf("%s: %d of %d bodies do not fit, %d with what may be the cause", dialect, found, len(all), causes)
	}
}

// why returns why a part of a body is opaque, "" if all of it should be read.
func (g *graph) why(err *decode.Error) string {
	switch {
	case ownBytes.MatchString(err.Expected):
		return "written by the class itself"
	case g.Serialization == "kryo2" && strings.HasSuffix(err.Expected, "(kryo2 writes no class)"):
		return "several classes fit"
	case g.Serialization == "avro" && (strings.HasPrefix(err.Expected, "the fields of class java.") || err.Found == "any class"):
		return "the declared type does not tell the class"
	case g.Serialization == "avro" && strings.HasSuffix(err.Expected, "(avro writes no class)"):
		return "several classes fit"
	case g.Serialization == "avro" && err.Expected == "arguments that can be divided in one way":
		return "null takes no bytes"
	case g.Serialization == "avro" && err.Found == decode.TwoOrders:
		return "both orders of fields fit"
	case g.Serialization == "protostuff" && placesLost(err):
		return "places of null elements"
	case g.DecodeError != "": // in an Object[][], Kryo writes a String[] without its class
		return "Java cannot read it"
	}
	return ""
}

// placesLost reports whether all of a body was read, but some arrays have null elements whose places are not on the wire.
func placesLost(err *decode.Error) bool {
	return err != nil && *err == *decode.NotDecoded(err.At)
}

// graphOptions is what a user with the bodies of a dialect would bring.
func graphOptions(t *testing.T, dialect string) classpath.Options {
	o := classpath.Options{Paths: []string{models + "graphs.jar"}}
	kryo3 := strings.HasPrefix(dialect, "kryo") && strings.Contains(dialect, "-3.")
	switch {
	case strings.HasSuffix(dialect, "-annotated"):
		o.Paths = append(o.Paths, models+"annotated.jar")
	case strings.HasSuffix(dialect, "-tagged"):
		o.Paths = append(o.Paths, models+"tagged.jar")
	case strings.HasSuffix(dialect, "-annotated-skewed"):
		o.Paths = append(o.Paths, models+"annotated-later.jar")
	case strings.HasSuffix(dialect, "-reflected"):
		o.Paths = append(o.Paths, models+"reflected.jar")
	case strings.HasSuffix(dialect, "-reflected-skewed"):
		o.Paths = append(o.Paths, models+"reflected-later.jar")
	case strings.HasSuffix(dialect, "-skewed"):
		o.Paths[0] = models + "graphs-later.jar"
	case strings.HasSuffix(dialect, "-registered") && kryo3:
		// Dubbo 3 keeps the classes in a HashMap. With numbers nothing is left to find out.
		b, err := os.ReadFile(filepath.Join(graphs, "registered-3.txt"))
		require.NoError(t, err)
		list := ""
		for i, name := range strings.Fields(string(b)) {
			list += fmt.Sprintln(name, 53+i)
		}
		o.Lists = []string{filepath.Join(t.TempDir(), "numbers.txt")}
		require.NoError(t, os.WriteFile(o.Lists[0], []byte(list), 0o644))
	case strings.HasSuffix(dialect, "-registered") && strings.Contains(dialect, "-3."):
		o.Lists = []string{filepath.Join(graphs, "registered-3.txt")}
	case strings.HasSuffix(dialect, "-registered"):
		o.Lists = []string{filepath.Join(graphs, "registered-2.txt")}
	}
	return o
}

// readGraphs returns the bodies by dialect.
func readGraphs(t *testing.T) map[string][]graph {
	files, err := filepath.Glob(filepath.Join(graphs, "*.jsonl*"))
	require.NoError(t, err)
	dialects := map[string][]graph{}
	for _, file := range files {
		f, err := os.Open(file)
		require.NoError(t, err)
		defer f.Close()
		r := io.Reader(f)
		if strings.HasSuffix(file, ".zst") {
			z, err := zstd.NewReader(f, zstd.WithDecoderMaxWindow(1<<27))
			require.NoError(t, err)
			defer z.Close()
			r = z
		}
		require.NoError(t, javalog.Read(r, func(g *graph) { dialects[g.Dialect] = append(dialects[g.Dialect], *g) }))
	}
	require.NotEmpty(t, dialects)
	return dialects
}

// eachBody decodes the bodies as those of one connection, in the order of the list.
func eachBody(all []graph, p *classpath.Path, detail rpc.Detail, f func(g *graph, m *rpc.Message)) {
	ids := map[string]byte{}
	for _, format := range formats.All() {
		ids[format.Name] = format.ID
	}
	o := &graphOwner{detail: detail, each: func(*graph, *rpc.Message) {}}
	c := dubbo.Protocol.New(dubbo.Protocol, &rpc.Env{
		Formats: formats.With(p), Detail: detail, WholeBodies: true, MaxBody: 1 << 24, MaxEnvelope: 1 << 24, MaxBuffers: 1 << 28, Shared: map[any]any{},
	})(o, false)
	var at [2]int64
	send := func(g *graph, n int) {
		o.graph = g
		id := ids[g.Serialization]
		if strings.HasPrefix(g.Dialect, "protostuff-2.7.0") || strings.HasPrefix(g.Dialect, "protostuff-2.7.1") {
			id = protostuff.Format10.ID
		}
		side, b := g.frame(id, n)
		c.Data(side, b, &rpc.Chunk{Pos: at[side]})
		at[side] += int64(len(b))
	}
	if strings.Contains(all[0].Dialect, "kryo-2.24") { // requests that are not in the layout of Dubbox do not tell the release, which a list of patterns does
		first := all[0]
		first.Kind, first.Body = "response", "010c01021111"+"0161e2"+"1101"+"62e3"
		send(&first, len(all))
	}
	o.each = f
	for i := range all {
		send(&all[i], i)
	}
}

// frame returns the frame and the side that sends it: 0 for requests.
func (g *graph) frame(id byte, n int) (side int, b []byte) {
	body, err := hex.DecodeString(g.Body)
	if err != nil {
		panic(err)
	}
	b = []byte{0xda, 0xbb, 0xc0 | id, 0}
	if g.Kind != "request" {
		side, b[2], b[3] = 1, id, dubbo.StatusOK
	}
	b = binary.BigEndian.AppendUint64(b, uint64(n))
	b = binary.BigEndian.AppendUint32(b, uint32(len(body)))
	return side, append(b, body...)
}

// graphOwner is a connection in which each response answers a request that was seen.
type graphOwner struct {
	graph  *graph
	detail rpc.Detail
	each   func(g *graph, m *rpc.Message)
}

func (o *graphOwner) Message(_ int, m *rpc.Message)     { o.each(o.graph, m) }
func (*graphOwner) Abort(int, uint64, string)           {}
func (*graphOwner) Unowned(int, int64, string)          {}
func (*graphOwner) Joined() bool                        { return false }
func (*graphOwner) Claim(string)                        {}
func (*graphOwner) BadHeader(int)                       {}
func (*graphOwner) Framing(int, *rpc.Message)           {}
func (*graphOwner) Awaited(int, uint64) bool            { return true }
func (*graphOwner) Handshake(rpc.Handshake)             {}
func (*graphOwner) Named(int) bool                      { return false }
func (*graphOwner) Keep(int, *rpc.Message) bool         { return true }
func (o *graphOwner) Want(int, *rpc.Message) rpc.Detail { return o.detail }
func (o *graphOwner) Answered(int, uint64) *rpc.Operation {
	return &rpc.Operation{Service: *o.graph.Service, Method: o.graph.Method, Descriptors: o.graph.Descriptors}
}

// compare returns the first difference between what was decoded and what was written, or "".
func (g *graph) compare(m *rpc.Message) string {
	top := map[string]any{}
	tree := m.Tree
	for i := 0; i < len(tree.Nodes); i = int(tree.Nodes[i].End) {
		n := &tree.Nodes[i]
		if n.Label != decode.ByField {
			continue
		}
		var v any
		d := json.NewDecoder(bytes.NewReader(tree.AppendJSON(nil, i)))
		d.UseNumber()
		if err := d.Decode(&v); err != nil {
			return fmt.Sprintf("%s: %v", n.Name, err)
		}
		top[n.Name] = v
	}
	refs := newReferences(tree)
	if diff := refs.wrongPath(top); diff != "" {
		return diff
	}
	diff := g.differs(&g.logged, m, refs, top)
	if diff != "" && g.Back != nil {
		back := g.logged
		back.Result, back.Arguments, back.Attachments, back.Exception = g.Back.Result, g.Back.Arguments, g.Back.Attachments, g.Back.Exception
		if g.differs(&back, m, refs, top) == "" {
			diff = ""
		}
	}
	return diff
}

func (g *graph) differs(want *logged, m *rpc.Message, refs *references, top map[string]any) string {
	c := graphComparer{m: m, kryo: strings.HasPrefix(g.Serialization, "kryo"), fst1: strings.HasSuffix(m.Serialization, "(FST 1)"), fury: strings.HasPrefix(g.Serialization, "fury"), avro: g.Serialization == "avro", dubbo: g.Serialization == "dubbo", stuff: g.Serialization == "protostuff", partly: m.Err != nil && !placesLost(m.Err), refs: refs}
	defer func() { g.compared = max(g.compared, c.compared) }()
	check := func(path string, got, want any) string {
		c.ours = comparer{ours: got, truth: want, arguments: [2]any{top["args"], want}}
		return c.compare(path, got, want)
	}
	if g.Kind == "request" {
		if diff := check("args", top["args"], any(want.Arguments)); diff != "" {
			return diff
		}
	} else if want.ResultKind == "exception" {
		if m.Err != nil && (m.ExceptionClass == "" || m.ExceptionClass[0] == '#') {
			return "" // not read
		}
		if c.avro {
			return c.exception(top["exception"], want.Exception.Message)
		}
		if e := want.Exception; m.ExceptionClass != *e.Class || e.Message != nil && m.ExceptionMessage != *e.Message {
			return fmt.Sprintf("exception %q, %q instead of %q", m.ExceptionClass, m.ExceptionMessage, *e.Class)
		}
	} else if diff := check("result", top["result"], want.Result); diff != "" {
		return diff
	}
	if c.avro {
		return "" // writes none
	}
	return check("attachments", top["attachments"], want.Attachments)
}
