package avro

import (
	"slices"
	"strings"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/classpath"
)

// source is the application's classes.
type source struct {
	path *classpath.Path
	// libraries are its classes by side and order; releases says which order is that of the release of Avro in the class path.
	libraries [2][2]*library
	releases  [2]decode.FieldOrder

	side     decode.Side
	told     decode.FieldOrders
	distrust *decode.Error
}

// variation is a class that is read as if it was another one.
type variation struct {
	class  string
	fields []field
}

// With returns f with readers that know the classes of p.
func With(f decode.Format, p *classpath.Path) decode.Format {
	if p == nil {
		return f
	}
	shared := source{path: p}
	for _, side := range []decode.Side{decode.Consumer, decode.Provider} {
		if side > 0 && !p.Sided() {
			shared.libraries[side], shared.releases[side] = shared.libraries[0], shared.releases[0]
			break
		}
		for _, o := range []order{declared, sorted} {
			shared.libraries[side][o] = newLibrary(p, side, o)
		}
		if o, known := releaseOf(p.Types(side)); known {
			shared.releases[side] = o.told()
		}
	}
	f.TypedResults = true
	f.New = func() decode.Reader {
		own := shared
		return &Reader{source: &own}
	}
	return f
}

func (o order) told() decode.FieldOrder {
	return [...]decode.FieldOrder{declared: decode.AsDeclared, sorted: decode.ByName}[o]
}

// orders returns the classes by which a body is read, and those with fields in the other order if it is not known which is right. Both
// may be nil.
func (r *Reader) orders() (first, other *library) {
	s := r.source
	if s == nil || s.distrust != nil {
		return nil, nil
	}
	all := &s.libraries[s.side]
	known := s.releases[s.side]
	if known == decode.OrderUnknown {
		known = s.told[s.side]
	}
	switch known {
	case decode.AsDeclared:
		return all[declared], nil
	case decode.ByName:
		return all[sorted], nil
	}
	return all[declared], all[sorted]
}

// learn notes that a body has its fields in an order, and in no other one.
func (r *Reader) learn(o order) {
	if r.variation == nil {
		r.source.told[r.source.side] = o.told()
	}
}

// SetOrders implements decode.OrderReader.
func (r *Reader) SetOrders(o decode.FieldOrders) {
	if r.source != nil {
		r.source.told = o
	}
}

// Orders implements decode.OrderReader.
func (r *Reader) Orders() (o decode.FieldOrders) {
	if r.source != nil {
		o = r.source.told
	}
	return o
}

// WrittenBy implements decode.ClassReader.
func (r *Reader) WrittenBy(s decode.Side) {
	if r.source != nil {
		r.source.side = s
	}
}

// Misfits implements decode.ClassReader.
func (r *Reader) Misfits(err *decode.Error) bool {
	return r.touched && (err.Cause == decode.Malformed || err.Cause == decode.Limit)
}

// Distrust implements decode.ClassReader.
func (r *Reader) Distrust(err *decode.Error) {
	if r.source != nil {
		r.source.distrust = err
	}
}

// ResultType implements decode.ResultReader.
func (r *Reader) ResultType(s decode.Side, service, method string, parameters []string) string {
	if r.source == nil {
		return ""
	}
	return r.source.path.ReturnType(s, service, method, parameters, true)
}

// Used implements decode.VaryingReader.
func (r *Reader) Used() []decode.UsedClass {
	var used []decode.UsedClass
	for _, s := range r.used {
		u := decode.UsedClass{Name: s.class}
		for i := range s.fields {
			u.Fields = append(u.Fields, s.fields[i].name)
		}
		used = append(used, u)
	}
	return used
}

// Stopped implements decode.VaryingReader.
func (r *Reader) Stopped() (class, field string) {
	if r.within.of == nil {
		return "", ""
	}
	return decode.JavaName(r.within.of.class), r.within.field
}

// Vary implements decode.VaryingReader.
func (r *Reader) Vary(v *decode.Variation) bool {
	r.variation = nil
	if v == nil {
		return true
	}
	k := slices.IndexFunc(r.used, func(s *schema) bool { return s.class == v.Class })
	if k < 0 || r.used[k].kind != record {
		return false
	}
	fields := slices.Clone(r.used[k].fields)
	added := builtin[v.Type]
	switch {
	case v.Type == "" && v.Index < len(fields):
		fields = slices.Delete(fields, v.Index, v.Index+1)
	case added == nil || len(v.Type) > 1 && added != texts: // an object may have any bytes; a box is written as its value
		return false
	case v.Replaces && v.Index < len(fields):
		fields[v.Index].schema = added
	case !v.Replaces && v.Index <= len(fields):
		fields = slices.Insert(fields, v.Index, field{"#added", added})
	default:
		return false
	}
	r.variation = &variation{v.Class, fields}
	return true
}

// result takes the value of a response, which ends with the body, by the type that the method returns.
func (r *Reader) result(l decode.Label, name string, index int, typ string) {
	first, other := r.orders()
	if first == nil {
		if r.source != nil {
			r.fault = r.source.distrust
		}
		r.rest(l, name, index)
		return
	}
	own, known := r.resultsOf(first, typ)
	switch {
	case !known && r.Left() == 0 && r.Short == decode.Malformed:
		r.absent(l, name, index)
		return
	case !known && r.fault == nil:
		r.undivided(l, name, index, anyClass(typ))
		return
	case !known:
		r.rest(l, name, index)
		return
	}
	r.touched, r.strict = true, true
	reordered := other != nil && slices.ContainsFunc(own, func(s *schema) bool { return s.reordered })
	if r.Short != decode.Malformed {
		if len(own) == 1 && !reordered {
			r.value(own[0], l, name, index)
			return
		}
		r.rest(l, name, index)
		return
	}
	fitting := r.wholeBody(own)
	if reordered {
		sorted, _ := r.resultsOf(other, typ)
		sorted = r.wholeBody(sorted)
		switch {
		case len(fitting) == 0 && len(sorted) > 0:
			r.learn(other.order)
			fitting = sorted
		case len(fitting) > 0 && len(sorted) == 0:
			r.learn(first.order)
		case len(fitting) > 0 && (len(fitting) != len(sorted) || fitting[0].class != sorted[0].class || fitting[0].reordered):
			r.undivided(l, name, index, pick{cause: decode.Unsupported, expected: oneOrder, found: twoOrders})
			return
		}
	}
	switch {
	case r.Left() == 0 && len(fitting) > 0: // of any class without fields
		r.absent(l, name, index)
	case len(fitting) > 1:
		k := severalClasses(typ, nil, 0)
		k.found = classNames(fitting)
		r.undivided(l, name, index, k)
	case len(fitting) == 1:
		r.fitting(fitting[0], l, name, index)
	default: // says where it stops to fit
		r.value(own[0], l, name, index)
	}
}

// exception takes the exception of a response, if it can be of one class of the application that has fields, or of several. Else it has only
// its message, or is not known.
func (r *Reader) exception() bool {
	first, other := r.orders()
	if first == nil || r.Short != decode.Malformed {
		return false
	}
	all, ok := first.throwables()
	if !ok {
		return false
	}
	fitting := r.wholeBody(all)
	if other != nil {
		inOther, _ := other.throwables()
		for _, s := range r.wholeBody(inOther) {
			if s.reordered {
				fitting = append(fitting, s)
			}
		}
	}
	switch plain := r.schemaExtent(r.Off, maybeText) == len(r.Buf); {
	case len(fitting) == 0:
		return false
	case plain || len(fitting) > 1:
		k := severalClasses("Ljava/lang/Throwable;", nil, 0)
		k.found = classNames(fitting)
		if plain {
			k.found += ", or one without fields"
		}
		r.undivided(decode.ByField, "exception", 0, k)
	default:
		r.touched, r.strict = true, true
		r.fitting(fitting[0], decode.ByField, "exception", 0)
	}
	return true
}

// fitting takes the rest of the body, a value of a schema of which it can be one.
func (r *Reader) fitting(s *schema, l decode.Label, name string, index int) {
	if w := &r.whole; w.schema != s || !r.tally(s, w.end, &w.extra, l, name, index) {
		r.value(s, l, name, index)
	}
}

// undivided takes the rest of the body, for a reason.
func (r *Reader) undivided(l decode.Label, name string, index int, k pick) {
	r.fault = &decode.Error{Cause: k.cause, At: r.Off, Expected: k.expected, Found: k.found}
	r.rest(l, name, index)
}

// resultsOf returns what a result of a type can be; known is false if that is not known.
func (r *Reader) resultsOf(l *library, typ string) (list []*schema, known bool) {
	switch nature(typ) {
	case datum:
		if s := builtin[typ]; s != nil {
			return []*schema{s}, true
		}
		return []*schema{builtinArray(typ)}, true
	case undecided:
		list, lacks, ok := l.valuesOf(typ)
		if lacks != nil {
			expected, found := lacks.lack()
			r.fault = &decode.Error{Cause: decode.Unsupported, At: r.Off, Class: lacks.class, Expected: expected, Found: found}
		}
		return list, ok && len(list) > 0
	}
	return nil, false
}

// wholeBody returns those of some schemas of which the rest of the body can be a value.
func (r *Reader) wholeBody(all []*schema) []*schema {
	var fitting []*schema
	for _, s := range all {
		if r.schemaExtent(r.Off, s) == len(r.Buf) {
			fitting = append(fitting, s)
			r.whole = way{len(r.Buf), s, r.walk.extra}
		}
	}
	return fitting
}

// severalClasses is the decision for an argument that can be of several classes.
func severalClasses(typ string, ways []way, end int) pick {
	var all []*schema
	for _, w := range ways {
		all = append(all, w.schema)
	}
	return pick{
		does: run, end: end, cause: decode.Unsupported,
		expected: decode.OneClass + decode.JavaName(typ) + " (avro writes no class)", found: classNames(all),
	}
}

// anyClass says why a value is not read whose declared type does not tell what it can be.
func anyClass(typ string) pick {
	k := severalClasses(typ, nil, 0)
	k.found = "any class"
	return k
}

// classNames returns the names of classes.
func classNames(all []*schema) string {
	const most = 3
	var names []string
	for _, s := range all {
		for s.kind == array {
			s = s.elem
		}
		if !slices.Contains(names, s.class) {
			names = append(names, s.class)
		}
	}
	if len(names) > most {
		names = append(names[:most], "…")
	}
	return strings.Join(names, " or ")
}

// withoutClass is what was found where a class is missing.
const withoutClass = "fields that cannot be separated without the class definition"
