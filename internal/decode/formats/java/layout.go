package java

// layout is what a stream of compactedjava leaves out of a class.
type layout struct {
	flags  byte
	fields []fieldDesc
}

const scSerializable = 0x02

// plain and written are classes without fields; written have a writeObject.
var (
	plain   = layout{flags: scSerializable}
	written = layout{flags: scSerializable | scWriteMethod}
)

func box(code byte) layout { return layout{scSerializable, []fieldDesc{{code, "value"}}} }

// layouts are the classes of the JDK whose objects compactedjava is read of, with their fields in the order of the
// stream: primitives first, then objects, each by name. The same in JDK 8 to 17 unless noted.
var layouts = map[string]layout{
	"java.lang.Number":    plain,
	"java.lang.Enum":      plain,
	"java.lang.Object":    plain,
	"java.lang.String":    plain,
	"java.lang.Boolean":   box('Z'),
	"java.lang.Byte":      box('B'),
	"java.lang.Character": box('C'),
	"java.lang.Double":    box('D'),
	"java.lang.Float":     box('F'),
	"java.lang.Integer":   box('I'),
	"java.lang.Long":      box('J'),
	"java.lang.Short":     box('S'),

	"java.util.concurrent.atomic.AtomicBoolean": box('I'),
	"java.util.concurrent.atomic.AtomicInteger": box('I'),
	"java.util.concurrent.atomic.AtomicLong":    box('J'),

	"java.math.BigDecimal": {scSerializable | scWriteMethod, []fieldDesc{{'I', "scale"}, {'L', "intVal"}}},
	"java.math.BigInteger": {scSerializable | scWriteMethod, []fieldDesc{
		{'I', "bitCount"}, {'I', "bitLength"}, {'I', "firstNonzeroByteNum"}, {'I', "lowestSetBit"}, {'I', "signum"}, {'[', "magnitude"},
	}},

	"java.util.Date":     written,
	"java.sql.Date":      plain,
	"java.sql.Time":      plain,
	"java.sql.Timestamp": {scSerializable, []fieldDesc{{'I', "nanos"}}},
	"java.util.UUID":     {scSerializable, []fieldDesc{{'J', "leastSigBits"}, {'J', "mostSigBits"}}},
	"java.time.Ser":      {scExternalizable | scBlockData, nil},

	"java.net.URI": {scSerializable | scWriteMethod, []fieldDesc{{'L', "string"}}},
	"java.net.URL": {scSerializable | scWriteMethod, []fieldDesc{
		{'I', "hashCode"}, {'I', "port"}, {'L', "authority"}, {'L', "file"}, {'L', "host"}, {'L', "protocol"}, {'L', "ref"},
	}},
	"java.util.BitSet": {scSerializable | scWriteMethod, []fieldDesc{{'[', "bits"}}},
	"java.util.Calendar": {scSerializable | scWriteMethod, []fieldDesc{
		{'Z', "areFieldsSet"},
		{'I', "firstDayOfWeek"},
		{'Z', "isTimeSet"},
		{'Z', "lenient"},
		{'I', "minimalDaysInFirstWeek"},
		{'I', "nextStamp"},
		{'I', "serialVersionOnStream"},
		{'J', "time"},
		{'[', "fields"},
		{'[', "isSet"},
		{'L', "zone"},
	}},
	"java.util.Currency":          {scSerializable, []fieldDesc{{'L', "currencyCode"}}},
	"java.util.GregorianCalendar": {scSerializable, []fieldDesc{{'J', "gregorianCutover"}}},
	"java.util.Locale": {scSerializable | scWriteMethod, []fieldDesc{
		{'I', "hashcode"}, {'L', "country"}, {'L', "extensions"}, {'L', "language"}, {'L', "script"}, {'L', "variant"},
	}},
	"java.util.SimpleTimeZone": {scSerializable | scWriteMethod, []fieldDesc{
		{'I', "dstSavings"},
		{'I', "endDay"},
		{'I', "endDayOfWeek"},
		{'I', "endMode"},
		{'I', "endMonth"},
		{'I', "endTime"},
		{'I', "endTimeMode"},
		{'I', "rawOffset"},
		{'I', "serialVersionOnStream"},
		{'I', "startDay"},
		{'I', "startDayOfWeek"},
		{'I', "startMode"},
		{'I', "startMonth"},
		{'I', "startTime"},
		{'I', "startTimeMode"},
		{'I', "startYear"},
		{'Z', "useDaylight"},
		{'[', "monthLength"},
	}},
	"java.util.TimeZone": {scSerializable, []fieldDesc{{'L', "ID"}}},
	"sun.util.calendar.ZoneInfo": {scSerializable, []fieldDesc{
		{'I', "checksum"},
		{'I', "dstSavings"},
		{'I', "rawOffset"},
		{'I', "rawOffsetDiff"},
		{'Z', "willGMTOffsetChange"},
		{'[', "offsets"},
		{'[', "simpleTimeZoneParams"},
		{'[', "transitions"},
	}},

	"java.util.ArrayDeque":    written,
	"java.util.ArrayList":     {scSerializable | scWriteMethod, []fieldDesc{{'I', "size"}}},
	"java.util.LinkedList":    written,
	"java.util.HashSet":       written,
	"java.util.LinkedHashSet": plain,
	"java.util.TreeSet":       written,
	"java.util.Vector": {scSerializable | scWriteMethod, []fieldDesc{
		{'I', "capacityIncrement"}, {'I', "elementCount"}, {'[', "elementData"},
	}},
	"java.util.Stack":                           plain,
	"java.util.CollSer":                         {scSerializable | scWriteMethod, []fieldDesc{{'I', "tag"}}},
	"java.util.Arrays$ArrayList":                {scSerializable, []fieldDesc{{'[', "a"}}},
	"java.util.EnumSet$SerializationProxy":      {scSerializable, []fieldDesc{{'L', "elementType"}, {'[', "elements"}}},
	"java.util.concurrent.CopyOnWriteArrayList": written,
	"java.util.concurrent.CopyOnWriteArraySet":  {scSerializable, []fieldDesc{{'L', "al"}}},

	"java.util.Collections$EmptyList":                    plain,
	"java.util.Collections$EmptySet":                     plain,
	"java.util.Collections$EmptyMap":                     plain,
	"java.util.Collections$SingletonList":                {scSerializable, []fieldDesc{{'L', "element"}}},
	"java.util.Collections$SingletonSet":                 {scSerializable, []fieldDesc{{'L', "element"}}},
	"java.util.Collections$SingletonMap":                 {scSerializable, []fieldDesc{{'L', "k"}, {'L', "v"}}},
	"java.util.Collections$UnmodifiableCollection":       {scSerializable, []fieldDesc{{'L', "c"}}},
	"java.util.Collections$UnmodifiableList":             {scSerializable, []fieldDesc{{'L', "list"}}},
	"java.util.Collections$UnmodifiableRandomAccessList": plain,
	"java.util.Collections$UnmodifiableSet":              plain,
	"java.util.Collections$UnmodifiableMap":              {scSerializable, []fieldDesc{{'L', "m"}}},
	"java.util.Collections$SynchronizedCollection":       {scSerializable | scWriteMethod, []fieldDesc{{'L', "c"}, {'L', "mutex"}}},
	"java.util.Collections$SynchronizedList":             {scSerializable, []fieldDesc{{'L', "list"}}},
	"java.util.Collections$SynchronizedRandomAccessList": plain,
	"java.util.Collections$SynchronizedSet":              plain,
	"java.util.Collections$SynchronizedMap":              {scSerializable | scWriteMethod, []fieldDesc{{'L', "m"}, {'L', "mutex"}}},

	"java.util.HashMap":         {scSerializable | scWriteMethod, []fieldDesc{{'F', "loadFactor"}, {'I', "threshold"}}},
	"java.util.LinkedHashMap":   {scSerializable, []fieldDesc{{'Z', "accessOrder"}}},
	"java.util.Hashtable":       {scSerializable | scWriteMethod, []fieldDesc{{'F', "loadFactor"}, {'I', "threshold"}}},
	"java.util.Properties":      {scSerializable, []fieldDesc{{'L', "defaults"}}},
	"java.util.TreeMap":         {scSerializable | scWriteMethod, []fieldDesc{{'L', "comparator"}}},
	"java.util.IdentityHashMap": {scSerializable | scWriteMethod, []fieldDesc{{'I', "size"}}},
	"java.util.EnumMap":         {scSerializable | scWriteMethod, []fieldDesc{{'L', "keyType"}}},

	"java.util.concurrent.ConcurrentHashMap": {scSerializable | scWriteMethod, []fieldDesc{
		{'I', "segmentMask"}, {'I', "segmentShift"}, {'[', "segments"},
	}},
	"java.util.concurrent.ConcurrentHashMap$Segment":         {scSerializable, []fieldDesc{{'F', "loadFactor"}}},
	"java.util.concurrent.locks.ReentrantLock":               {scSerializable, []fieldDesc{{'L', "sync"}}},
	"java.util.concurrent.locks.ReentrantLock$Sync":          plain,
	"java.util.concurrent.locks.ReentrantLock$NonfairSync":   plain,
	"java.util.concurrent.locks.AbstractQueuedSynchronizer":  {scSerializable, []fieldDesc{{'I', "state"}}},
	"java.util.concurrent.locks.AbstractOwnableSynchronizer": plain,
	"java.util.AbstractMap$SimpleEntry":                      {scSerializable, []fieldDesc{{'L', "key"}, {'L', "value"}}},
	"java.util.AbstractMap$SimpleImmutableEntry":             {scSerializable, []fieldDesc{{'L', "key"}, {'L', "value"}}},
	"org.apache.dubbo.rpc.RpcException":                      {scSerializable, []fieldDesc{{'I', "code"}}},
	"com.alibaba.dubbo.rpc.RpcException":                     {scSerializable, []fieldDesc{{'I', "code"}}},
	"org.apache.dubbo.rpc.service.GenericException":          {scSerializable, []fieldDesc{{'L', "exceptionClass"}, {'L', "exceptionMessage"}}},
	"com.alibaba.dubbo.rpc.service.GenericException":         {scSerializable, []fieldDesc{{'L', "exceptionClass"}, {'L', "exceptionMessage"}}},
	"java.lang.ClassNotFoundException":                       {scSerializable, []fieldDesc{{'L', "ex"}}},
	"java.lang.reflect.InvocationTargetException":            {scSerializable, []fieldDesc{{'L', "target"}}},
	"java.lang.reflect.UndeclaredThrowableException":         {scSerializable, []fieldDesc{{'L', "undeclaredThrowable"}}},
	"java.sql.SQLException":                                  {scSerializable, []fieldDesc{{'I', "vendorCode"}, {'L', "SQLState"}, {'L', "next"}}},
	"java.lang.Throwable": {scSerializable | scWriteMethod, []fieldDesc{
		{'L', "cause"}, {'L', "detailMessage"}, {'[', "stackTrace"}, {'L', "suppressedExceptions"},
	}},
	// JDK 9 and later; before, without format, classLoaderName, moduleName and moduleVersion.
	"java.lang.StackTraceElement": {scSerializable, []fieldDesc{
		{'B', "format"},
		{'I', "lineNumber"},
		{'L', "classLoaderName"},
		{'L', "declaringClass"},
		{'L', "fileName"},
		{'L', "methodName"},
		{'L', "moduleName"},
		{'L', "moduleVersion"},
	}},
}

// plainThrowables are the exceptions of the JDK that add no fields to Throwable.
var plainThrowables = map[string]bool{
	"java.io.EOFException": true, "java.io.FileNotFoundException": true, "java.io.IOException": true,
	"java.io.UncheckedIOException": true, "java.io.UnsupportedEncodingException": true,
	"java.lang.ArithmeticException": true, "java.lang.ArrayIndexOutOfBoundsException": true,
	"java.lang.ArrayStoreException": true, "java.lang.AssertionError": true, "java.lang.ClassCastException": true,
	"java.lang.CloneNotSupportedException": true, "java.lang.Error": true, "java.lang.Exception": true,
	"java.lang.IllegalAccessException": true, "java.lang.IllegalArgumentException": true,
	"java.lang.IllegalMonitorStateException": true, "java.lang.IllegalStateException": true,
	"java.lang.IndexOutOfBoundsException": true, "java.lang.InstantiationException": true,
	"java.lang.InterruptedException": true, "java.lang.LinkageError": true, "java.lang.NegativeArraySizeException": true,
	"java.lang.NoClassDefFoundError": true, "java.lang.NoSuchFieldException": true,
	"java.lang.NoSuchMethodException": true, "java.lang.NullPointerException": true,
	"java.lang.NumberFormatException": true, "java.lang.OutOfMemoryError": true,
	"java.lang.ReflectiveOperationException": true, "java.lang.RuntimeException": true,
	"java.lang.SecurityException": true, "java.lang.StackOverflowError": true,
	"java.lang.StringIndexOutOfBoundsException": true, "java.lang.UnsupportedOperationException": true,
	"java.lang.VirtualMachineError": true, "java.net.ConnectException": true, "java.net.SocketException": true,
	"java.net.SocketTimeoutException": true, "java.net.UnknownHostException": true,
	"java.util.ConcurrentModificationException": true, "java.util.EmptyStackException": true,
	"java.util.InputMismatchException": true, "java.util.NoSuchElementException": true,
	"java.util.concurrent.CancellationException": true, "java.util.concurrent.CompletionException": true,
	"java.util.concurrent.ExecutionException": true, "java.util.concurrent.RejectedExecutionException": true,
	"java.util.concurrent.TimeoutException": true,
}
