package classfile

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// compareWithJava compares every line of every class in a file that Describe.java wrote.
func compareWithJava(t *testing.T, types *Types, file string, least int, except ...string) {
	t.Helper()
	f, err := os.Open(file)
	require.NoError(t, err)
	defer f.Close()
	left := map[string]bool{}
	for _, e := range except {
		left[e] = true
	}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 4<<20)
	classes, values, untold, wrong, elsewhere, unsure := 0, 0, 0, map[string]int{}, 0, map[string]int{}
	for lines.Scan() {
		name, ok := strings.CutPrefix(lines.Text(), "class ")
		require.True(t, ok, "%q", lines.Text())
		var java []string
		for lines.Scan() && lines.Text() != "" {
			java = append(java, lines.Text())
		}
		own, err := describe(types, name)
		if err == ErrMissing { // the JVM has other ways to find it: an agent's jar
			elsewhere++
			continue
		}
		if !assert.NoError(t, err, name) {
			continue
		}
		if event, _ := types.Is(name, "jdk.internal.event.Event"); event && len(own) != len(java) {
			continue // the JVM adds fields to the flight recorder's events
		}
		classes++
		if len(own) != len(java) && !slices.ContainsFunc(java, func(s string) bool { return strings.HasPrefix(s, "field !") || strings.HasPrefix(s, "stream !") }) {
			wrong["lines"]++
			t.Errorf("%s: %d lines, Java has %d\n%s\n%s", name, len(own), len(java), strings.Join(own, "\n"), strings.Join(java, "\n"))
			continue
		}
		for i := range min(len(own), len(java)) {
			key, said, _ := strings.Cut(java[i], " ")
			ownKey, found, _ := strings.Cut(own[i], " ")
			if strings.HasPrefix(said, "!") {
				untold++
				if ownKey != key || key == "field" || key == "stream" {
					break
				}
				continue
			}
			if found == unknown {
				unsure[key]++
				continue
			}
			values++
			if slices.Contains(except, name+" "+key) {
				delete(left, name+" "+key)
				assert.NotEqual(t, said, found, "%s %s is no exception", name, key)
				continue
			}
			if ownKey == key && (found == said || key == "annotations" && sameAnnotations(found, said)) {
				continue
			}
			if wrong[key]++; wrong[key] <= 15 {
				t.Errorf("%s: %s\n found %s\n  java %s", name, key, own[i], java[i])
			}
		}
	}
	require.NoError(t, lines.Err())
	t.Logf("%d classes, %d values the same; Java could not tell %d values and found %d classes elsewhere; said to be unknown: %v; different: %v",
		classes, values, untold, elsewhere, unsure, wrong)
	assert.GreaterOrEqual(t, classes, least)
	assert.Empty(t, left, "exceptions that Java does not mention")
	assert.LessOrEqual(t, unsure["uid"], 30, "serialVersionUID that a static initializer computes")
}

// unknown stands for what a class file does not say, such as the value of serialPersistentFields.
const unknown = "unknown"

// describe says of a class what Describe.java does.
func describe(types *Types, name string) ([]string, error) {
	if _, err := types.Class(name); err != nil {
		return nil, err
	}
	data, _, err := types.data(name)
	if err != nil {
		return nil, err
	}
	p := parser{r: &reader{b: data}, allAnnotations: true}
	c := p.class()
	if p.r.err != nil {
		return nil, p.r.err
	}
	var lines []string
	line := func(key string, values ...any) { lines = append(lines, key+" "+fmt.Sprint(values...)) }
	words := func(list []string) string {
		s := ""
		for _, w := range list {
			s += w + " "
		}
		return s
	}
	line("modifiers", uint16(c.Modifiers))
	line("super", c.Super)
	line("interfaces", words(c.Interfaces))
	line("outer", c.Outer)
	line("local", c.Local)
	line("record", c.Record)
	line("enum", c.IsEnum())
	var g ClassSignature
	parameters := ""
	if c.Generic != nil {
		g = *c.Generic
	} else {
		g.Super = &Type{Kind: Object, Name: c.Super}
		for _, n := range c.Interfaces {
			g.Interfaces = append(g.Interfaces, &Type{Kind: Object, Name: n})
		}
	}
	for _, p := range g.Parameters {
		parameters += p.Name
		for _, b := range p.Bounds {
			if s := b.String(); s != object {
				parameters += " : " + s
			}
		}
		parameters += ", "
	}
	line("parameters", parameters)
	supertypes := g.Super.String()
	if c.IsInterface() {
		supertypes = ""
	}
	for _, i := range g.Interfaces {
		supertypes += ", " + i.String()
	}
	line("supertypes", supertypes)
	if c.HasConstructor {
		line("constructor", uint16(c.Constructor))
	} else {
		line("constructor", "none")
	}
	line("annotations", annotationText(c.Annotations))
	line("constants", words(c.Constants()))
	components := ""
	for _, f := range c.Fields {
		if c.Record && !f.Modifiers.Has(Static) {
			components += f.Name + " " + f.Descriptor + " "
		}
	}
	line("components", components)
	for i := range c.Fields {
		f := &c.Fields[i]
		line("field", fmt.Sprintf("%s %s %d", f.Name, f.Descriptor, f.Modifiers))
		line("type", f.Type())
		line("annotations", annotationText(f.Annotations))
	}
	if c.Modifiers&(Interface|Abstract) == 0 && slices.ContainsFunc(c.Interfaces, func(i string) bool { return slices.Contains(optimizers, i) }) {
		registered := unknown
		if names, err := types.RegisteredClasses(name); err == nil {
			registered = words(names)
		}
		line("registered", registered)
	}
	s, err := types.ObjectStream(name)
	if err != nil {
		return nil, err
	}
	line("stream", fmt.Sprint(s.Serializable, s.Externalizable, s.WriteObject, s.ReadObject, s.ReadObjectNoData, s.WriteReplace, s.ReadResolve))
	if s.SerialVersionUIDKnown {
		line("uid", s.SerialVersionUID)
	} else {
		line("uid", unknown)
	}
	line("array", ArraySerialVersionUID("[L"+name+";", c.Modifiers))
	written := ""
	for _, f := range s.Fields() {
		written += f.Name + " " + f.Descriptor + " "
	}
	if !s.FieldsKnown() {
		written = unknown
	}
	line("written", written)
	return lines, nil
}

func annotationText(all []Annotation) string {
	s := ""
	for i := range all {
		s += "@" + all[i].Type
		for _, e := range all[i].Elements {
			s += " " + e.Name + "=" + valueText(e.Value)
		}
		s += " ;"
	}
	return s
}

func valueText(v any) string {
	switch v := v.(type) {
	case float32:
		return strconv.FormatUint(uint64(math.Float32bits(v)), 16)
	case float64:
		return strconv.FormatUint(math.Float64bits(v), 16)
	case EnumConstant:
		return v.Name
	case Annotation:
		return "@" + v.Type
	case []any:
		s := "["
		for _, e := range v {
			s += valueText(e) + ","
		}
		return s + "]"
	case string:
		return "'" + hex.EncodeToString([]byte(v))
	}
	return fmt.Sprint(v)
}

// sameAnnotations reports whether the annotations that Java found are among those of the class file, with the values that
// are written down there: Java leaves out those whose type it does not find, and has defaults, too.
func sameAnnotations(found, java string) bool {
	parts := func(s string) map[string][]string {
		m := map[string][]string{}
		for a := range strings.SplitSeq(strings.TrimSuffix(s, " ;"), " ;") {
			words := strings.Fields(a)
			if len(words) > 0 {
				m[words[0]] = words[1:]
			}
		}
		return m
	}
	own := parts(found)
	for name, values := range parts(java) {
		written, ok := own[name]
		if !ok {
			return false
		}
		for _, w := range written {
			key := w[:strings.Index(w, "=")+1]
			if slices.ContainsFunc(values, func(s string) bool { return strings.HasPrefix(s, key) }) && !slices.Contains(values, w) {
				return false
			}
		}
	}
	return true
}
