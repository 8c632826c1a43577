module github.com/foretick/foretick/benchmarks

go 1.26.0

require (
	github.com/mlange-42/ark v0.8.1
	github.com/yohamta/donburi v1.15.7
)
