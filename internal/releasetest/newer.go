package releasetest

import (
	"bytes"
	"go/build/constraint"
	"go/version"
	"os"
	"path/filepath"
	"slices"
)

// Go is the oldest release of Go that builds the module, as go.mod says.
const Go = "go1.26"

// Newer reports whether a file of Go is for newer releases alone, by its build constraint. Go, gofmt
// and go/parser of the oldest release may refuse its syntax, so what reads source leaves the file out,
// with a newer release too: whichever reads it, it finds the same.
func Newer(name string) bool {
	src, err := os.ReadFile(name) // #nosec G304 -- a file of the repository
	return err == nil && newer(src)
}

func newer(src []byte) bool {
	for line := range bytes.Lines(src) {
		if bytes.HasPrefix(line, []byte("package ")) {
			return false
		}
		if !constraint.IsGoBuild(string(line)) {
			continue
		}
		expr, err := constraint.Parse(string(line))
		return err == nil && version.Compare(constraint.GoVersion(expr), Go) > 0
	}
	return false
}

// Glob is filepath.Glob without the files for which Newer is true.
func Glob(pattern string) ([]string, error) {
	names, err := filepath.Glob(pattern)
	return slices.DeleteFunc(names, Newer), err
}
