package hessian2

import (
	"math/big"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/formats/formattest"
)

const (
	liteTime   = "com.alibaba.com.caucho.hessian.io.java8."
	nativeTime = "org.apache.dubbo.serialize.hessian.serializer.java8."
)

func (w *writer) localDate(pkg string, y, m, d int) *writer {
	return w.object(pkg+"LocalDateHandle", "year", "month", "day").int(y).int(m).int(d)
}

func (w *writer) localTime(pkg string, h, m, s, n int) *writer {
	return w.object(pkg+"LocalTimeHandle", "hour", "minute", "second", "nano").int(h).int(m).int(s).int(n)
}

func (w *writer) localDateTime(pkg string) *writer {
	w.object(pkg+"LocalDateTimeHandle", "date", "time")
	return w.localDate(pkg, 2020, 1, 2).localTime(pkg, 3, 4, 5, 6000)
}

func (w *writer) zoneOffset(pkg string, s int) *writer {
	return w.object(pkg+"ZoneOffsetHandle", "seconds").int(s)
}

func TestTimes(t *testing.T) {
	for _, pkg := range []string{liteTime, nativeTime, strings.Replace(nativeTime, "java8", "java17", 1)} {
		date := func(want string, w *writer) {
			t.Helper()
			assert.Equal(t, `{"@date":"`+want+`"}`, formattest.Value(t, Format, w.b))
		}
		n := func() *writer { return new(writer) }
		date("2020-01-02", n().localDate(pkg, 2020, 1, 2))
		date("0001-12-31", n().localDate(pkg, 1, 12, 31))
		date("-0044-03-15", n().localDate(pkg, -44, 3, 15))
		date("+10000-01-01", n().localDate(pkg, 10000, 1, 1))
		date("+999999999-12-31", n().localDate(pkg, 999999999, 12, 31))
		date("23:59:59", n().localTime(pkg, 23, 59, 59, 0))
		date("00:00:00.120", n().localTime(pkg, 0, 0, 0, 120000000))
		date("00:00:00.000006", n().localTime(pkg, 0, 0, 0, 6000))
		date("00:00:00.000000006", n().localTime(pkg, 0, 0, 0, 6))
		date("2020-01-02T03:04:05.000006", n().localDateTime(pkg))
		instant := func(s int64, nanos int) *writer {
			return n().object(pkg+"InstantHandle", "seconds", "nanos").long(s).int(nanos)
		}
		date("1970-01-01T00:00:05Z", instant(5, 0))
		date("1969-12-31T23:59:59.500Z", instant(-1, 5e8))
		date("+1000000000-12-31T23:59:59.999999999Z", instant(maxInstant, 999999999))
		date("-1000000000-01-01T00:00:00Z", instant(minInstant, 0))
		for offset, text := range map[int]string{0: "Z", 28800: "+08:00", -9015: "-02:30:15", 64800: "+18:00", -60: "-00:01"} {
			date("2020-01-02T03:04:05.000006"+text,
				n().object(pkg+"OffsetDateTimeHandle", "dateTime", "offset").localDateTime(pkg).zoneOffset(pkg, offset))
			date("03:04:05"+text,
				n().object(pkg+"OffsetTimeHandle", "localTime", "zoneOffset").localTime(pkg, 3, 4, 5, 0).zoneOffset(pkg, offset))
			date("2020-01-02T03:04:05.000006"+text+"[Europe/Paris]", n().
				object(pkg+"ZonedDateTimeHandle", "dateTime", "offset", "zoneId").localDateTime(pkg).zoneOffset(pkg, offset).str("Europe/Paris"))
			date("2020-01-02T03:04:05.000006"+text, n().
				object(pkg+"ZonedDateTimeHandle", "dateTime", "offset", "zoneId").localDateTime(pkg).zoneOffset(pkg, offset).str(text))
		}

		// The native library writes an offset by its text.
		byText := func(text string) *writer {
			w := n().object(pkg+"OffsetDateTimeHandle", "dateTime", "offset").localDateTime(pkg)
			return w.object(pkg+"ZoneIdHandle", "zoneId").str(text)
		}
		for _, text := range []string{"Z", "+08:00", "-02:30:15"} {
			date("2020-01-02T03:04:05.000006"+text, byText(text))
		}

		object := func(w *writer) {
			t.Helper()
			assert.Contains(t, formattest.Value(t, Format, w.b)[:30], `{"@class":"`+pkg[:10])
		}
		for _, text := range []string{"", "Europe/Paris", "+8", "+08:0", "08:00:", "+08-00", "+08:00:0x"} {
			object(byText(text))
		}
		object(n().localDate(pkg, 2020, 13, 2))
		object(n().localDate(pkg, 2020, 1, 0))
		object(n().localDate(pkg, 1000000000, 1, 1))
		object(n().localTime(pkg, 24, 0, 0, 0))
		object(n().localTime(pkg, 0, 0, 0, -1))
		object(instant(maxInstant+1, 0))
		object(instant(0, 1e9))
		object(n().object(pkg+"LocalDateHandle", "year", "month").int(1).int(1))
		object(n().object(pkg+"LocalDateHandle", "year", "month", "day").null().int(1).int(1))
		object(n().object(pkg+"LocalDateTimeHandle", "date", "time").localDate(pkg, 2020, 1, 2).null())
		object(n().object(pkg+"LocalDateTimeHandle", "date", "time").localTime(pkg, 1, 1, 1, 1).localDate(pkg, 2020, 1, 2))
		object(n().object(pkg+"OffsetTimeHandle", "localTime", "zoneOffset").localTime(pkg, 3, 4, 5, 0).zoneOffset(pkg, 64801))
		object(n().object(pkg+"DurationHandle", "seconds", "nanos").int(1).int(1))
	}
	// An application's own class of such a name is a bean.
	assert.Equal(t, `{"@class":"org.example.LocalDateHandle","year":2020,"month":1,"day":2}`,
		formattest.Value(t, Format, new(writer).localDate("org.example.", 2020, 1, 2).b))
}

func TestSQLDates(t *testing.T) {
	for _, class := range []string{"java.sql.Date", "java.sql.Time", "java.sql.Timestamp"} {
		w := new(writer).object(class, "value").date(5)
		assert.Equal(t, `{"@date":"1970-01-01T00:00:00.005Z"}`, formattest.Value(t, Format, w.b))
		w = new(writer).object(class, "value").int(5)
		assert.Equal(t, `{"@class":"`+class+`","value":5}`, formattest.Value(t, Format, w.b))
	}
}

func (w *writer) bigInteger(v string) *writer {
	n, ok := new(big.Int).SetString(v, 10)
	if !ok {
		panic(v)
	}
	w.object("java.math.BigInteger", "signum", "mag").int(n.Sign())
	mag := n.Bytes()
	for len(mag)%4 != 0 {
		mag = append([]byte{0}, mag...)
	}
	w.typed("[int", len(mag)/4)
	for ; len(mag) > 0; mag = mag[4:] {
		w.int(int(int32(uint32(mag[0])<<24 | uint32(mag[1])<<16 | uint32(mag[2])<<8 | uint32(mag[3]))))
	}
	return w
}

func TestDecimals(t *testing.T) {
	for _, v := range []string{"0", "1", "-1", "255", "-4294967296", "18446744073709551615", "-123456789012345678901234567890"} {
		assert.Equal(t, `{"@decimal":"`+v+`"}`, formattest.Value(t, Format, new(writer).bigInteger(v).b))
	}
	for _, v := range []string{"1.5", "-0.00", "1E+3", "1E-10", "12345678901234567890.123"} {
		w := new(writer).object("java.math.BigDecimal", "value").str(v)
		assert.Equal(t, `{"@decimal":"`+v+`"}`, formattest.Value(t, Format, w.b))
	}
	for _, v := range []string{"", "-", ".5", "1.", "1E", "1E+", "one", "+-1", "1.5.2", "0x1f"} {
		w := new(writer).object("java.math.BigDecimal", "value").str(v)
		assert.Equal(t, `{"@class":"java.math.BigDecimal","value":"`+v+`"}`, formattest.Value(t, Format, w.b))
	}
	for _, c := range []struct {
		unscaled string
		scale    int
		want     string
	}{ // as java.math.BigDecimal.toString
		{"123", 0, "123"},
		{"-123", 0, "-123"},
		{"123", -1, "1.23E+3"},
		{"123", -3, "1.23E+5"},
		{"123", 1, "12.3"},
		{"123", 3, "0.123"},
		{"123", 5, "0.00123"},
		{"123", 10, "1.23E-8"},
		{"-123", 12, "-1.23E-10"},
		{"1", 6, "0.000001"},
		{"1", 7, "1E-7"},
		{"0", 2, "0.00"},
		{"0", -2, "0E+2"},
		{"12345678901234567890", 10, "1234567890.1234567890"},
		{"1", 2147483647, "1E-2147483647"},
	} {
		w := new(writer).object("java.math.BigDecimal", "scale", "intVal").int(c.scale).bigInteger(c.unscaled)
		assert.Equal(t, `{"@decimal":"`+c.want+`"}`, formattest.Value(t, Format, w.b), "%s, scale %d", c.unscaled, c.scale)
	}
	// Without its unscaled value the number is lost.
	w := new(writer).object("java.math.BigDecimal", "scale", "intVal").int(1).null()
	assert.Equal(t, `{"@class":"java.math.BigDecimal","scale":1,"intVal":null}`, formattest.Value(t, Format, w.b))

	// A number and its negation share the magnitude.
	w = new(writer).list(2).bigInteger("255").object("java.math.BigInteger", "signum", "mag").int(-1).ref(2)
	assert.Equal(t, `[{"@decimal":"255"},{"@decimal":"-255"}]`, formattest.Value(t, Format, w.b))

	// What does not fit together, or is too long, is printed as it is.
	big := strings.Repeat("1234567890", 300)
	for _, w := range []*writer{
		new(writer).object("java.math.BigInteger", "signum", "mag").int(0).typed("[int", 1).int(5),
		new(writer).object("java.math.BigInteger", "signum", "mag").int(1).typed("[int", 0),
		new(writer).object("java.math.BigInteger", "signum", "mag").int(2).typed("[int", 1).int(5),
		new(writer).object("java.math.BigInteger", "signum", "mag").int(1).typed("[int", 1).long(1 << 40),
		new(writer).object("java.math.BigInteger", "signum", "mag").int(1).null(),
		new(writer).object("java.math.BigInteger", "signum", "mag").int(1).ref(0),
		new(writer).object("java.math.BigInteger", "mag").typed("[int", 0),
		new(writer).bigInteger(big),
	} {
		assert.Contains(t, formattest.Value(t, Format, w.b), `{"@class":"java.math.BigInteger"`)
	}
}

func TestBoxes(t *testing.T) {
	box := func(class string, f func(*writer) *writer) string {
		return formattest.Value(t, Format, f(new(writer).object("com.caucho.hessian.io."+class, "_value")).b)
	}
	three := func(w *writer) *writer { return w.int(3) }
	assert.Equal(t, "3", box("ByteHandle", three))
	assert.Equal(t, "3", box("ShortHandle", three))
	assert.Equal(t, "0.1", box("FloatHandle", func(w *writer) *writer { return w.double(float64(float32(0.1))) }))
	assert.Equal(t, `{"@class":"com.caucho.hessian.io.FloatHandle","_value":3}`, box("FloatHandle", three))
	assert.Equal(t, `{"@class":"com.caucho.hessian.io.LongHandle","_value":3}`, box("LongHandle", three))
}

// TestScalarReferences: what stands for a scalar is a scalar again where it is referred to, if it is short.
func TestScalarReferences(t *testing.T) {
	w := new(writer).list(6).localDate(liteTime, 2020, 1, 2).ref(1).object("E", "name").str("RED").ref(2)
	w.object("java.math.BigDecimal", "value").str("1.5").ref(3)
	assert.Equal(t, `[{"@date":"2020-01-02"},{"@date":"2020-01-02"},{"@enum":"E","name":"RED"},{"@enum":"E","name":"RED"},`+
		`{"@decimal":"1.5"},{"@decimal":"1.5"}]`, formattest.Value(t, Format, w.b))

	long := strings.Repeat("1", maxCopied)
	w = new(writer).list(2).object("java.math.BigDecimal", "value").str(long).ref(1)
	assert.Equal(t, `[{"@decimal":"`+long+`"},{"@ref":"result[0]"}]`, formattest.Value(t, Format, w.b))

	// An offset may be shared by two times.
	w = new(writer).list(2)
	for i := range 2 {
		w.object(liteTime+"OffsetTimeHandle", "localTime", "zoneOffset").localTime(liteTime, i, 4, 5, 0)
		if i == 0 {
			w.zoneOffset(liteTime, 3600)
		} else {
			w.ref(3)
		}
	}
	assert.Equal(t, `[{"@date":"00:04:05+01:00"},{"@date":"01:04:05+01:00"}]`, formattest.Value(t, Format, w.b))
}

// TestMeaningKeepsParts: what an object stands for changes nothing about where its bytes are.
func TestMeaningKeepsParts(t *testing.T) {
	bean := new(writer).object("org.example.Number", "value").str("1.5")
	decimal := new(writer).object("java.math.BigDecimal", "value").str("1.5")
	assert.Equal(t, "v.#class:20 v.#length:1 v.#field:6 v.#type:1 v.value:4", parts(t, bean.b))
	assert.Equal(t, "v.#class:22 v.#length:1 v.#field:6 v.#type:1 v.value:4", parts(t, decimal.b))
}

func TestEnums(t *testing.T) {
	e := func(names ...string) string {
		w := new(writer).list(len(names))
		for _, n := range names {
			if i, err := strconv.Atoi(n); err == nil {
				w.ref(i)
			} else if n == "null" {
				w.object("E", "name").null()
			} else {
				w.object("E", "name").str(n)
			}
		}
		return formattest.Value(t, Format, w.b)
	}
	const red, green = `{"@enum":"E","name":"RED"}`, `{"@enum":"E","name":"GREEN_2"}`
	bean := func(name string) string { return `{"@class":"E","name":"` + name + `"}` }

	assert.Equal(t, "["+red+","+green+"]", e("RED", "GREEN_2"))
	assert.Equal(t, "["+red+","+green+","+red+"]", e("RED", "GREEN_2", "1"))
	for _, name := range []string{"", "bob", "Bob", "RED ", "2RED", "_RED", "RED-1", "红"} {
		assert.Equal(t, "["+bean(name)+"]", e(name), "%q is no constant", name)
	}
	// One object that is not a constant tells about all of its class, and about references to them.
	assert.Equal(t, "["+bean("RED")+`,{"@ref":"result[0]"},`+bean("bob")+","+bean("GREEN")+`,{"@ref":"result[3]"}]`,
		e("RED", "1", "bob", "GREEN", "3"))
	assert.Equal(t, "["+bean("RED")+`,{"@class":"E","name":null}]`, e("RED", "null"))
	// A constant is one object: the second use would be a reference.
	assert.Equal(t, "["+bean("RED")+","+bean("GREEN")+","+bean("RED")+"]", e("RED", "GREEN", "RED"))

	// Over all values of a body, but not from body to body.
	r, tree := New(), decode.Tree{WithValues: true}
	w := new(writer).object("E", "name").str("RED")
	split := len(w.b)
	w.object("E", "name").str("bob")
	for range 2 {
		tree.Reset()
		r.Reset(w.b[:split], decode.Malformed, &tree)
		r.Value(decode.ByIndex, "", 0, "")
		require.Equal(t, red, string(tree.AppendJSON(nil, 0)))
		tree.Reset()
		r.Reset(w.b, decode.Malformed, &tree)
		r.Value(decode.ByIndex, "", 0, "")
		r.Value(decode.ByIndex, "", 1, "")
		require.Equal(t, bean("RED"), string(tree.AppendJSON(nil, 0)))
	}

	for _, class := range []string{"java.lang.Class", "org.example.NameException", "org.example.NameError"} {
		w := new(writer).object(class, "name").str("RED")
		assert.Equal(t, `{"@class":"`+class+`","name":"RED"}`, formattest.Value(t, Format, w.b))
	}
	w = new(writer).object("E", "name", "code").str("RED").int(1)
	assert.Equal(t, `{"@class":"E","name":"RED","code":1}`, formattest.Value(t, Format, w.b))

	// As keys of a map.
	w = new(writer).hex("48").object("E", "name").str("RED").int(1).hex("5a")
	assert.Equal(t, `{"@map":[[`+red+`,1]]}`, formattest.Value(t, Format, w.b))
	assert.Equal(t, "v.#type:1 v[0].#class:3 v[0].#length:1 v[0].#field:5 v[0].#type:1 v[0].name:4 v[0]:1 v.#end:1", parts(t, w.b))
}
