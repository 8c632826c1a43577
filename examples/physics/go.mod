module github.com/foretick/foretick/examples/physics

go 1.26.0

require (
	github.com/foretick/foretick v0.1.0
	github.com/hajimehoshi/ebiten/v2 v2.9.9
	github.com/jakecoffman/cp/v2 v2.3.0
	github.com/solarlune/resolv v0.8.1
	github.com/stretchr/testify v1.12.1
)

require (
	github.com/ebitengine/gomobile v0.0.0-20250923094054-ea854a63cce1 // indirect
	github.com/ebitengine/hideconsole v1.0.0 // indirect
	github.com/ebitengine/purego v0.9.0 // indirect
	github.com/jezek/xgb v1.1.1 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/exp v0.0.0-20251113190631-e25ba8c21ef6 // indirect
	golang.org/x/sync v0.18.0 // indirect
	golang.org/x/sys v0.50.0 // indirect
)
