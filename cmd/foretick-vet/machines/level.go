package machines

import (
	"fmt"
	"go/ast"
	"go/types"
	"strings"
)

// Kinds of roots for which writes to state are judged in another way.
const (
	kindLevel   = "level"
	kindServer  = "server system"
	kindHandler = "server's handler"
	kindEvent   = "OnServer handler"
	kindFinal   = "final handler"
	kindJoin    = "OnJoin"
	kindLeave   = "OnLeave"
)

// reportRoots reports the findings of all roots: the functions of this package that both ends
// run, and server systems and handlers.
//
// State that only OnLevel sets may be kept in a field of the game: each end sets it between
// two levels, and no tick changes it. On the server the function passed to NextLevel sets it,
// at the end of a tick that never runs again. A server system or a handler that sets it does
// so in mid-tick. Systems that run later in the tick, or again for a late input, then have
// another level than the clients had.
//
// Peers of package rollback run OnJoin, OnLeave and handlers of OnServer in every run of a tick, as
// they run shared systems. They run handlers of OnFinal once.
func (c *code) reportRoots() {
	roots, peers := c.roots(), c.onPeers()
	set := map[string]bool{} // the fields that OnLevel sets
	read := map[string]bool{}
	for _, r := range roots {
		switch {
		case r.kind == kindServer, r.kind == kindHandler, r.onPeers() && !peers, r.kind == kindFinal && peers:
			continue
		case r.kind == kindLevel:
		default:
			c.addFields(r, read)
		}
		var faults []reached
		for _, f := range c.reachRoot(r) {
			if r.kind == kindLevel && f.Kind == "state" && !f.Global {
				set[f.field] = true
				continue
			}
			faults = append(faults, f)
		}
		c.reportReached(r.what, faults)
	}
	for _, r := range roots {
		if r.kind != kindServer && r.kind != kindHandler && (r.kind != kindEvent || peers) {
			continue
		}
		var faults []reached
		for _, f := range c.reachRoot(r) {
			if f.Kind == "state" && f.field != "" && set[f.field] && read[f.field] && !f.built && !f.far {
				what, _, _ := strings.Cut(f.What, ",")
				f.What = what + ", which OnLevel sets and shared systems read: in mid-tick, and where Late.World runs ticks again, they find another level than clients had; set it in the function passed to Server.NextLevel"
				faults = append(faults, f)
			}
		}
		c.reportReached(r.what, faults)
	}
	if peers {
		c.reportOpen()
	} else {
		c.leaveOpen(roots)
	}
}

// addFields adds the fields that a root names, and those that the functions of this package that
// it calls name.
func (c *code) addFields(r root, to map[string]bool) {
	if r.fn == nil {
		return
	}
	seen := map[ast.Node]bool{}
	var add func(fn ast.Node)
	add = func(fn ast.Node) {
		if seen[fn] {
			return
		}
		seen[fn] = true
		b := c.bodyOf(fn)
		for f := range b.fields {
			to[f] = true
		}
		for _, k := range b.calls {
			if decl := c.declared[k.fn]; decl != nil {
				add(decl)
			}
		}
	}
	add(r.fn)
}

// fieldKey returns a key for a field: the position of its declaration.
func (c *code) fieldKey(v *types.Var) string {
	return fmt.Sprint(c.pass.Fset.Position(v.Origin().Pos()))
}

func (r *reader) nameField(n *ast.SelectorExpr) {
	if v, ok := r.info.Uses[n.Sel].(*types.Var); ok && v.IsField() {
		r.out.fields[r.fieldKey(v)] = true
	}
}

// writtenField returns the key of the first field in an expression that is written: level for
// g.level.walls[3]. It returns "" if there is none.
func (r *reader) writtenField(e ast.Expr) (key string) {
	for ; e != nil; e = inner(e) {
		if s, ok := ast.Unparen(e).(*ast.SelectorExpr); ok {
			if v, ok := r.info.Uses[s.Sel].(*types.Var); ok && v.IsField() {
				key = r.fieldKey(v)
			}
		}
	}
	return key
}

// findBuilds finds the functions that are passed to Server.NextLevel.
func (r *reader) findBuilds(block *ast.BlockStmt) {
	ast.Inspect(block, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && len(call.Args) == 2 {
			if fn := r.callee(call.Fun); fn != nil && fn.Name() == "NextLevel" && fn.Pkg() != nil && fn.Pkg().Path() == library+"/server" {
				r.builds = append(r.builds, call.Args[1])
			}
		}
		return true
	})
}

// builtAt reports whether a node is part of a function passed to Server.NextLevel.
func (r *reader) builtAt(n ast.Node) bool {
	for _, b := range r.builds {
		if b.Pos() <= n.Pos() && n.End() <= b.End() {
			return true
		}
	}
	return false
}
