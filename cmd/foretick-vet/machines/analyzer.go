package machines

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/inspect"
)

// Analyzer reports code that gives another result on another machine or in a replay.
var Analyzer = &analysis.Analyzer{
	Name:      "machines",
	Doc:       "report code of shared systems whose result differs between machines or between a tick and its replay",
	URL:       "https://pkg.go.dev/github.com/foretick/foretick/cmd/foretick-vet/machines",
	Requires:  []*analysis.Analyzer{inspect.Analyzer},
	FactTypes: []analysis.Fact{(*findings)(nil), (*registrar)(nil), (*peerFact)(nil)},
	Run:       run,
}

// more is the flag -machines.roots.
var more string

func init() {
	Analyzer.Flags.StringVar(&more, "roots", "", "functions that match this regular expression run on both ends too: . for those of a library, ^Update$ for a game of another kind")
	Analyzer.Flags.BoolVar(&underRollback, "rollback", false, "peers of package rollback run the game: check OnJoin, OnLeave and Event.OnServer as shared systems, and leave Event.OnFinal out. The default for packages that import it")
}

// library is the path of Foretick's module. Roots are the functions that games pass to its
// packages. Their own code is not checked.
const library = "github.com/foretick/foretick"

// games are the directories of Foretick's repository that hold games.
var games = []string{"/cmd/", "/docs/", "/examples/"}

// trusted reports whether a package is not checked: packages of Go and those of Foretick itself.
// Foretick's guide, examples and commands are checked like any game.
func trusted(pass *analysis.Pass) bool {
	path := pass.Pkg.Path()
	if i := strings.IndexByte(path, ' '); i >= 0 { // "path [path.test]"
		path = path[:i]
	}
	path = strings.TrimSuffix(path, "_test")
	if rest, ours := strings.CutPrefix(path, library); ours && (rest == "" || rest[0] == '/') {
		return !slices.ContainsFunc(games, func(dir string) bool { return strings.HasPrefix(rest, dir) })
	}
	return standard(pass)
}

// standard reports whether a package is one of Go's own, which have no module.
func standard(pass *analysis.Pass) bool {
	if path := modulePath(pass); path != "" && path != "std" {
		return false
	}
	first, _, _ := strings.Cut(pass.Pkg.Path(), "/")
	return !strings.Contains(first, ".") && first != "command-line-arguments"
}

// modulePath returns the path of the module that a package belongs to, "" if it is not known.
func modulePath(pass *analysis.Pass) string {
	if pass.Module == nil {
		return ""
	}
	return pass.Module.Path
}

func run(pass *analysis.Pass) (any, error) {
	if trusted(pass) {
		return nil, nil
	}
	c := newCode(pass)
	c.export()
	c.reportRoots()
	if more != "" {
		named, err := regexp.Compile(more)
		if err != nil {
			return nil, fmt.Errorf("-machines.roots: %w", err)
		}
		c.reportNamed(named)
	}
	c.reportSizes()
	c.reportEmptyAllows()
	return nil, nil
}
