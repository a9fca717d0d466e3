package hessian2

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dubbo-wire/internal/decode"
)

func TestZZ(t *testing.T) {
	fs, _ := filepath.Glob("/tmp/h1/refs.*")
	res := map[string][]string{}
	for _, f := range fs {
		in, _ := os.Open(f)
		s := bufio.NewScanner(in)
		s.Buffer(nil, 1<<20)
		for s.Scan() {
			c := strings.SplitN(s.Text(), "\t", 2)
			if strings.HasPrefix(c[1], "error") {
				continue
			}
			b, _ := hex.DecodeString(c[1])
			tree := decode.Tree{WithValues: true}
			r := New()
			r.Reset(b, decode.Malformed, &tree)
			for i := 0; r.Err() == nil && r.Offset() < len(b); i++ {
				r.Value(decode.ByField, fmt.Sprint(i), i, "")
			}
			out := ""
			if r.Err() != nil {
				out = r.Err().Error()
			} else {
				k := 0
				for i := 0; i < len(tree.Nodes); i = int(tree.Nodes[i].End) {
					n := &tree.Nodes[i]
					if k == 3 || k == 4 || k == 6 {
						if n.Kind != decode.Ref || !strings.HasSuffix(tree.Nodes[n.Num].Class, "Node") {
							out += fmt.Sprintf(" %d:%v", k, string(tree.AppendJSON(nil, i)))
						} else if w := map[int]string{3: "2", 4: "0", 6: "2"}[k]; tree.Nodes[n.Num].Name != w {
							out += fmt.Sprintf(" %d->%s", k, tree.Nodes[n.Num].Name)
						}
					}
					k++
				}
				if k != 7 {
					out += fmt.Sprintf(" %d values", k)
				}
			}
			if out != "" {
				key := c[0] + " " + out
				res[key] = append(res[key], filepath.Base(f))
			}
		}
	}
	for k, v := range res {
		fmt.Println(k, v)
	}
}
