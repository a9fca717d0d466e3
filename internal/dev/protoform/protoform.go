// Package protoform writes messages of protocol buffers as docs/values.md says, by what protobuf-go reads: a second opinion of values.
package protoform

import (
	"encoding/base64"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"
)

// Text returns a message as JSON whose members are in the order of numbers. types has those of an Any, and extensions. Fields that its type
// does not have are left out.
func Text(m protoreflect.Message, types *dynamicpb.Types) string {
	w := writer{types: types}
	w.message(m, "")
	return w.String()
}

type writer struct {
	strings.Builder
	types *dynamicpb.Types
}

// field returns a field of a known message.
func field(m protoreflect.Message, name string) protoreflect.Value {
	return m.Get(m.Descriptor().Fields().ByName(protoreflect.Name(name)))
}

// message writes a message; class is its type where the wire says it.
func (w *writer) message(m protoreflect.Message, class string) {
	form := ""
	if m.Descriptor().ParentFile().Package() == "google.protobuf" {
		form = string(m.Descriptor().Name())
	}
	switch {
	case form == "Timestamp":
		seconds, nanos := field(m, "seconds").Int(), field(m, "nanos").Int()
		if t := time.Unix(seconds, nanos).UTC(); t.Year() >= 1 && t.Year() <= 9999 && nanos >= 0 && nanos < 1e9 && seconds > -1e12 && seconds < 1e12 {
			fmt.Fprintf(w, `{"@date":%q}`, thousands(t.Format("2006-01-02T15:04:05.000000000"))+"Z")
			return
		}
	case form == "Duration":
		seconds, nanos := field(m, "seconds").Int(), field(m, "nanos").Int()
		if max(seconds, -seconds) <= 315576000000 && seconds != math.MinInt64 && max(nanos, -nanos) < 1e9 && (seconds == 0 || nanos == 0 || seconds < 0 == (nanos < 0)) {
			text := thousands(fmt.Sprintf("%d.%09d", max(seconds, -seconds), max(nanos, -nanos)))
			if seconds < 0 || nanos < 0 {
				text = "-" + text
			}
			fmt.Fprintf(w, "%q", text+"s")
			return
		}
	case form == "FieldMask":
		w.list(m.Descriptor().Fields().ByName("paths"), field(m, "paths").List())
		return
	case form == "ListValue":
		w.list(m.Descriptor().Fields().ByName("values"), field(m, "values").List())
		return
	case form == "Struct":
		w.mapping(m.Descriptor().Fields().ByName("fields"), field(m, "fields").Map())
		return
	case form == "Value":
		if d := m.WhichOneof(m.Descriptor().Oneofs().Get(0)); d != nil && d.Name() != "null_value" {
			w.value(d, m.Get(d))
		} else {
			w.WriteString("null")
		}
		return
	case strings.HasSuffix(form, "Value") && form != "EnumValue":
		d := m.Descriptor().Fields().Get(0)
		w.value(d, m.Get(d))
		return
	case form == "Any":
		url := field(m, "type_url").String()
		name := url[strings.LastIndexByte(url, '/')+1:]
		typ, err := w.types.FindMessageByName(protoreflect.FullName(name))
		if err != nil {
			break
		}
		in, of := typ.New(), typ.Descriptor()
		if (proto.UnmarshalOptions{Resolver: w.types, AllowPartial: true}).Unmarshal(field(m, "value").Bytes(), in.Interface()) != nil {
			break
		}
		if of.ParentFile().Package() == "google.protobuf" && of.Name() != "Empty" {
			fmt.Fprintf(w, `{"@class":%q,"value":`, name)
			w.message(in, "")
			w.WriteByte('}')
		} else {
			w.message(in, name)
		}
		return
	}
	w.WriteByte('{')
	sep := ""
	if class != "" {
		fmt.Fprintf(w, `"@class":%q`, class)
		sep = ","
	}
	order(m, func(d protoreflect.FieldDescriptor, v protoreflect.Value) {
		name := d.JSONName()
		if d.IsExtension() {
			name = "[" + string(d.FullName()) + "]"
		}
		fmt.Fprintf(w, "%s%q:", sep, name)
		sep = ","
		switch {
		case d.IsMap():
			w.mapping(d, v.Map())
		case d.IsList():
			w.list(d, v.List())
		default:
			w.value(d, v)
		}
	})
	w.WriteByte('}')
}

// thousands removes zeros at the end of a number with nine decimals, three at a time.
func thousands(text string) string {
	return strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(text, "000"), "000"), ".000")
}

func (w *writer) list(d protoreflect.FieldDescriptor, list protoreflect.List) {
	w.WriteByte('[')
	for i := range list.Len() {
		if i > 0 {
			w.WriteByte(',')
		}
		w.value(d, list.Get(i))
	}
	w.WriteByte(']')
}

// mapping writes the entries of a map, in any order.
func (w *writer) mapping(d protoreflect.FieldDescriptor, m protoreflect.Map) {
	object := true
	m.Range(func(k protoreflect.MapKey, _ protoreflect.Value) bool {
		s, text := k.Interface().(string)
		object = object && text && !strings.HasPrefix(s, "@")
		return true
	})
	open, end := `{"@map":[`, "]}"
	if object {
		open, end = "{", "}"
	}
	w.WriteString(open)
	sep := ""
	m.Range(func(k protoreflect.MapKey, v protoreflect.Value) bool {
		w.WriteString(sep)
		sep = ","
		if !object {
			w.WriteByte('[')
		}
		w.value(d.MapKey(), k.Value())
		if object {
			w.WriteByte(':')
		} else {
			w.WriteByte(',')
		}
		w.value(d.MapValue(), v)
		if !object {
			w.WriteByte(']')
		}
		return true
	})
	w.WriteString(end)
}

func (w *writer) value(d protoreflect.FieldDescriptor, v protoreflect.Value) {
	switch d.Kind() {
	case protoreflect.MessageKind, protoreflect.GroupKind:
		w.message(v.Message(), "")
	case protoreflect.StringKind:
		w.text(v.String())
	case protoreflect.BytesKind:
		fmt.Fprintf(w, `{"@bytes":%q}`, base64.StdEncoding.EncodeToString(v.Bytes()))
	case protoreflect.EnumKind:
		if c := d.Enum().Values().ByNumber(v.Enum()); c != nil {
			fmt.Fprintf(w, `{"@enum":%q,"name":%q}`, d.Enum().FullName(), c.Name())
		} else {
			fmt.Fprint(w, v.Enum())
		}
	case protoreflect.FloatKind, protoreflect.DoubleKind:
		f, bits := v.Float(), 64
		if d.Kind() == protoreflect.FloatKind {
			bits = 32
		}
		switch {
		case math.IsNaN(f):
			w.WriteString(`{"@double":"NaN"}`)
		case math.IsInf(f, 0):
			fmt.Fprintf(w, `{"@double":%q}`, strings.TrimPrefix(strconv.FormatFloat(f, 'g', -1, 64), "+")+"inity")
		default:
			w.WriteString(strconv.FormatFloat(f, 'e', -1, bits))
		}
	default:
		fmt.Fprint(w, v.Interface())
	}
}

// text writes a text as JSON; all but letters and digits as \u.
func (w *writer) text(s string) {
	w.WriteByte('"')
	for _, c := range s {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
			w.WriteRune(c)
		case c > 0xffff:
			c -= 0x10000
			fmt.Fprintf(w, `\u%04x\u%04x`, 0xd800+c>>10, 0xdc00+c&0x3ff)
		default:
			fmt.Fprintf(w, `\u%04x`, c)
		}
	}
	w.WriteByte('"')
}

// order calls f for the fields that are set, in the order of their numbers.
func order(m protoreflect.Message, f func(protoreflect.FieldDescriptor, protoreflect.Value)) {
	var set []protoreflect.FieldDescriptor
	m.Range(func(d protoreflect.FieldDescriptor, _ protoreflect.Value) bool {
		set = append(set, d)
		return true
	})
	slices.SortFunc(set, func(a, b protoreflect.FieldDescriptor) int { return int(a.Number()) - int(b.Number()) })
	for _, d := range set {
		f(d, m.Get(d))
	}
}
