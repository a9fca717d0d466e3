package report

import (
	"reflect"
	"strings"
)

// A Book is a counter of "wire" or "coverage".
type Book struct {
	Name  string // of the JSON member
	Count int64
}

// Books returns the counters of the JSON objects "wire" and "coverage", in their order. The list always has the same names; what JSON leaves out is 0.
func (r *Report) Books() (list []Book) {
	h := r.jsonHead(false)
	for _, object := range [2]reflect.Value{reflect.ValueOf(h.Wire).Elem(), reflect.ValueOf(h.Coverage).Elem()} {
		for i := range object.NumField() {
			v := object.Field(i)
			name, _, _ := strings.Cut(object.Type().Field(i).Tag.Get("json"), ",")
			switch p := v.Addr().Interface().(type) {
			case *int64:
				list = append(list, Book{name, *p})
			case **int64:
				b := Book{Name: name}
				if *p != nil {
					b.Count = **p
				}
				list = append(list, b)
			}
		}
	}
	return list
}
