package jvm_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/estimate/jvm"
	"dubbo-wire/internal/estimate/releases"
)

// TestReleases lets each release write a value in each of its serializations; with RELEASES_ALONE the same with a pom for that one alone. Maven
// downloads the jars that it does not have:
//
//	RELEASES_MAVEN=all RELEASES_ALONE=yes go test -v ./internal/estimate/jvm -run TestReleases
func TestReleases(t *testing.T) {
	wanted := os.Getenv("RELEASES_MAVEN")
	if wanted == "" {
		t.Skip("set RELEASES_MAVEN to all or to releases")
	}
	cached := jvm.Cache()
	for _, release := range []string{"2.5.3", "2.5.10", "2.6.0", "2.6.12", "2.7.0", "2.7.1", "2.7.3", "2.7.5", "2.7.8", "2.7.23", "3.0.15", "3.1.11", "3.2.16", "3.3.6"} {
		if wanted != "all" && !slices.Contains(strings.Split(wanted, ","), release) {
			continue
		}
		t.Run(release, func(t *testing.T) {
			needJDK(t)
			user := compile(t, "hostile/jar")
			names := releases.Of(release)
			bodies := func(pomOf, targets []string) []jvm.Encoded {
				pom, err := releases.POM(release, pomOf)
				require.NoError(t, err)
				jars, err := releases.Resolve(t.Context(), "", cached, pom)
				require.NoError(t, err)
				c := jvm.Config{Cache: cache, UserPath: []string{user}, ClassPath: jars, Targets: targets}
				field := func(name string, n node) node {
					n.label, n.name = decode.ByField, name
					return n
				}
				order := object("hostile.Order", field("name", text("x")), field("item", object("hostile.Item", field("text", text("y")))),
					field("items", list("java.util.ArrayList", object("hostile.Item"))), field("kind", node{kind: decode.Enum, class: "hostile.Order$Kind", text: "TWO"}))
				a, _ := send(t, c, order)
				return a.all[0].Targets
			}
			all := bodies(nil, names)
			for i, name := range names {
				// Messages are all that these write, and Avro writes no null.
				if b := all[i]; b.Cause != "" {
					t.Logf("%s: %s", name, b.Cause)
					if !strings.HasPrefix(name, "protobuf") && name != "avro" {
						t.Errorf("%s: %s", name, b.Cause)
					}
				}
				if os.Getenv("RELEASES_ALONE") != "" {
					assert.Equal(t, all[i], bodies([]string{name}, []string{name})[0], name)
				}
			}
		})
	}
}
