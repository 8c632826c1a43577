module github.com/foretick/foretick

go 1.25.0

require (
	github.com/stretchr/testify v1.12.1
	golang.org/x/exp v0.0.0-20251113190631-e25ba8c21ef6
	pgregory.net/rapid v1.3.0
)

require go.yaml.in/yaml/v3 v3.0.5 // indirect
