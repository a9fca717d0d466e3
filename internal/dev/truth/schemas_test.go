package truth

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"

	"dubbo-wire/internal/decode/classpath"
	"dubbo-wire/internal/decode/formats"
	"dubbo-wire/internal/decode/protofile"
	"dubbo-wire/internal/decode/triple"
	"dubbo-wire/internal/dev/testkit"
)

const rigProtos = "../../../testdata/rig/"

// protoFolders are the .proto files of the rig.
var protoFolders = []string{rigProtos + "common/src/main/proto", rigProtos + "dubbo-3/src/main/proto"}

// schemas are what users may bring for the messages of the rig.
func schemas(t *testing.T) map[string]classpath.Options {
	files, err := protofile.Read(protoFolders)
	require.NoError(t, err)
	b, err := proto.Marshal(&descriptorpb.FileDescriptorSet{File: files})
	require.NoError(t, err)
	set := filepath.Join(t.TempDir(), "rig.pb")
	require.NoError(t, os.WriteFile(set, b, 0o600))
	// A service, as users of Dubbo 2.7 declare it, tells results, too.
	service := filepath.Join(t.TempDir(), "service.proto")
	text := `syntax = "proto3"; package rig; option java_package = "org.dubbowire.rig.proto";
		import "edge.proto"; import "published.proto"; import "google/protobuf/empty.proto"; import "google/protobuf/wrappers.proto"; service ProtoService {`
	for _, m := range regexp.MustCompile(`\n    (?:CompletableFuture<)?(\w+)>? (\w+)\((?:\w+ \w+)?(?:, \w+ \w+)?\)`).FindAllStringSubmatch(read(t, rigProtos+"common/src/main/java/org/dubbowire/rig/proto/ProtoService.java"), -1) {
		result := map[string]string{"void": "google.protobuf.Empty", "String": "google.protobuf.StringValue", "Empty": "google.protobuf.Empty"}[m[1]]
		if strings.HasSuffix(m[1], "Value") {
			result = "google.protobuf." + m[1]
		}
		text += fmt.Sprintf("rpc %s(google.protobuf.Empty) returns (%s);\n", m[2], cmp.Or(result, m[1]))
	}
	require.NoError(t, os.WriteFile(service, []byte(text+"}"), 0o600))
	return map[string]classpath.Options{
		"services": {Protos: append([]string{service}, protoFolders...)},
		"classes":  {Paths: []string{models + "messages.jar"}}, "files": {Protos: protoFolders}, "set": {Protos: []string{set}},
	}
}

func read(t *testing.T, name string) string {
	b, err := os.ReadFile(name)
	require.NoError(t, err)
	return string(b)
}

// schemaValues compares values that were read with a schema with the log, which has their names, numbers and types.
type schemaValues struct {
	*testing.T
	messages, fields, unknown int
	// guessed: a message of which nothing is known does not differ; guesses counts them.
	guessed bool
	guesses int
	// other: the schema is another version. Fields may be without names then, but none may have that of another one.
	other bool
}

// value compares a message.
func (n *schemaValues) value(what string, got, want any) {
	message, ok := want.(map[string]any)
	require.True(n, ok && message["@fields"] != nil, "%s: the log has no message: %s", what, short(want))
	if (n.guessed && !n.other || strings.HasSuffix(what, "$echo args[0]")) && isGuess(got) { // $echo takes an Object
		n.guesses++
		return
	}
	if diff := n.message(got, message); diff != "" {
		assert.Fail(n, "differs", "%s: %s\n found    %s\n expected %s", what, diff, short(got), short(want))
	}
}

// isGuess reports whether a value has fields without names.
func isGuess(v any) bool {
	b, _ := json.Marshal(v)
	return bytes.Contains(b, []byte(`"#`)) || string(b) == "{}"
}

func (n *schemaValues) message(got any, want map[string]any) string {
	n.messages++
	fields := want["@fields"].([]any)
	get := func(name string) (v any) {
		for _, f := range fields {
			if f := f.(map[string]any); f["name"] == name {
				v = f["value"]
			}
		}
		return v
	}
	class := want["@class"].(string)
	if at := strings.Index(class, "google.protobuf."); at == 0 || at == 4 && strings.HasPrefix(class, "com.") {
		class = class[at+len("google.protobuf."):]
	}
	number := func(name string) int64 {
		v, _ := get(name).(json.Number)
		i, _ := v.Int64()
		return i
	}
	object, isObject := got.(map[string]any)
	switch {
	case class == want["@class"]:
	case class == "Timestamp":
		if date, _ := object["@date"].(string); date != decodedInstant(number("seconds"), number("nanos")) {
			return "not the date " + decodedInstant(number("seconds"), number("nanos"))
		}
		return ""
	case class == "Duration":
		text, _ := got.(string)
		if want := decodedDuration(number("seconds"), number("nanos")); text != want {
			return "not the duration " + want
		}
		return ""
	case class == "FieldMask":
		return n.list(got, map[string]any{"type": "string", "value": get("paths")})
	case class == "Struct":
		entries, _ := get("fields").([]any)
		return n.mapping(got, entries)
	case class == "Value":
		if len(fields) == 0 {
			return sameAs(got, nil)
		}
		f := fields[0].(map[string]any)
		if f["name"] == "nullValue" {
			return sameAs(got, nil)
		}
		return n.scalar(got, f)
	case class == "ListValue":
		return n.list(got, map[string]any{"type": "message", "value": get("values")})
	case strings.HasSuffix(class, "Value"):
		if f, ok := unwrapped(map[string]any{"@class": "com.google.protobuf." + class, "@fields": fields}, "com.google.protobuf."+class); ok {
			return n.scalar(got, f)
		}
	case class == "Any":
		url, _ := get("typeUrl").(string)
		if name := url[strings.LastIndexByte(url, '/')+1:]; name == "rig.Leaf" {
			raw, _ := rawBytes(get("value"))
			return n.leaf(object, name, raw)
		}
	}
	if !isObject {
		return "not a message"
	}
	if n.other && isGuess(got) && !slices.ContainsFunc(slices.Collect(maps.Keys(object)), func(name string) bool { return name[0] != '#' }) {
		n.guesses++
		return ""
	}
	seen := 0
	for _, f := range fields {
		field := f.(map[string]any)
		name := field["name"].(string)
		g, ok := object[name]
		if !ok && field["value"] == json.Number("-0.0") {
			continue // is set, and taken for 0 by the writer
		}
		if _, numbered := object["#"+string(field["number"].(json.Number))]; !ok && n.other && numbered {
			n.unknown++
			seen++
			continue
		}
		if !ok {
			return name + " is missing"
		}
		seen++
		n.fields++
		var diff string
		switch {
		case field["map"] == true:
			diff = n.mapping(g, field["value"].([]any))
		case field["repeated"] == true:
			diff = n.list(g, field)
		default:
			diff = n.scalar(g, field)
		}
		if diff != "" {
			return name + ": " + diff
		}
	}
	for name := range object {
		if strings.HasPrefix(name, "#") && want["@unknown"] != nil {
			n.unknown++
			seen++
		}
	}
	if seen != len(object) {
		return fmt.Sprintf("%d fields, %d of them expected", len(object), seen)
	}
	return ""
}

// leaf compares a message in an Any, of which the log has the bytes: { 1: id, 2: name }.
func (n *schemaValues) leaf(got map[string]any, class string, raw []byte) string {
	if got["@class"] != class {
		return "not the class " + class
	}
	for len(raw) > 0 {
		num, _, k := protowire.ConsumeTag(raw)
		raw = raw[k:]
		if num == 1 {
			v, k := protowire.ConsumeVarint(raw)
			raw = raw[k:]
			if got["id"] != json.Number(fmt.Sprint(v)) {
				return "id"
			}
		} else {
			v, k := protowire.ConsumeBytes(raw)
			raw = raw[k:]
			if got["name"] != string(v) {
				return "name"
			}
		}
	}
	return ""
}

func sameAs(got, want any) string {
	if got == want {
		return ""
	}
	return fmt.Sprintf("%s instead of %s", short(got), short(want))
}

func (n *schemaValues) list(got any, field map[string]any) string {
	values, _ := field["value"].([]any)
	list, ok := got.([]any)
	if !ok && n.other && len(values) == 1 { // the wire does not tell one element from a value
		list, ok = []any{got}, true
	}
	if !ok || len(list) != len(values) {
		return fmt.Sprintf("%s instead of %d elements", short(got), len(values))
	}
	for i, v := range values {
		if diff := n.scalar(list[i], map[string]any{"type": field["type"], "value": v}); diff != "" {
			return fmt.Sprintf("[%d]: %s", i, diff)
		}
	}
	return ""
}

// mapping compares the entries of a map, whose types the log does not have.
func (n *schemaValues) mapping(got any, entries []any) string {
	object, ok := got.(map[string]any)
	if !ok {
		return "not a map"
	}
	pairs, ok := object["@map"].([]any)
	if !ok {
		for k, v := range object {
			pairs = append(pairs, []any{k, v})
		}
	}
	if len(pairs) != len(entries) {
		return fmt.Sprintf("%d entries instead of %d", len(pairs), len(entries))
	}
	for _, e := range entries {
		pair := e.([]any)
		if !slices.ContainsFunc(pairs, func(p any) bool {
			own := p.([]any)
			return n.untyped(own[0], pair[0]) == "" && n.untyped(own[1], pair[1]) == ""
		}) {
			return "no entry " + short(e)
		}
	}
	return ""
}

// untyped compares a value whose type the log does not have: a number of floating point may be a float or a double.
func (n *schemaValues) untyped(got, want any) string {
	switch w := want.(type) {
	case map[string]any:
		switch {
		case w["@fields"] != nil:
			return n.message(got, w)
		case w["@enum"] != nil:
			return n.scalar(got, map[string]any{"type": "enum", "value": want})
		case w["@bytes"] != nil:
			return n.scalar(got, map[string]any{"type": "bytes", "value": want})
		}
	case json.Number:
		if got == want {
			return ""
		}
		if n.scalar(got, map[string]any{"type": "double", "value": want}) == "" {
			return ""
		}
		return n.scalar(got, map[string]any{"type": "float", "value": want})
	}
	return sameAs(got, want)
}

func (n *schemaValues) scalar(got any, field map[string]any) string {
	typ, want := field["type"].(string), field["value"]
	switch typ {
	case "message":
		return n.message(got, want.(map[string]any))
	case "bytes":
		b, ok := got.(map[string]any)["@bytes"].(string)
		raw, _ := rawBytes(map[string]any{"@bytes": b})
		if !ok {
			return "not bytes"
		}
		return sameBytes(raw, wire(typ, want))
	case "float", "double":
		bits := wire(typ, want)
		return sameBytes(fixed(got, len(bits), true), bits)
	case "enum":
		w, ok := want.(map[string]any)
		if !ok {
			return sameAs(got, want)
		}
		if g, ok := got.(map[string]any); ok {
			if g["@enum"] == w["@enum"] {
				return sameAs(g["name"], w["name"])
			}
			return "not " + short(want)
		}
		if name := fmt.Sprint(w["name"]); !strings.HasPrefix(name, "UNKNOWN_ENUM_VALUE_") { // Java's name for a number without one
			return "not the constant " + name
		}
		return sameAs(got, w["number"])
	case "string", "bool":
		return sameAs(got, want)
	}
	return sameAs(got, want)
}

// TestTripleWithSchemas is TestWithSchemas for messages of Triple and gRPC.
func TestTripleWithSchemas(t *testing.T) {
	folder := t.TempDir()
	verbs := `syntax = "proto3"; package rig; import "google/protobuf/wrappers.proto"; service Verbs {
		rpc Nowhere(google.protobuf.StringValue) returns (google.protobuf.StringValue); rpc Unary(google.protobuf.StringValue) returns (google.protobuf.StringValue); rpc Collect(stream google.protobuf.StringValue) returns (google.protobuf.StringValue);
		rpc Countdown(google.protobuf.StringValue) returns (stream google.protobuf.StringValue); rpc Chat(stream google.protobuf.StringValue) returns (stream google.protobuf.StringValue); }`
	require.NoError(t, os.WriteFile(filepath.Join(folder, "verbs.proto"), []byte(verbs), 0o600))
	all := schemas(t)
	for _, c := range testkit.Captures() {
		is := func(prefix string) bool { return strings.HasPrefix(c.Name, prefix) }
		if testing.Short() && !c.Sampled(1) || !c.Complete || !is("triple-protobuf-") && !is("triple-stubs-") && !is("grpc-") {
			continue
		}
		for name, o := range all {
			use := triple.Triple
			switch {
			case is("grpc-") && name != "files", is("triple-protobuf-") && name != "classes", is("triple-stubs-") && name == "services":
				continue // no types
			case is("grpc-"):
				use, o = triple.GRPC, classpath.Options{Protos: []string{folder}}
			}
			t.Run(c.Name+" "+name, func(t *testing.T) {
				path, err := classpath.Open(o)
				require.NoError(t, err)
				t.Cleanup(func() { assert.NoError(t, path.Close()) })
				n := schemaValues{T: t}
				b := newTripleBodies(t, c, use, formats.With(path))
				b.schemas = &n
				b.all(c)
				assert.Greater(t, n.fields+n.messages, 30)
				t.Logf("%d messages, %d fields, %d fields that are not in the schema", n.messages, n.fields, n.unknown)
			})
		}
	}
}

// TestWithSchemas reads the captures of messages with their schema and compares every value with the log: from the classes that protoc has
// generated, from .proto files, and from a descriptor set.
func TestWithSchemas(t *testing.T) {
	testkit.Once(t)
	all := schemas(t)
	for _, p := range allCaptures(t) {
		if p.foreign() || !slices.Contains(p.Serializations, "protobuf") || p.Name == "mixed-2.7.23" {
			continue
		}
		for name, o := range all {
			t.Run(p.Name+" "+name, func(t *testing.T) {
				t.Parallel()
				sent, received, _, _ := readTruth(t, p.Truth)
				path, err := classpath.Open(o)
				require.NoError(t, err)
				t.Cleanup(func() { assert.NoError(t, path.Close()) })
				plain, r := analyze(t, p.File), analyzeWith(t, p.File, formats.With(path))
				books(t, r)
				sameEnvelopes(t, plain, r)
				n := schemaValues{T: t, guessed: name != "classes" && name != "services"}
				pairs := match(t, p, r, sent, received)
				for i := range r.calls {
					n.call(&r.calls[i], pairs)
				}
				t.Logf("%d messages, %d fields, %d without a type, %d fields that are not in the schema", n.messages, n.fields, n.guesses, n.unknown)
				assert.Greater(t, n.fields, 600)
			})
		}
	}
}

// TestWithOtherSchemas reads captures with versions of their schema in which fields are missing, or have another type. What has a name must be
// that field's value nevertheless.
func TestWithOtherSchemas(t *testing.T) {
	testkit.Once(t)
	for name, c := range map[string]struct {
		replace          []string
		unknown, guesses int
	}{
		"fields removed": {[]string{
			"string email = 5;", "", "repeated int32 permissions = 9;", "", "Geo geo = 6;", "", "repeated Leaf children = 4;", "", "sint32 sint32 = 7;", "", "map<sint32, Hue> hues = 6;", "",
			"Leaf leaf = 4;", "", "google.protobuf.Struct struct = 4;", "", "string description = 5;", "",
		}, 100, 0},
		"texts are numbers":  {[]string{"string name = 2;", "int32 name = 2;", "string lang = 5;", "fixed64 lang = 5;", "string title = 4;", "double title = 4;"}, 0, 80},
		"numbers are texts":  {[]string{"int32 sex = 3;", "string sex = 3;", "float lat = 3;", "bytes lat = 3;", "int32 post_id = 1;", "Topic post_id = 1;", "int32 id = 1;", "string id = 1;"}, 0, 80},
		"lists are not":      {[]string{"repeated Post posts = 1;", "Post posts = 1;", "repeated Impression impressions = 3;", "Impression impressions = 3;", "repeated Topic topics = 10;", "string topics = 10;"}, 0, 5},
		"messages are texts": {[]string{"Device device = 2;", "string device = 2;", "Date birthday = 4;", "string birthday = 4;", "google.protobuf.Timestamp create_time = 11;", "string create_time = 11;"}, 0, 20},
		"more is required":   {[]string{`syntax = "proto3"`, `syntax = "proto2"`, "string id = 1;\n  Device device", "required string id = 1;\n  required Device device"}, 0, 0},
		"another message":    {[]string{"google.protobuf.Timestamp create_time = 11;", "Geo create_time = 11;", "Geo geo = 6;", "Date geo = 6;"}, 0, 20},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			replaced := 0
			for _, file := range []string{"edge.proto", "published.proto"} {
				text := read(t, protoFolders[0]+"/"+file)
				for i := 0; i < len(c.replace); i += 2 {
					replaced += strings.Count(text, c.replace[i])
					text = strings.ReplaceAll(text, c.replace[i], c.replace[i+1])
				}
				if strings.Contains(text, "proto2") { // which needs labels
					text = regexp.MustCompile(`(?m)^(  +)(oneof|repeated|map|required|option|enum|[A-Z_]+ =)|^(  +)(\w+(?:\.\w+)* \w+ = \d+;)`).ReplaceAllStringFunc(text, func(s string) string {
						if strings.HasSuffix(s, ";") {
							return strings.Replace(s, strings.TrimSpace(s), "optional "+strings.TrimSpace(s), 1)
						}
						return s
					})
					text = regexp.MustCompile(`(?s)oneof what \{.*?\}`).ReplaceAllStringFunc(text, func(s string) string { return strings.ReplaceAll(s, "optional ", "") })
				}
				require.NoError(t, os.WriteFile(filepath.Join(folder, file), []byte(text), 0o600))
			}
			require.GreaterOrEqual(t, replaced, len(c.replace)/2)
			p := allCaptures(t)[slices.IndexFunc(allCaptures(t), func(p provenance) bool { return p.Name == "protobuf-3.2.16" })]
			sent, received, _, _ := readTruth(t, p.Truth)
			path, err := classpath.Open(classpath.Options{Protos: []string{folder}, Paths: []string{models + "messages.jar"}})
			require.NoError(t, err)
			t.Cleanup(func() { assert.NoError(t, path.Close()) })
			r := analyzeWith(t, p.File, formats.With(path))
			books(t, r)
			n := schemaValues{T: t, guessed: true, other: true}
			pairs := match(t, p, r, sent, received)
			for i := range r.calls {
				n.call(&r.calls[i], pairs)
			}
			t.Logf("%d fields with names, %d without a type, %d that are not in the schema", n.fields, n.guesses, n.unknown)
			assert.GreaterOrEqual(t, n.unknown, c.unknown)
			assert.GreaterOrEqual(t, n.guesses, c.guesses)
		})
	}
}

func (n *schemaValues) call(c *callRecord, pairs map[int64]pair) {
	if q, ok := pairs[c.RequestFrame]; ok && q.ours.Complete && strings.HasPrefix(q.ours.Serialization, "protobuf") && !strings.HasPrefix(q.ours.Serialization, "protobuf-json") {
		if assert.Len(n, c.Arguments, len(q.sent.Arguments), "frame %d", c.RequestFrame) {
			for i, want := range q.sent.Arguments {
				n.value(fmt.Sprintf("frame %d %s args[%d]", c.RequestFrame, c.Method, i), c.Arguments[i], want)
			}
		}
	}
	q, ok := pairs[c.ResponseFrame]
	if !ok || !q.ours.Complete || !strings.HasPrefix(q.ours.Serialization, "protobuf") || strings.HasPrefix(q.ours.Serialization, "protobuf-json") || q.sent.Status != 20 || q.sent.ResultKind != "value" {
		return
	}
	n.value(fmt.Sprintf("frame %d answer to %s", c.ResponseFrame, c.Method), c.Result, q.sent.Result)
}

// decodedInstant and decodedDuration are the texts of Timestamp and Duration, as Java has them.
func decodedInstant(seconds, nanos int64) string {
	return thousands(time.Unix(seconds, nanos).UTC().Format("2006-01-02T15:04:05.000000000")) + "Z"
}

func decodedDuration(seconds, nanos int64) string {
	sign := ""
	if seconds < 0 || nanos < 0 {
		sign, seconds, nanos = "-", -seconds, -nanos
	}
	return sign + thousands(fmt.Sprintf("%d.%09d", seconds, nanos)) + "s"
}

func thousands(text string) string {
	return strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(text, "000"), "000"), ".000")
}
