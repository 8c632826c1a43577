package machines

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// findSorted finds the slices that the function sorts.
func (r *reader) findSorted(block *ast.BlockStmt) {
	ast.Inspect(block, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) == 0 {
			return true
		}
		fn := r.callee(call.Fun)
		if fn == nil || fn.Pkg() == nil {
			return true
		}
		if p := fn.Pkg().Path(); p == "sort" || p == "slices" && strings.HasPrefix(fn.Name(), "Sort") {
			arg := ast.Unparen(call.Args[0])
			if conv, ok := arg.(*ast.CallExpr); ok && len(conv.Args) == 1 { // sort.Sort(byName(s))
				arg = conv.Args[0]
			}
			if o := r.object(arg); o != nil {
				r.sorted[o] = true
			}
		}
		return true
	})
}

func (r *reader) ranges(n *ast.RangeStmt) {
	if n.Tok == token.ASSIGN {
		for _, e := range []ast.Expr{n.Key, n.Value} {
			if e != nil {
				r.write(e, n)
			}
		}
	}
	switch r.info.TypeOf(n.X).Underlying().(type) {
	case *types.Map:
		if !r.anyOrder(n) {
			r.find("order", "ranges over a map, in another order each time; keep a slice, or sort the keys first", n.X)
		}
	case *types.Chan:
		r.find("concurrent", "receives from a channel: what it finds there depends on the machine", n.X)
	}
}

// anyOrder reports whether a loop over a map does the same in any order.
func (r *reader) anyOrder(n *ast.RangeStmt) bool {
	if n.Key == nil && n.Value == nil {
		return true
	}
	for _, s := range n.Body.List {
		if !r.orderless(s) && !r.setsOwn(s, n) {
			return false
		}
	}
	return true
}

// setsOwn reports whether a statement sets the entry of the loop's key in another map to a value
// that no other iteration changes: m[k] = v.
func (r *reader) setsOwn(s ast.Stmt, n *ast.RangeStmt) bool {
	a, ok := s.(*ast.AssignStmt)
	if !ok || a.Tok != token.ASSIGN || len(a.Lhs) != 1 || n.Key == nil || n.Tok != token.DEFINE {
		return false
	}
	to, ok := a.Lhs[0].(*ast.IndexExpr)
	if !ok {
		return false
	}
	if _, ok := r.info.TypeOf(to.X).Underlying().(*types.Map); !ok || r.object(to.Index) == nil || r.object(to.Index) != r.object(n.Key) {
		return false
	}
	own := true
	ast.Inspect(a.Rhs[0], func(e ast.Node) bool {
		switch e := e.(type) {
		case *ast.CallExpr, *ast.FuncLit, *ast.IndexExpr, *ast.StarExpr, *ast.SelectorExpr:
			own = false
		case *ast.Ident:
			if v, ok := r.info.Uses[e].(*types.Var); ok && r.object(n.Value) != v && r.object(n.Key) != v {
				own = false
			}
		}
		return own
	})
	return own
}

func (r *reader) orderless(s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.IncDecStmt:
		return r.whole(s.X)
	case *ast.AssignStmt:
		switch s.Tok {
		case token.ADD_ASSIGN, token.SUB_ASSIGN, token.OR_ASSIGN, token.AND_ASSIGN, token.XOR_ASSIGN:
			return r.whole(s.Lhs[0])
		case token.ASSIGN: // keys = append(keys, k), sorted later
			call, ok := s.Rhs[0].(*ast.CallExpr)
			if !ok || len(s.Lhs) != 1 {
				return false
			}
			name, ok := call.Fun.(*ast.Ident)
			return ok && name.Name == "append" && r.sorted[r.object(s.Lhs[0])]
		}
	case *ast.ExprStmt:
		call, ok := s.X.(*ast.CallExpr)
		if !ok {
			return false
		}
		name, ok := call.Fun.(*ast.Ident)
		return ok && name.Name == "delete"
	case *ast.IfStmt:
		if s.Init != nil || s.Else != nil {
			return false
		}
		for _, in := range s.Body.List {
			if !r.orderless(in) {
				return false
			}
		}
		return true
	}
	return false
}

// whole reports whether an expression is an integer. Sums of integers are the same in any order.
func (r *reader) whole(e ast.Expr) bool {
	b := basic(r.info.TypeOf(e))
	return b != nil && b.Info()&types.IsInteger != 0
}

// sortedIterators marks iterators of maps as done if they are passed directly to a function that
// sorts them or collects them in a map.
func (r *reader) sortedIterators(fn *types.Func, call *ast.CallExpr) {
	switch fn.Pkg().Path() + "." + fn.Name() {
	case "slices.Sorted", "slices.SortedFunc", "slices.SortedStableFunc", "maps.Collect", "maps.Insert":
		for _, a := range call.Args {
			if c, ok := ast.Unparen(a).(*ast.CallExpr); ok {
				r.done[c] = true
			}
		}
	}
}
