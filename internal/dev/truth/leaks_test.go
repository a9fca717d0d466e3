package truth

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/formats"
	"dubbo-wire/internal/decode/protocols"
	"dubbo-wire/internal/dev/testkit"
	"dubbo-wire/internal/dev/truth/javalog"
	"dubbo-wire/internal/explain"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/redact"
	"dubbo-wire/internal/report"
	"dubbo-wire/internal/rpc"
)

// words are those of dubbo-wire, names of fields that the truth does not have, and names in a map with a class, that values of the
// workloads have, too.
const words = "attachments arguments headerremote.application expiredAt objects with space seconds suppressedExceptions runtime of class of value boolean double two-way one-way generic headers details status [null,null,null,null,null,null,null,null]"

// keptHeaders are headers whose values stay.
const keptHeaders = "content-type connection accept te user-agent grpc-timeout grpc-encoding grpc-accept-encoding content-length accept-encoding"

// untypedMaps are the serializations that write maps like objects.
const untypedMaps = "json fastjson gson jackson protobuf-json msgpack"

// minLeak is the shortest text that is searched for, in bytes.
const minLeak = 6

// maxLeaks is the number of leaks that are shown.
const maxLeaks = 5

// secrets collects the texts of values that Java logged, and the names that stay.
type secrets struct {
	values map[string]bool
	names  map[string]bool
	alike  bool // a serialization of the capture writes maps like objects
	fields bool // smartbuf writes the keys of maps as names of fields
}

// value adds the texts of a value.
func (s *secrets) value(v any) {
	switch v := v.(type) {
	case string:
		s.values[v] = true
	case []any:
		for _, e := range v {
			s.value(e)
		}
	case map[string]any:
		if fields, ok := v["@fields"].([]any); ok { // of protobuf
			for _, e := range fields {
				f, _ := e.(map[string]any)
				s.names[fmt.Sprint(f["name"])], s.names[fmt.Sprint(f["type"])] = true, true
				s.value(f["value"])
			}
			return
		}
		_, enum := v["@enum"]
		for key, e := range v {
			text, isText := e.(string)
			s.key(key, v)
			switch {
			case key == "@ref", key == "@double":
			case key == "@map":
				for _, pair := range e.([]any) {
					key, _ := pair.([]any)[0].(string)
					s.key(key, v)
					s.value(pair)
				}
			case isText && (enum || key == "@class" || key == "class" && strings.Contains(text, ".")):
				s.names[text] = true
			case isText && v["@class"] == "java.lang.Class":
				s.names[text] = true
			default:
				s.value(e)
			}
		}
	}
}

// key adds a key of an object or of a map. In a map it is a value, unless it can be the name of a field and the serialization
// writes maps like objects, or the map names its class.
func (s *secrets) key(key string, of map[string]any) {
	_, object := of["@class"]
	_, named := of["class"]
	if object || named || strings.HasPrefix(key, "@") || s.alike && decode.IsMemberName(key) || s.fields {
		s.names[key] = true
		return
	}
	s.values[key] = true
}

// attachments adds the values of attachments but those that say what is called.
func (s *secrets) attachments(v any) {
	m, _ := v.(map[string]any)
	for key, e := range m {
		s.names[key] = true
		if text, ok := e.(string); ok && (decode.NamesCallee(key, text) || strings.Contains(keptHeaders, strings.ToLower(key))) {
			s.names[text] = true
		} else {
			s.value(e)
		}
	}
}

// frame adds what a frame says.
func (s *secrets) frame(l *logged) {
	for _, name := range append([]string{text(l.Service), text(l.Version), l.Group, l.Method, l.DubboVersion}, l.ParameterTypes...) {
		s.names[name] = true
	}
	args := l.Arguments
	if strings.HasPrefix(l.Method, "$invoke") && len(args) == 3 {
		s.names[fmt.Sprint(args[0])], s.names[fmt.Sprint(args[1])] = true, true
		args = args[2:]
	}
	s.value(args)
	s.value(l.Unknown)
	s.attachments(l.Attachments)
	alike := s.alike
	s.alike = alike || l.ResultKind == "exception" // of a class that the consumer lacks: a map of its fields
	s.value(l.Result)
	s.alike = alike
	if l.Exception != nil {
		s.names[text(l.Exception.Class)] = true
		s.values[text(l.Exception.Message)] = true
	}
	s.values[text(l.ErrorMessage)] = true
}

// http adds what stays of a message of HTTP: the names of its header fields, and the segments of its path other than ids, without matrix parameters.
func (s *secrets) http(l *http1Line) {
	for _, header := range l.Headers {
		s.names[strings.ToLower(header[0])] = true
	}
	segments := strings.Split(l.Path, "/")
	for i, segment := range segments {
		segment, _, _ = strings.Cut(segment, ";")
		segments[i] = segment
		if !decode.IsMemberName(segment) || strings.ContainsAny(segment, "0123456789") {
			segments[i] = "{id}"
		}
	}
	s.names[strings.Join(segments, "/")] = true
}

// sought returns the texts that must be nowhere, by their first bytes: those that have a letter that no replacement has, and
// are not part of a name.
func (s *secrets) sought() *sought {
	heads := map[[minLeak]byte][]string{}
	names := words
	for name := range s.names {
		names += name + "\x00"
	}
	for _, f := range formats.All() {
		names += f.Name + "\x00"
	}
	for v := range s.values {
		telling := strings.ContainsFunc(v, func(r rune) bool {
			return r|0x20 >= 'a' && r|0x20 <= 'z' && !strings.ContainsRune("ghjkpqvwxz", r|0x20)
		})
		if len(v) >= minLeak && telling && !strings.Contains(names, v) && !strings.HasPrefix(v, "java.") {
			heads[[minLeak]byte([]byte(v))] = append(heads[[minLeak]byte([]byte(v))], v)
		}
	}
	starts := make([]uint64, 1<<24/64)
	for head := range heads {
		n := uint32(head[0])<<16 | uint32(head[1])<<8 | uint32(head[2])
		starts[n/64] |= 1 << (n % 64)
	}
	return &sought{heads, starts}
}

// sought are texts that must be nowhere.
type sought struct {
	heads map[[minLeak]byte][]string
	// starts is a set of the first three bytes of heads. It spares most places a look into the map, which was half of the time of these tests.
	starts []uint64
}

// leaks returns the texts that are in b.
func (s *sought) leaks(b []byte) (found []string) {
	for i := 0; i+minLeak <= len(b); i++ {
		n := uint32(b[i])<<16 | uint32(b[i+1])<<8 | uint32(b[i+2])
		if s.starts[n/64]&(1<<(n%64)) == 0 {
			continue
		}
		for _, v := range s.heads[[minLeak]byte(b[i:])] {
			if len(v) <= len(b)-i && string(b[i:i+len(v)]) == v {
				found = append(found, fmt.Sprintf("%q in %q", v, b[max(0, i-40):min(len(b), i+len(v)+20)]))
			}
		}
	}
	return found[:min(len(found), maxLeaks)]
}

// leakPrinter prints everything that can be redacted, and looks for what is sought in each record.
type leakPrinter struct {
	t       *testing.T
	frames  report.Frames
	calls   report.Calls
	secret  explain.Secret
	redact  *redact.Redactor
	out     bytes.Buffer // a record
	sought  *sought
	found   []string
	explain int // so many frames of each kind and outcome are explained
	seen    map[string]int
}

func (p *leakPrinter) Frame(r *pipeline.Row) {
	if p.redact != nil {
		p.redact.Frame(r)
		return
	}
	defer p.search()
	p.out.Write(p.frames.AppendJSON(p.out.AvailableBuffer(), r))
	p.out.WriteByte('\n')
	kind := fmt.Sprint(r.Msg.Kind, r.Msg.ResultKind, r.Msg.Decoded, r.Msg.BodyLen>>6)
	if p.seen[kind]++; p.seen[kind] > p.explain {
		return
	}
	s := &explain.Subject{Row: r, File: "a.pcap", Stream: -1, Secret: p.secret}
	f := explain.New(s)
	require.NoError(p.t, f.WriteText(&p.out, &explain.Style{Width: 1 << 12, Full: true}))
	require.NoError(p.t, f.WriteJSON(&p.out))
}

func (p *leakPrinter) Call(c *call.Call, _ bool) {
	if p.redact == nil {
		p.out.Write(p.calls.AppendJSON(p.out.AvailableBuffer(), c))
		p.search()
	}
}

// search looks into what was printed.
func (p *leakPrinter) search() {
	if len(p.found) < maxLeaks {
		p.found = append(p.found, p.sought.leaks(p.out.Bytes())...)
	}
	p.out.Reset()
}

// secretsOf reads the truth of a capture.
func secretsOf(t *testing.T, c *testkit.Capture) *secrets {
	s := &secrets{values: map[string]bool{}, names: map[string]bool{}}
	s.alike = slices.ContainsFunc(c.Serializations, func(name string) bool { return slices.Contains(strings.Fields(untypedMaps), name) })
	s.fields = slices.Contains(c.Serializations, "smartbuf")
	log := c.TruthLog(t)
	require.NoError(t, javalog.Read(strings.NewReader(log), func(l *logged) {
		// A callback cannot be sent with Hessian over HTTP; what was logged for it has the words of Hessian's own tables.
		if l.Method != "subscribe" || !strings.HasPrefix(c.Name, "hessian-http") {
			s.frame(l)
		}
	}))
	if strings.HasPrefix(c.Name, "hessian-http") {
		s.names["heartbeat"], s.names["revision"] = true, true // parameters of the consumer's URL, which is the query of the path
	}
	if strings.Contains(log, `"path":"/`) {
		require.NoError(t, javalog.Read(strings.NewReader(log), s.http))
	}
	return s
}

// run reads a file with all values, and redacts or prints them.
func (p *leakPrinter) run(path string, opt pipeline.Options) {
	src, err := capture.Open([]string{path}, capture.Options{})
	require.NoError(p.t, err)
	defer src.Close()
	opt.Protocols, opt.Formats, opt.Detail, opt.Rows, opt.WholeBodies = protocols.All(), formats.All(), rpc.Values, true, true
	if p.redact != nil {
		opt.Tap = p.redact
	}
	_, err = pipeline.Run(src, opt, p)
	require.NoError(p.t, err)
}

// notLeaked redacts a file, and prints it without values; none of the texts may be there.
func notLeaked(t *testing.T, path string, sought *sought) {
	file, err := os.Create(filepath.Join(t.TempDir(), "out.pcapng"))
	require.NoError(t, err)
	defer file.Close()
	r := redact.New(redact.Options{File: file, Protocols: protocols.All(), Formats: formats.All(), Key: [32]byte{1}})
	(&leakPrinter{t: t, redact: r}).run(path, pipeline.Options{})
	sum, err := r.Close()
	require.NoError(t, err)
	redacted, err := os.ReadFile(file.Name())
	require.NoError(t, err)
	require.Empty(t, sum.Refused)
	assert.Empty(t, sought.leaks(redacted), "in the redacted file")

	for name, secret := range map[string]explain.Secret{"--redact": explain.Redacted, "--no-values": explain.Hidden} {
		hidden := secret == explain.Hidden
		p := &leakPrinter{t: t, secret: secret, sought: sought, explain: 1, seen: map[string]int{}}
		p.frames = report.Frames{Inputs: []string{"a.pcap"}, Redact: true}
		p.calls = report.Calls{Inputs: p.frames.Inputs, NoValues: hidden, Redact: !hidden}
		p.run(path, pipeline.Options{RenderValues: !hidden, Redact: !hidden})
		assert.Empty(t, p.found, "printed with %s", name)
	}
}

// TestNothingLeaks: no text of a value that Java logged is in the redacted file, nor in what is printed without values.
func TestNothingLeaks(t *testing.T) {
	testkit.EachLeft(t, 50, func(t *testing.T, c *testkit.Capture) {
		notLeaked(t, c.Path(), secretsOf(t, c).sought())
	}, "dubbox-fst", "dubbox-kryo", "dubbox-older-kryo", "edge-fastjson-2.5.3", "edge-kryo", "edge-msgpack", "fork-hessian2", "fork-kryo", "loss", "mislabelled-3.3.6", "protobuf-json-2.7.5", "snap200", "triple-hessian2-3.3.6", "triple-gzip-3.2.16", "triple-protobuf-3.3.6", "grpc-go-1.72.0", "grpc-java-1.72.0", "zoo-java")
}

// hits returns, for each body that lies in a segment from its start on, a random place in it and its end.
func hits(b []byte, r *rand.Rand) (places []struct{ from, to int }) {
	add := func(from, to int) {
		if to = min(to, len(b)); from < to {
			places = append(places, struct{ from, to int }{from + r.IntN(to-from), to})
		}
	}
	if bytes.HasPrefix(b, []byte{0xda, 0xbb}) {
		const envelope = 200 // bytes of the header and of what is called
		add(envelope, len(b))
		return places
	}
	const header, prefix, data = 9, 5, 0
	for at := 0; at+header <= len(b); {
		n := int(binary.BigEndian.Uint32(b[at:]) >> 8)
		if kind := b[at+3]; kind == data && n < 1<<20 {
			add(at+header+prefix, at+header+n)
		}
		at += header + n
	}
	return places
}

// TestNothingLeaksFromDamage: a flipped bit or a missing byte in each body moves values to the places of names. Texts that cannot be
// names must not be taken for them.
func TestNothingLeaksFromDamage(t *testing.T) {
	for _, name := range testkit.Some([]string{"nativejava", "java", "smartbuf", "protostuff", "fastjson2-3.3.6", "compactedjava", "hessian2", "kryo", "fst", "msgpack", "avro", "fastjson", "gson", "kryo2", "native-hessian", "jackson-3.2.16", "protobuf-2.7.23", "fastjson2-3.2.16", "dubbox-kryo", "edge-fury-3.2.16", "triple-hessian2-3.3.6", "triple-protobuf-3.3.6", "triple-fastjson2-3.3.6", "triple-kryo-3.2.16", "triple-gson-3.2.16", "triple-gzip-3.2.16", "grpc-java-1.72.0"}, 4) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := testkit.Get(t, name)
			s := secretsOf(t, c)
			for v := range s.values {
				if decode.CanBeName(v) {
					delete(s.values, v)
				}
			}
			sought := s.sought()
			for seed := range uint64(3) {
				r := rand.New(rand.NewPCG(seed, 7))
				all := readSegments(t, c.File)
				for i := range all {
					b := bytes.Clone(all[i].payload)
					for _, at := range hits(b, r) {
						if seed%3 == 2 { // a byte is missing, and the last one stands twice
							copy(b[at.from:at.to], b[at.from+1:at.to])
						} else {
							b[at.from] ^= 1 << r.IntN(8)
						}
					}
					all[i].payload = b
				}
				notLeaked(t, saved(t, ".pcap", ethernet.pcap(all))[0], sought)
			}
		})
	}
}
