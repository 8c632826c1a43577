// Package releasetest lets a test use this checkout as a released module, and find the
// repository. It is for tests and for what checks a release.
package releasetest

// Module is the path of the root module, and Version the version that a checkout plays.
const (
	Module  = "github.com/foretick/foretick"
	Version = "v0.1.0"
)
