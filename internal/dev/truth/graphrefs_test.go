package truth

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"dubbo-wire/internal/decode"
)

// references finds the values that references in a tree mean. The printed path is cut where keys are long, and two keys may be
// printed alike; the tree has the number of the node.
type references struct {
	tree    *decode.Tree
	targets map[string][]int // nodes by printed path: several where it is cut
	values  map[int]any
}

func newReferences(t *decode.Tree) *references {
	r := &references{tree: t, targets: map[string][]int{}, values: map[int]any{}}
	for i := range t.Nodes {
		n := &t.Nodes[i]
		if n.Kind != decode.Ref {
			continue
		}
		ref, _ := r.value(i).(map[string]any)
		path, _ := ref["@ref"].(string)
		if to := int(n.Num); !slices.Contains(r.targets[path], to) {
			r.targets[path] = append(r.targets[path], to)
		}
	}
	return r
}

// value returns a node as it is printed.
func (r *references) value(i int) any {
	v, ok := r.values[i]
	if !ok {
		d := json.NewDecoder(bytes.NewReader(r.tree.AppendJSON(nil, i)))
		d.UseNumber()
		if err := d.Decode(&v); err != nil {
			panic(err)
		}
		r.values[i] = v
	}
	return v
}

// all returns the values that a reference may mean, none if v is not a reference.
func (r *references) all(v any) (values []any) {
	m, _ := v.(map[string]any)
	path, ok := m["@ref"].(string)
	if !ok || len(m) != 1 {
		return nil
	}
	for _, i := range r.targets[path] {
		values = append(values, r.value(i))
	}
	return values
}

// wrongPath returns a printed path that leads to something else than the node of the reference, or "". Whoever reads the output
// has only the path.
func (r *references) wrongPath(top map[string]any) string {
	for path, nodes := range r.targets {
		root, _, _ := strings.Cut(path, "[")
		root, _, _ = strings.Cut(root, ".")
		if isCut(path) || len(nodes) > 1 || top[root] == nil {
			continue
		}
		want := r.value(nodes[0])
		v, ok := walk(top[root], path)
		key, isKey := keyAt(top[root], map[string]any{"@ref": path}) // has the path of its entry
		if !(ok && reflect.DeepEqual(v, want)) && !(isKey && reflect.DeepEqual(key, want)) {
			return fmt.Sprintf("at %s: %s instead of %s", path, short(v), short(want))
		}
	}
	return ""
}

// isCut reports whether a printed path does not say where it leads: names are cut, and so are deep paths.
func isCut(path string) bool { return strings.Contains(path, "...") || len(path) >= 1<<10 }
