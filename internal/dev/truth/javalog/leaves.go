package javalog

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Leaves returns the texts of a value, sorted, each with the names that lead to it. XML has neither types nor lists, and writes no nulls: elements of lists
// have the name of their list, and types and nulls are left out.
func Leaves(value json.RawMessage) ([]string, error) {
	d := json.NewDecoder(strings.NewReader(string(value)))
	d.UseNumber()
	var all []string
	var read func(path string) error
	read = func(path string) error {
		token, err := d.Token()
		if err != nil {
			return err
		}
		switch token {
		case json.Delim('{'):
			for d.More() {
				name, err := d.Token()
				if err != nil {
					return err
				}
				if name == "@class" {
					if _, err := d.Token(); err != nil {
						return err
					}
					continue
				}
				if err := read(path + "." + name.(string)); err != nil {
					return err
				}
			}
		case json.Delim('['):
			for d.More() {
				if err := read(path); err != nil {
					return err
				}
			}
		default:
			if token != nil {
				all = append(all, strings.TrimSuffix(fmt.Sprintf("%s=%v", path, token), ".0")) // calls print the shortest decimal
			}
			return nil
		}
		_, err = d.Token()
		return err
	}
	err := read("")
	slices.Sort(all)
	return all, err
}
