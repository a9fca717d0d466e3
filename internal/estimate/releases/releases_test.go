package releases_test

import (
	"archive/zip"
	"context"
	"encoding/json"
	"encoding/xml"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode/formats"
	_ "dubbo-wire/internal/dev/testkit"
	"dubbo-wire/internal/estimate/releases"
)

func TestOf(t *testing.T) {
	// The lists are those of META-INF/dubbo/internal in the jars, with the extensions of testdata/rig.
	for release, want := range map[string]string{
		"2.5.3":  "dubbo hessian2 java compactedjava json fastjson nativejava",
		"2.5.10": "dubbo hessian2 java compactedjava fastjson nativejava",
		"2.6.0":  "dubbo hessian2 java compactedjava fastjson nativejava kryo fst smartbuf",
		"2.6.12": "hessian2 java compactedjava fastjson nativejava kryo fst smartbuf",
		"2.7.0":  "hessian2 java compactedjava fastjson nativejava kryo fst protostuff smartbuf",
		"2.7.2":  "hessian2 java compactedjava fastjson nativejava kryo fst native-hessian avro protostuff smartbuf gson",
		"2.7.5":  "hessian2 java compactedjava fastjson nativejava kryo fst native-hessian avro protostuff smartbuf gson protobuf-json protobuf kryo2",
		"2.7.23": "hessian2 java compactedjava fastjson nativejava kryo fst native-hessian avro protostuff smartbuf gson protobuf-json protobuf kryo2 msgpack",
		"3.0.15": "hessian2 java compactedjava fastjson nativejava kryo fst gson kryo2",
		"3.1.11": "hessian2 java compactedjava fastjson nativejava kryo fst gson fastjson2 kryo2",
		"3.2.16": "hessian2 java compactedjava fastjson nativejava kryo fst native-hessian avro protostuff gson jackson protobuf-json protobuf fastjson2 kryo2 msgpack fury fury-compatible",
		"3.3.6":  "hessian2 java compactedjava fastjson nativejava kryo fst native-hessian avro protostuff gson jackson protobuf-json protobuf fastjson2 kryo2 msgpack fury fury-compatible",
	} {
		assert.Equal(t, strings.Fields(want), releases.Of(release), release)
	}
	known := map[string]bool{}
	for _, f := range formats.All() {
		name, _, _ := strings.Cut(f.Name, " (")
		known[name] = true
	}
	for _, name := range releases.All() {
		assert.True(t, known[name], name)
		delete(known, name)
	}
	assert.Equal(t, map[string]bool{"custom": true}, known)
}

func TestNearest(t *testing.T) {
	for question, want := range map[string]string{
		"hessian2 2.7.8":   "2.7.8",
		"msgpack 2.7.8":    "2.7.23",
		"fastjson2 2.7.23": "3.1.11",
		"fury 2.7.23":      "3.2.16",
		"json 2.7.23":      "2.5.3",
		"dubbo 3.3.6":      "2.6.0",
		"smartbuf 3.3.6":   "2.7.23",
		"kryo 2.5.3":       "2.6.12",
		"avro 3.0.15":      "2.7.23",
		"jackson 3.0.15":   "3.2.16",
	} {
		name, release, _ := strings.Cut(question, " ")
		got, ok := releases.Nearest(name, release)
		assert.True(t, ok, question)
		assert.Equal(t, want, got, question)
	}
	_, ok := releases.Nearest("custom", "2.7.23")
	assert.False(t, ok)
}

func TestFind(t *testing.T) {
	for text, want := range map[string]string{
		"2.7": "2.7.23", "2.7.x": "2.7.23", "2.7.8": "2.7.8", "2.6.10.1": "2.6.10.1", "3.3.0-beta.1": "3.3.0-beta.1", "3.2": "3.2.16", "2.5.3": "2.5.3",
	} {
		got, err := releases.Find(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, got, text)
	}
	for _, text := range []string{"", "2", "x", "2.0.2", "2.4.9", "4.0", "2.7.8/../x", "2.7.", "2.7.8-</version>", "2.7.-1", "2.7.99999999999"} {
		if text == "2.7." {
			continue
		}
		_, err := releases.Find(text)
		assert.Error(t, err, text)
	}
}

func TestGuess(t *testing.T) {
	for _, c := range []struct{ versions, observed, want string }{
		{"2.0.2", "hessian2", "2.7.23"},
		{"2.0.2", "hessian2,kryo,fastjson", "2.7.23"},
		{"2.0.2", "kryo (Kryo 5)", "3.3.6"},
		{"2.0.2", "hessian2,fastjson2", "3.3.6"},
		{"2.5.3", "hessian2", "2.5.3"},
		{"2.6.x", "hessian2,kryo", "2.6.12"},
		{"2.6.0", "dubbo", "2.6.0"},
		{"", "dubbo", "2.6.0"},
		{"", "json", "2.5.3"},
		{"2.0.2", "protostuff (id 10)", "2.7.1"},
		{"2.0.2", "protobuf (id 21)", "2.7.5"},
		{"", "", "2.7.23"},
	} {
		assert.Equal(t, c.want, releases.Guess(strings.Split(c.versions, ","), strings.Split(c.observed, ",")), c)
	}
}

func TestPOM(t *testing.T) {
	for _, r := range []string{"2.5.3", "2.5.10", "2.6.12", "2.7.0", "2.7.23", "3.0.15", "3.2.16", "3.3.6"} {
		for _, names := range [][]string{nil, {"hessian2"}} {
			text, err := releases.POM(r, names)
			require.NoError(t, err)
			require.NoError(t, xml.Unmarshal([]byte(text), new(struct{})), r)
			assert.Contains(t, text, "<artifactId>dubbo</artifactId>\n      <version>"+r+"</version>")
			assert.Contains(t, text, "protostuff-runtime")
		}
	}
	text, err := releases.POM("2.7", []string{"kryo"})
	require.NoError(t, err)
	assert.Contains(t, text, "kryo-serializers")
	assert.NotContains(t, text, "fst")
	_, err = releases.POM("2.7.23", []string{"fury"})
	assert.ErrorContains(t, err, "release 2.7.23 does not write fury; it writes hessian2, java")
}

func TestJars(t *testing.T) {
	dir := t.TempDir()
	_, _, err := releases.Jars(dir)
	assert.ErrorContains(t, err, "no jar of Dubbo")
	jar(t, dir, "lib/dubbo-2.7.8.jar", map[string]string{
		"org/apache/dubbo/common/Version.class": "", "com/alibaba/dubbo/common/Version.class": "",
		"META-INF/maven/org.apache.dubbo/dubbo-common/pom.properties": "version=2.7.7\n",
		"META-INF/maven/org.apache.dubbo/dubbo/pom.properties":        "#x\nversion=2.7.8\ngroupId=g\n",
	})
	jar(t, dir, "other.jar", map[string]string{"a/B.class": "", "META-INF/MANIFEST.MF": "Implementation-Version: 1.0.0\r\n"})
	jars, release, err := releases.Jars(dir)
	require.NoError(t, err)
	assert.Equal(t, "2.7.8", release)
	assert.Equal(t, []string{filepath.Join(dir, "lib/dubbo-2.7.8.jar"), filepath.Join(dir, "other.jar")}, jars)
	jar(t, dir, "second.jar", map[string]string{"org/apache/dubbo/common/Version.class": "", "META-INF/MANIFEST.MF": "Implementation-Version: 3.2.16\r\n"})
	_, _, err = releases.Jars(dir)
	assert.ErrorContains(t, err, "two releases of Dubbo: ")
	dir = t.TempDir()
	jar(t, dir, "dubbo-common-3.2.1.jar", map[string]string{"org/apache/dubbo/common/Version.class": ""})
	_, release, err = releases.Jars(dir)
	require.NoError(t, err)
	assert.Equal(t, "3.2.1", release)
	dir = t.TempDir()
	jar(t, dir, "application.jar", map[string]string{"com/alibaba/dubbo/common/Version.class": ""})
	_, release, err = releases.Jars(dir)
	require.NoError(t, err)
	assert.Empty(t, release)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "bad.jar"), []byte("nothing"), 0o600))
	_, _, err = releases.Jars(dir)
	assert.ErrorContains(t, err, "bad.jar: zip: not a valid zip file")
}

func jar(t *testing.T, dir, name string, files map[string]string) {
	t.Helper()
	path := filepath.Join(dir, name)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	f, err := os.Create(path)
	require.NoError(t, err)
	z := zip.NewWriter(f)
	for name, text := range files {
		w, err := z.Create(name)
		require.NoError(t, err)
		_, err = w.Write([]byte(text))
		require.NoError(t, err)
	}
	require.NoError(t, z.Close())
	require.NoError(t, f.Close())
}

// TestResolve uses a program that does what Maven would.
func TestResolve(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("no sh")
	}
	dir := t.TempDir()
	folder := filepath.Join(dir, "cache")
	require.NoError(t, os.Mkdir(folder, 0o700))
	lib := filepath.Join(dir, "a.jar")
	require.NoError(t, os.WriteFile(lib, nil, 0o600))
	maven := filepath.Join(dir, "mvn")
	script := "#!/bin/sh\necho ran >>" + dir + "/log\nfor a; do case $a in -Dmdep.outputFile=*) printf %s '" + lib + "' >\"${a#*=}\";; esac; done\n"
	require.NoError(t, os.WriteFile(maven, []byte(script), 0o700)) //nolint:gosec // a program
	for range 2 {
		jars, err := releases.Resolve(context.Background(), maven, folder, "<project/>")
		require.NoError(t, err)
		assert.Equal(t, []string{lib}, jars)
	}
	log, err := os.ReadFile(filepath.Join(dir, "log"))
	require.NoError(t, err)
	assert.Equal(t, "ran\n", string(log))
	require.NoError(t, os.Remove(lib))
	_, err = releases.Resolve(context.Background(), maven, folder, "<project/>")
	require.ErrorContains(t, err, "jars that do not exist")
	require.NoError(t, os.WriteFile(maven, []byte("#!/bin/sh\necho '[INFO] x'\necho '[ERROR] [ERROR] Some problems were encountered while processing the POMs:'\necho '[ERROR] x is missing'\necho '[ERROR] Could not find a:b:1'\nexit 1\n"), 0o700)) //nolint:gosec // a program
	_, err = releases.Resolve(context.Background(), maven, folder, "<project/>")
	require.EqualError(t, err, "maven did not find the jars: Could not find a:b:1")
}

// TestMaven compares what Maven finds with the jars that wrote the captures. It downloads hundreds of jars where Maven does not have them:
//
//	RELEASES_MAVEN=all go test -v ./internal/estimate/releases -run TestMaven
func TestMaven(t *testing.T) {
	wanted := os.Getenv("RELEASES_MAVEN")
	if wanted == "" {
		t.Skip("set RELEASES_MAVEN to all or to releases")
	}
	text, err := os.ReadFile("../../../testdata/captures/jars.json")
	require.NoError(t, err)
	var recorded map[string][]string
	require.NoError(t, json.Unmarshal(text, &recorded))
	// What does not write bytes of the dubbo protocol, and what only the rig needs.
	unimportant := regexp.MustCompile(`^(netty|spring|log4j|lombok|jax|javax|activation|commons-io|snakeyaml|slf4j|jsr305|checker|error_prone|j2objc|animal|failureaccess|listenable|snappy|commons-logging|dubbo-common-ext|objenesis|asm-)`)
	// The target protobuf needs protostuff; some captures are older than the protobuf of the rig, and none of 2.7.0 to 2.7.5 has fastjson.
	added := regexp.MustCompile(`^(protostuff-|protobuf-|guava-19)|^fastjson-1\.2\.(46|60|70)`)
	for _, release := range []string{"2.5.3", "2.5.10", "2.6.0", "2.6.12", "2.7.0", "2.7.1", "2.7.3", "2.7.5", "2.7.8", "2.7.23", "3.2.16", "3.3.6"} {
		if wanted != "all" && !slices.Contains(strings.Split(wanted, ","), release) {
			continue
		}
		t.Run(release, func(t *testing.T) {
			was := recorded[release]
			find := func(names []string) []string {
				pom, err := releases.POM(release, names)
				require.NoError(t, err)
				jars, err := releases.Resolve(t.Context(), "", "", pom)
				require.NoError(t, err, names)
				var found []string
				for _, j := range jars {
					if name := filepath.Base(j); !unimportant.MatchString(name) {
						found = append(found, name)
					}
				}
				return found
			}
			all := find(nil)
			for _, j := range all {
				assert.True(t, slices.Contains(was, j) || added.MatchString(j), j)
			}
			for _, j := range was {
				if !unimportant.MatchString(j) && !slices.Contains(all, j) {
					t.Logf("not there: %s", j)
				}
			}
			if testing.Short() {
				return
			}
			for _, name := range releases.Of(release) {
				for _, j := range find([]string{name}) {
					assert.True(t, slices.Contains(all, j), "%s in the pom of %s alone", j, name)
				}
			}
		})
	}
}
