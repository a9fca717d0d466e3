package main

import (
	"net/netip"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"dubbo-wire/internal/decode/route"
	"dubbo-wire/internal/exit"
)

// addRoutes adds the flags that name requests of HTTP. The command's RunE must be set.
func (i *inputFlags) addRoutes(cmd *cobra.Command) {
	var routes, products []string
	addFlags(cmd.Flags(), runGroup, func(fs *pflag.FlagSet) {
		fs.StringArrayVar(&routes, "route", nil, "name requests of HTTP by `PATTERN`: 'GET /users/{id}', '/files/{path...}' (any method, the rest of the path); the most specific pattern counts; may be repeated")
		fs.StringArrayVar(&products, "product", nil, "name the product of an HTTP server by `ADDRESS=NAME`, instead of what its header Server says: 10.0.0.7:8080=Tomcat; its calls of plain HTTP belong to protocol rest, except those of Hessian; may be repeated")
	})
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(routes) > 0 {
			var err error
			if i.Routes, err = route.Parse(routes); err != nil {
				return exit.Usagef("--route %v", err)
			}
		}
		for _, text := range products {
			address, name, ok := strings.Cut(text, "=")
			server, err := netip.ParseAddrPort(address)
			if !ok || err != nil || name == "" {
				return exit.Usagef("--product %s: must be HOST:PORT=NAME with an IP address, such as 10.0.0.7:8080=Tomcat", text)
			}
			if i.Products == nil {
				i.Products = make(map[string]string)
			}
			i.Products[netip.AddrPortFrom(server.Addr().Unmap(), server.Port()).String()] = name
		}
		return run(cmd, args)
	}
}
