module dubbo-wire/testdata/rig/tls-go

go 1.26.0
