package game

import (
	"runtime"
	"runtime/debug"
	"strings"
)

// BuildName returns the program, its version and its revision.
func BuildName() string {
	b, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	name := b.Path + " " + b.Main.Version
	for _, s := range b.Settings {
		if s.Key == "vcs.revision" || s.Key == "vcs.modified" {
			name += " " + s.Value
		}
	}
	return name
}

// MachineName returns the release of Go and the architecture, with its level, such as "go1.26.0 amd64 v1". Two
// levels may compute products otherwise.
func MachineName() string {
	name := runtime.Version() + " " + runtime.GOARCH
	if b, ok := debug.ReadBuildInfo(); ok {
		for _, s := range b.Settings {
			if s.Key == "GO"+strings.ToUpper(runtime.GOARCH) {
				name += " " + s.Value
			}
		}
	}
	return name
}
