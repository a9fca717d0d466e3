package protofile

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"

	"dubbo-wire/internal/decode/protoschema"
	_ "dubbo-wire/internal/dev/testkit"
)

const rig = "../../../testdata/rig/"

// write writes files, by name and content, and returns their folder.
func write(tb testing.TB, files ...string) string {
	tb.Helper()
	dir := tb.TempDir()
	for i := 0; i < len(files); i += 2 {
		name := filepath.Join(dir, filepath.FromSlash(files[i]))
		require.NoError(tb, os.MkdirAll(filepath.Dir(name), 0o700))
		require.NoError(tb, os.WriteFile(name, []byte(files[i+1]), 0o600))
	}
	return dir
}

// names reads paths and returns the names of the files, in order, and a set of them.
func names(tb testing.TB, paths ...string) (list []string, set *protoschema.Set) {
	tb.Helper()
	files, err := Read(paths)
	require.NoError(tb, err)
	set = protoschema.NewSet()
	for _, f := range files {
		list = append(list, f.GetName())
		require.NoError(tb, set.Add(f))
	}
	return list, set
}

func TestRig(t *testing.T) {
	list, set := names(t, rig+"common/src/main/proto", rig+"dubbo-3/src/main/proto/notes.proto")
	for _, name := range []string{"edge.proto", "published.proto", "notes.proto"} {
		assert.Contains(t, list, name)
	}
	assert.Equal(t, "rig.User", set.Class("org.dubbowire.rig.proto.User").Name)
	in, out := set.Method("org.dubbowire.rig.notes.Notes", "fail")
	assert.Equal(t, "rig.notes.Note", in.Name)
	assert.Equal(t, "rig.notes.Nothing", out.Name)
	in, _ = set.Method("rig.notes.Notes", "failAsync")
	assert.Equal(t, "rig.notes.Note", in.Name)
	assert.Nil(t, set.Class("org.dubbowire.rig.proto.Missing"))
	assert.Nil(t, set.Message("rig.Hue"))
}

const two = `syntax = "proto3"; package p; message Two { string s = 1; }`

// One file may import another in many ways.
func TestImports(t *testing.T) {
	one := func(path string) string {
		return `syntax = "proto3"; package p; import "` + path + `"; message One { Two two = 1; }`
	}
	for name, c := range map[string]struct {
		files []string
		paths []string
	}{
		"in the folder":                   {[]string{"one.proto", one("two.proto"), "two.proto", two}, []string{""}},
		"in a folder below":               {[]string{"a/one.proto", one("b/two.proto"), "b/two.proto", two}, []string{""}},
		"of another root":                 {[]string{"x/src/a/one.proto", one("b/two.proto"), "y/src/b/two.proto", two}, []string{""}},
		"two folders":                     {[]string{"x/one.proto", one("b/two.proto"), "y/b/two.proto", two}, []string{"x", "y"}},
		"a file, its neighbour":           {[]string{"one.proto", one("two.proto"), "two.proto", two}, []string{"one.proto"}},
		"a file, from a folder above":     {[]string{"a/b/one.proto", one("c/two.proto"), "c/two.proto", two}, []string{"a/b/one.proto"}},
		"both files":                      {[]string{"one.proto", one("two.proto"), "two.proto", two}, []string{"one.proto", "two.proto"}},
		"a copy":                          {[]string{"one.proto", one("two.proto"), "target/two.proto", two, "two.proto", two}, []string{""}},
		"the file twice":                  {[]string{"one.proto", one("two.proto"), "two.proto", two}, []string{"", "one.proto"}},
		"files of the same name, by path": {[]string{"a/x.proto", `syntax = "proto3"; package a; message A {}`, "b/x.proto", `syntax = "proto3"; package b; message B {}`, "one.proto", one("two.proto"), "two.proto", two}, []string{"a/x.proto", "b/x.proto", "one.proto"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := write(t, c.files...)
			var paths []string
			for _, p := range c.paths {
				paths = append(paths, filepath.Join(dir, filepath.FromSlash(p)))
			}
			_, set := names(t, paths...)
			m := set.Message("p.One")
			require.NotNil(t, m)
			assert.Equal(t, "p.Two", m.Field(1).Of.Name)
		})
	}
}

// A descriptor set is read as the files that it was made of, and may be imported by .proto files.
func TestSets(t *testing.T) {
	dir := write(t, "two.proto", two, "more/one.proto", `syntax = "proto3"; package p; import "two.proto"; message One { Two two = 1; }`)
	files, err := Read([]string{filepath.Join(dir, "two.proto")})
	require.NoError(t, err)
	b, err := proto.Marshal(&descriptorpb.FileDescriptorSet{File: files})
	require.NoError(t, err)
	set := filepath.Join(dir, "two.pb")
	require.NoError(t, os.WriteFile(set, b, 0o600))
	require.NoError(t, os.Remove(filepath.Join(dir, "two.proto")))
	_, known := names(t, filepath.Join(dir, "more"), set)
	assert.Equal(t, "p.Two", known.Message("p.One").Field(1).Of.Name)

	alone, err := proto.Marshal(&descriptorpb.FileDescriptorSet{File: []*descriptorpb.FileDescriptorProto{{Name: proto.String("one.proto"), Dependency: []string{"two.proto"}}}})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(set, alone, 0o600))
	_, err = Read([]string{set})
	require.EqualError(t, err, "one.proto: imports two.proto, which is not in the descriptor set; write the set with protoc --include_imports")
}

// A file of options alone may be missing: what it is needed for is left out.
func TestMissingOptions(t *testing.T) {
	dir := write(t, "one.proto", `syntax = "proto3"; package p;
import "google/api/annotations.proto";
import public "two.proto";
import "validate/validate.proto";
option (acme.owner) = "shop";
option java_package = "com.acme";
option java_multiple_files = true;
message One {
  option (acme.table) = { name: "ones" };
  Two two = 1 [(validate.rules).message.required = true];
  repeated int32 n = 2 [packed = false, (acme.unit) = "cm"];
  string old = 3 [deprecated = true, json_name = "OLD"];
  oneof choice { option (validate.required) = true; string a = 4; bytes b = 5; }
  enum Kind { option (acme.open) = true; NONE = 0 [(acme.text) = "none"]; }
  Kind kind = 6;
}
service Shop { rpc Get (One) returns (Two) { option (google.api.http) = { get: "/v1/{a}" additional_bindings { post: "/v2" body: "*" } }; } }
`, "two.proto", two)
	files, set := names(t, dir)
	assert.Contains(t, files, "one.proto")
	m := set.Message("p.One")
	require.NotNil(t, m)
	assert.Equal(t, "p.Two", m.Field(1).Of.Name)
	assert.True(t, m.Field(2).List)
	assert.Equal(t, "OLD", m.Field(3).Name)
	assert.Equal(t, m, set.Class("com.acme.One"))
	in, out := set.Method("p.Shop", "Get")
	assert.Equal(t, m, in)
	assert.Equal(t, "p.Two", out.Name)
}

// TestErrors: what cannot be used is one line that says where.
func TestErrors(t *testing.T) {
	for name, c := range map[string]struct {
		files []string
		path  string
		want  string
	}{
		"nothing":             {nil, "missing.proto", "missing.proto: no such file or directory"},
		"an empty folder":     {[]string{"a.txt", ""}, "", ": has no .proto file"},
		"a missing import":    {[]string{"a.proto", "syntax = \"proto3\";\nimport \"b/c.proto\";\nmessage M { b.C c = 1; }\n"}, "", "a.proto:2:8: import \"b/c.proto\": the file is not in the folders of --proto; pass the folder that has it, too"},
		"an error":            {[]string{"a.proto", "syntax = \"proto3\";\nmessage M { string = 1; }\n"}, "", "a.proto:2:20: syntax error"},
		"an unknown type":     {[]string{"a.proto", "syntax = \"proto3\";\nmessage M { X x = 1; }\n"}, "", "a.proto:2:13: "},
		"an import of itself": {[]string{"a.proto", "syntax = \"proto3\";\nimport \"a.proto\";\n"}, "", "a.proto:2:8: "},
		"a circle":            {[]string{"a.proto", "syntax = \"proto3\"; import \"b.proto\";", "b.proto", "syntax = \"proto3\"; import \"a.proto\";"}, "", "cycle"},
		"the same message":    {[]string{"a.proto", "syntax = \"proto3\"; message M {}", "b.proto", "syntax = \"proto3\"; message M { }"}, "", "already defined"},
		"not UTF-8":           {[]string{"a.proto", "syntax = \"proto3\"; // \xff\nmessage M { \xff }"}, "", "a.proto:2:"},
		"a later edition":     {[]string{"a.proto", "edition = \"2099\";"}, "", "a.proto:1:"},
		"deep":                {[]string{"a.proto", "syntax = \"proto3\";" + strings.Repeat("message M {", 100_000) + strings.Repeat("}", 100_000)}, "", "is nested more than 100 levels deep"},
		"not a set":           {[]string{"a.pb", "hello, this is not a descriptor set"}, "a.pb", "is neither a .proto file nor a descriptor set"},
		"an empty file":       {[]string{"a.pb", ""}, "a.pb", "is neither"},
		"a deep set":          {[]string{"a.pb", nestedSet(5000)}, "a.pb", "is neither"},
		"a large file":        {[]string{"a.proto", strings.Repeat(" ", maxFile+1)}, "a.proto", "is larger than 16 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := write(t, c.files...)
			_, err := Read([]string{filepath.Join(dir, c.path)})
			require.ErrorContains(t, err, c.want)
			assert.NotContains(t, err.Error(), "\n")
			assert.True(t, strings.HasPrefix(err.Error(), dir), err)
			assert.Less(t, len(err.Error()), 500)
		})
	}
}

// nestedSet returns a descriptor set with messages within messages.
func nestedSet(n int) string {
	b := []byte{0x0a, 1, 'M'}
	for range n {
		b = append(append([]byte{0x1a}, varint(len(b))...), b...)
	}
	b = append(append([]byte{0x22}, varint(len(b))...), b...)
	b = append([]byte{0x0a, 1, 'f'}, b...)
	return string(append(append([]byte{0x0a}, varint(len(b))...), b...))
}

func varint(n int) (b []byte) {
	for ; n >= 0x80; n >>= 7 {
		b = append(b, byte(n)|0x80)
	}
	return append(b, byte(n))
}

// A schema may be a long chain, or refer to itself.
func TestChains(t *testing.T) {
	var files []string
	const n = 300
	for i := range n {
		text := fmt.Sprintf("syntax = \"proto3\";\npackage p;\nmessage M%d { M%d self = 1; ", i, i)
		if i < n-1 {
			text = strings.Replace(text, "package p;", fmt.Sprintf("package p;\nimport \"f%d.proto\";", i+1), 1) + fmt.Sprintf("M%d next = 2; ", i+1)
		}
		files = append(files, fmt.Sprintf("f%d.proto", i), text+"}")
	}
	_, set := names(t, write(t, files...))
	m := set.Message("p.M0")
	for range n - 1 {
		require.Same(t, m, m.Field(1).Of)
		m = m.Field(2).Of
	}
	assert.Nil(t, m.Field(2))
}

// Brackets in comments and texts do not count.
func TestNesting(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "{}{}": 1, "{[(<>)]}": 4, "}}{": 1, "// {{{\n{": 1, "/* {{ \n { */ {": 1, "{\"{{\\\"{{\"{": 2, "'{' {": 1, "/ {": 1, "// {": 1, "/*": 0, "\"{\n{": 1,
	} {
		assert.Equal(t, want, nesting([]byte(text)), text)
	}
	text := "syntax = \"proto3\";\n" + strings.Repeat("// a < b, and ( so on\n", 200) + "message M {}\n"
	_, set := names(t, write(t, "a.proto", text))
	assert.NotNil(t, set.Message("M"))
}

// FuzzRead: no file makes the compiler panic, or run for long.
func FuzzRead(f *testing.F) {
	for _, name := range []string{"common/src/main/proto/edge.proto", "dubbo-3/src/main/proto/notes.proto"} {
		b, err := os.ReadFile(rig + name)
		require.NoError(f, err)
		f.Add(b)
	}
	f.Add([]byte(nestedSet(3)))
	f.Add([]byte(`edition = "2023"; message M { M m = 1 [features.message_encoding = DELIMITED]; extensions 5 to 9; } extend M { repeated int32 x = 5 [packed = true]; }`))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 1<<14 {
			return
		}
		for _, name := range []string{"a.proto", "a.pb"} {
			p := filepath.Join(dir, fmt.Sprint(rand.Uint32())+name)
			require.NoError(t, os.WriteFile(p, b, 0o600))
			files, err := Read([]string{p})
			require.NoError(t, os.Remove(p))
			if err != nil {
				assert.NotContains(t, err.Error(), "\n")
				continue
			}
			set := protoschema.NewSet()
			for _, f := range files {
				if set.Add(f) != nil {
					continue
				}
				for _, m := range f.MessageType {
					set.Message(strings.TrimPrefix(f.GetPackage()+"."+m.GetName(), "."))
				}
			}
		}
	})
}
