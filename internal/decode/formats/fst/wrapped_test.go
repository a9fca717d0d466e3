package fst

import (
	"encoding/hex"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"dubbo-wire/internal/decode/formats/formattest"
)

// of is the start of an object of a class that is named in the body.
func of(class string) string {
	return fmt.Sprintf("00 01 %02x", len(class)) + hex.EncodeToString([]byte(class))
}

const treeMapOf = "000e 3763 ff 00 01 ed fc016b ed f705" // a TreeMap with one entry

// With a class path, what the JDK wraps around a collection or a map is shown as that. Without one it is an object.
func TestWrapped(t *testing.T) {
	format := rig(t)
	const util, concurrent = "java.util.", "java.util.concurrent."
	for _, c := range []struct{ class, body, without, want string }{
		{util + "Collections$UnmodifiableMap", treeMapOf + "00", `{"@class":"java.util.Collections$UnmodifiableMap","wrapped":{"k":5}}`, `{"k":5}`},
		{util + "Collections$UnmodifiableMap", "000f 01 fc016b f705 00", `{"k":5}`, `{"k":5}`},
		{
			util + "Collections$UnmodifiableSet", "0016 3763 00 ed ff 01 ed fc0161 00",
			`{"@class":"java.util.Collections$UnmodifiableSet","wrapped":["a"]}`, `["a"]`,
		},
		{util + "Arrays$ArrayList", "fb 01 03 5b5b49 01 01 02 5b49 01 07000000 00", `{"@class":"java.util.Arrays$ArrayList","wrapped":[[7]]}`, `[[7]]`},
		{util + "Collections$CopiesList", "42 03 fc0161 00", `{"@class":"java.util.Collections$CopiesList","n":3,"element":"a"}`, `["a","a","a"]`},
		{
			util + "Collections$CopiesList", "42 02 001000 00", `{"@class":"java.util.Collections$CopiesList","n":2,"element":[]}`,
			`[[],{"@ref":"result[0]"}]`,
		},
		{util + "Collections$CopiesList", "42 00 ff 00", `{"@class":"java.util.Collections$CopiesList","n":0,"element":null}`, `[]`},
		{
			util + "Collections$CopiesList", "42 81 ffffff7f ff 00", `{"@class":"java.util.Collections$CopiesList","n":2147483647,"element":null}`,
			`{"@class":"java.util.Collections$CopiesList","n":2147483647,"element":null}`,
		},
		{util + "Collections$SetFromMap", "42 000f 02 fc016b f0 fc016c f0 00", "", `["k","l"]`},
		{concurrent + "ConcurrentSkipListSet", of(concurrent+"ConcurrentSkipListMap") + "3763 ff 00 ed fc016b ed f0 ed ff 00", "", `["k"]`},
		{concurrent + "ConcurrentHashMap$KeySetView", of(concurrent+"ConcurrentHashMap") + "01 fc016b f0 f0 00", "", `["k"]`},
		{util + "Collections$UnmodifiableList", "42 " + treeMapOf + "00 42 f900 00", "", `{"k":5}`},
	} {
		body := formattest.Hex(of(c.class), c.body)
		if c.without != "" {
			assert.Equal(t, c.without, formattest.Value(t, Format, body), c.class)
		}
		assert.Equal(t, c.want, formattest.Value(t, format, body), c.class)
		formattest.Check(t, format, body)
	}
}

// A comparator is not shown. Those of the JDK have no fields.
func TestComparators(t *testing.T) {
	const (
		ignoreCase = "ed 00 01 2a 6a6176612e6c616e672e537472696e672443617365496e73656e736974697665436f6d70617261746f72 42 00"
		two        = "02 ed fc0161 ed fc0142"
	)
	for _, c := range []struct{ name, hex, want string }{
		{"String.CASE_INSENSITIVE_ORDER", "0016 3763 00" + ignoreCase + two, `["a","B"]`},
		{"the same again", "0010 02 0016 3763 00" + ignoreCase + two + "0016 3763 00 ed f909" + two, `[["a","B"],["a","B"]]`},
		{"a value", "0010 01" + ignoreCase[3:], `[{"@class":"java.lang.String$CaseInsensitiveComparator"}]`},
	} {
		body := formattest.Hex(c.hex)
		assert.Equal(t, c.want, formattest.Value(t, Format, body), c.name)
		assert.Equal(t, c.want, formattest.Value(t, rig(t), body), c.name)
		formattest.Check(t, Format, body)
	}
}

// A reference to what is in a wrapper names the place where that is printed.
func TestReferencesIntoWrappers(t *testing.T) {
	list := "0010 02" + of("java.util.Collections$SetFromMap") + "42 000f 01 001000 f0 00"
	at := len(formattest.Hex(list)) - 5
	assert.Equal(t, `[[[]],{"@ref":"result[0][0]"}]`, formattest.Value(t, rig(t), formattest.Hex(list, fmt.Sprintf("f9 %02x", at))))
}
