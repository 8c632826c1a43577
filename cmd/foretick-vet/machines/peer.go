package machines

import (
	"fmt"
	"go/token"
	"slices"
	"strconv"

	"golang.org/x/tools/go/analysis"
)

// underRollback is the flag -machines.rollback.
var underRollback bool

// peerFact is exported by packages that peers of package rollback run, or may run.
type peerFact struct {
	// Peers is set if the package imports package rollback, itself or through packages of the game.
	Peers bool
	// Open has the reports of functions that peers run in every run of a tick. The package does not import
	// rollback, so a package that does reports them.
	Open []string
	// Told has the paths of the packages whose Open this package reported.
	Told []string
}

func (*peerFact) AFact()           {}
func (f *peerFact) String() string { return fmt.Sprintf("peers %v, %d open", f.Peers, len(f.Open)) }

// onPeers reports whether the package's game is run by peers of package rollback: by the flag, or because
// it imports that package, itself or through packages of the game.
func (c *code) onPeers() bool {
	return underRollback || c.rollbackImport() != token.NoPos || slices.ContainsFunc(c.pass.AllPackageFacts(), func(f analysis.PackageFact) bool {
		p, ok := f.Fact.(*peerFact)
		return ok && p.Peers
	})
}

// rollbackImport returns the position of an import of package rollback, or NoPos.
func (c *code) rollbackImport() token.Pos {
	for _, file := range c.pass.Files {
		for _, s := range file.Imports {
			if path, err := strconv.Unquote(s.Path.Value); err == nil && path == library+"/rollback" {
				return s.Pos()
			}
		}
	}
	return token.NoPos
}

// reportOpen reports what the packages that this one imports left open, at the import of package rollback.
func (c *code) reportOpen() {
	at := c.rollbackImport()
	if at == token.NoPos {
		at = c.pass.Files[0].Name.Pos()
	}
	own, told := &peerFact{Peers: true}, map[string]bool{}
	facts := c.pass.AllPackageFacts()
	for _, f := range facts {
		if p, ok := f.Fact.(*peerFact); ok {
			for _, path := range p.Told {
				told[path] = true
			}
		}
	}
	for _, f := range facts {
		p, ok := f.Fact.(*peerFact)
		if !ok || len(p.Open) == 0 || told[f.Package.Path()] {
			continue
		}
		own.Told = append(own.Told, f.Package.Path())
		for _, text := range p.Open {
			if !c.quiet(at) {
				c.pass.Report(analysis.Diagnostic{Pos: at, Category: "rollback", Message: "peers run package " + f.Package.Path() + ": " + text})
			}
		}
	}
	c.pass.ExportPackageFact(own)
}

// leaveOpen exports the reports of functions that a server runs once, and peers in every run of a tick. A
// package with server systems or requests has none, since rollback.New refuses it.
func (c *code) leaveOpen(roots []root) {
	if slices.ContainsFunc(roots, func(r root) bool { return r.kind == kindServer || r.kind == kindHandler }) {
		return
	}
	var own peerFact
	for _, r := range roots {
		if !r.onPeers() {
			continue
		}
		for _, f := range c.reachRoot(r) {
			text := f.text(r.what)
			if !f.far {
				text += " (" + f.Where + ")"
			}
			if !c.quiet(f.at) && !slices.Contains(own.Open, text) {
				own.Open = append(own.Open, text)
			}
		}
	}
	if len(own.Open) > 0 {
		c.pass.ExportPackageFact(&own)
	}
}

// onPeers reports whether a server runs the function once, and peers in every run of a tick.
func (r *root) onPeers() bool {
	return r.kind == kindJoin || r.kind == kindLeave || r.kind == kindEvent
}
