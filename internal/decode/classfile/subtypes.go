package classfile

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// subtypes are the direct subtypes of classes of a class path.
type subtypes struct {
	once sync.Once
	of   map[string][]string
	err  error
}

// maxSubtyped bounds the classes of a class path whose supertypes are noted.
const maxSubtyped = 1 << 18

// Subtypes returns the classes of the class path that extend or implement a class other than java.lang.Object, directly or not,
// sorted. It reads all class files when it is first called.
func (t *Types) Subtypes(name string) ([]string, error) {
	t.sub.once.Do(func() {
		t.sub.of = map[string][]string{}
		noted := 0
		t.sub.err = t.each(func(data []byte) {
			c, err := Parse(data)
			if err != nil || noted > maxSubtyped {
				return
			}
			noted++
			for _, s := range append([]string{c.Super}, c.Interfaces...) {
				if s != "" && s != object {
					t.sub.of[s] = append(t.sub.of[s], c.Name)
				}
			}
		})
		if noted > maxSubtyped && t.sub.err == nil {
			t.sub.err = fmt.Errorf("the class path has more than %d classes", maxSubtyped)
		}
	})
	if t.sub.err != nil {
		return nil, t.sub.err
	}
	seen := map[string]bool{name: true}
	var names []string
	queue := []string{name}
	if strings.HasPrefix(name, "java.") {
		for s := range t.sub.of { // classes of the JDK in between
			if is, _ := t.Is(s, name); is && strings.HasPrefix(s, "java.") && !seen[s] {
				seen[s] = true
				queue = append(queue, s)
			}
		}
	}
	for ; len(queue) > 0; queue = queue[1:] {
		for _, s := range t.sub.of[queue[0]] {
			if !seen[s] {
				seen[s] = true
				names, queue = append(names, s), append(queue, s)
			}
		}
	}
	slices.Sort(names)
	return names, nil
}
