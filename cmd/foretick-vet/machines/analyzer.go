package machines

import (
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/inspect"
)

// Analyzer reports what gives another result on another machine or in a replay.
var Analyzer = &analysis.Analyzer{
	Name:      "machines",
	Doc:       "report code of shared systems whose result differs between machines or between a tick and its replay",
	URL:       "https://pkg.go.dev/github.com/foretick/foretick/cmd/foretick-vet/machines",
	Requires:  []*analysis.Analyzer{inspect.Analyzer},
	FactTypes: []analysis.Fact{(*findings)(nil), (*registrar)(nil)},
	Run:       run,
}

// library is the path of the packages that give the roots. Their own code is not looked at.
const library = "github.com/foretick/foretick"

// trusted says that a package is not looked at: Go's own, and Foretick's except for its
// examples and fixtures.
func trusted(pass *analysis.Pass) bool {
	path := pass.Pkg.Path()
	if i := strings.IndexByte(path, ' '); i >= 0 { // "path [path.test]"
		path = path[:i]
	}
	path = strings.TrimSuffix(path, "_test")
	if rest, ours := strings.CutPrefix(path, library); ours && (rest == "" || rest[0] == '/') {
		return !strings.HasPrefix(rest, "/examples/") && !strings.HasPrefix(rest, "/cmd/")
	}
	return standard(pass)
}

// standard says that a package is of Go itself: it has no module.
func standard(pass *analysis.Pass) bool {
	if pass.Module != nil && pass.Module.Path != "" && pass.Module.Path != "std" {
		return false
	}
	first, _, _ := strings.Cut(pass.Pkg.Path(), "/")
	return !strings.Contains(first, ".") && first != "command-line-arguments"
}

func run(pass *analysis.Pass) (any, error) {
	if trusted(pass) {
		return nil, nil
	}
	c := newCode(pass)
	c.export()
	for _, r := range c.roots() {
		c.report(r)
	}
	c.reportSizes()
	c.reportEmptyAllows()
	return nil, nil
}
