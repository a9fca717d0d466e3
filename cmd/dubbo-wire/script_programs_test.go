package main

import (
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"

	"github.com/klauspost/compress/zstd"
)

// The programs that scripts run in place of ls, sed, gzip and zstd, which a machine with only Go may lack.

// names prints the names of all files in a folder, sorted: names DIR.
func names() {
	entries, err := os.ReadDir(os.Args[1])
	fatal(err)
	for _, e := range entries {
		fmt.Println(e.Name())
	}
}

// replaceText prints a file in which every match of a regular expression is replaced: replace FILE REGEXP TEXT [REGEXP TEXT]...
func replaceText() {
	text, err := os.ReadFile(os.Args[1])
	fatal(err)
	for i := 2; i+1 < len(os.Args); i += 2 {
		old := regexp.MustCompile(os.Args[i])
		if !old.Match(text) {
			fatal(fmt.Errorf("%s does not match %s", os.Args[1], old))
		}
		text = old.ReplaceAll(text, []byte(os.Args[i+1]))
	}
	_, err = os.Stdout.Write(text)
	fatal(err)
}

// pack compresses a file as the extension of the other one says, .gz or .zst: pack FILE PACKED.
func pack() {
	data, err := os.ReadFile(os.Args[1])
	fatal(err)
	file, err := os.Create(os.Args[2])
	fatal(err)
	var w io.WriteCloser = gzip.NewWriter(file)
	if filepath.Ext(os.Args[2]) == ".zst" {
		w, err = zstd.NewWriter(file)
		fatal(err)
	}
	_, err = w.Write(data)
	fatal(err)
	fatal(w.Close())
	fatal(file.Close())
}

func fatal(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
