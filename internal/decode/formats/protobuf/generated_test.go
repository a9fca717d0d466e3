package protobuf

import (
	"encoding/hex"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/classpath"
	"dubbo-wire/internal/decode/formats/formattest"
	"dubbo-wire/internal/decode/protofile"
	"dubbo-wire/internal/dev/protoform"
)

const generated = "testdata/generated/"

// TestGenerated compares messages that Java wrote (edition 2023 with groups, a closed enum and extensions of another file; proto2) with what
// protobuf-go reads: with the classes that protoc has generated, and with the .proto files.
func TestGenerated(t *testing.T) {
	sources, err := protofile.Read([]string{generated})
	require.NoError(t, err)
	set := &descriptorpb.FileDescriptorSet{}
	for _, name := range knownFiles {
		d, err := protoregistry.GlobalFiles.FindFileByPath("google/protobuf/" + name + ".proto")
		require.NoError(t, err)
		set.File = append(set.File, protodesc.ToFileDescriptorProto(d))
	}
	for _, f := range sources {
		if !strings.HasPrefix(f.GetName(), "google/") {
			set.File = append(set.File, f)
		}
	}
	files, err := protodesc.NewFiles(set)
	require.NoError(t, err)
	types := dynamicpb.NewTypes(files)
	text, err := os.ReadFile(generated + "written.tsv")
	require.NoError(t, err)
	for name, o := range map[string]classpath.Options{"classes": {Paths: []string{generated + "generated.jar"}}, "files": {Protos: []string{generated}}} {
		t.Run(name, func(t *testing.T) {
			p, err := classpath.Open(o)
			require.NoError(t, err)
			defer func() { assert.NoError(t, p.Close()) }()
			rows := 0
			for line := range strings.Lines(string(text)) {
				class, row, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
				raw, err := hex.DecodeString(row)
				require.NoError(t, err)
				m := p.ClassMessage(decode.Provider, class)
				require.NotNil(t, m, class)
				of, err := types.FindMessageByName(protoreflect.FullName(m.Name))
				require.NoError(t, err)
				message := of.New()
				require.NoError(t, proto.UnmarshalOptions{Resolver: types}.Unmarshal(raw, message.Interface()))

				r := With(Format, p).New()
				tree := decode.Tree{WithValues: true}
				r.(decode.ClassReader).WrittenBy(decode.Provider)
				body := append(protowire.AppendVarint(nil, uint64(len(raw))), raw...)
				r.Reset(body, decode.Malformed, &tree)
				r.Value(decode.ByField, "result", 0, "L"+strings.ReplaceAll(class, ".", "/")+";")
				require.Nil(t, r.Err())
				require.Nil(t, r.(decode.Faulter).Fault())
				formattest.Balance(t, &tree, len(body))
				found := formattest.Message{Tree: tree}
				assert.Empty(t, difference(t, protoform.Text(message, types), found.Value("result")), line)
				rows++
			}
			assert.Equal(t, 6, rows)
			assert.Equal(t, "ed.A.In", p.MethodMessage(decode.Provider, "ed.Get", "One").Name)
		})
	}
}
