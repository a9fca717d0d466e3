//go:build ignore

// palette rewrites PNG files with the 256 most frequent of their colors, which makes pictures of text much smaller.
package main

import (
	"cmp"
	"image"
	"image/color"
	"image/png"
	"log"
	"maps"
	"os"
	"slices"
)

func main() {
	for _, name := range os.Args[1:] {
		if err := rewrite(name); err != nil {
			log.Fatal(err)
		}
	}
}

func rewrite(name string) error {
	in, err := os.Open(name)
	if err != nil {
		return err
	}
	picture, err := png.Decode(in)
	_ = in.Close()
	if err != nil {
		return err
	}
	box := picture.Bounds()
	count := make(map[color.Color]int)
	for y := range box.Dy() {
		for x := range box.Dx() {
			count[picture.At(x, y)]++
		}
	}
	colors := slices.SortedFunc(maps.Keys(count), func(a, b color.Color) int { return cmp.Compare(count[b], count[a]) })
	out := image.NewPaletted(box, colors[:min(len(colors), 256)])
	index := make(map[color.Color]uint8)
	for c := range count {
		index[c] = uint8(out.Palette.Index(c))
	}
	for y := range box.Dy() {
		for x := range box.Dx() {
			out.SetColorIndex(x, y, index[picture.At(x, y)])
		}
	}
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(file, out); err != nil {
		return err
	}
	return file.Close()
}
