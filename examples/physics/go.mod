module github.com/foretick/foretick/examples/physics

go 1.25.0

require (
	github.com/foretick/foretick v0.1.0
	github.com/jakecoffman/cp/v2 v2.3.0
	github.com/solarlune/resolv v0.8.1
	github.com/stretchr/testify v1.11.1
)
