module github.com/foretick/foretick

go 1.26.0

require (
	github.com/coder/websocket v1.8.15
	github.com/pion/dtls/v2 v2.2.12
	github.com/stretchr/testify v1.12.1
	go.yaml.in/yaml/v3 v3.0.5
	golang.org/x/crypto v0.59.0
	golang.org/x/exp v0.0.0-20251113190631-e25ba8c21ef6
	pgregory.net/rapid v1.3.0
)

require (
	github.com/pion/logging v0.2.2 // indirect
	github.com/pion/transport/v2 v2.2.4 // indirect
	golang.org/x/net v0.62.0 // indirect
	golang.org/x/sys v0.50.0 // indirect
)
