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

// bounded is a flag value with a minimum, and with a maximum unless most is nil.
type bounded[T cmp.Ordered] struct {
	pflag.Value
	to, most *T
	least    T
}

// atLeast makes a defined flag refuse values below least.
func atLeast[T cmp.Ordered](fs *pflag.FlagSet, name string, to *T, least T) {
	bound(fs, name, &bounded[T]{to: to, least: least})
}

// within makes a defined flag refuse values below least and above most.
func within[T cmp.Ordered](fs *pflag.FlagSet, name string, to *T, least, most T) {
	bound(fs, name, &bounded[T]{to: to, least: least, most: &most})
}

func bound[T cmp.Ordered](fs *pflag.FlagSet, name string, b *bounded[T]) {
	f := fs.Lookup(name)
	b.Value, f.Value = f.Value, b
	if f.DefValue == "0s" {
		f.DefValue = "0" // pflag hides this default, of any type
	}
}

func (b *bounded[T]) Set(text string) error {
	if err := b.Value.Set(text); err != nil {
		return err
	}
	switch v := *b.to; {
	case b.most == nil && v < b.least:
		return wrongValue(fmt.Sprintf("%v: must be at least %v", v, b.least))
	case b.most != nil && !(v >= b.least && v <= *b.most): // NaN is neither
		return wrongValue(fmt.Sprintf("%v: must be from %v to %v", v, b.least, *b.most))
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
		return wrongValue(text + ": must be a size from 64KiB to 1024GiB")
	}
	*s.to, s.text = n, text
	return nil
}
