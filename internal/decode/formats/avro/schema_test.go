package avro

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/avroschema"
	"dubbo-wire/internal/decode/classpath"
)

// sameSchema returns where two schemas differ, "" for nowhere.
func sameSchema(path string, a, b *schema, seen map[[2]*schema]bool) string {
	if seen[[2]*schema{a, b}] {
		return ""
	}
	seen[[2]*schema{a, b}] = true
	a.settle()
	b.settle()
	// A text of Java has the name of its class, one of a schema only where it says so.
	if a.kind != b.kind || a.class != b.class && a.kind != str || a.bounds != b.bounds || a.size != b.size || fmt.Sprint(a.symbols) != fmt.Sprint(b.symbols) ||
		len(a.fields) != len(b.fields) || len(a.branches) != len(b.branches) || (a.elem == nil) != (b.elem == nil) || (a.key == nil) != (b.key == nil) {
		return fmt.Sprintf("%s: %+v instead of %+v", path, a, b)
	}
	for i := range a.fields {
		if a.fields[i].name != b.fields[i].name {
			return fmt.Sprintf("%s: field %s instead of %s", path, a.fields[i].name, b.fields[i].name)
		}
		if diff := sameSchema(path+"."+a.fields[i].name, a.fields[i].schema, b.fields[i].schema, seen); diff != "" {
			return diff
		}
	}
	for i := range a.branches {
		if diff := sameSchema(fmt.Sprintf("%s|%d", path, i), a.branches[i], b.branches[i], seen); diff != "" {
			return diff
		}
	}
	for _, of := range [][2]*schema{{a.elem, b.elem}, {a.key, b.key}} {
		if of[0] != nil {
			if diff := sameSchema(path+"[]", of[0], of[1], seen); diff != "" {
				return diff
			}
		}
	}
	return ""
}

// The schemas of classes are those that Avro's reflection makes of them, in both orders. testdata/rig/graphs.sh has asked it.
func TestSchemas(t *testing.T) {
	r := withModels(t).New().(*Reader)
	for o, file := range map[order]string{declared: "reflected-2.avsc", sorted: "reflected-3.avsc"} {
		text, err := os.ReadFile("../../../../testdata/models/" + file)
		require.NoError(t, err)
		all, _, err := avroschema.Parse(text)
		require.NoError(t, err)
		c := newConversion()
		require.Len(t, all.Branches, 14)
		for _, s := range all.Branches {
			own := finished(r.source.libraries[0][o].class(s.ClassName()))
			assert.Empty(t, sameSchema(s.Name, own, finished(c.schema(s)), map[[2]*schema]bool{}), file)
		}
	}
}

// Objects are read by the schemas that users bring, in place of classes.
func TestSchemasOfUsers(t *testing.T) {
	for file, want := range map[string]string{
		"reflected-2.avsc": `[{"@class":"org.dubbowire.rig.models.reflected.Address","street":"a","city":"b","country":"c"}]`,
		"reflected-3.avsc": `[{"@class":"org.dubbowire.rig.models.reflected.Address","city":"a","country":"b","street":"c"}]`,
	} {
		p, err := classpath.Open(classpath.Options{AvroSchemas: []string{"../../../../testdata/models/" + file}})
		require.NoError(t, err)
		f := With(Format, p)
		got, failed := argumentsOf(f, models+"Address;", "0261 0262 0263")
		assert.Nil(t, failed)
		assert.JSONEq(t, want, got)
		got, failed = argumentsOf(f, models+"Square;", "0000000000000000") // declared within others
		assert.Nil(t, failed)
		assert.JSONEq(t, `[{"@class":"org.dubbowire.rig.models.reflected.Square","side":0}]`, got)
		_, failed = argumentsOf(f, "Lp/Missing;", "0261")
		require.NotNil(t, failed)
		assert.Equal(t, decode.Unsupported, failed.Cause)
		require.NoError(t, p.Close())
	}
}
