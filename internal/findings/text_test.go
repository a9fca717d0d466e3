package findings

import (
	"testing"

	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/rpc"
)

// Methods of one name have an order, too, so that findings name the same ones in each run.
func TestMethodsOfOneName(t *testing.T) {
	methods := make(map[*method]int64)
	for _, protocol := range []string{"tri", "dubbo", "rest", "grpc", "http", "hessian"} {
		methods[&method{service: "a.S", name: "find", protocol: &rpc.Protocol{Name: protocol}}] = 5
	}
	methods[&method{service: "a.S", name: "find"}] = 5
	methods[&method{service: "a.S", name: "fin"}] = 5
	for range 20 {
		var protocols []string
		for _, m := range most(methods, methodOrder)[2:] {
			protocols = append(protocols, m.key.protocol.Name)
		}
		require.Equal(t, []string{"dubbo", "grpc", "hessian", "http", "rest", "tri"}, protocols)
	}
}
