package truth

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Some objects are others on the wire: what writeReplace put there, a handle, the fields of a throwable. The log has the
// object that the receiver made of it, or its text.

// standIn compares what is on the wire in place of a logged object; ok is false for everything else.
func (c *comparer) standIn(path string, got any, want map[string]any) (diff string, ok bool) {
	g, _ := got.(map[string]any)
	ours, _ := g["@class"].(string)
	java, _ := want["@class"].(string)
	message, isThrowable := want["message"]
	switch {
	case isThrowable && len(want) == 2 && ours == java && has(g, "#opaque") && !has(g, "detailMessage"):
		return "", c.typed != nil && !c.full
	case isThrowable && len(want) == 2 && ours == java && has(g, "stackTrace") && has(g, "detailMessage"):
		return c.compare(path+".detailMessage", g["detailMessage"], message), true
	case strings.HasPrefix(java, "java.util.") && has(want, "this$0") && isList(got): // an iterator: Hessian writes what is left of it
		return c.compare(path, got, want["this$0"]), true
	case java == "java.util.Collections$3" && isList(got):
		i, _ := want["i"].(map[string]any)
		return c.compare(path, got, i["this$0"]), true
	case strings.Contains(java, ".$Proxy"): // its class is made when it is needed; the wire has the interfaces
		return c.compare(path+".h", g["h"], want["h"]), ours != ""
	case java == "org.dubbowire.rig.zoo.Own$Put" && ours == java && has(g, "left"): // writes fields that it does not have
		return c.compare(path, map[string]any{"left": g["left"], "right": g["right"]}, map[string]any{"left": json.Number("5"), "right": "put"}), true
	case c.declared && entry[java] && isList(got):
		return c.compare(path, got, []any{want["key"], want["value"]}), true
	case c.typed != nil && strings.HasPrefix(java, "java.util.concurrent.atomic.Atomic") && ours == "" && has(want, "value"):
		return c.compare(path, got, want["value"]), true
	case java == "java.util.concurrent.atomic.LongAdder" && (ours == java || ours == java+"$SerializationProxy"): // the log has no field
		return "", true
	case strings.HasPrefix(ours, "java.util.TreeMap$") && has(g, "m") && java == "": // a part of the map that is its field m, or all of it backwards
		m, _ := g["m"].(map[string]any)
		for key, w := range want {
			if diff := c.compare(path+".m."+key, m[key], w); diff != "" {
				return diff, true
			}
		}
		return "", true
	case strings.HasPrefix(java, "java.net.Inet") && (strings.HasPrefix(ours, "java.net.Inet") || strings.HasSuffix(ours, ".InetAddressHandle")):
		return "", true // Hessian leaves the address out, its receivers make 0.0.0.0 of any
	case ours == "java.io.File" && ours == java && len(g) == 2 && has(g, "value"):
		return c.compare(path+".value", g["value"], want["path"]), true
	case java == "java.lang.Object" && ours == "object" && len(g) == 1: // the name that Hessian 4.0 has for it
		return "", true
	case ours == "org.dubbowire.rig.models.Replaced$Stand" && java == "org.dubbowire.rig.models.Replaced":
		if !has(g, "joined") && has(g, "#opaque") && !c.full {
			return "", true
		}
		return c.compare(path+".joined", g["joined"], fmt.Sprintf("%v:%s", want["number"], orNull(want["text"]))), true
	case ours == "org.dubbowire.rig.zoo.Own$Stand" && java == "org.dubbowire.rig.zoo.Own$Replaced":
		if has(g, "#opaque") && !c.full {
			return "", true
		}
		return c.compare(path+".text", fmt.Sprintf("after %v", g["length"]), want["text"]), want["text"] != "before"
	case c.full && c.typed != nil && c.typed.nulls: // protostuff
		return c.privateFields(path, ours, java, got, g, want)
	}
	return "", false
}

// privateFields compares what protostuff writes of objects of the JDK: their fields, and not the transient ones, so that readers may make
// something else of them than the object had. The text of an object has those that are texts.
func (c *comparer) privateFields(path, ours, java string, got any, g, want map[string]any) (diff string, ok bool) {
	at, zone, lost := strings.Cut(fmt.Sprint(want["@date"]), "null")
	switch text, _ := want["value"].(string); {
	case g["@date"] != nil && lost: // the name of an offset is transient
		return "", strings.HasPrefix(fmt.Sprint(g["@date"]), at) && strings.HasSuffix(fmt.Sprint(g["@date"]), zone)
	case strings.HasPrefix(ours, "java.sql.") && want["@date"] != nil, ours == java && ours == "java.util.Locale", ours == java && ours == "java.lang.Class" && len(g) > 2, ours == java && isJDK(ours) && has(want, "value") && want["value"] == nil:
		return "", true
	case ours == java && isJDK(ours) && text != "" && !has(g, "value") && sameText(ours, g, text):
		return "", true
	case ours == "org.dubbowire.rig.edge.Unwritable", java == "" && strings.HasPrefix(ours, "java.util.") && want["@date"] == nil && want["@enum"] == nil && got != nil:
		// A collection or map that is a value of its own. What it holds is in these fields, or is not written.
		return "", true
	}
	return "", false
}

// entry is the classes that fastjson2 writes as a list of key and value.
var entry = map[string]bool{"java.util.HashMap$Node": true, "java.util.KeyValueHolder": true, "java.util.AbstractMap$SimpleEntry": true}

func has(m map[string]any, name string) bool {
	_, ok := m[name]
	return ok
}

func isList(v any) bool {
	_, ok := v.([]any)
	return ok
}

func TestStandIns(t *testing.T) {
	for _, c := range []struct {
		ours, truth string
		same        bool
	}{
		{`{"@class":"E","stackTrace":[],"cause":null,"detailMessage":"m"}`, `{"@class":"E","message":"m"}`, true},
		{`{"@class":"E","stackTrace":[],"cause":null,"detailMessage":"m"}`, `{"@class":"E","message":"n"}`, false},
		{`{"@class":"F","stackTrace":[],"cause":null,"detailMessage":"m"}`, `{"@class":"E","message":"m"}`, false},
		{`["a"]`, `{"@class":"java.util.ArrayList$Itr","cursor":1,"this$0":["a"]}`, true},
		{`["b"]`, `{"@class":"java.util.ArrayList$Itr","cursor":1,"this$0":["a"]}`, false},
		{`{"@class":"java.io.File","value":"/a"}`, `{"@class":"java.io.File","path":"/a"}`, true},
		{`{"@class":"java.io.File","value":"/b"}`, `{"@class":"java.io.File","path":"/a"}`, false},
		{`{"@class":"org.dubbowire.rig.zoo.Own$Stand","length":6}`, `{"@class":"org.dubbowire.rig.zoo.Own$Replaced","text":"after 6"}`, true},
		{`{"@class":"org.dubbowire.rig.zoo.Own$Stand","length":7}`, `{"@class":"org.dubbowire.rig.zoo.Own$Replaced","text":"after 6"}`, false},
		{`{"@enum":"a.OnlyName","name":"X"}`, `{"@class":"a.OnlyName","name":"X"}`, true},
		{`{"@enum":"a.OnlyName","name":"Y"}`, `{"@class":"a.OnlyName","name":"X"}`, false},
		{`{"@enum":"a.B","name":"X"}`, `{"@class":"a.B","name":"X"}`, false},
		{`{"@class":"q.T$E","name":"b"}`, `{"@enum":"q.T$E","name":"b"}`, true},
		{`{"@class":"q.T$E","name":"b"}`, `{"@enum":"q.T$E","name":"C"}`, false},
		{`{"@class":"a.B","name":"x"}`, `{"@enum":"a.B","name":"x"}`, false},
		{`"ab"`, `["a","b"]`, true},
		{`"😀b"`, `["\ufffd","\ufffd","b"]`, true},
		{`"😀b"`, `["\ufffd","b"]`, false},
		{`{"@class":"java.util.TreeMap$AscendingSubMap","m":{"a":1,"b":2},"hi":"b"}`, `{"a":1}`, true},
		{`{"@class":"java.util.TreeMap$AscendingSubMap","m":{"a":1,"b":2},"hi":"b"}`, `{"a":2}`, false},
		{`{"@class":"I","h":{"@class":"H","x":1}}`, `{"@class":"jdk.proxy2.$Proxy5","h":{"@class":"H","x":1}}`, true},
		{`{"@class":"I","h":{"@class":"H","x":1}}`, `{"@class":"jdk.proxy2.$Proxy5","h":{"@class":"H","x":2}}`, false},
	} {
		ours, truth := parsed(t, c.ours), parsed(t, c.truth)
		k := comparer{ours: ours, truth: truth, full: true}
		assert.Equal(t, c.same, k.compare("", ours, truth) == "", "%s against %s", c.ours, c.truth)
	}
}
