package machines

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// reached is a finding in a function, or in a function that it calls directly or indirectly.
type reached struct {
	finding
	path []string // names of the functions that are called on the way to the finding
	at   token.Pos
	end  token.Pos
	far  bool // the finding is in another package, and at is the call that leads there
}

// state is one function with the origins of its arguments, from the view of the first caller.
type state struct {
	fn   ast.Node
	args []int
	path []string

	built bool // the function passed to Server.NextLevel calls this one
}

// reach returns the findings of a function and of the functions that it calls. from has the
// origins of its own arguments.
func (c *code) reach(fn ast.Node, from []int) []reached {
	var out []reached
	seen := map[string]bool{}
	queue := []state{{fn: fn, args: from}}
	for len(queue) > 0 {
		s := queue[0]
		queue = queue[1:]
		key := fmt.Sprint(s.fn.Pos(), s.args, s.built)
		if seen[key] {
			continue
		}
		seen[key] = true
		b := c.bodyOf(s.fn)
		lead := func(through int) int {
			if through <= 0 {
				return through
			}
			if through <= len(s.args) {
				return s.args[through-1]
			}
			return fromLocal
		}
		for _, f := range b.findings {
			f.built = f.built || s.built
			if f.Through = lead(f.Through); f.Through != fromLocal {
				out = append(out, reached{finding: f, path: s.path, at: f.at, end: f.end})
			}
		}
		for _, k := range b.calls {
			args := make([]int, len(k.args))
			for i, a := range k.args {
				args[i] = lead(a)
			}
			path := append(slices.Clone(s.path), k.fn.Name())
			if decl := c.declared[k.fn]; decl != nil {
				queue = append(queue, state{decl, args, path, s.built || k.built})
				continue
			}
			var there findings
			if k.fn.Pkg() == c.pass.Pkg || !c.pass.ImportObjectFact(k.fn, &there) {
				continue
			}
			for _, f := range there.List {
				if f.Through > 0 {
					if f.Through > len(args) || args[f.Through-1] == fromLocal {
						continue
					}
					f.Through = args[f.Through-1]
				}
				out = append(out, reached{finding: f, path: path, at: k.at, end: k.end, far: true})
			}
		}
	}
	return out
}

// export exports the findings of this package's functions to other packages.
func (c *code) export() {
	for fn, decl := range c.declared {
		params := fn.Signature().Params().Len()
		if fn.Signature().Recv() != nil {
			params++
		}
		from := make([]int, params)
		for i := range from {
			from[i] = i + 1
		}
		var f findings
		seen := map[string]bool{}
		for _, r := range c.reach(decl, from) {
			if key := r.Kind + r.Where; !seen[key] && len(f.List) < mostFindings && !c.quiet(r.at) {
				seen[key] = true
				r.finding.fixes, r.finding.at, r.finding.end = nil, 0, 0
				f.List = append(f.List, r.finding)
			}
		}
		if len(f.List) > 0 {
			c.pass.ExportObjectFact(fn, &f)
		}
	}
}

// reachRoot returns the findings of a root and of the functions that it calls.
func (c *code) reachRoot(r root) (all []reached) {
	switch {
	case r.fn != nil:
		var from []int
		if decl, ok := r.fn.(*ast.FuncDecl); ok && decl.Recv != nil {
			from = []int{fromOutside} // the game struct
		}
		for len(from) < 16 {
			from = append(from, fromLocal)
		}
		all = c.reach(r.fn, from)
	case r.far != nil:
		var there findings
		if c.pass.ImportObjectFact(r.far, &there) {
			for _, f := range there.List {
				if f.Through <= 1 && (f.Through == 0 || r.far.Signature().Recv() != nil) {
					all = append(all, reached{finding: f, path: []string{r.far.Name()}, at: r.at, end: r.end, far: true})
				}
			}
		}
	}
	return all
}

// reportReached reports findings. what is how the reports name the function that reaches them.
func (c *code) reportReached(what string, all []reached) {
	for _, f := range all {
		key := fmt.Sprint(f.at, f.Kind, f.What)
		if f.far {
			key += f.Where
		}
		if c.reported[key] || c.quiet(f.at) {
			continue
		}
		c.reported[key] = true
		d := analysis.Diagnostic{Pos: f.at, End: f.end, Category: f.Kind, Message: f.text(what)}
		if !f.far {
			d.SuggestedFixes = f.fixes
		}
		c.pass.Report(d)
	}
}

// text returns the text of a report. what names the function that reaches the finding.
func (f *reached) text(what string) string {
	switch {
	case f.far:
		what += " calls " + strings.Join(f.path, ", which calls ") + " (" + f.Where + ")"
	case len(f.path) > 0:
		what += " by " + strings.Join(f.path, ", ")
	}
	return what + ": " + f.What
}

// declaredAs returns the declaration of a function of this package, nil for other functions.
func (c *code) declaredAs(fn *types.Func) ast.Node {
	if d := c.declared[fn]; d != nil {
		return d
	}
	return nil
}
