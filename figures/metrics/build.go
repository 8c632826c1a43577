package metrics

import (
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

// ReadBuild returns what the Go tool wrote into the program. The commit is there if the program was
// built in a checkout, by go build of a package.
var ReadBuild = sync.OnceValue(func() Build {
	b := Build{Version: "(devel)", Go: runtime.Version()}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if info.Main.Version != "" {
		b.Version = info.Main.Version
	}
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
