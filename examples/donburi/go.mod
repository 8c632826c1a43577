module github.com/foretick/foretick/examples/donburi

go 1.25.0

require (
	github.com/foretick/foretick v0.1.0
	github.com/stretchr/testify v1.11.1
	github.com/yohamta/donburi v1.15.7
)
