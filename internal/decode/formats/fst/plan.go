package fst

import (
	"cmp"
	"slices"
	"strings"

	"dubbo-wire/internal/decode/classfile"
	"dubbo-wire/internal/decode/steps"
)

// plan is how FST writes the objects of a class of the class path.
type plan struct {
	form form
	// fields are those of the whole hierarchy in the order of writing. A class with emulation has them in its sections.
	fields []field
	// sections are the serializable classes of the hierarchy, the topmost first.
	sections []section
	// emulated: the object is written as java.io.ObjectOutputStream would, in sections, and never without its class.
	emulated bool
	// wraps is the field with the collection or map that stands for an object of the JDK, such as a synchronized list. If
	// wrapsKeys, the keys of that map do.
	wraps     string
	wrapsKeys bool
	// missing is a superclass that was not found, so that the fields are not known.
	missing string
	// written is what writeExternal writes, nil if that is not known.
	written []steps.Step
	// constants are the names of an enum's constants by ordinal.
	constants []string
}

type form uint8

const (
	ofFields   form = iota // an object: fields
	ofElements             // a list: sections with elements among them
	ofEntries              // a map: sections with entries among them
	external               // what writeExternal wrote
	constant               // of an enum
	abstract               // an interface or an abstract class: it has no objects
	notKnown               // a superclass is missing
)

// field is a field of an object.
type field struct {
	name string // as it is shown: of hidden fields with the class, Base#name
	own  string // as it was declared
	kind kind
	// declared is the class of the field, as Class.getName returns it, and simple its name without package and outer class.
	declared, simple string
	by               string // the class that declares the field
	version          byte
	conditional      bool // its length comes before it
	// oneOf are texts that are written as a number, and predicted classes that are.
	oneOf     []string
	predicted []string
	throwable bool // the cause of an exception
	// thin and compressed are the annotations of FST 1 that write arrays and texts in other forms.
	thin, compressed bool
	anything         bool // the declared class is not known

	class    *class // of declared, when it was needed
	accepted string // the class of a value that fits
	fitted   *class // the last class that did
	usual    usual
	// list is how a collection of the class fitted begins after its tag, 0 if the class is not one or none came. constants are how many
	// ordinals of one byte the class has, 0 if it is not an enum.
	list, constants byte
	top             bool   // it is none: a top-level value has that declared class
	elements        *field // what holds for the elements of an array
}

// kind says how a field is written.
type kind uint8

const (
	reference kind = iota
	booleanField
	byteField
	charField
	shortField
	intField
	longField
	floatField
	doubleField
)

var kinds = map[string]kind{
	"Z": booleanField, "B": byteField, "C": charField, "S": shortField, "I": intField, "J": longField, "F": floatField, "D": doubleField,
}

// section is what one class writes in emulation.
type section struct {
	class  string
	fields []field
	// custom: the class has a writeObject, which writes steps; nil if these are not known.
	custom bool
	steps  []steps.Step
	// asymmetric: writeFields writes the fields as defaultWriteObject does, since there is no readObject.
	asymmetric bool
}

// annotation returns FST's annotation of that name, nil if it is not there.
func (d *dialect) annotation(all []classfile.Annotation, name string) *classfile.Annotation {
	for i := range all {
		if rest, ok := strings.CutPrefix(all[i].Type, d.annotations); ok && rest == name {
			return &all[i]
		}
	}
	return nil
}

// newPlan returns how objects of a class are written; nil if the class is not in the class path.
func newPlan(types *classfile.Types, name string, d *dialect) *plan {
	chain, missing, err := types.Chain(name)
	if err != nil || len(chain) == 0 {
		return nil
	}
	c := chain[0]
	p := new(plan)
	switch {
	case c.Modifiers.Has(classfile.Enum) && !c.IsInterface():
		p.form = constant
		if !c.IsEnum() && len(chain) > 1 { // a constant with a body
			c = chain[1]
		}
		p.constants = c.Constants()
		return p
	case missing != "":
		p.form, p.missing = notKnown, missing
		return p
	case c.Modifiers&(classfile.Interface|classfile.Abstract) != 0:
		p.form = abstract
		return p
	}
	own, err := types.ObjectStream(name)
	if err != nil {
		return nil
	}
	p.emulated = own.WriteReplace || own.ReadResolve
	if own.Externalizable && !(d.one && p.emulated) {
		p.form = external
		p.written = steps.Followed(types, name, classfile.WriteExternal)
		return p
	}
	if own.Externalizable { // FST 1 writes such an object as java.io.ObjectOutputStream would, if it was not Externalizable: without fields
		return p
	}
	streams := make([]*classfile.ObjectStream, len(chain))
	streams[0] = own
	for i := range chain {
		if i > 0 {
			if streams[i], err = types.ObjectStream(chain[i].Name); err != nil {
				return nil
			}
		}
		if s := streams[i]; s.WriteObject || s.ReadObject {
			p.emulated = true
		}
	}
	p.wraps, p.wrapsKeys = steps.Wrapped(types, name)
	if slices.ContainsFunc(chain, func(c *classfile.Class) bool { return c.Name == vector }) {
		p.wraps = vectorElements
	}
	if !p.emulated {
		for i, c := range chain {
			p.fields = append(p.fields, d.fieldsOf(types, c, func(f *classfile.Field) bool { return d.left(chain[i:], f) })...)
		}
		nameHidden(chain, p.fields)
		slices.SortFunc(p.fields, compareFields)
		return p
	}
	for i, c := range chain {
		if i > 0 && !streams[i].Serializable {
			if streams[i].Incomplete != "" {
				p.form, p.missing = notKnown, streams[i].Incomplete
			}
			break
		}
		s := section{class: c.Name, custom: streams[i].WriteObject}
		listed := persistent[c.Name]
		s.asymmetric = d.one && !streams[i].ReadObject
		s.fields = d.fieldsOf(types, c, func(f *classfile.Field) bool {
			return c.PersistentFields && !slices.Contains(listed, f.Name) || f.Modifiers.Has(classfile.Transient)
		})
		if s.custom {
			s.steps = steps.OfJDK(c.Name)
			p.form = max(p.form, formOf(s.steps))
			if s.steps == nil {
				s.steps = steps.Followed(types, c.Name, classfile.WriteObject)
			}
		}
		if c.PersistentFields && listed == nil && (len(s.steps) == 0 || s.steps[0].Op != steps.PutFields) {
			s.custom, s.steps = true, nil // its fields are not known
		}
		nameHidden(chain, s.fields)
		slices.SortFunc(s.fields, compareFields)
		p.sections = append(p.sections, s)
	}
	slices.Reverse(p.sections)
	return p
}

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

// persistent are the fields in serialPersistentFields of classes of the JDK.
var persistent = map[string][]string{
	"java.net.URL": {"authority", "file", "hashCode", "host", "port", "protocol", "ref"},
}

// left reports whether FST leaves a field out: one that is transient, or not marked Serialize in a class that is marked
// Transient itself or by a superclass. FST asks the outer classes of nested ones, by mistake only if these are superclasses.
func (d *dialect) left(chain []*classfile.Class, f *classfile.Field) bool {
	if f.Modifiers.Has(classfile.Transient) {
		return true
	}
	for _, c := range chain {
		if strings.Contains(c.Name, "$") {
			continue
		}
		if d.annotation(c.Annotations, "Transient") != nil && d.annotation(f.Annotations, "Serialize") == nil {
			return true
		}
		if strings.HasPrefix(f.Name, "this$") && d.annotation(c.Annotations, "AnonymousTransient") != nil {
			return true
		}
	}
	return false
}

// fieldsOf returns the fields that a class declares and that are written.
func (d *dialect) fieldsOf(types *classfile.Types, c *classfile.Class, left func(f *classfile.Field) bool) []field {
	var fields []field
	for i := range c.Fields {
		if f := &c.Fields[i]; !f.Modifiers.Has(classfile.Static) && !left(f) {
			fields = append(fields, d.newField(types, c.Name, f))
		}
	}
	return fields
}

func (d *dialect) newField(types *classfile.Types, by string, f *classfile.Field) field {
	x := field{name: f.Name, own: f.Name, by: by, kind: kinds[f.Descriptor], declared: className(f.Descriptor)}
	x.simple = simpleName(types, f.Descriptor)
	x.throwable = by == "java.lang.Throwable" && f.Name == "cause"
	if a := d.annotation(f.Annotations, "Version"); a != nil {
		if v, ok := a.Get("value").(int32); ok {
			x.version = byte(v)
		}
	}
	base := strings.TrimLeft(f.Descriptor, "[")
	x.conditional = kinds[base] == reference && d.annotation(f.Annotations, "Conditional") != nil
	x.thin = d.one && d.annotation(f.Annotations, "Thin") != nil
	x.compressed = d.one && d.annotation(f.Annotations, "Compress") != nil
	if a := d.annotation(f.Annotations, "OneOf"); a != nil {
		for _, v := range values(a) {
			if s, ok := v.(string); ok {
				x.oneOf = append(x.oneOf, s)
			}
		}
	}
	if a := d.annotation(f.Annotations, "Predict"); a != nil {
		for _, v := range values(a) {
			if t, ok := v.(*classfile.Type); ok {
				x.predicted = append(x.predicted, t.Name)
			}
		}
	}
	x.usual = x.usualType()
	return x
}

func values(a *classfile.Annotation) []any {
	v := a.Get("value")
	if all, ok := v.([]any); ok {
		return all
	}
	return []any{v}
}

// className returns what Class.getName returns for a descriptor: [Lp.Model; for an array.
func className(descriptor string) string {
	if base, ok := strings.CutPrefix(descriptor, "L"); ok {
		descriptor = strings.TrimSuffix(base, ";")
	}
	return strings.ReplaceAll(descriptor, "/", ".")
}

// simpleName returns what Class.getSimpleName returns for a descriptor.
func simpleName(types *classfile.Types, descriptor string) string {
	base := strings.TrimLeft(descriptor, "[")
	arrays := strings.Repeat("[]", len(descriptor)-len(base))
	if name, ok := primitiveNames[base]; ok {
		return name + arrays
	}
	name := className(base)
	simple := name[strings.LastIndexByte(name, '.')+1:]
	if k := strings.LastIndexByte(simple, '$'); k >= 0 {
		c, err := types.Class(name)
		switch {
		case err == nil && c.Outer != "" && strings.HasPrefix(name, c.Outer+"$"):
			simple = name[len(c.Outer)+1:]
		case err == nil && !c.Local:
		default:
			simple = strings.TrimLeft(simple[k+1:], "0123456789")
		}
	}
	return simple + arrays
}

var primitiveNames = map[string]string{
	"Z": "boolean", "B": "byte", "C": "char", "S": "short", "I": "int", "J": "long", "F": "float", "D": "double",
}

// nameHidden names fields that a subclass hides by their class: Base#name. chain begins with the runtime class.
func nameHidden(chain []*classfile.Class, fields []field) {
	for i := range fields {
		f := &fields[i]
		for _, c := range chain {
			if c.Name == f.by {
				break
			}
			if below := c.Field(f.own); below != nil && !below.Modifiers.Has(classfile.Static) {
				f.name = f.by[strings.LastIndexAny(f.by, ".$")+1:] + "#" + f.own
				break
			}
		}
	}
}

// compareFields is the order of writing: FSTClazzInfo.defFieldComparator.
func compareFields(a, b field) int {
	return cmp.Or(compareGroups(&a, &b), cmp.Compare(a.simple, b.simple), cmp.Compare(a.own, b.own), cmp.Compare(a.by, b.by))
}

// compareGroups compares what comes before names: versions; booleans, other primitives, references, conditional references.
func compareGroups(a, b *field) int {
	return cmp.Or(cmp.Compare(a.version, b.version), cmp.Compare(a.group(), b.group()))
}

func (f *field) group() int {
	switch {
	case f.kind == booleanField:
		return 0
	case f.conditional:
		return 3
	case f.kind != reference:
		return 1
	}
	return 2
}
