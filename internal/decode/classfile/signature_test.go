package classfile

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestSignatures(t *testing.T) {
	for s, want := range map[string]string{
		"Ljava/util/List<Ljava/lang/String;>;":  "java.util.List<java.lang.String>",
		"Ljava/util/Map<TK;[[I>;":               "java.util.Map<K, int[][]>",
		"[Ljava/util/List<*>;":                  "java.util.List<?>[]",
		"Ljava/util/List<+Ljava/lang/Number;>;": "java.util.List<? extends java.lang.Number>",
		"Ljava/util/List<+Ljava/lang/Object;>;": "java.util.List<?>",
		"Ljava/util/List<-TT;>;":                "java.util.List<? super T>",
		"Lp/Outer<TT;>.Inner;":                  "p.Outer<T>$Inner",
		"Lp/Outer<TT;>.Inner<Lp/A;>.Last;":      "p.Outer<T>$Inner<p.A>$Last",
		"Lp/Outer.Inner<Lp/A;>;":                "p.Outer$Inner<p.A>",
		"I":                                     "int",
		"TT;":                                   "T",
		"Ljava/util/List<Ljava/util/Map<Ljava/lang/String;Ljava/util/Set<*>;>;>;": "java.util.List<java.util.Map<java.lang.String, java.util.Set<?>>>",
		"Lp/Größe<Lp/中;>;": "p.Größe<p.中>",
	} {
		got, err := ParseSignature(s)
		assert.NoError(t, err, s)
		assert.Equal(t, want, got.String(), s)
	}
	c, err := ParseClassSignature("<T::Ljava/lang/Comparable<-TT;>;:Ljava/io/Serializable;U:Ljava/lang/Object;V:>Lp/Base<TT;>;Lp/A;Lp/B<TU;>;")
	assert.NoError(t, err)
	assert.Equal(t, "java.lang.Comparable<? super T>", c.Parameters[0].Bounds[0].String())
	assert.Equal(t, "java.io.Serializable", c.Parameters[0].Bounds[1].String())
	assert.Equal(t, []string{"T", "U", "V"}, []string{c.Parameters[0].Name, c.Parameters[1].Name, c.Parameters[2].Name})
	assert.Equal(t, "p.Base<T>", c.Super.String())
	assert.Len(t, c.Interfaces, 2)
}

func TestSignaturesHostile(t *testing.T) {
	deep := strings.Repeat("Lp/A<", maxTypeDepth+2) + "*" + strings.Repeat(">;", maxTypeDepth+2)
	inner := "Lp/A" + strings.Repeat(".A", maxTypeDepth+2) + ";"
	for s, want := range map[string]string{
		"":                        `character 0 of the type "": expected a type`,
		"V":                       `character 0 of the type "V": expected a type`,
		"L;":                      `character 1 of the type "L;": expected the name of a class`,
		"Lp/A":                    `expected the name of a class`,
		"Lp/A<":                   `expected a type`,
		"Lp/A<I>;":                `character 6 of the type "Lp/A<I>;": expected a class, array or type variable`,
		"Lp/A<*>":                 `expected a semicolon`,
		"Lp/A;x":                  `expected its end`,
		"T;":                      `expected the name of a type variable`,
		strings.Repeat("[", 1000): `expected a type`,
		deep:                      `expected at most 64 types in each other`,
		inner:                     `expected at most 64 classes in each other`,
	} {
		_, err := ParseSignature(s)
		assert.ErrorContains(t, err, want)
		assert.NotContains(t, err.Error(), "\n")
		assert.Less(t, len(err.Error()), 300)
	}
	for _, s := range []string{"<", "<T", "<T:", "<T>Lp/A;", "<:>", "<T:I>", "I", "Lp/A;I"} {
		_, err := ParseClassSignature(s)
		assert.Error(t, err, s)
	}
	for _, s := range []string{"TT;", "Lp/A<*>;x", "[V", "", "Lp/A"} {
		_, err := ParseDescriptor(s)
		assert.Error(t, err, s)
	}
}

// TestTypeText: variables that stand for types with the variable twice make a type of few nodes and a very long text.
func TestTypeText(t *testing.T) {
	b := bindings{"T": {Kind: Object, Name: "p.A"}}
	twice, err := ParseSignature("Lp/Pair<TT;TT;>;")
	assert.NoError(t, err)
	for range 200 {
		b = bindings{"T": b.in(twice)}
	}
	text := b["T"].String()
	assert.Less(t, len(text), maxTypeText+10)
	assert.True(t, strings.HasSuffix(text, "…"))
	assert.Same(t, twice, bindings{}.in(twice))
	assert.Same(t, twice, bindings{"U": twice}.in(twice))
}

// FuzzSignature: a type that was read is written as a text with its names, and can be bound.
func FuzzSignature(f *testing.F) {
	for _, s := range []string{
		"Ljava/util/Map<TK;[[I>;", "Lp/Outer<TT;>.Inner<-Lp/A;>;", "<T::Ljava/lang/Comparable<-TT;>;U:Ljava/lang/Object;>Lp/Base<TT;>;Lp/A;",
		"[Ljava/util/List<*>;", "Lp/A<Lp/A<Lp/A<+TT;>;>;>;", "TT;",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		b := bindings{"T": {Kind: Primitive, Name: "bound"}, "K": {Kind: Array, Elem: primitives['I']}}
		if d, err := ParseDescriptor(s); err == nil {
			g, err := ParseSignature(s)
			if s != "V" && (err != nil || g.String() != d.String()) && !strings.ContainsAny(s, ".<>:[") {
				t.Fatalf("%q is %s as a descriptor, %v as a signature: %v", s, d, g, err)
			}
		}
		if g, err := ParseSignature(s); err == nil {
			if g.String() == "" || b.in(g).String() == "" {
				t.Fatalf("%q has no text", s)
			}
		}
		if c, err := ParseClassSignature(s); err == nil {
			for _, i := range append(c.Interfaces, c.Super) {
				_ = b.in(i).String()
			}
		} else if strings.ContainsAny(err.Error(), "\n\r") {
			t.Fatal(err)
		}
	})
}
