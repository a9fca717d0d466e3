package main

import (
	"github.com/spf13/cobra"

	"dubbo-wire/internal/decode/formats"
	"dubbo-wire/internal/report"
)

func newFormats(s *streams) *cobra.Command {
	var out outputFlags
	cmd := &cobra.Command{
		Use:     "formats",
		GroupID: "about",
		Short:   "List the protocols and serializations that are known, and how deep",
		Example: "  dubbo-wire formats\n  dubbo-wire formats --format markdown",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, args []string) error {
			targets, err := out.targets(s)
			if err != nil {
				return err
			}
			for i, t := range targets {
				err := report.WriteFormats(t.w, t.format, formats.Protocols(), formats.All(), out.style(t))
				if err == nil {
					err = t.close()
				}
				if err != nil {
					discard(targets[i:])
					return err
				}
			}
			return nil
		},
	}
	out.add(cmd, "table", "markdown", "csv", "json")
	return cmd
}
