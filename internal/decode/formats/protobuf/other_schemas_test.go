package protobuf

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/formats/formattest"
)

// wrong compares a message that was read with another version of its schema with what it is: it returns the first field whose name is that
// of another value, "" if none has. Fields without names are guesses.
func wrong(path string, right, found any) string {
	r, isObject := right.(map[string]any)
	f, same := found.(map[string]any)
	switch {
	case isObject && same:
		for name, v := range f {
			if strings.HasPrefix(name, "#") {
				continue
			}
			if r[name] == nil && v != nil {
				return fmt.Sprintf("%s.%s: %v, which is not set", path, name, v)
			}
			if w := wrong(path+"."+name, r[name], v); w != "" {
				return w
			}
		}
		return ""
	case isObject && hasNoNames(found):
		return ""
	}
	if a, ok := right.([]any); ok {
		if b, ok := found.([]any); ok && len(a) == len(b) {
			for i := range a {
				if w := wrong(fmt.Sprint(path, "[", i, "]"), a[i], b[i]); w != "" {
					return w
				}
			}
			return ""
		}
	}
	if fmt.Sprint(right) == fmt.Sprint(found) {
		return ""
	}
	return fmt.Sprintf("%s: %v instead of %v", path, found, right)
}

// hasNoNames reports whether a value is one of a message that is shown without its schema.
func hasNoNames(v any) bool {
	b, _ := json.Marshal(v)
	return strings.Contains(string(b), `"#`)
}

// TestOtherVersions reads messages with a version of their schema in which one field is missing or has a type with another form on the wire. No
// name may be printed with a value that is not that field's, and the fault says what is wrong.
func TestOtherVersions(t *testing.T) {
	removed, retyped, unnamed := 0, 0, 0
	for seed := range 120 {
		r := random{rand.New(rand.NewPCG(uint64(seed), 23))}
		file := r.file([]string{"proto2", "proto3", "editions"}[seed%3])
		path, files := r.set(t, file)
		other := proto.Clone(file).(*descriptorpb.FileDescriptorProto)
		k := r.IntN(len(other.MessageType))
		m := other.MessageType[k]
		var plain []int
		for i, f := range m.Field {
			if f.OneofIndex == nil && f.GetType() != descriptorpb.FieldDescriptorProto_TYPE_GROUP {
				plain = append(plain, i)
			}
		}
		if len(plain) == 0 {
			continue
		}
		i := plain[r.IntN(len(plain))]
		f := m.Field[i]
		number := f.GetNumber()
		remove := r.IntN(2) == 0
		if remove {
			m.Field = slices.Delete(m.Field, i, i+1)
			if f.GetTypeName() != "" { // a map's entry
				m.NestedType = slices.DeleteFunc(m.NestedType, func(d *descriptorpb.DescriptorProto) bool { return strings.HasSuffix(f.GetTypeName(), "."+d.GetName()) })
			}
		} else if !r.retype(m, f) {
			continue
		}
		otherPath, _ := r.set(t, other)
		of, err := files.FindDescriptorByName(protoreflect.FullName("r." + m.GetName()))
		require.NoError(t, err)
		for range 8 {
			d := dynamicpb.NewMessage(of.(protoreflect.MessageDescriptor))
			r.fill(d, files, 0)
			b, err := proto.MarshalOptions{AllowPartial: true}.Marshal(d)
			require.NoError(t, err)
			set := d.Has(of.(protoreflect.MessageDescriptor).Fields().ByNumber(protoreflect.FieldNumber(number)))
			right, fault := readAs(t, path, "r.S", m.GetName(), b)
			require.Nil(t, fault)
			found, fault := readAs(t, otherPath, "r.S", m.GetName(), b)
			if set {
				if !assert.NotNil(t, fault, "seed %d: %x", seed, b) {
					return
				}
				require.Equal(t, decode.Unsupported, fault.Cause)
				require.NotNil(t, fault.Misfit)
				require.LessOrEqual(t, fault.At, len(b))
			}
			if fault == nil {
				require.Equal(t, right, found)
				continue
			}
			require.True(t, strings.HasPrefix(fault.Misfit.Class, "r.M") || strings.HasPrefix(fault.Misfit.Class, "google."), fault.Misfit.Class)
			require.NotEmpty(t, fault.Misfit.Reason())
			if remove {
				removed++
			} else {
				retyped++
			}
			if hasNoNames(normal(t, found)) {
				unnamed++
			}
			require.Empty(t, wrong("", normal(t, right), normal(t, found)), "seed %d %v\n%v\n%x", seed, fault, f, b)
		}
	}
	t.Logf("%d messages with a field that was removed, %d with one of another type", removed, retyped)
	assert.Greater(t, min(removed, retyped), 100)
	assert.Equal(t, removed+retyped, unnamed)
}

// retype gives a field a type of another wire type. It returns false if any wire type fits both, as with packed numbers.
func (r random) retype(m *descriptorpb.DescriptorProto, f *descriptorpb.FieldDescriptorProto) bool {
	if f.GetLabel() == descriptorpb.FieldDescriptorProto_LABEL_REPEATED {
		return false
	}
	f.Options = nil
	varint := descriptorpb.FieldDescriptorProto_TYPE_INT64.Enum()
	fixed := descriptorpb.FieldDescriptorProto_TYPE_DOUBLE.Enum()
	switch f.GetType() {
	case descriptorpb.FieldDescriptorProto_TYPE_STRING, descriptorpb.FieldDescriptorProto_TYPE_BYTES, descriptorpb.FieldDescriptorProto_TYPE_MESSAGE:
		f.Type, f.TypeName = varint, nil
	case descriptorpb.FieldDescriptorProto_TYPE_DOUBLE, descriptorpb.FieldDescriptorProto_TYPE_FIXED64, descriptorpb.FieldDescriptorProto_TYPE_SFIXED64:
		f.Type = varint
	default:
		f.Type, f.TypeName = fixed, nil
	}
	return true
}

// What tells that a message is of another version of its schema, by one message each.
func TestMisfits(t *testing.T) {
	p := opened(t, "m.proto", `
		syntax = "proto2";
		package a;
		message M {
			optional string s = 1;
			optional int32 n = 2;
			optional bool b = 3;
			optional uint32 u = 4;
			optional sint32 z = 5;
			optional M m = 6;
			repeated int32 list = 7;
			map<string, int32> map = 8;
			optional E e = 9;
			oneof o { int32 one = 10; int32 two = 11; }
			optional group G = 12 { optional int32 n = 1; }
			optional bytes raw = 13;
			repeated M many = 14;
			extensions 100 to 200;
		}
		extend M { optional string more = 100; }
		enum E { ZERO = 0; ONE = 1; }
		message R { required int32 id = 1; optional R r = 2; }
		service S { rpc M(.a.M) returns (.a.M); rpc R(.a.R) returns (.a.R); rpc T(T3) returns (T3); rpc W(.a.W) returns (.a.W); }
		message W { optional google.protobuf.Timestamp at = 1; optional google.protobuf.Int32Value n = 2; optional google.protobuf.Value v = 3; optional google.protobuf.Any any = 4; }
		message T3 { optional Three t = 1; }
		import "google/protobuf/timestamp.proto";
		import "google/protobuf/wrappers.proto";
		import "google/protobuf/struct.proto";
		import "google/protobuf/any.proto";
		import "three.proto";
	`, "three.proto", `syntax = "proto3"; package a; message Three { string s = 1; E3 e = 2; optional int32 set = 3; } enum E3 { A = 0; B = 5; }`)
	for _, c := range []struct{ method, fields, want, why string }{
		{"M", "0a 01 61 10 01 18 01 20 01 28 01", `{"s":"a","n":1,"b":true,"u":1,"z":-1}`, ""},
		{"M", "10 ffffffffffffffffff01", `{"n":-1}`, ""},
		{"M", "0a 02 61ff", `{"s":{"@bytes":"Yf8="}}`, ""}, // proto2 does not check texts
		{"M", "0a 03 610001", `{"s":"a\u0000\u0001"}`, ""},
		{"M", "48 07", `{"e":7}`, ""},
		{"M", "48 01", `{"e":{"@enum":"a.E","name":"ONE"}}`, ""},
		{"M", "63 08 05 64", `{"g":{"n":5}}`, ""},
		{"M", "3a 02 0102 38 03 3a 00", `{"list":[1,2,3]}`, ""},
		{"M", "42 00 42 05 0a 01 6b 10 07", `{"map":{"":0,"k":7}}`, ""},
		{"M", "38 01 10 02 38 03", `{"list":[1],"n":2,"list":[3]}`, ""},
		{"M", "a2 06 01 78", `{"[a.more]":"x"}`, ""},
		{"M", "6a 02 0801", `{"raw":{"@bytes":"CAE="}}`, ""},
		{"M", "72 00 72 02 1001", `{"many":[{},{"n":1}]}`, ""},
		{"T", "0a 04 10 05 18 00", `{"t":{"e":{"@enum":"a.E3","name":"B"},"set":0}}`, ""},
		{"R", "08 01 12 02 08 00", `{"id":1,"r":{"id":0}}`, ""},
		{"W", "0a 00 12 00 1a 00 22 00", `{"at":{"@date":"1970-01-01T00:00:00Z"},"n":0,"v":null,"any":{}}`, ""},
		{"W", "0a 0b 08 ffffffffffffffffff01", `{"at":{"@date":"1969-12-31T23:59:59Z"}}`, ""},
		{"W", "0a 0b 10 ffffffffffffffffff01", `{"at":{"nanos":-1}}`, ""},
		{"W", "22 0e 0a 08 782e792f612e4d33 12 02 1001", `{"any":{"typeUrl":"x.y/a.M3","value":{"@bytes":"EAE="}}}`, ""},
		{"W", "22 0d 0a 07 782e792f612e4d 12 02 1001", `{"any":{"@class":"a.M","n":1}}`, ""},
		// fields that the schema does not have
		{"M", "10 01 80 7d 05 0a 01 61", `{"n":1,"#2000":5,"s":"a"}`, "unsupported at body offset 2: expected fields of message a.M as in the schema, found at body offset 2: field #2000 instead of a field of message a.M"},
		{"M", "32 05 a0 1f 05 10 01", `{"m":{"#500":5,"n":1}}`, "#500"},
		{"M", "80 7d 05", `{"#2000":5}`, "#2000"},
		// bytes that do not fit
		{"M", "08 01", `{"#1":1}`, "expected field s of message a.M as in the schema, found at body offset 0: a varint instead of string"},
		{"M", "12 01 61", `{"#2":"a"}`, "bytes after a length instead of int32"},
		{"M", "0d 00000000", `{"#1":0}`, "four bytes"},
		{"M", "0b 0c", `{"#1":{}}`, "a group"},
		{"M", "32 02 ff01", `{"#6":{"@bytes":"/wE="}}`, "field m of message a.M"},
		{"M", "32 07 55736572203937", `{"#6":"User 97"}`, "field m of message a.M"},
		{"M", "32 0a 7d20202020 7d20202020", `{"#6":"}    }    "}`, "a text instead of its fields"},
		{"M", "10 ffffffff0f", `{"#2":4294967295}`, "the number 4294967295 instead of int32"},
		{"M", "20 ffffffffffffffffff01", `{"#4":-1}`, "instead of uint32"},
		{"M", "28 80808080 8080808001", `{"#5":72057594037927936}`, "instead of sint32"},
		{"M", "18 02", `{"#3":2}`, "the number 2 instead of bool"},
		{"M", "48 80808080 8001", `{"#9":34359738368}`, "instead of an enum"},
		{"M", "10 01 10 02", `{"#2":[1,2]}`, "another one"},
		{"M", "10 01 18 01 10 02", `{"#2":1,"#3":1,"#2":2}`, "another one"},
		{"M", "50 01 58 01", `{"#10":1,"#11":1}`, "oneof"},
		{"M", "3a 02 01ff", `{"#7":{"@bytes":"Af8="}}`, "a part of one"},
		{"M", "42 02 1801", `{"#8":{"#3":1}}`, "an entry of a map"},
		{"M", "42 04 1001 1001", `{"#8":{"#2":[1,1]}}`, "the end of an entry"},
		{"M", "42 02 0801", `{"#8":{"#1":1}}`, "field key"},
		{"M", "42 01 61", `{"#8":"a"}`, "an entry of a map"},
		{"M", "42 02 0a 00 40 01", `{"#8":[{"#1":""},1]}`, "an entry of a map"},
		{"M", "62 02 0801", `{"#12":{"#1":1}}`, "instead of a group"},
		{"M", "0a 08 0a 02 0801 12 02 0901", `{"#1":{"#1":{"#1":1},"#2":{"@bytes":"CQE="}}}`, "the fields of a message instead of a text"},
		{"T", "0a 04 0a 02 61ff", `{"#1":{"#1":{"@bytes":"Yf8="}}}`, "other bytes instead of a text in UTF-8"},
		{"R", "", `{}`, "expected field id of message a.R as in the schema, found at body offset 0: the end of the message instead of field id, which is required"},
		{"R", "08 01 12 02 1200", `{"#1":1,"#2":{"#2":""}}`, "required"},
		{"W", "12 02 1001", `{"#2":{"#2":1}}`, "google.protobuf.Int32Value"},
		{"W", "12 04 0801 0801", `{"#2":{"#1":[1,1]}}`, "google.protobuf.Int32Value"},
		{"W", "1a 02 3801", `{"#3":{"#7":1}}`, "google.protobuf.Value"},
		{"W", "1a 02 0801", `{"#3":{"#1":1}}`, "google.protobuf.Value"},
		{"W", "22 0d 0a 07 782e792f612e4d 12 02 0801", `{"#4":{"#1":"x.y/a.M","#2":{"#1":1}}}`, "field s of message a.M"},
	} {
		t.Run(c.method+" "+c.fields, func(t *testing.T) {
			got, fault := readAs(t, p, "a.S", c.method, formattest.Hex(c.fields))
			assert.Equal(t, c.want, got)
			if c.why == "" {
				assert.Nil(t, fault)
				return
			}
			require.NotNil(t, fault)
			assert.Contains(t, fault.Error(), c.why)
		})
	}
}
