package game

import "runtime/debug"

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
