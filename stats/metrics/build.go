package metrics

import (
	"cmp"
	"runtime"
	"runtime/debug"
	"sync"
)

// Build describes the running program.
type Build struct {
	// Version is the version of the program's module. It is "(devel)" if the build named none: see
	// ReadBuild.
	Version string
	// Commit is the commit that the program was built from, with "+" if files were changed. It is empty
	// if it is not known.
	Commit string
	Go     string // such as "go1.26.0"
}

// version is set by the linker: see ReadBuild.
var version string

// ReadBuild returns the version of the program, its commit and its Go release. The commit is known if
// the program was built in a checkout, by go build of a package. A build sets its version by
//
// \tgo build -ldflags "-X github.com/foretick/foretick/stats/metrics.version=1.2.3"
var ReadBuild = sync.OnceValue(func() Build {
	b := Build{Version: "(devel)", Go: runtime.Version()}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	b.Version = cmp.Or(version, info.Main.Version, b.Version)
	dirty := ""
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.modified":
			if s.Value == "true" {
				dirty = "+"
			}
		}
	}
	b.Commit += dirty
	return b
})
