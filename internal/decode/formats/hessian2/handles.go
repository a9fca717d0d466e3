package hessian2

import (
	"math/big"
	"slices"
	"strings"
	"time"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/jdk"
)

// meaning is what an object stands for when its class is not just a bean. A class has a meaning by its name and the set
// of its fields. An object whose fields do not hold the expected values stays an object.
type meaning uint8

const (
	nothing         meaning = iota
	enumConstant            // see enums.go
	decimalText             // java.math.BigDecimal of hessian-lite and of later native ones: value, a string
	decimalFields           // java.math.BigDecimal of caucho hessian 4.0.38: the JDK's fields; intVal may be lost
	bigInteger              // java.math.BigInteger: the JDK's fields
	sqlDate                 // java.sql.Date, Time, Timestamp: value, a date (a Timestamp's nanoseconds are lost)
	localDate               // java.time handles, see timeHandles
	localTime               //
	localDateTime           //
	instantTime             //
	offsetTime              //
	offsetDateTime          //
	zonedDateTime           //
	compactDate             // java.time's own classes, see compactOf
	compactTime             //
	compactDateTime         //
	boxedInt                // Byte and Short of caucho hessian, and of hessian-lite 4.0.0 to 4.0.2
	boxedFloat              // Float of these
	enumSet                 // java.util.EnumSet: the class of its constants, and an array of them
)

// packages of the handle classes that replace java.time's.
var timePackages = []string{
	"com.alibaba.com.caucho.hessian.io.java8.",
	"org.apache.dubbo.serialize.hessian.serializer.java8.",
	"org.apache.dubbo.serialize.hessian.serializer.java17.",
}

// handles are the classes with a meaning: for java.time the name within one of timePackages, for others the full name.
// Duration, Period, Year, YearMonth, MonthDay, ZoneOffset and ZoneId are not points in time and stay objects.
var handles = []struct {
	class   string
	fields  []string
	meaning meaning
}{
	{"LocalDateHandle", []string{"year", "month", "day"}, localDate},
	{"LocalTimeHandle", []string{"hour", "minute", "second", "nano"}, localTime},
	{"LocalDateTimeHandle", []string{"date", "time"}, localDateTime},
	{"InstantHandle", []string{"seconds", "nanos"}, instantTime},
	{"OffsetTimeHandle", []string{"localTime", "zoneOffset"}, offsetTime},
	{"OffsetDateTimeHandle", []string{"dateTime", "offset"}, offsetDateTime},
	{"ZonedDateTimeHandle", []string{"dateTime", "offset", "zoneId"}, zonedDateTime},
	{"java.time.LocalDate", nil, compactDate},
	{"java.time.LocalTime", nil, compactTime},
	{"java.time.LocalDateTime", []string{"date", "time"}, compactDateTime},
	{"java.sql.Date", []string{"value"}, sqlDate},
	{"java.sql.Time", []string{"value"}, sqlDate},
	{"java.sql.Timestamp", []string{"value"}, sqlDate},
	{"java.math.BigDecimal", []string{"value"}, decimalText},
	{"java.math.BigDecimal", []string{"scale", "intVal"}, decimalFields},
	{"com.caucho.hessian.io.ByteHandle", []string{"_value"}, boxedInt},
	{"com.caucho.hessian.io.ShortHandle", []string{"_value"}, boxedInt},
	{"com.caucho.hessian.io.FloatHandle", []string{"_value"}, boxedFloat},
	{handlePackage + "ByteHandle", []string{"_value"}, boxedInt},
	{handlePackage + "ShortHandle", []string{"_value"}, boxedInt},
	{handlePackage + "FloatHandle", []string{"_value"}, boxedFloat},
	{"com.alibaba.com.caucho.hessian.io.EnumSetHandler", []string{"type", "objects"}, enumSet},
	{"java.util.EnumSet$SerializationProxy", []string{"elementType", "elements"}, enumSet},
}

// meaningOf returns what objects of a class stand for.
func meaningOf(class string, fields []string) meaning {
	switch {
	case class == "java.math.BigInteger":
		// signum, mag and caches whose names differ between JDKs
		if len(fields) <= 8 && slices.Contains(fields, "signum") && slices.Contains(fields, "mag") {
			return bigInteger
		}
		return nothing
	case mayBeEnum(class, fields):
		return enumConstant
	case len(fields) > 4:
		return nothing
	}
	for _, pkg := range timePackages {
		if simple, ok := strings.CutPrefix(class, pkg); ok {
			class = simple
			break
		}
	}
	for i := range handles {
		if h := &handles[i]; h.class == class && sameFields(h.fields, fields) {
			return h.meaning
		}
	}
	return nothing
}

func sameFields(want, have []string) bool {
	if len(want) != len(have) {
		return false
	}
	for _, f := range want {
		if !slices.Contains(have, f) {
			return false
		}
	}
	return true
}

// interpret gives the finished object at node the kind and text of the value that it stands for. e is the evidence of its
// place.
func (r *Reader) interpret(node, class int, e evidence) {
	o := fieldsOf{r.Tree, node}
	switch means := r.classes[class].means; means {
	case enumConstant:
		r.interpretEnum(node, class, e)
	case boxedInt, boxedFloat:
		o.box(means)
	case enumSet:
		if i := o.constants(); i >= 0 {
			n := r.Tree.Node(node)
			n.Kind, n.Num = decode.Alias, int64(i)
		}
	default:
		if k, s := o.value(means); s != "" {
			n := r.Tree.Node(node)
			n.Kind, n.Text = k, s
		}
	}
}

// value returns the kind and text of the number, date or time that an object stands for, "" if it does not.
func (o fieldsOf) value(means meaning) (k decode.Kind, s string) {
	k = decode.Date
	switch means {
	case decimalText:
		if v := o.get("value", decode.String); v != nil && isDecimal(v.String()) {
			k, s = decode.Decimal, v.String()
		}
	case decimalFields:
		scale := o.get("scale", decode.Int)
		unscaled := o.get("intVal", decode.Decimal)
		if scale != nil && unscaled != nil && scale.Num == int64(int32(scale.Num)) {
			k, s = decode.Decimal, jdk.Decimal(unscaled.Text, int32(scale.Num))
		}
	case bigInteger:
		k, s = decode.Decimal, o.bigInteger()
	case sqlDate:
		if v := o.get("value", decode.Date); v != nil {
			s = v.Text
		}
	case localDate:
		s = o.localDate()
	case localTime:
		s = o.localTime()
	case localDateTime:
		s = join(o.time("date", "LocalDateHandle"), "T", o.time("time", "LocalTimeHandle"))
	case compactDate:
		s = o.epochDay("epochDay")
	case compactTime:
		s = o.nanoOfDay("nanoOfDay")
	case compactDateTime:
		s = join(o.epochDay("date"), "T", o.nanoOfDay("time"))
	case instantTime:
		s = o.instant()
	case offsetTime:
		s = join(o.time("localTime", "LocalTimeHandle"), "", o.offset("zoneOffset"))
	case offsetDateTime:
		s = join(o.time("dateTime", "LocalDateTimeHandle"), "", o.offset("offset"))
	case zonedDateTime:
		s = o.zoned()
	}
	return k, s
}

// maxCopied bounds, in bytes, a scalar that references repeat: a body of references to a long one must not grow
// without bound when it is printed.
const maxCopied = 256

// copyScalar turns the reference n into a copy of its target, if that is a short scalar.
func (r *Reader) copyScalar(n *decode.Node, to target, e evidence) {
	o := r.Tree.Node(int(to.node))
	if c := to.what.class(); c >= 0 && r.classes[c].means == enumConstant {
		r.enumReference(len(r.Tree.Nodes)-1, c, e)
		return
	}
	if len(o.Class)+len(o.Text) > maxCopied {
		return
	}
	switch o.Kind {
	case decode.Date, decode.Decimal, decode.Int, decode.Float32:
		n.Kind, n.Class, n.Text, n.Num, n.Float = o.Kind, o.Class, o.Text, o.Num, o.Float
		n.Same = to.node + 1
	}
}

// copyHidden turns the reference recorded last into a copy of its target, if the target is not printed: the class of the
// constants of an EnumSet, an object with one field.
func (r *Reader) copyHidden(to target) bool {
	o := r.Tree.Node(int(to.node))
	if o.Parent < 0 || r.Tree.Nodes[o.Parent].Kind != decode.Alias || r.Tree.Nodes[o.Parent].Num == int64(to.node) || r.Tree.Full() {
		return false
	}
	name := fieldsOf{r.Tree, int(to.node)}.get("name", decode.String)
	if name == nil || len(o.Class)+len(name.String()) > maxCopied {
		return false
	}
	at, class, text := len(r.Tree.Nodes)-1, o.Class, name.String()
	end := int(r.Tree.Nodes[at].Off + r.Tree.Nodes[at].Len)
	copied := r.Tree.Leaf(decode.String, decode.ByField, "name", 0, end, end)
	copied.Text, copied.Parent = text, int32(at)
	n := r.Tree.Node(at)
	n.Kind, n.Class, n.End = decode.Object, class, int32(len(r.Tree.Nodes))
	return true
}

// fieldsOf reads the fields of a finished object.
type fieldsOf struct {
	t    *decode.Tree
	node int
}

// find returns the node of the field of that name and kind, or of the field's target, and nil if there is none.
func (o fieldsOf) find(name string, k decode.Kind) (node int, n *decode.Node) {
	for i := o.node + 1; i < int(o.t.Nodes[o.node].End); i = int(o.t.Nodes[i].End) {
		if n = &o.t.Nodes[i]; n.Label != decode.ByField || n.Name != name {
			continue
		}
		if n.Kind == decode.Ref {
			i = int(n.Num)
			n = &o.t.Nodes[i]
		}
		if n.Kind == k {
			return i, n
		}
		break
	}
	return -1, nil
}

// empty reports whether a list has no elements.
func (o fieldsOf) empty(list int) bool {
	for i := list + 1; i < int(o.t.Nodes[list].End); i = int(o.t.Nodes[i].End) {
		if o.t.Nodes[i].Kind != decode.Overhead {
			return false
		}
	}
	return true
}

// constants returns the node of the list that an EnumSet holds, -1 if there is none.
func (o fieldsOf) constants() int {
	for i := o.node + 1; i < int(o.t.Nodes[o.node].End); i = int(o.t.Nodes[i].End) {
		n := &o.t.Nodes[i]
		switch {
		case n.Label != decode.ByField || n.Name != "objects" && n.Name != "elements":
		case n.Kind == decode.List:
			return i
		case n.Kind == decode.Ref && o.t.Nodes[n.Num].Kind == decode.List && o.empty(int(n.Num)):
			n.Kind = decode.List // all empty sets share one array
			return i
		}
	}
	return -1
}

func (o fieldsOf) get(name string, k decode.Kind) *decode.Node {
	_, n := o.find(name, k)
	return n
}

// num returns the int of that name if it is at least low and at most high.
func (o fieldsOf) num(name string, low, high int64) (int64, bool) {
	if n := o.get(name, decode.Int); n != nil && n.Num >= low && n.Num <= high {
		return n.Num, true
	}
	return 0, false
}

// time returns the text of a field that holds the named handle, or the class that it is for, "" if it does not.
func (o fieldsOf) time(name, handle string) string {
	n := o.get(name, decode.Date)
	if n != nil && (strings.HasSuffix(n.Class, "."+handle) || n.Class == "java.time."+strings.TrimSuffix(handle, "Handle")) {
		return n.Text
	}
	return ""
}

func (o fieldsOf) box(means meaning) {
	n := &o.t.Nodes[o.node]
	if v := o.get("_value", decode.Int); v != nil && means == boxedInt {
		n.Kind, n.Num = decode.Int, v.Num
	}
	if v := o.get("_value", decode.Float64); v != nil && means == boxedFloat {
		n.Kind, n.Float = decode.Float32, v.Float
	}
}

const (
	maxYear      = 999999999         // java.time.Year.MAX_VALUE
	maxInstant   = 31556889864403199 // java.time.Instant.MAX, seconds
	minInstant   = -31557014167219200
	maxOffset    = 18 * 3600 // java.time.ZoneOffset.MAX, seconds
	maxMagnitude = 256       // ints of a BigInteger that is computed: 8192 bits
	maxShared    = 16        // the same where other numbers may use them too
)

func (o fieldsOf) localDate() string {
	year, ok1 := o.num("year", -maxYear, maxYear)
	month, ok2 := o.num("month", 1, 12)
	day, ok3 := o.num("day", 1, 31)
	if !ok1 || !ok2 || !ok3 {
		return ""
	}
	return jdk.Date{Year: int(year), Month: int(month), Day: int(day)}.String()
}

func (o fieldsOf) localTime() string {
	hour, ok1 := o.num("hour", 0, 23)
	minute, ok2 := o.num("minute", 0, 59)
	second, ok3 := o.num("second", 0, 59)
	nano, ok4 := o.num("nano", 0, 999999999)
	if !ok1 || !ok2 || !ok3 || !ok4 {
		return ""
	}
	return string(jdk.Clock{Hour: int(hour), Minute: int(minute), Second: int(second), Nano: int(nano)}.AppendShort(nil))
}

func (o fieldsOf) instant() string {
	seconds, ok1 := o.num("seconds", minInstant, maxInstant)
	nanos, ok2 := o.num("nanos", 0, 999999999)
	if !ok1 || !ok2 {
		return ""
	}
	return jdk.Instant(time.Unix(seconds, nanos))
}

// offset returns the text of a field that holds a ZoneOffset, "Z", "+08:00" or "-02:30:15"; else "". hessian-lite
// writes its seconds; the native library writes it as any zone, by its text.
func (o fieldsOf) offset(name string) string {
	i, n := o.find(name, decode.Object)
	if n == nil {
		return ""
	}
	handle := fieldsOf{o.t, i}
	if strings.HasSuffix(n.Class, ".ZoneIdHandle") {
		if id := handle.get("zoneId", decode.String); id != nil && isOffset(id.String()) {
			return id.String()
		}
		return ""
	}
	seconds, ok := handle.num("seconds", -maxOffset, maxOffset)
	if !ok || !strings.HasSuffix(n.Class, ".ZoneOffsetHandle") {
		return ""
	}
	return jdk.Offset(seconds).String()
}

// zoned returns a ZonedDateTime with its offset, and the zone as RFC 9557 adds it where it is a region.
func (o fieldsOf) zoned() string {
	offset := o.offset("offset")
	s := join(o.time("dateTime", "LocalDateTimeHandle"), "", offset)
	zone := o.get("zoneId", decode.String)
	if s == "" || zone == nil || zone.String() == offset {
		return s
	}
	return s + "[" + zone.String() + "]"
}

// bigInteger computes a BigInteger of the JDK: mag is its magnitude in ints, most significant first.
func (o fieldsOf) bigInteger() string {
	sign, ok := o.num("signum", -1, 1)
	if !ok {
		return ""
	}
	i, mag := o.find("mag", decode.List)
	if mag == nil {
		return ""
	}
	limit := 4 * maxMagnitude
	if i < o.node { // shared, by a number and its negation
		limit = 4 * maxShared
	}
	var bytes []byte
	for c := i + 1; c < int(o.t.Nodes[i].End); c = int(o.t.Nodes[c].End) {
		n := &o.t.Nodes[c]
		if n.Kind == decode.Overhead {
			continue
		}
		if n.Kind != decode.Int || n.Num != int64(int32(n.Num)) || len(bytes) == limit {
			return ""
		}
		bytes = append(bytes, byte(n.Num>>24), byte(n.Num>>16), byte(n.Num>>8), byte(n.Num))
	}
	v := new(big.Int).SetBytes(bytes)
	if v.Sign() != 0 && sign == 0 || v.Sign() == 0 && sign != 0 {
		return ""
	}
	if sign < 0 {
		v.Neg(v)
	}
	return v.String()
}

// isDecimal reports whether s is a number as BigDecimal.toString writes it.
func isDecimal(s string) bool {
	mantissa, exponent, scientific := strings.Cut(s, "E")
	whole, fraction, point := strings.Cut(unsigned(mantissa), ".")
	return digits(whole) && (!point || digits(fraction)) && (!scientific || digits(unsigned(exponent)))
}

func unsigned(s string) string {
	if s != "" && (s[0] == '-' || s[0] == '+') {
		return s[1:]
	}
	return s
}

func digits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// isOffset reports whether s is an offset as java.time.ZoneOffset writes it.
func isOffset(s string) bool {
	if s == "Z" {
		return true
	}
	if len(s) != len("+08:00") && len(s) != len("+08:00:00") || s[0] != '+' && s[0] != '-' {
		return false
	}
	for i := range s[1:] {
		if c := s[1+i]; i%3 == 2 && c != ':' || i%3 != 2 && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}

// join returns a, sep and b as one text, "" when one of a and b is.
func join(a, sep, b string) string {
	if a == "" || b == "" {
		return ""
	}
	return a + sep + b
}
