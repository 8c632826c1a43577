package machines

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
)

func (r *reader) assign(n *ast.AssignStmt) {
	if n.Tok == token.ADD_ASSIGN || n.Tok == token.SUB_ASSIGN {
		if isFloat(r.info.TypeOf(n.Lhs[0])) {
			r.operand(n.Rhs[0])
			if r.holdsProduct(n.Lhs[0]) {
				r.sumOf(n.Lhs[0])
			}
		}
	}
	if n.Tok == token.DEFINE {
		return
	}
	for _, l := range n.Lhs {
		r.write(l, n)
	}
}

// sumOf reports an assignment such as x += y whose x holds a product: it has no place for a
// conversion of x.
func (r *reader) sumOf(e ast.Expr) {
	r.find("product", fmt.Sprintf("%s holds a product without rounding, and is added to: %s may fuse the two and get other last bits; round it where it is set, as in x = float32(y*z)", short(types.ExprString(e)), fusing), e)
}

// write reports a write to state that a rollback does not restore.
func (r *reader) write(e ast.Expr, n ast.Node) {
	if name, ok := e.(*ast.Ident); ok && name.Name == "_" {
		return
	}
	from := r.source(e)
	if from == fromLocal || from > 0 && !r.shares(e, from) || r.scratch(e) {
		return
	}
	what := "writes " + short(types.ExprString(e))
	switch {
	case from > 0:
		what += ", which no history holds: a replay finds it changed; keep it in a component or a singleton"
	case r.captured(e):
		what += ", a variable outside of the function, which no history holds: a replay finds it changed; keep it in a component or a singleton"
	default:
		what += ", a package variable: the matches of a process share it, and a replay finds it changed; keep it in a component or a singleton"
	}
	if f := r.find("state", what, n); f.Kind != "" {
		f.Through, f.field = from, r.writtenField(e)
		f.Global = from == fromOutside && !r.captured(e)
	}
}

// captured reports whether a written expression begins with a variable that is not a package
// variable. If the variable is from outside of the function, a function literal captured it.
func (r *reader) captured(e ast.Expr) bool {
	for x := inner(e); x != nil; x = inner(e) {
		e = x
	}
	v, ok := r.object(e).(*types.Var)
	return ok && v.Pkg() != nil && v.Parent() != v.Pkg().Scope()
}

// scratch reports whether only this function uses a field, and resets it before it reads it:
// s.buf = s.buf[:0], or clear(s.buf).
func (r *reader) scratch(e ast.Expr) bool {
	var field *types.Var
	for x := ast.Unparen(e); field == nil; {
		switch n := x.(type) {
		case *ast.SelectorExpr:
			v, ok := r.info.Uses[n.Sel].(*types.Var)
			if !ok || !v.IsField() {
				return false
			}
			field = v
		case *ast.IndexExpr:
			x = ast.Unparen(n.X)
		case *ast.SliceExpr:
			x = ast.Unparen(n.X)
		default:
			return false
		}
	}
	if r.users[field] != 1 {
		return false
	}
	reset, first := false, true
	names := func(n ast.Node) bool {
		s, ok := n.(*ast.SelectorExpr)
		return ok && r.info.Uses[s.Sel] == field
	}
	ast.Inspect(r.fn, func(n ast.Node) bool {
		if !first {
			return false
		}
		switch n := n.(type) {
		case *ast.AssignStmt:
			if len(n.Lhs) == 1 && names(ast.Unparen(n.Lhs[0])) {
				if s, ok := n.Rhs[0].(*ast.SliceExpr); ok && names(ast.Unparen(s.X)) {
					v := r.info.Types[s.High].Value
					reset, first = s.Low == nil && v != nil && v.ExactString() == "0", false
				}
			}
		case *ast.CallExpr:
			if id, ok := n.Fun.(*ast.Ident); ok && id.Name == "clear" && len(n.Args) == 1 && names(ast.Unparen(n.Args[0])) {
				reset, first = true, false
			}
		case *ast.SelectorExpr:
			if names(n) {
				first = false
			}
		}
		return first
	})
	return reset
}

// comparesPointers reports pointers that are compared with one another.
func (r *reader) comparesPointers(n *ast.BinaryExpr) {
	for _, e := range []ast.Expr{n.X, n.Y} {
		t := r.info.TypeOf(e)
		if t == nil || r.info.Types[e].IsNil() {
			return
		}
		switch u := t.Underlying().(type) {
		case *types.Pointer, *types.Chan:
		case *types.Basic:
			if u.Kind() != types.UnsafePointer {
				return
			}
		default:
			return
		}
	}
	r.find("pointer", "compares pointers, which a replay and another machine have elsewhere; compare ecs.Entity or an id", n)
}

// convert reports conversions of addresses to numbers.
func (r *reader) convert(to types.Type, n *ast.CallExpr) {
	if len(n.Args) != 1 {
		return
	}
	t, from := basic(to), basic(r.info.TypeOf(n.Args[0]))
	if t != nil && from != nil && t.Kind() == types.Uintptr && from.Kind() == types.UnsafePointer {
		r.find("pointer", "makes a number of an address, which is another one on each machine", n)
	}
}
