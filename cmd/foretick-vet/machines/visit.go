package machines

import (
	"go/ast"
	"go/token"
	"go/types"
)

// visit checks one node of a body.
func (r *reader) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		r.binary(n)
	case *ast.AssignStmt:
		r.assign(n)
	case *ast.IncDecStmt:
		r.write(n.X, n)
	case *ast.RangeStmt:
		r.ranges(n)
	case *ast.CallExpr:
		r.call(n)
	case *ast.GoStmt:
		r.find("concurrent", "starts a goroutine: what it does has no place in the order of a tick", n)
	case *ast.SendStmt:
		r.find("concurrent", "sends on a channel: who receives it first depends on the machine; keep it in a component, or raise an event", n)
	case *ast.SelectStmt:
		r.find("concurrent", "selects among channels: which is ready depends on the machine", n)
		return false
	case *ast.UnaryExpr:
		if n.Op == token.ARROW {
			r.find("concurrent", "receives from a channel: what it finds there depends on the machine; take it in through the command, a request or Server.Do", n)
		}
	case *ast.Ident:
		r.value(n, n)
	case *ast.SelectorExpr:
		r.nameField(n)
		r.value(n, n)
		return r.enter(n)
	}
	return true
}

// enter visits the x of a selector x.f, and not the name f. It returns false.
func (r *reader) enter(n *ast.SelectorExpr) bool {
	ast.Inspect(n.X, r.visit)
	return false
}

// value records a function that is taken as a value, since it may be called later. Calls are
// recorded by call, which marks their names as done.
func (r *reader) value(e ast.Expr, n ast.Node) {
	if r.done[n] {
		return
	}
	fn := r.callee(e)
	if fn == nil || fn.Pkg() == nil {
		return
	}
	r.outside(fn, n)
	r.calling(fn, e, nil, n)
}

// call checks and records a call.
func (r *reader) call(n *ast.CallExpr) {
	fun := ast.Unparen(n.Fun)
	switch f := fun.(type) {
	case *ast.IndexExpr:
		fun = f.X
	case *ast.IndexListExpr:
		fun = f.X
	}
	if name, ok := fun.(*ast.Ident); ok {
		if _, builtin := r.info.Uses[name].(*types.Builtin); builtin {
			r.builtin(name.Name, n)
			return
		}
	}
	if tv := r.info.Types[n.Fun]; tv.IsType() {
		r.convert(tv.Type, n)
		return
	}
	fn := r.callee(fun)
	if fn == nil || fn.Pkg() == nil {
		return
	}
	r.done[fun] = true
	if !r.done[n] {
		r.outside(fn, n)
	}
	r.sortedIterators(fn, n)
	r.formatsPointer(fn, n)
	r.calling(fn, fun, n.Args, n)
}

func (r *reader) builtin(name string, n *ast.CallExpr) {
	switch name {
	case "close":
		r.find("concurrent", "closes a channel", n)
	case "delete", "clear", "copy":
		if len(n.Args) > 0 {
			r.write(n.Args[0], n)
		}
	}
}
