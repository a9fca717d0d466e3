package main

import (
	"github.com/spf13/cobra"

	"dubbo-wire/internal/decode/dubbo/dissector"
	"dubbo-wire/internal/decode/formats"
)

func newLua(s *streams) *cobra.Command {
	return &cobra.Command{
		Use:     "lua",
		GroupID: "look",
		Short:   "Print a Wireshark dissector of the dubbo protocol",
		Long: `lua prints a dissector for Wireshark and tshark, in Lua. It adds columns, filters such as dubbo.method, and the tree of
each frame's header and envelope, and links each response with its request.

Wireshark loads the file with -X lua_script:dubbo.lua, or always if it is in the folder of personal Lua plugins (Help,
About Wireshark, Folders): on Linux and macOS ~/.local/lib/wireshark/plugins.

    wireshark -X lua_script:dubbo.lua trace.pcap
    tshark -X lua_script:dubbo.lua -r trace.pcap -Y dubbo`,
		Example: `  dubbo-wire lua > dubbo.lua`,
		Args:    noArguments,
		RunE:    func(*cobra.Command, []string) error { return dissector.Write(s.out, formats.All()) },
	}
}
