package registration

import "strings"

// boxes are the classes that Kryo gives the number of the primitive type.
var boxes = map[string]string{
	"boolean": "java.lang.Boolean", "byte": "java.lang.Byte", "char": "java.lang.Character", "short": "java.lang.Short", "int": "java.lang.Integer",
	"long": "java.lang.Long", "float": "java.lang.Float", "double": "java.lang.Double",
}

// Known returns the classes that a library and Dubbo have registered before those of the application, in the order of their
// numbers, without holes.
func Known(l Library) []string {
	switch l {
	case Kryo4:
		return append(strings.Fields(kryoOwn+" void"), strings.Fields(kryoByDubbo)...)
	case Kryo5:
		return append(strings.Fields(kryoOwn), strings.Fields(kryoByDubbo)...)
	case FST1:
		names := strings.Fields(fstFirst + fstAWT + fstThen)
		for _, element := range []string{"Ljava.lang.Object;", "B", "C", "S", "I", "F", "D"} {
			for dims := 1; dims <= 7; dims++ {
				names = append(names, strings.Repeat("[", dims)+element)
			}
		}
		return names
	}
	return strings.Fields(fstFirst + fstThen + fst2Arrays)
}

const (
	kryoOwn     = "int java.lang.String float boolean byte char short long double"
	kryoByDubbo = `
		java.util.Arrays$ArrayList java.util.GregorianCalendar java.lang.reflect.InvocationHandler
		java.math.BigDecimal java.math.BigInteger java.util.regex.Pattern java.util.BitSet java.net.URI java.util.UUID
		java.util.Collections$UnmodifiableCollection java.util.Collections$UnmodifiableRandomAccessList
		java.util.Collections$UnmodifiableList java.util.Collections$UnmodifiableSet java.util.Collections$UnmodifiableSortedSet
		java.util.Collections$UnmodifiableMap java.util.Collections$UnmodifiableSortedMap
		java.util.Collections$SynchronizedCollection java.util.Collections$SynchronizedRandomAccessList
		java.util.Collections$SynchronizedList java.util.Collections$SynchronizedSet java.util.Collections$SynchronizedSortedSet
		java.util.Collections$SynchronizedMap java.util.Collections$SynchronizedSortedMap
		java.util.HashMap java.util.ArrayList java.util.LinkedList java.util.HashSet java.util.TreeSet java.util.Hashtable java.util.Date
		java.util.Calendar java.util.concurrent.ConcurrentHashMap java.text.SimpleDateFormat java.util.Vector java.lang.StringBuffer
		java.lang.StringBuilder java.lang.Object [Ljava.lang.Object; [Ljava.lang.String; [B [C [I [F [D`

	fstFirst = `
		java.lang.String java.lang.Byte java.lang.Short java.lang.Integer java.lang.Long java.lang.Float java.lang.Double
		java.math.BigDecimal java.math.BigInteger java.lang.Character java.lang.Boolean java.util.TreeMap java.util.HashMap
		java.util.ArrayList java.util.concurrent.ConcurrentHashMap`
	fstAWT  = ` java.awt.Color java.awt.Dimension java.awt.Point java.awt.Rectangle java.awt.Font`
	fstThen = `
		java.net.URL java.util.Date java.sql.Date java.text.SimpleDateFormat java.util.TreeSet java.util.LinkedList
		java.util.SimpleTimeZone java.util.GregorianCalendar java.util.Vector java.util.Hashtable java.util.BitSet java.util.Locale
		java.lang.StringBuffer java.lang.StringBuilder java.lang.Object`
	fst2Arrays = `
		[Ljava.lang.Object; [[Ljava.lang.Object; [[[Ljava.lang.Object; [B [[B [C [[C [S [[S [I [[I [F [[F [D [[D [J [[J`
)
