package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"dubbo-wire/internal/output"
)

// outputFlags are --format, --output and the flags for tables.
type outputFlags struct{ output.Options }

// add adds the flags to a command. The first format is the default.
func (o *outputFlags) add(cmd *cobra.Command, formats ...string) {
	o.Formats = formats
	addFlags(cmd.Flags(), outputGroup, func(fs *pflag.FlagSet) {
		fs.StringVar(&o.Format, "format", "", "print as `FORMAT`: "+strings.Join(formats, ", ")+" (default "+formats[0]+")")
		fs.StringArrayVarP(&o.Files, "output", "o", nil, "write to `FILE`; its extension chooses the format (."+strings.Join(output.Extensions(formats), " .")+"); may be repeated")
		if slices.Contains(formats, "table") || slices.Contains(formats, "markdown") {
			fs.BoolVar(&o.Exact, "exact", false, "print all digits in tables")
			fs.BoolVar(&o.Local, "local", false, "print local times in tables instead of UTC")
		}
	})
	flagValues(cmd, "format", formats)
}
