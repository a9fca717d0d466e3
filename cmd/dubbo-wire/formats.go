package main

import (
	"github.com/spf13/cobra"

	"dubbo-wire/internal/decode/formats"
	"dubbo-wire/internal/decode/protocols"
	"dubbo-wire/internal/output"
	"dubbo-wire/internal/report"
)

func newFormats(s *streams) *cobra.Command {
	var out outputFlags
	cmd := &cobra.Command{
		Use:     "formats",
		GroupID: "about",
		Short:   "List the supported protocols and serializations",
		Example: "  dubbo-wire formats\n  dubbo-wire formats --format markdown",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, args []string) error {
			targets, err := out.Open(s.places)
			if err != nil {
				return err
			}
			return out.Print(targets, func(t *output.Target, st report.Style) error {
				return report.WriteFormats(t.W, t.Format, protocols.All(), formats.All(), st)
			})
		},
	}
	out.add(cmd, "table", "markdown", "csv", "json")
	return cmd
}
