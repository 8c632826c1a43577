package metrics

import (
	"cmp"
	"runtime"
	"runtime/debug"
	"sync"
)

// Build says what program runs.
type Build struct {
	Version string // of the program's module; "(devel)" if nobody said, see ReadBuild
	Commit  string // that it was built from, with "+" if files were changed; empty if it is not known
	Go      string // such as "go1.26.0"
}

// version is set by the linker: see ReadBuild.
var version string

// ReadBuild returns the version of the program, its commit and its Go release. The commit is there if the program was
// built in a checkout, by go build of a package. A build names its version by
//
//	go build -ldflags "-X github.com/foretick/foretick/figures/metrics.version=1.2.3"
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
