module github.com/foretick/foretick/transport/dtls/interop

go 1.26.0

require (
	github.com/foretick/foretick v0.0.0
	github.com/pion/dtls/v3 v3.1.8
	github.com/stretchr/testify v1.12.1
)

require (
	github.com/pion/dtls/v2 v2.2.12 // indirect
	github.com/pion/logging v0.2.4 // indirect
	github.com/pion/transport/v2 v2.2.4 // indirect
	github.com/pion/transport/v4 v4.0.2 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/crypto v0.59.0 // indirect
	golang.org/x/net v0.62.0 // indirect
	golang.org/x/sys v0.50.0 // indirect
)

replace github.com/foretick/foretick => ../../..
