package main

import (
	"cmp"
	"fmt"

	"github.com/spf13/pflag"

	"dubbo-wire/internal/term"
)

// wrongValue is the error of a flag's value: the value, and advice.
type wrongValue string

func (w wrongValue) Error() string { return string(w) }

// bounded is a flag value with a minimum and a maximum.
type bounded[T cmp.Ordered] struct {
	pflag.Value
	to          *T
	least, most T
	advice      string
}

// bound makes a defined flag refuse values below least and above most. The error says advice.
func bound[T cmp.Ordered](fs *pflag.FlagSet, name string, to *T, least, most T, advice string) {
	f := fs.Lookup(name)
	f.Value = &bounded[T]{f.Value, to, least, most, advice}
	if f.DefValue == "0s" {
		f.DefValue = "0" // pflag hides this default, of any type
	}
}

func (b *bounded[T]) Set(text string) error {
	if err := b.Value.Set(text); err != nil {
		return err
	}
	if v := *b.to; !(v >= b.least && v <= b.most) {
		return wrongValue(fmt.Sprintf("%v: %s", v, b.advice))
	}
	return nil
}

// size is a flag value with a number of bytes. Text is the size as written. A most of 0 means no bounds.
type size struct {
	to          *int64
	text        string
	least, most int64
}

func (s *size) String() string { return s.text }
func (s *size) Type() string   { return "string" }

func (s *size) Set(text string) error {
	n, err := int64(0), error(nil)
	if text != "" || s.most > 0 {
		n, err = term.ParseBytes(text)
	}
	switch {
	case err != nil:
		return wrongValue(fmt.Sprintf("%s: %v", text, err))
	case s.most > 0 && (n < s.least || n > s.most):
		return wrongValue(text + ": write a size from 64KiB to 1024GiB")
	}
	*s.to, s.text = n, text
	return nil
}
