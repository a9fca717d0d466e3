//go:build alltests

package estimated

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/dev/testkit"
	"dubbo-wire/internal/estimate/jvm"
	"dubbo-wire/internal/estimate/releases"
)

func TestTry(t *testing.T) {
	release, workload := os.Getenv("RELEASE"), os.Getenv("WORKLOAD")
	pom, err := releases.POM(release, nil)
	require.NoError(t, err)
	jars, err := releases.Resolve(context.Background(), "", filepath.Join(jvm.Cache(), "jars"), pom)
	require.NoError(t, err)
	m := Matrix{ClassPath: jars, UserPath: []string{filepath.Join(testkit.Root(), "testdata/models/rig.jar")}, Examples: 3}
	for _, c := range testkit.Captures() {
		if c.Dubbo != release || len(c.Serializations) != 1 {
			continue
		}
		s := c.Serializations[0]
		if c.Name == workload+s || c.Name == workload+s+"-"+release {
			m.Captures = append(m.Captures, Captured(testkit.Dir(), c.Name, s))
		}
	}
	var sources []string
	if s := os.Getenv("SOURCES"); s != "" {
		sources = strings.Split(s, ",")
	}
	cells, err := m.Run(context.Background(), sources)
	require.NoError(t, err)
	fmt.Println(Table(cells))
	var keys [][2]string
	for k := range cells {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b [2]string) int { return strings.Compare(a[0]+" "+a[1], b[0]+" "+b[1]) })
	for _, k := range keys {
		c := cells[k]
		fmt.Printf("%s > %s: %d bodies, %d equal, %d same, %d apart of %d\n", c.Source, c.Target, c.Bodies, c.Equal, c.Same, c.Apart, c.Bytes)
		for cause, n := range c.Causes {
			fmt.Printf("    %d %s\n", n, cause)
		}
		for _, e := range c.Examples {
			fmt.Println("    ", e)
		}
	}
}
