package fury

import (
	"cmp"
	"slices"
	"strings"
	"sync/atomic"

	"dubbo-wire/internal/decode/classfile"
	"dubbo-wire/internal/decode/steps"
)

// plan is how the objects of a class of the class path are written.
type plan struct {
	fields []field
	// untagged are the same as consistent mode writes them, if numbered: in compatible mode of 0.10, for a class with a number.
	untagged []field
	numbered bool
	// missing is a class that was not found: a superclass, or that of a field, whose place depends on it.
	missing string
	// sections are the classes of an object that is written class by class, or that a container's elements follow, the topmost first.
	sections []section
	// writes is what writeExternal writes, nil if that is not known.
	writes []steps.Step
	// wraps is the field with the collection or map that an object of the JDK is shown as, "" for others. If wrapsKeys, the keys of that
	// map are.
	wraps     string
	wrapsKeys bool
	// again is how an object is written that writeReplace returned itself.
	again layout
}

// section is what one class of the hierarchy writes.
type section struct {
	class  *class
	fields []field
	// custom: the class has a writeObject, which writes steps; nil if these are not known.
	custom bool
	steps  []steps.Step
	// listed are the fields that writeFields writes, if they are not those of the class.
	listed []field
}

// field is a field as it is written.
type field struct {
	name string // as it is shown
	own  string // as it was declared
	by   string // the class that declares it
	typ  string // its descriptor
	is   *declared
	tag  uint64
	// index is that of its values: decode.Undeclared if the class path does not have it.
	index int
	// wireType is the name of the type in the definition of the class, if that says it.
	wireType string
	wireID   int // its number, -1 if it has none
	step     *step
}

// declared is what a declared type says of the values that stand where it was declared.
type declared struct {
	class *class
	prim  layout // of a primitive type, else unknown
	size  int
	// final: no class is written. tracked: values have a number.
	final, tracked bool
	// generated: code that is generated for the class with the field writes them.
	generated bool
	// elem is what holds for elements or keys, value for values.
	elem, value *declared
	// raw is what the class alone says, without type arguments; for keys and values.
	raw *declared
	// accepted is the class that was found last to be one that the type allows; readers share it. It may be nil.
	accepted *atomic.Pointer[class]
}

// Groups of fields, in the order in which they are written.
const (
	primitiveGroup = iota
	boxedGroup
	finalGroup
	otherGroup
	collectionGroup
	mapGroup
)

// fieldsOf returns the plan of a class.
func (c *class) fieldsOf() *plan {
	m := c.model
	m.once.Do(func() { m.plan = m.in.newPlan(c) })
	return &m.plan
}

func (l *library) newPlan(c *class) (p plan) {
	chain, missing, err := l.types.Chain(c.name)
	if err != nil || missing != "" {
		p.missing = cmp.Or(missing, c.name)
		return p
	}
	as := c.layout
	p.wraps, p.wrapsKeys = steps.Wrapped(l.types, c.name)
	if as == replaceable {
		stream, err := l.types.ObjectStream(c.name)
		if err != nil {
			p.missing = c.name
			return p
		}
		as = l.own(c, stream, chain)
		p.again = as
	}
	switch as {
	case object:
		p.fields, p.missing = l.fields(chain, l.tags)
		if p.numbered = l.share && p.missing == "" && !l.isContainer(c.name); p.numbered {
			p.untagged, p.missing = l.fields(chain, false)
		}
	case streamed:
		l.sections(c, &p, chain)
	case childList, childMap:
		l.slots(&p, chain)
	case external:
		p.writes = steps.Followed(l.types, c.name, classfile.WriteExternal)
	}
	return p
}

// isContainer reports whether a class is a collection or a map.
func (l *library) isContainer(name string) bool {
	collection, _ := l.types.Is(name, "java.util.Collection")
	mapping, _ := l.types.Is(name, "java.util.Map")
	return collection || mapping
}

// slots makes the sections of a subclass of a collection or map of the JDK.
func (l *library) slots(p *plan, chain []*classfile.Class) {
	for _, c := range chain {
		if childLists[c.Name] || childMaps[c.Name] {
			break
		}
		s := section{class: l.class(c.Name)}
		if s.fields, p.missing = l.fields([]*classfile.Class{c}, l.tags); p.missing != "" {
			return
		}
		p.sections = append(p.sections, s)
	}
	slices.Reverse(p.sections)
}

// sections makes the sections of an object that ObjectStreamSerializer writes. Their fields have tags in each mode.
func (l *library) sections(c *class, p *plan, chain []*classfile.Class) {
	for _, d := range chain {
		stream, err := l.types.ObjectStream(d.Name)
		if err != nil || stream.Incomplete != "" {
			p.missing = d.Name
			return
		}
		if !stream.Serializable {
			break
		}
		s := section{class: l.class(d.Name), custom: stream.WriteObject}
		if s.fields, p.missing = l.fields([]*classfile.Class{d}, true); p.missing != "" {
			return
		}
		for i := range s.fields { // the types of collections are not looked at
			if is := s.fields[i].is; is.elem != nil {
				plain := *is
				plain.elem, plain.value = nil, nil
				s.fields[i].is = &plain
			}
		}
		if s.custom {
			if s.steps = steps.OfJDK(d.Name); s.steps != nil {
				c.model.form = max(c.model.form, formOf(s.steps))
			} else {
				s.steps = steps.Followed(l.types, d.Name, classfile.WriteObject)
			}
			if d.PersistentFields {
				for _, f := range stream.Fields() {
					s.listed = append(s.listed, l.newField(d, f, false))
				}
				sortByTag(s.listed)
			}
		}
		p.sections = append(p.sections, s)
	}
	slices.Reverse(p.sections)
}

// fields returns the fields of some classes, of which the first one is the class itself, in the order in which they are written.
func (l *library) fields(chain []*classfile.Class, tags bool) (fields []field, missing string) {
	count := map[string]int{}
	for _, c := range chain {
		for i := range c.Fields {
			if f := &c.Fields[i]; isWritten(f) {
				count[f.Name]++
			}
		}
	}
	seen := map[string]bool{}
	for _, c := range chain {
		for i := range c.Fields {
			f := &c.Fields[i]
			if !isWritten(f) {
				continue
			}
			g := l.newField(c, f, count[f.Name] > 1)
			if !tags {
				g.tag = 0
			} else if count[f.Name] == 1 {
				g.tag = tagOf(&g, f.Name)
			}
			if seen[f.Name] {
				g.name = simpleName(c.Name) + "#" + f.Name
			}
			if g.is.class != nil && g.is.class.unsure && !tags {
				missing = cmp.Or(missing, g.is.class.name)
			}
			fields = append(fields, g)
		}
		for i := range c.Fields {
			seen[c.Fields[i].Name] = true
		}
	}
	if tags {
		sortByTag(fields)
	} else {
		slices.SortStableFunc(fields, l.compare)
	}
	addSteps(fields)
	return fields, missing
}

func sortByTag(fields []field) {
	slices.SortStableFunc(fields, func(a, b field) int { return cmp.Compare(a.tag, b.tag) })
}

// lambdaFields returns the fields of SerializedLambda in the order of Fury, and in that which Fory has in compatible mode; nil if the class
// is not known.
func (l *library) lambdaFields(c *class) (fury, fory []field) {
	l.lambda.Do(func() {
		chain, _, err := l.types.Chain(c.name)
		if err != nil {
			return
		}
		fields, missing := l.fields(chain, false)
		if missing != "" {
			return
		}
		numbered := slices.Clone(fields)
		for i := range numbered {
			if f := &numbered[i]; f.is.class != nil {
				f.wireID = f.is.class.id
			} else {
				f.wireID = f.registered()
			}
		}
		l.numberTypes(numbered)
		l.lambdaFury, l.lambdaFory = fields, numbered
	})
	return l.lambdaFury, l.lambdaFory
}

func isWritten(f *classfile.Field) bool {
	if f.Modifiers&(classfile.Static|classfile.Transient) != 0 {
		return false
	}
	return !slices.ContainsFunc(f.Annotations, func(a classfile.Annotation) bool {
		return strings.HasSuffix(a.Type, ".Ignore") && (strings.Contains(a.Type, "fury") || strings.Contains(a.Type, "fory"))
	})
}

// newField returns how a field is written. hidden: another class of the hierarchy has a field with its name.
func (l *library) newField(c *classfile.Class, f *classfile.Field, hidden bool) field {
	g := field{name: f.Name, own: f.Name, by: c.Name, typ: f.Descriptor}
	if len(f.Descriptor) == 1 {
		g.is = primitiveTypes[f.Descriptor[0]]
	} else {
		g.is = l.declare(f.Type(), c, 0)
		if own := l.describe(f.Descriptor); own != g.is.class { // a type variable
			d := *g.is
			d.class, d.final, d.tracked = own, own.final, own.isTracked()
			g.is = &d
		}
	}
	if hidden {
		g.tag = tagOf(&g, c.Name+"#"+f.Name)
	} else {
		g.tag = tagOf(&g, f.Name)
	}
	return g
}

// primitiveTypes are the primitive types by their descriptors.
var primitiveTypes = map[byte]*declared{
	'Z': {prim: boolean, size: 1}, 'B': {prim: int8s, size: 1}, 'C': {prim: char, size: 2}, 'S': {prim: int16s, size: 2},
	'I': {prim: zigzag, size: 4}, 'F': {prim: float, size: 4}, 'J': {prim: tagged64, size: 8}, 'D': {prim: double, size: 8},
}

// maxDeclared bounds the nesting of type arguments that are looked at.
const maxDeclared = 8

// declare returns what a type says that is declared in a class.
func (l *library) declare(t *classfile.Type, in *classfile.Class, depth int) *declared {
	t = l.bound(t, in)
	name := "java.lang.Object"
	switch t.Kind {
	case classfile.Object:
		name = t.Name
	case classfile.Array:
		name = l.arrayName(t, in)
	}
	d := &declared{class: l.class(name), generated: isGenerated(in), accepted: new(atomic.Pointer[class])}
	d.final, d.tracked = d.class.final, d.class.isTracked()
	if t.Kind != classfile.Object || depth == maxDeclared {
		return d
	}
	if args := l.arguments(t, "java.util.Map", 2, 0); args != nil {
		d.elem, d.value = l.declare(args[0], in, depth+1), l.declare(args[1], in, depth+1)
		if l.tags && depth == 0 {
			d.elem.raw, d.value.raw = l.rawType(d.elem, in), l.rawType(d.value, in)
		}
	} else if args := l.arguments(t, "java.util.Collection", 1, 0); args != nil {
		d.elem = l.declare(args[0], in, depth+1)
	}
	return d
}

// rawType returns what the class of a key or of a value says without type arguments.
func (l *library) rawType(d *declared, in *classfile.Class) *declared {
	if d.class == nil || d.class.name[0] == '[' {
		return d
	}
	return l.declare(&classfile.Type{Kind: classfile.Object, Name: d.class.name}, in, 1)
}

// isGenerated reports whether Fury generates code for a class: not for inner classes, which are not static.
func isGenerated(c *classfile.Class) bool {
	return c.Outer == "" && !c.Local || c.Modifiers.Has(classfile.Static)
}

// bound returns a type, or what a type variable or wildcard extends at least.
func (l *library) bound(t *classfile.Type, in *classfile.Class) *classfile.Type {
	for range maxDeclared {
		switch t.Kind {
		case classfile.Extends:
			t = t.Elem
		case classfile.Wildcard, classfile.Super:
			return objectType
		case classfile.Variable:
			b := l.variable(t.Name, in)
			if b == nil {
				return objectType
			}
			t = b
		default:
			return t
		}
	}
	return objectType
}

var objectType = &classfile.Type{Kind: classfile.Object, Name: "java.lang.Object"}

// variable returns the first bound of a type variable of a class or of the classes around it.
func (l *library) variable(name string, in *classfile.Class) *classfile.Type {
	for range maxDeclared {
		if in.Generic != nil {
			for _, p := range in.Generic.Parameters {
				if p.Name == name {
					if len(p.Bounds) > 0 {
						return p.Bounds[0]
					}
					return nil
				}
			}
		}
		if in.Outer == "" {
			return nil
		}
		outer, err := l.types.Class(in.Outer)
		if err != nil {
			return nil
		}
		in = outer
	}
	return nil
}

// arrayName returns the JVM name of an array type.
func (l *library) arrayName(t *classfile.Type, in *classfile.Class) string {
	dims := 0
	for t.Kind == classfile.Array {
		dims++
		if t = t.Elem; t.Kind != classfile.Array {
			t = l.bound(t, in)
		}
	}
	if base := t.Descriptor(); base != "" {
		return strings.Repeat("[", dims) + strings.ReplaceAll(base, "/", ".")
	}
	return "[Ljava.lang.Object;"
}

// arguments returns the type arguments that a type has as one of the JDK with n parameters, nil if it is not one.
func (l *library) arguments(t *classfile.Type, as string, n, depth int) []*classfile.Type {
	if is, err := l.types.Is(t.Name, as); !is || err != nil || depth == maxDeclared {
		return nil
	}
	objects := []*classfile.Type{objectType, objectType}[:n]
	if isJDK(t.Name) {
		if len(t.Args) == n {
			return t.Args
		}
		return objects
	}
	c, err := l.types.Class(t.Name)
	if err != nil || c.Generic == nil {
		if err == nil {
			for _, super := range append([]string{c.Super}, c.Interfaces...) {
				if super == "" {
					continue
				}
				if args := l.arguments(&classfile.Type{Kind: classfile.Object, Name: super}, as, n, depth+1); args != nil {
					return args
				}
			}
		}
		return objects
	}
	bind := map[string]*classfile.Type{}
	for i, p := range c.Generic.Parameters {
		switch {
		case len(t.Args) == len(c.Generic.Parameters):
			bind[p.Name] = t.Args[i]
		case len(p.Bounds) > 0:
			bind[p.Name] = p.Bounds[0]
		default:
			bind[p.Name] = objectType
		}
	}
	for _, super := range append([]*classfile.Type{c.Generic.Super}, c.Generic.Interfaces...) {
		if super == nil {
			continue
		}
		if args := l.arguments(substitute(super, bind, 0), as, n, depth+1); args != nil {
			return args
		}
	}
	return objects
}

// substitute replaces the type variables of a type.
func substitute(t *classfile.Type, bind map[string]*classfile.Type, depth int) *classfile.Type {
	if depth > maxDeclared {
		return objectType
	}
	switch t.Kind {
	case classfile.Variable:
		if b := bind[t.Name]; b != nil {
			return b
		}
	case classfile.Object:
		if len(t.Args) == 0 {
			return t
		}
		u := *t
		u.Args = make([]*classfile.Type, len(t.Args))
		for i, a := range t.Args {
			u.Args[i] = substitute(a, bind, depth+1)
		}
		return &u
	case classfile.Array, classfile.Extends, classfile.Super:
		u := *t
		u.Elem = substitute(t.Elem, bind, depth+1)
		return &u
	}
	return t
}

// isTracked reports whether values that are declared with a class have numbers.
func (c *class) isTracked() bool {
	switch c.layout {
	case str, date, timestamp, javaTime:
		return false
	case constant:
		return c.model.file == nil || !c.model.file.IsEnum()
	}
	return !c.isBox()
}

// isBox reports whether a class is that of a boxed number or boolean.
func (c *class) isBox() bool { return c.id >= firstBox && c.id < firstBox+len(primitiveLayouts) }

// group returns the group of a field in consistent mode.
func (l *library) group(f *field) int {
	switch c := f.is.class; {
	case c == nil:
		return primitiveGroup
	case c.isBox():
		return boxedGroup
	case c.name[0] == '[' && c.final:
		return finalGroup
	case c.name[0] == '[':
		return otherGroup
	default:
		if is, _ := l.types.Is(c.name, "java.util.Collection"); is {
			return collectionGroup
		}
		if is, _ := l.types.Is(c.name, "java.util.Map"); is {
			return mapGroup
		}
		if c.final {
			return finalGroup
		}
	}
	return otherGroup
}

// compare is the order in which DescriptorGrouper sorts fields: by group, in the first ones by size, then by type and name.
func (l *library) compare(a, b field) int {
	ga, gb := l.group(&a), l.group(&b)
	if ga != gb {
		return cmp.Compare(ga, gb)
	}
	if ga <= boxedGroup {
		sa, sb := a.scalar(), b.scalar()
		ca, cb := sa.isCompressed(), sb.isCompressed()
		switch {
		case ca && !cb:
			return 1
		case cb && !ca:
			return -1
		case sizes[sa] != sizes[sb]:
			return cmp.Compare(sizes[sb], sizes[sa])
		}
	}
	return cmp.Or(strings.Compare(a.typeName(), b.typeName()), strings.Compare(a.own, b.own), strings.Compare(a.by, b.by))
}

// foryOrder returns fields that 0.10 writes in the order in which Fory 0.11 writes them, nil if that is the same one.
func (l *library) foryOrder(fields []field) []field {
	if len(fields) == 0 {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	sorted, ok := l.fory[&fields[0]]
	if !ok {
		sorted = slices.Clone(fields)
		slices.SortStableFunc(sorted, l.compareFory)
		if slices.EqualFunc(sorted, fields, func(a, b field) bool { return a.own == b.own && a.by == b.by }) {
			sorted = nil
		}
		if len(l.fory) < maxClasses {
			l.fory[&fields[0]] = sorted
		}
	}
	return sorted
}

// compareFory is the order of Fory: numbers of the same size by the number of their type, and by a name in which _ stands before a letter
// that was in upper case.
func (l *library) compareFory(a, b field) int {
	if ga, gb := l.group(&a), l.group(&b); ga != gb || ga > boxedGroup {
		return l.compare(a, b)
	}
	sa, sb := a.scalar(), b.scalar()
	if sa.isCompressed() != sb.isCompressed() || sizes[sa] != sizes[sb] {
		return l.compare(a, b)
	}
	return cmp.Or(cmp.Compare(foryTypes[sb], foryTypes[sa]), strings.Compare(snakeCase(a.own), snakeCase(b.own)), strings.Compare(a.by, b.by))
}

// foryTypes are the numbers that types have there.
var foryTypes = [...]int{boolean: 1, int8s: 2, char: -1, int16s: 3, zigzag: 4, float: 10, tagged64: 6, double: 11}

func snakeCase(name string) string {
	var b strings.Builder
	for i := range len(name) {
		if c := name[i]; c >= 'A' && c <= 'Z' {
			b.WriteByte('_')
			b.WriteByte(c + 'a' - 'A')
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// scalar returns the layout of a primitive or boxed field.
func (f *field) scalar() layout {
	if f.is.class != nil {
		return f.is.class.layout
	}
	return f.is.prim
}

// typeName returns what Class.getName returns for the type.
func (f *field) typeName() string {
	if f.wireType != "" {
		return f.wireType
	}
	if f.is.class != nil {
		return f.is.class.name
	}
	return primitiveNames[f.is.prim]
}

var primitiveNames = [...]string{boolean: "boolean", int8s: "byte", char: "char", int16s: "short", zigzag: "int", float: "float", tagged64: "long", double: "double"}

// sizes are those of primitive types in memory.
var sizes = [...]int{boolean: 1, int8s: 1, char: 2, int16s: 2, zigzag: 4, float: 4, tagged64: 8, double: 8}

func (l layout) isCompressed() bool { return l == zigzag || l == tagged64 }

// simpleName returns what Class.getSimpleName does for a class that has a name in the source.
func simpleName(class string) string { return class[strings.LastIndexAny(class, ".$")+1:] }

// formOf returns how a class of the JDK with these steps is shown.
func formOf(all []steps.Step) form {
	for i := range all {
		switch len(all[i].Body) {
		case 1:
			return ofElements
		case 2:
			return ofEntries
		}
	}
	return ofFields
}
