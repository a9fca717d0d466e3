package truth

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/big"
	"regexp"
	"strings"
	"time"

	"dubbo-wire/internal/rpc"
)

// graphComparer compares a value that was decoded with the classes of the application with the one that was written. Nothing may be
// missing: order, classes, hidden fields count.
type graphComparer struct {
	m     *rpc.Message
	ours  comparer
	kryo  bool // writes no synthetic fields
	fury  bool
	fst1  bool // writes nothing of java.time
	avro  bool // writes no classes, and nothing of those without fields
	stuff bool // protostuff writes neither null nor empty collections
	dubbo bool // writes fields of the JDK's classes without names, and what declared types have
	// partly: reading stopped somewhere. What is opaque or missing from there on is not compared, everything else is.
	partly bool
	refs   *references
	// compared counts the values, those within others included.
	compared int
}

// unwritten are the fields that Kryo and protostuff leave out because of an annotation, or because they have none.
var unwritten = map[string]bool{
	"notTagged": true, "TagBase#notTagged": true, "old": true, "optional": true, "excluded": true, "deprecated": true, "deprecatedToo": true,
}

func (c *graphComparer) compare(path string, got, want any) string {
	targets := c.refs.all(got)
	if len(targets) == 0 {
		return c.values(path, got, want)
	}
	first := ""
	for _, v := range targets {
		diff := c.compare(path, v, want)
		if diff == "" {
			return ""
		}
		first = cmp.Or(first, diff)
	}
	if key, ok := keyAt(c.ours.ours, got); ok {
		return c.values(path, key, want)
	}
	return first
}

func (c *graphComparer) values(path string, got, want any) string {
	return c.ours.pair(path, got, want, c.contents)
}

func (c *graphComparer) contents(path string, got, want any) string {
	if c.partly && opaque(got) {
		return ""
	}
	c.compared++
	if c.avro && takesNothing(got) {
		return ""
	}
	if text, is := got.(string); is && c.avro {
		if n, is := want.(json.Number); is && strings.HasSuffix(path, ".text") && text == string(n) { // @Stringable
			return ""
		}
		if w, is := want.(string); is {
			if text != strings.ReplaceAll(w, "\ufffd", "?") && text != w {
				return c.differs(path, got, want)
			}
			return ""
		}
	}
	if list, ok := want.([]any); ok && got == nil && c.stuff && len(c.present(list)) == 0 {
		return ""
	}
	if g, ok := got.(map[string]any); ok && c.dubbo {
		if diff, ok := c.declaredForm(path, g, want); ok {
			return diff
		}
	}
	if g, ok := got.(map[string]any); ok && c.stuff {
		if diff, ok := c.lossyForm(path, g, want); ok {
			return diff
		}
	}
	switch w := want.(type) {
	case []any:
		g, ok := got.([]any)
		if ok && c.stuff {
			g, w = c.present(g), c.present(w)
		}
		if n := len(g); n > len(w) && c.partly && opaque(g[n-1]) {
			g = g[:n-1] // the fields of the list itself
		}
		switch {
		case !ok && (c.unread(got) || c.chars(got, w)):
			return ""
		case !ok || len(g) != len(w) && !(c.unread(got) && len(g) < len(w)):
			return c.differs(path, got, want)
		}
		for i := range g {
			if diff := c.compare(fmt.Sprintf("%s[%d]", path, i), g[i], w[i]); diff != "" {
				return diff
			}
		}
		return ""
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok && strings.HasPrefix(fmt.Sprint(w["@class"]), "java.util.concurrent.atomic.") && has(w, "value") {
			if flag, is := got.(bool); is && w["@class"] == "java.util.concurrent.atomic.AtomicBoolean" { // which has an int
				got = map[bool]json.Number{false: "0", true: "1"}[flag]
			}
			return c.compare(path, got, w["value"])
		}
		if text, is := got.(string); is && c.dubbo && strings.HasPrefix(fmt.Sprint(w["@class"]), "java.lang.StringBu") {
			return c.compare(path, text, w["value"])
		}
		if l, list := got.([]any); list && w["@class"] == "java.util.BitSet" && sameBitSet(l, w["words"]) {
			return ""
		}
		if !ok {
			return c.differs(path, got, want)
		}
		if c.avro {
			w = encodedKeys(w)
			if diff, ok := c.reflected(path, g, w); ok {
				return diff
			}
		}
		return c.object(path, g, w)
	case json.Number:
		n, ok := got.(json.Number)
		if ok && (n == w || strings.ContainsAny(string(w), ".eE") && sameFloat(n, w)) {
			return ""
		}
		return c.differs(path, got, want)
	}
	if got != want {
		return c.differs(path, got, want)
	}
	return ""
}

// exception compares an exception, whose class Avro does not write.
func (c *graphComparer) exception(got any, message *string) string {
	g, _ := got.(map[string]any)
	if opaque(got) || message == nil && g["detailMessage"] == nil || message != nil && g["detailMessage"] == any(*message) {
		return ""
	}
	return c.differs("exception", got, any(message))
}

// declaredFields returns the fields of the log that a value of a class that was declared has.
func declaredFields(got, want map[string]any, class string) map[string]any {
	declared := map[string]any{"@class": class}
	for k := range got {
		if v, ok := want[k]; ok && k != "@class" {
			declared[k] = v
		}
	}
	return declared
}

// encodedKeys returns a map of the log with its keys as Java's encoder writes them: half surrogate pairs as question marks.
func encodedKeys(m map[string]any) map[string]any {
	for k := range m {
		if strings.Contains(k, "\ufffd") {
			encoded := map[string]any{}
			for k, v := range m {
				encoded[strings.ReplaceAll(k, "\ufffd", "?")] = v
			}
			return encoded
		}
	}
	return m
}

// reflected compares what Avro's reflection makes of an object: of the fields of the declared class, in whatever class it is.
func (c *graphComparer) reflected(path string, got, want map[string]any) (diff string, ok bool) {
	const reflectedModels = "org.dubbowire.rig.models.reflected."
	class, java := fmt.Sprint(got["@class"]), fmt.Sprint(want["@class"])
	switch {
	case class == reflectedModels+"Coordinates" || class == reflectedModels+"Point":
		return c.compare(path+".value", got["value"], fmt.Sprintf("%v;%v", want["latitude"], want["longitude"])), true
	case class == reflectedModels+"Base" && (java == reflectedModels+"Middle" || java == reflectedModels+"Leaf"), class == reflectedModels+"Middle" && java == reflectedModels+"Leaf":
		return c.object(path, got, declaredFields(got, want, class)), true
	case extends[java] == class:
		return c.compare(path, got, declaredFields(got, want, class)), true
	case has(want, "message") && len(want) == 2 && has(got, "detailMessage"): // the log has no fields of exceptions
		return c.compare(path+".detailMessage", got["detailMessage"], want["message"]), true
	}
	return "", false
}

// present returns the elements that are not null. That an array has others is an opaque element without bytes.
func (c *graphComparer) present(list []any) (present []any) {
	for _, v := range list {
		if m, _ := v.(map[string]any); v != nil && m["@opaque"] != json.Number("0") {
			present = append(present, v)
		}
	}
	return present
}

// declaredForm compares what serialization dubbo writes otherwise than others; ok is false for everything else.
func (c *graphComparer) declaredForm(path string, got map[string]any, want any) (diff string, ok bool) {
	class, _ := got["@class"].(string)
	w, _ := want.(map[string]any)
	switch {
	case class == "java.lang.Number" && len(got) == 1: // the declared class has no fields
		return "", isNumeric(want) || strings.HasPrefix(fmt.Sprint(w["@class"]), "java.util.concurrent.atomic.")
	case class != "" && extends[fmt.Sprint(w["@class"])] == class:
		return c.object(path, got, asDeclared(got, w, class)), true
	case class == "java.util.UUID" && has(got, "#0"):
		return c.compare(path, map[string]any{"@class": class, "leastSigBits": got["#0"], "mostSigBits": got["#1"]}, want), true
	case strings.HasPrefix(class, "java.util.concurrent.atomic.") && w["@class"] == class:
		return c.compare(path, got["#0"], w["value"]), true
	case ownContainers[class]: // its own fields, and what the collection or map holds
		for k, v := range got {
			if _, is := v.(json.Number); !is && strings.HasPrefix(k, "#") {
				return c.compare(path+"."+k, v, want), true
			}
		}
	}
	return "", false
}

// lossyForm compares what protostuff loses; ok is false for everything else. What it writes is compared.
func (c *graphComparer) lossyForm(path string, got map[string]any, want any) (diff string, ok bool) {
	class, _ := got["@class"].(string)
	w, _ := want.(map[string]any)
	switch {
	case class != "" && extends[fmt.Sprint(w["@class"])] == class: // written as an object of the declared class
		return c.object(path, got, asDeclared(got, w, class)), true
	case class != "" && w == nil && want != nil && (isJDK(class) || ownContainers[class]), class != "" && w["@class"] == nil && ownContainers[class]:
		// Once the class was the class of a message, all that is written of a collection or map are its fields, which do not hold what is in it.
		_, list := want.([]any)
		return "", list || w != nil
	case isJDK(class) && w["@class"] == class && has(w, "value") && w["value"] == nil: // what is made of the fields that are not transient
		return "", true
	case got["@date"] != nil && w["@date"] != nil:
		digits, utc := strings.CutSuffix(fmt.Sprint(got["@date"]), "Z")
		if utc && len(got) == 1 && strings.HasPrefix(fmt.Sprint(w["@date"]), digits) { // the nanoseconds of a Timestamp
			return "", true
		}
		// The name of an offset is transient.
		at, region, lost := strings.Cut(fmt.Sprint(w["@date"]), "null")
		return "", lost && strings.HasPrefix(fmt.Sprint(got["@date"]), at) && strings.HasSuffix(fmt.Sprint(got["@date"]), region)
	case strings.HasPrefix(class, "java.sql.") && w["@date"] != nil: // Dubbo 2.7.0 and 2.7.1 have no delegates, and the time is transient
		return "", true
	}
	return "", false
}

// asDeclared returns the fields of an object that a superclass has too, with their names in that.
func asDeclared(got, want map[string]any, class string) map[string]any {
	declared := map[string]any{"@class": class}
	for k := range got {
		v, ok := want[class[strings.LastIndexByte(class, '.')+1:]+"#"+k] // a field that the subclass hides
		if !ok {
			v, ok = want[k]
		}
		if ok && k != "@class" {
			declared[k] = v
		}
	}
	return declared
}

// extends are classes that fields are declared with, by those that extend them.
var extends = map[string]string{
	"org.dubbowire.rig.models.Ring": "org.dubbowire.rig.models.Circle", "org.dubbowire.rig.models.Leaf": "org.dubbowire.rig.models.Middle",
}

// isNumeric reports whether a value of the log is an instance of Number.
func isNumeric(v any) bool {
	m, _ := v.(map[string]any)
	_, ok := v.(json.Number)
	return ok || m["@decimal"] != nil || m["@double"] != nil
}

// unread reports whether the end of a value was not read, and need not be.
func (c *graphComparer) unread(got any) bool { return c.partly && unread(got) }

func (c *graphComparer) chars(got any, want []any) bool {
	s, ok := got.(string)
	return ok && sameChars(s, want)
}

func (c *graphComparer) object(path string, got, want map[string]any) string {
	class, _ := want["@class"].(string)
	_, throwable := want["message"]
	switch {
	case throwable && len(want) == 2 && got["@class"] == class && has(got, "detailMessage"):
		return c.compare(path+".detailMessage", got["detailMessage"], want["message"])
	case throwable && len(want) == 2 && c.fury && got["@class"] == class && want["message"] == nil && !has(got, "detailMessage"):
		return "" // it writes some exceptions without the fields of their superclasses
	case got["@class"] == "java.lang.invoke.SerializedLambda" && strings.Contains(class, "$$Lambda"): // writeReplace
		return c.compare(path+".functionalInterfaceMethodName", got["functionalInterfaceMethodName"], "area")
	case strings.Contains(class, ".$Proxy") && has(got, "h"):
		return c.compare(path+".h", got["h"], want["h"])
	case got["@class"] == class+"$Stand" && !has(got, "joined") && c.unread(got):
		return ""
	case got["@class"] == class+"$Stand": // writeReplace
		return c.compare(path+".joined", got["joined"], fmt.Sprintf("%v:%s", want["number"], orNull(want["text"])))
	case class == "java.util.regex.Pattern" && len(got) == 2 && has(got, "value"):
		return c.compare(path+".value", got["value"], want["pattern"])
	case class == "java.util.BitSet" && got["@class"] == class && has(got, "bits"):
		return c.compare(path+".bits", got["bits"], want["words"])
	case class == "java.util.GregorianCalendar" && got["@class"] == class && got["time"] != nil:
		ms, err := got["time"].(json.Number).Int64()
		at, err2 := time.Parse(time.RFC3339, fmt.Sprint(want["value"]))
		if err != nil || err2 != nil || at.UnixMilli() != ms {
			return c.differs(path, any(got), any(want))
		}
		return ""
	case class == "java.util.GregorianCalendar" && got["@class"] == class && got["value"] != nil:
		date, _ := got["value"].(map[string]any)
		return c.compare(path+".value", date["@date"], want["value"])
	case c.fury && class == "java.util.Locale" && got["@class"] == class && strings.HasPrefix(fmt.Sprint(want["value"]), fmt.Sprint(got["value"])+"_#"):
		return "" // it has no script on the wire, but may be a locale that Fury keeps
	case c.fst1 && withoutTime(got, want):
		return ""
	case got["@date"] != nil && want["@date"] != nil && c.sameDate(got, want):
		return ""
	case c.partly && (got["ordinal"] != nil && want["@enum"] != nil || strings.HasPrefix(fmt.Sprint(got["@class"]), "#")):
		return "" // nothing is said that is wrong
	case c.partly && (want["@enum"] != nil || class == "") && has(got, "#opaque"):
		return ""
	}
	if value, ok := want["value"].(string); ok && len(want) == 2 && got["@class"] == class && (strings.HasPrefix(class, "java.") || strings.HasPrefix(class, "sun.")) && !has(got, "value") && sameText(class, got, value) {
		return ""
	}
	custom := has(got, "#custom") // what writeObject or writeExternal wrote
	for k, w := range want {
		g, ok := got[k]
		if !ok && custom && class == "org.dubbowire.rig.models.External" {
			continue
		}
		if class == "org.dubbowire.rig.models.External" && k == "text" && w == nil && g == "" {
			continue // it has no null on the wire
		}
		if strings.Contains(k, "\ufffd") {
			continue // several keys of a map may be printed so
		}
		if !ok && (c.avro && k == "ignored" || c.stuff && unwritten[k] && strings.HasPrefix(class, "org.dubbowire.rig.models.stuff.")) {
			continue
		}
		if !ok && unwritten[k] && strings.HasPrefix(class, "org.dubbowire.rig.models.annotated.") {
			continue
		}
		if !ok && k == "value" && want["isPresent"] == false {
			continue // it is not on the wire
		}
		if !ok && c.kryo && class == "org.dubbowire.rig.models.Marked" && k == "optional" {
			continue // nobody asked for it
		}
		if !ok && c.stuff && strings.Contains(k, "#") {
			continue // a hidden field: that of the subclass has its place
		}
		if list, is := w.([]any); !ok && c.stuff && (w == nil || is && len(c.present(list)) == 0) {
			continue
		}
		if !ok && (c.unread(got) || c.kryo && (strings.HasPrefix(k, "this$") || strings.HasPrefix(k, "val$"))) {
			continue
		}
		if !ok {
			return c.differs(path, any(got), any(want)) + fmt.Sprintf("; %q is missing", k)
		}
		if w == nil && g == "" && k == "text" && class == "org.dubbowire.rig.models.External" {
			continue // so it writes null
		}
		if diff := c.compare(path+"."+k, g, w); diff != "" {
			return diff
		}
	}
	for k := range got {
		if _, ok := want[k]; !ok && !(c.partly && k == "#opaque" || k == "#custom") {
			return c.differs(path, any(got), any(want)) + fmt.Sprintf("; %q is too much", k)
		}
	}
	return ""
}

// sameDate reports whether two times are the same: Java leaves out seconds that are 0, Kryo writes the milliseconds of a Timestamp, and
// Kryo and Fury a region without its offset.
func (c *graphComparer) sameDate(got, want map[string]any) bool {
	g, w := timeOfDay.ReplaceAllString(fmt.Sprint(got["@date"]), "$1$2:00$3"), timeOfDay.ReplaceAllString(fmt.Sprint(want["@date"]), "$1$2:00$3")
	digits, utc := strings.CutSuffix(g, "Z")
	local, region, _ := strings.Cut(g, "[")
	return g == w || c.kryo && utc && strings.Contains(digits, ".") && strings.HasPrefix(w, digits) ||
		(c.kryo || c.fury) && region != "" && strings.HasPrefix(w, local) && strings.HasSuffix(w, "["+region)
}

var (
	// timeOfDay is one without seconds, and what follows it.
	timeOfDay    = regexp.MustCompile(`(^|T)(\d\d:\d\d)(|Z|Z\[.*|[+-][^:].*)$`)
	durationPart = regexp.MustCompile(`(-?[0-9.]+)([HMS])`)
)

// sameText reports whether the fields of an object of the JDK make the text that the log has of it.
func sameText(class string, fields map[string]any, text string) bool {
	n := func(name string) int64 {
		number, _ := fields[name].(json.Number)
		i, _ := number.Int64()
		return i
	}
	switch class {
	case "java.time.Period":
		p := "P"
		for _, part := range []string{"years", "months", "days"} {
			if n(part) != 0 {
				p += fmt.Sprint(n(part), strings.ToUpper(part[:1]))
			}
		}
		return p == text || p == "P" && text == "P0D"
	case "java.time.YearMonth":
		return fmt.Sprintf("%0*d-%02d", map[bool]int{false: 4, true: 5}[n("year") < 0], n("year"), n("month")) == text
	case "java.util.UUID":
		bits := fmt.Sprintf("%016x%016x", uint64(n("mostSigBits")), uint64(n("leastSigBits")))
		return bits == strings.ReplaceAll(text, "-", "")
	case "java.time.Year":
		return fmt.Sprint(n("year")) == text
	case "java.time.ZoneOffset":
		at, err := time.Parse("Z07:00:00", text)
		if err != nil {
			at, err = time.Parse("Z07:00", text)
		}
		_, seconds := at.Zone()
		return err == nil && int64(seconds) == n("totalSeconds")
	case "java.time.Duration":
		seconds := new(big.Rat)
		for _, part := range durationPart.FindAllStringSubmatch(text, -1) {
			v, _ := new(big.Rat).SetString(part[1])
			seconds.Add(seconds, v.Mul(v, big.NewRat(map[string]int64{"H": 3600, "M": 60, "S": 1}[part[2]], 1)))
		}
		return seconds.Cmp(new(big.Rat).Add(big.NewRat(n("seconds"), 1), big.NewRat(n("nanos"), 1e9))) == 0
	case "java.time.MonthDay":
		return fmt.Sprintf("--%02d-%02d", n("month"), n("day")) == text
	}
	return sameNames(fields, text)
}

// sameNames reports whether all texts in some fields are parts of a text.
func sameNames(fields map[string]any, text string) bool {
	found := 0
	for k, v := range fields {
		if s, ok := v.(string); ok && s != "" && k != "@class" {
			if !strings.Contains(text, s) {
				return false
			}
			found++
		}
	}
	return found > 0 || text == ""
}

func orNull(v any) string {
	if v == nil {
		return "null"
	}
	return fmt.Sprint(v)
}

func (c *graphComparer) differs(path string, got, want any) string {
	at := ""
	for i := range c.m.Tree.Nodes {
		if c.m.Tree.Path(i) == path {
			at = fmt.Sprintf(", offset %d", c.m.Tree.Nodes[i].Off)
			break
		}
	}
	return fmt.Sprintf("at %s%s: %s instead of %s", path, at, short(got), short(want))
}
