package triple

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/formats"
	"dubbo-wire/internal/decode/formats/formattest"
	"dubbo-wire/internal/rpc"
)

// wrap returns a request with the arguments, each of type java.lang.Object, in a serialization.
func wrap(serialization string, args ...[]byte) []byte {
	b := protowire.AppendString(protowire.AppendTag(nil, fieldName, protowire.BytesType), serialization)
	for _, arg := range args {
		b = protowire.AppendBytes(protowire.AppendTag(b, fieldData, protowire.BytesType), arg)
	}
	for range args {
		b = protowire.AppendString(protowire.AppendTag(b, fieldTypes, protowire.BytesType), "java.lang.Object")
	}
	return b
}

// TestEveryFormat: a value within a wrapper is read as it is alone, in every serialization, whatever stands before it.
func TestEveryFormat(t *testing.T) {
	d := NewDecoder(formats.All())
	h := request("/org.acme.Users/find")
	for _, f := range formats.All() {
		folder := f.Name
		switch folder {
		case "dubbo":
			folder = "dubboserialization"
		case "native-hessian":
			folder = "nativehessian"
		}
		if strings.HasPrefix(f.Dialect, "id ") {
			continue
		}
		files, err := filepath.Glob(filepath.Join("..", "formats", folder, "testdata", "values*.tsv"))
		require.NoError(t, err)
		t.Run(f.FullName(), func(t *testing.T) {
			rows, alike := 0, 0
			for _, file := range files {
				for _, row := range formattest.Values(t, file) {
					want, ok := "", true
					for i := range 2 {
						own := decode.Tree{WithValues: true}
						r := f.New()
						if r, ok := r.(decode.ReleaseReader); ok {
							r.Dubbo3()
						}
						r.Reset(row.Body, decode.Malformed, &own)
						own.Open(decode.List, decode.ByField, "args", 0, 0)
						r.Value(decode.ByIndex, "", i, "Ljava/lang/Object;")
						own.Close()
						ok = ok && r.Err() == nil && r.Offset() == len(row.Body)
						list := string(own.AppendJSON(nil, 0))
						want += "," + list[1:len(list)-1]
					}
					if !ok {
						continue
					}
					rows++
					body := wrap(f.Name, row.Body, row.Body)
					m := message(rpc.Request, h, string(body))
					d.Decode(m, operation(d, h), rpc.Values)
					assert.Equal(t, f.Name, m.Serialization)
					assert.Equal(t, len(body), sum(m), row.Name)
					own := m.Parts
					d.Decode(m, m.Operation, rpc.Parts)
					assert.Equal(t, own, m.Parts, row.Name)
					d.Decode(m, m.Operation, rpc.Values)
					if m.Format.Dialect == f.Dialect && assert.Equal(t, "["+want[1:]+"]", string(m.AppendArguments(nil)), row.Name) {
						alike++
					}
				}
			}
			t.Logf("%d values, %d alike", rows, alike)
		})
	}
}
