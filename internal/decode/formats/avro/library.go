package avro

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"unicode/utf16"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/avroschema"
	"dubbo-wire/internal/decode/classfile"
	"dubbo-wire/internal/decode/classpath"
)

// This file is Avro's ReflectData: the schema that it makes of a class. Where it throws an exception no value can be written.

// library is the classes of one side's class path as a release of Avro writes them. Readers share it.
type library struct {
	path  *classpath.Path
	types *classfile.Types
	order order

	mu         sync.Mutex
	classes    map[string]*schema
	candidates map[string][]*schema
	asked      map[string]bool
}

// Bounds of a library: the classes that it keeps, the classes that a value of a type may have.
const (
	maxClasses    = 1 << 14
	maxCandidates = 64
	maxSubtypes   = 1 << 10
)

func newLibrary(p *classpath.Path, s decode.Side, o order) *library {
	return &library{
		path: p, types: p.Types(s), order: o,
		classes: map[string]*schema{}, candidates: map[string][]*schema{}, asked: map[string]bool{},
	}
}

// releaseOf returns the order of the release of Avro that the class path has; known is false if it has none.
func releaseOf(types *classfile.Types) (o order, known bool) {
	if _, err := types.Class("org.apache.avro.reflect.ReflectData"); err != nil {
		return declared, false
	}
	if _, err := types.Class("org.apache.avro.reflect.AvroAliases"); err == nil { // has come with the order
		return sorted, true
	}
	return declared, true
}

// valuesOf returns the schemas that a value declared with a descriptor may have: those of the class and of what extends or
// implements it. Values that cannot be written have none. ok is false if the class path does not tell; lacks is what is unknown then, if that is
// a part of a schema.
func (l *library) valuesOf(typ string) (list []*schema, lacks *schema, ok bool) {
	elem := strings.TrimLeft(typ, "[")
	dimensions := len(typ) - len(elem)
	if len(elem) < 3 || elem[0] != 'L' || dimensions > maxDimensions {
		return nil, nil, false
	}
	name := strings.ReplaceAll(elem[1:len(elem)-1], "/", ".")
	l.mu.Lock()
	defer l.mu.Unlock()
	list, known := l.candidates[typ]
	if !known {
		list = l.findValues(name, elem, dimensions)
		if len(l.candidates) < maxClasses {
			l.candidates[typ] = list
		}
	}
	if list == nil {
		return nil, nil, false
	}
	for _, s := range list {
		if lacks = s.incomplete; lacks != nil {
			l.ask(cmp.Or(lacks.class, name), lacks.class == "")
			return nil, lacks, false
		}
	}
	l.ask(name, true)
	return list, nil, true
}

// ask notes that bodies have objects of a class.
func (l *library) ask(name string, found bool) {
	if !l.asked[name] && len(l.asked) < maxClasses && !isJava(name) {
		l.asked[name] = true
		l.path.Asked(name, found)
	}
}

func (l *library) findValues(name, elem string, dimensions int) []*schema {
	if name == "java.util.Map" && dimensions == 0 {
		return l.maps()
	}
	if isJava(name) {
		return nil
	}
	names := []string{name}
	given := l.path.AvroSchema(name) != nil
	of, err := l.types.Class(name)
	switch {
	case err != nil && !given:
		return []*schema{finished(&schema{kind: unknown, class: name})}
	case err == nil && !of.Modifiers.Has(classfile.Final):
		below, err := l.types.Subtypes(name)
		if err != nil || len(below) > maxCandidates {
			return nil
		}
		names = append(names, below...)
	}
	list := []*schema{}
	for _, n := range names {
		c, err := l.types.Class(n)
		abstract := err == nil && (c.IsInterface() || c.Modifiers.Has(classfile.Abstract) && !c.IsEnum())
		body := err == nil && c.Modifiers.Has(classfile.Enum) && !c.IsEnum() // of a constant
		if abstract && dimensions == 0 || body {
			continue
		}
		s := l.class(n)
		if dimensions > 0 {
			s = arrayOf(s, elem, dimensions)
		}
		if s = finished(s); !s.impossible || s.incomplete != nil {
			list = append(list, s)
		}
	}
	return list
}

// maps returns what a map can be: without bytes, or with the fields that a map of the application has.
func (l *library) maps() []*schema {
	list := []*schema{voids}
	own, ok := l.below("java.util.Map")
	if !ok {
		return nil
	}
	return append(list, own...)
}

// throwables returns the exceptions of the application that have fields. ok is false if they are too many.
func (l *library) throwables() (list []*schema, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	const name = "java.lang.Throwable"
	list, known := l.candidates[name]
	if !known {
		all, ok := l.below(name)
		for _, s := range all {
			if ok && s.kind == record && len(s.fields) > 1 {
				list = append(list, s)
			}
		}
		l.candidates[name] = list
	}
	return list, len(list) <= maxCandidates
}

// below returns the schemas with bytes of the classes that extend or implement one of Java's; ok is false if they are not known.
func (l *library) below(name string) (list []*schema, ok bool) {
	names, err := l.types.Subtypes(name)
	if err != nil || len(names) > maxSubtypes {
		return nil, false
	}
	for _, n := range names {
		c, err := l.types.Class(n)
		if err != nil || c.IsInterface() || c.Modifiers.Has(classfile.Abstract) {
			continue
		}
		s := finished(l.class(n))
		switch {
		case s.incomplete != nil:
			return nil, false
		case !s.impossible && s.kind != nothing && !(s.kind == record && len(s.fields) == 0):
			list = append(list, s)
		}
	}
	return list, len(list) <= maxCandidates
}

func finished(s *schema) *schema {
	s.finish()
	return s
}

// isJava reports whether Avro looks for fields in a class.
func isJava(name string) bool { return strings.HasPrefix(name, "java.") }

func cannot(why string) *schema { return &schema{kind: never, why: why} }

// typed returns the schema of a declared type.
func (l *library) typed(t *classfile.Type) *schema {
	switch t.Kind {
	case classfile.Primitive:
		return builtin[t.Descriptor()]
	case classfile.Array:
		if t.Elem.Kind == classfile.Primitive && t.Elem.Name == "byte" {
			return blobs
		}
		return &schema{kind: array, elem: l.typed(t.Elem)}
	case classfile.Object:
		if len(t.Args) == 0 {
			return l.class(t.Name)
		}
		switch l.kindOf(t.Name, "java.util.Map", "java.util.Collection") {
		case "":
			return &schema{kind: unknown, class: t.Name}
		case "java.util.Map":
			return l.mapped(t.Args)
		case "java.util.Collection":
			if len(t.Args) != 1 {
				return cannot("no type of elements")
			}
			return &schema{kind: array, elem: l.typed(t.Args[0])}
		}
		return l.class(t.Name)
	}
	return cannot("a type variable or a wildcard")
}

// kindOf returns which of some types a class extends or implements, "-" for none, "" if that is not known.
func (l *library) kindOf(name string, types ...string) string {
	for _, of := range types {
		switch is, err := l.types.Is(name, of); {
		case is:
			return of
		case err != nil:
			return ""
		}
	}
	return "-"
}

// mapped returns the schema of a map with type arguments.
func (l *library) mapped(args []*classfile.Type) *schema {
	if len(args) < 2 || args[0].Kind == classfile.Primitive || args[0].Kind > classfile.Array || len(args[0].Args) > 0 {
		return cannot("keys without a class")
	}
	key := l.typed(args[0])
	if key.kind == str || key.kind == number {
		if args[0].Name != "java.lang.String" && l.kindOf(args[0].Name, "java.lang.CharSequence") == "java.lang.CharSequence" {
			return &schema{kind: pairs, key: key, elem: l.typed(args[1])}
		}
		return &schema{kind: mapping, key: key, elem: l.typed(args[1])}
	}
	return &schema{kind: pairs, key: key, elem: l.typed(args[1])}
}

func textOf(class string) *schema { return &schema{kind: str, class: class} }

// boxes are classes of Java whose values are written by their content.
var boxes = map[string]*schema{
	"java.lang.Byte": bytes1, "java.lang.Short": shorts, "java.lang.Character": chars, "java.lang.Integer": ints, "java.lang.Long": longs,
	"java.lang.Float": floats, "java.lang.Double": doubles, "java.lang.Boolean": booleans, "java.lang.Void": nulls,
	"java.math.BigDecimal": numbers, "java.math.BigInteger": numbers, "java.lang.String": texts, "java.lang.CharSequence": texts, "java.net.URI": textOf("java.net.URI"),
	"java.net.URL": textOf("java.net.URL"), "java.io.File": textOf("java.io.File"), "java.lang.StringBuilder": textOf("java.lang.StringBuilder"),
	"java.lang.StringBuffer": textOf("java.lang.StringBuffer"),
}

// class returns the schema of a class.
func (l *library) class(name string) *schema {
	if s := boxes[name]; s != nil {
		return s
	}
	if s := l.classes[name]; s != nil {
		return s
	}
	s := &schema{kind: unknown, class: name}
	if len(l.classes) < maxClasses {
		l.classes[name] = s // it may contain itself
		l.define(s, name)
	}
	return s
}

// define fills in the schema of a class.
func (l *library) define(s *schema, name string) {
	if given := l.path.AvroSchema(name); given != nil {
		*s = *newConversion().schema(given)
		return
	}
	c, err := l.types.Class(name)
	if err != nil {
		return
	}
	if a := annotation(c.Annotations, "AvroSchema"); a != nil {
		*s = *parsed(a)
		return
	}
	switch { // their superclasses are Avro's own, which need not be in the class path
	case l.isSpecific(c):
		l.specific(s, c)
		return
	case c.Super == "org.apache.avro.specific.SpecificFixed":
		l.fixed(s, c)
		return
	}
	switch l.kindOf(name, "java.lang.CharSequence", "java.nio.ByteBuffer", "java.util.Collection") {
	case "":
		return
	case "java.lang.CharSequence":
		*s = *textOf(name)
		return
	case "java.nio.ByteBuffer":
		*s = schema{kind: raw}
		return
	case "java.util.Collection":
		*s = *cannot("a collection without a type of elements")
		return
	}
	switch {
	case isJava(name) && !c.IsEnum():
		if *s = (schema{kind: nothing, class: name}); l.kindOf(name, "java.lang.Throwable") != "-" {
			*s = schema{kind: record, class: name, fields: []field{{"detailMessage", maybeText}}}
		}
	case annotation(c.Annotations, "Union") != nil:
		l.union(s, annotation(c.Annotations, "Union"))
	case annotation(c.Annotations, "Stringable") != nil:
		*s = *textOf(name)
	case c.IsEnum():
		*s = schema{kind: enum, class: name, symbols: c.Constants(), own: !isJava(name)}
	case l.kindOf(name, "org.apache.avro.generic.GenericFixed") == "org.apache.avro.generic.GenericFixed":
		l.fixed(s, c)
	default:
		l.record(s, c)
	}
}

// isSpecific reports whether a class was generated from a schema.
func (l *library) isSpecific(c *classfile.Class) bool {
	const generated = "org.apache.avro.specific.SpecificRecord"
	if c.Super == generated+"Base" || slices.Contains(c.Interfaces, generated) {
		return true
	}
	is, err := l.types.Is(c.Name, "org.apache.avro.generic.IndexedRecord")
	return is && err == nil
}

// specific finds the schema that a generated class has as a text, or as several that it joins.
func (l *library) specific(s *schema, c *classfile.Class) {
	all, err := l.types.Strings(c.Name)
	if err != nil {
		return
	}
	tries := 0
	for i, text := range all {
		if !strings.HasPrefix(text, "{") {
			continue
		}
		for _, more := range append([]string{""}, all[i+1:]...) {
			if text += more; len(text) > maxSchemaText || tries == maxSchemaTries {
				break
			}
			tries++
			found, _, err := avroschema.Parse([]byte(text))
			if err == nil && found.ClassName() == c.Name {
				*s = *newConversion().schema(found)
				return
			}
			if err == nil {
				break
			}
		}
	}
	*s = schema{kind: unknown, why: "what the schema in the field SCHEMA$ of class " + c.Name + " says"}
}

// Bounds of the search for a schema that a class joins: javac makes constants of at most 65,535 bytes.
const (
	maxSchemaText  = 1 << 20
	maxSchemaTries = 64
)

func (l *library) fixed(s *schema, c *classfile.Class) {
	for i := range c.Annotations {
		if a := &c.Annotations[i]; a.Type == "org.apache.avro.specific.FixedSize" {
			if n, ok := a.Get("value").(int32); ok && n >= 0 {
				*s = schema{kind: fixed, class: c.Name, size: int(n), own: true}
				return
			}
		}
	}
	*s = *cannot("no size")
}

// union returns the schema of the classes that an annotation names.
func (l *library) union(s *schema, a *classfile.Annotation) {
	all, _ := a.Get("value").([]any)
	s.kind = union
	u := schema{kind: union}
	for _, v := range all {
		t, ok := v.(*classfile.Type)
		if !ok {
			*s = *cannot("a union of something else than classes")
			return
		}
		branch := nulls
		if t.Name != "void" {
			branch = l.typed(t)
		}
		if branch.kind == union {
			*s = *cannot("a union in a union")
			return
		}
		u.branches = append(u.branches, branch)
	}
	*s = u
}

// record finds the fields of a class: its own ones before those of its superclasses.
func (l *library) record(s *schema, c *classfile.Class) {
	chain, missing, err := l.types.Chain(c.Name)
	if err != nil || missing != "" {
		*s = schema{kind: unknown, class: cmp.Or(missing, c.Name)}
		return
	}
	own := schema{kind: record, class: c.Name, own: true}
	s.kind, s.own = record, true
	seen := map[string]bool{}
	throwable := false
	for _, of := range chain {
		throwable = throwable || of.Name == "java.lang.Throwable"
		if isJava(of.Name) {
			continue // they are the last ones
		}
		fields := make([]*classfile.Field, 0, len(of.Fields))
		for i := range of.Fields {
			if f := &of.Fields[i]; f.Modifiers&(classfile.Static|classfile.Transient) == 0 {
				fields = append(fields, f)
			}
		}
		byName := func(a, b *classfile.Field) int { return compareNames(a.Name, b.Name) }
		if !slices.IsSortedFunc(fields, byName) {
			own.reordered = true
			if l.order == sorted {
				slices.SortStableFunc(fields, byName)
			}
		}
		for _, f := range fields {
			name, ignored := f.Name, annotation(f.Annotations, "AvroIgnore") != nil
			if !ignored {
				if a := annotation(f.Annotations, "AvroName"); a != nil {
					if given, ok := a.Get("value").(string); ok {
						name = given
					}
				}
				own.fields = append(own.fields, field{f.Name, l.field(f)})
			}
			if seen[f.Name] || !ignored && strings.ContainsRune(name, '$') {
				*s = *cannot("two fields of one name, or a field of the compiler")
				return
			}
			seen[f.Name] = true
		}
	}
	if throwable {
		own.fields = append(own.fields, field{"detailMessage", maybeText})
	}
	if len(own.fields) == 0 && (c.IsInterface() || c.Modifiers.Has(classfile.Abstract)) {
		own = schema{kind: nothing, class: c.Name}
	}
	*s = own
}

// compareNames compares names as String.compareTo does, by UTF-16 units.
func compareNames(a, b string) int {
	return slices.Compare(utf16Of(a), utf16Of(b))
}

// field returns the schema of a field.
func (l *library) field(f *classfile.Field) *schema {
	primitive := builtin[f.Descriptor]
	if len(f.Descriptor) > 1 {
		primitive = nil
	}
	var s *schema
	switch encode, explicit := annotation(f.Annotations, "AvroEncode"), annotation(f.Annotations, "AvroSchema"); {
	case encode != nil:
		if by, ok := encode.Get("using").(*classfile.Type); ok && by.Name == "org.apache.avro.reflect.DateAsLongEncoding" {
			return dates
		}
		return &schema{kind: unknown, why: "what the annotation @AvroEncode of field " + f.Name + " names"}
	case explicit != nil:
		s = parsed(explicit)
	case annotation(f.Annotations, "Union") != nil:
		s = &schema{}
		l.union(s, annotation(f.Annotations, "Union"))
	default:
		s = l.typed(f.Type())
		if t := f.Type(); annotation(f.Annotations, "Stringable") != nil && s.kind != never && s.kind != str && s.kind != number {
			s = texts
			if t.Kind == classfile.Object && boxes[t.Name] == nil {
				s = textOf(t.Name)
			}
		}
		if annotation(f.Annotations, "Nullable") != nil && s.kind != never {
			s = nullable(s)
		}
	}
	if primitive != nil && s.kind != union { // such a field is written by its type, whatever its schema
		return primitive
	}
	return s
}

// annotation returns an annotation of Avro's, nil if there is none.
func annotation(all []classfile.Annotation, name string) *classfile.Annotation {
	for i := range all {
		if all[i].Type == "org.apache.avro.reflect."+name {
			return &all[i]
		}
	}
	return nil
}

// utf16Of returns the UTF-16 units of a text.
func utf16Of(s string) []uint16 { return utf16.Encode([]rune(s)) }
