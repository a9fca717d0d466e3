package releases

import (
	"encoding/xml"
	"fmt"
	"slices"
	"strings"
)

// artifact is a dependency of a pom.
type artifact struct {
	group, name string
	version     string // empty: the bom of the release knows it
	typ         string // empty for a jar
}

// libraries are the artifacts that entries of the table name. Those without a version are in the boms of 2.6 and 2.7.
var libraries = map[string]artifact{
	"avro":                       {group: "org.apache.avro"},
	"fastjson":                   {group: "com.alibaba"},
	"fst":                        {group: "de.ruedigermoeller"},
	"gson":                       {group: "com.google.code.gson", version: "2.8.5"},
	"hessian":                    {group: "com.caucho"},
	"jackson-dataformat-msgpack": {group: "org.msgpack"},
	"kryo":                       {group: "com.esotericsoftware"},
	"kryo-serializers":           {group: "de.javakaffee"},
	"msgpack-core":               {group: "org.msgpack"},
	"protobuf-java":              {group: "com.google.protobuf"},
	"protobuf-java-util":         {group: "com.google.protobuf"},
	"protostuff-core":            {group: "io.protostuff", version: "1.5.9"},
	"protostuff-runtime":         {group: "io.protostuff", version: "1.5.9"},
	"smartbuf-dubbo":             {group: "com.github.smartbuf", version: "1.0.1"},
}

// managed returns the versions that a release's libraries have, whichever of them are asked for: boms first.
func managed(release string) []artifact {
	// The javassist of 2.5 and 2.6 cannot read classes of Java 9 and later. It does not write bytes of a call.
	javassist := artifact{"org.javassist", "javassist", "3.29.2-GA", ""}
	switch line(release) {
	case "2.5":
		return []artifact{javassist, {"com.alibaba", "fastjson", "1.1.18", ""}}
	case "2.6":
		return []artifact{javassist, {"com.alibaba", "dubbo-dependencies-bom", "2.6.12", "pom"}}
	case "2.7":
		return []artifact{
			{"org.apache.dubbo", "dubbo-dependencies-bom", release, "pom"},
			// What older boms lack.
			{"com.google.protobuf", "protobuf-bom", "3.11.0", "pom"},
			{"org.apache.avro", "avro", "1.8.2", ""},
			{"org.msgpack", "msgpack-core", "0.8.22", ""},
			{"org.msgpack", "jackson-dataformat-msgpack", "0.8.22", ""},
			// FST brings an older one, which MessagePack cannot use.
			{"com.fasterxml.jackson.core", "jackson-core", "2.10.5", ""},
		}
	}
	pinned := []artifact{
		{"com.alibaba", "fastjson", "1.2.83", ""},
		{"com.caucho", "hessian", "4.0.51", ""},
		{"com.google.code.gson", "gson", "2.8.9", ""},
		{"com.google.protobuf", "protobuf-java", "3.25.8", ""},
		{"com.google.protobuf", "protobuf-java-util", "3.11.0", ""},
		{"de.javakaffee", "kryo-serializers", "0.45", ""},
		{"com.google.guava", "guava", "32.1.2-jre", ""},
		{"de.ruedigermoeller", "fst", "2.48-jdk-6", ""},
		{"org.apache.avro", "avro", "1.11.3", ""},
		{"org.msgpack", "msgpack-core", "0.8.22", ""},
		{"org.msgpack", "jackson-dataformat-msgpack", "0.8.22", ""},
		{"org.objenesis", "objenesis", "2.4", ""},
	}
	for _, name := range []string{"core.jackson-annotations", "core.jackson-core", "core.jackson-databind", "datatype.jackson-datatype-jsr310"} {
		folder, name, _ := strings.Cut(name, ".")
		pinned = append(pinned, artifact{"com.fasterxml.jackson." + folder, name, "2.15.3", ""})
	}
	return pinned
}

// dependencies returns what a pom needs for serializations of a release. Names that the release does not write are an error.
func dependencies(release string, serializations []string) ([]artifact, error) {
	all := []artifact{{group(release), "dubbo", release, ""}}
	if compare(release, "2.7") < 0 {
		all = append(all, artifact{group: "org.javassist", name: "javassist"})
	}
	// For the target protobuf, whose schema is derived from classes.
	needed := []string{"protostuff-core", "protostuff-runtime"}
	for _, s := range serializations {
		i := slices.IndexFunc(table, func(e entry) bool { return e.name == s && e.written(release) })
		if i < 0 {
			return nil, fmt.Errorf("release %s does not write %s; it writes %s", release, s, strings.Join(Of(release), ", "))
		}
		needed = append(needed, table[i].libraries...)
	}
	for _, n := range needed {
		a := libraries[n]
		a.name = n
		if name, ok := strings.CutPrefix(n, "extension "); ok {
			a = artifact{"org.apache.dubbo.extensions", "dubbo-serialization-" + name, extensionVersion(name, release), ""}
		}
		if !slices.Contains(all, a) {
			all = append(all, a)
		}
	}
	return all, nil
}

// extensionVersion returns the version of an extension that goes with a release of Dubbo 3.
func extensionVersion(name, release string) string {
	switch {
	case name == "jdk":
		return "3.3.0"
	case compare(release, "3.2") < 0:
		return "1.0.1"
	}
	return "3.2.0"
}

// POM returns the text of a pom with what serializations of a release need; nil is all that it writes.
func POM(release string, serializations []string) (string, error) {
	release, err := Find(release)
	if err != nil {
		return "", err
	}
	if serializations == nil {
		serializations = Of(release)
	}
	needed, err := dependencies(release, serializations)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<?xml version="1.0" encoding="UTF-8"?>
<!-- Dubbo %s with %s. Made by dubbo-wire estimate. -->
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>dubbo-wire</groupId>
  <artifactId>estimate</artifactId>
  <version>1</version>
  <packaging>pom</packaging>
  <dependencyManagement>
    <dependencies>
      <!-- Bytes depend on these versions. -->
`, release, strings.Join(serializations, ", "))
	for _, a := range managed(release) {
		a.print(&b, "      ")
	}
	b.WriteString("    </dependencies>\n  </dependencyManagement>\n  <dependencies>\n")
	for _, a := range needed {
		a.print(&b, "    ")
	}
	b.WriteString(`  </dependencies>
  <build>
    <pluginManagement>
      <plugins><plugin><artifactId>maven-dependency-plugin</artifactId><version>3.1.2</version></plugin></plugins>
    </pluginManagement>
  </build>
</project>
`)
	return b.String(), nil
}

// print writes a dependency, indented.
func (a artifact) print(b *strings.Builder, indent string) {
	fmt.Fprintf(b, "%s<dependency>\n", indent)
	element := func(name, value string) {
		if value == "" {
			return
		}
		fmt.Fprintf(b, "%s  <%s>", indent, name)
		xml.EscapeText(b, []byte(value)) //nolint:errcheck // a strings.Builder
		fmt.Fprintf(b, "</%s>\n", name)
	}
	element("groupId", a.group)
	element("artifactId", a.name)
	element("version", a.version)
	if a.typ == "pom" {
		element("type", "pom")
		element("scope", "import")
	}
	if a.group == "org.apache.dubbo.extensions" {
		// They bring the Dubbo and the hessian-lite of another release, and tests that are not published.
		fmt.Fprintf(b, "%s  <exclusions>\n", indent)
		for _, e := range []string{"org.apache.dubbo:*", "org.apache.dubbo.extensions:dubbo-serialization-test", "com.alibaba:hessian-lite"} {
			group, name, _ := strings.Cut(e, ":")
			fmt.Fprintf(b, "%s    <exclusion><groupId>%s</groupId><artifactId>%s</artifactId></exclusion>\n", indent, group, name)
		}
		fmt.Fprintf(b, "%s  </exclusions>\n", indent)
	}
	fmt.Fprintf(b, "%s</dependency>\n", indent)
}
