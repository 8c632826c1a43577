package machines

import (
	"go/ast"
	"go/token"
	"go/types"
)

// body holds what one function does itself, including the function literals in it, but without
// the functions that it calls.
type body struct {
	findings []finding
	calls    []call
	fields   map[string]bool // the fields that the function names, by fieldKey
}

// call is a function that a body calls or takes as a value.
type call struct {
	fn   *types.Func
	at   token.Pos
	end  token.Pos
	args []int // the origin of each argument, a receiver first: see source

	built bool // the call is in the function passed to Server.NextLevel
}

// The origin of a value is the number of a parameter, from 1 on, or one of these.
const (
	fromLocal   = -1 // memory of the call itself, or an unknown origin
	fromOutside = 0  // a package variable, or a variable that a function literal captured
)

// reader walks one function.
type reader struct {
	*code
	fn       ast.Node // *ast.FuncDecl or *ast.FuncLit
	params   map[types.Object]int
	out      *body
	settings map[string][]setting  // assignments to variables and fields, by name
	sorted   map[types.Object]bool // variables that the function sorts
	done     map[ast.Node]bool     // nodes that need no report: names of called functions, iterators sorted at once

	twoResults map[*ast.CallExpr]bool // see findPairs
	builds     []ast.Expr             // the functions passed to Server.NextLevel
}

// bodyOf returns the body of a function. It walks each function only once.
func (c *code) bodyOf(fn ast.Node) *body {
	if b, ok := c.bodies[fn]; ok {
		return b
	}
	b := &body{fields: map[string]bool{}}
	c.bodies[fn] = b
	r := &reader{
		code: c, fn: fn, params: map[types.Object]int{}, out: b,
		settings: map[string][]setting{}, sorted: map[types.Object]bool{}, done: map[ast.Node]bool{},
		twoResults: map[*ast.CallExpr]bool{},
	}
	var block *ast.BlockStmt
	switch fn := fn.(type) {
	case *ast.FuncDecl:
		block = fn.Body
		r.number(fn.Recv, fn.Type)
	case *ast.FuncLit:
		block = fn.Body // the library passes the arguments of a literal
		r.number(nil, fn.Type)
	}
	r.findSettings(block)
	r.findSorted(block)
	r.findPairs(block)
	r.findBuilds(block)
	ast.Inspect(block, r.visit)
	return b
}

// number numbers the parameters from 1, a receiver first.
func (r *reader) number(recv *ast.FieldList, t *ast.FuncType) {
	n := 0
	for _, list := range []*ast.FieldList{recv, t.Params} {
		if list == nil {
			continue
		}
		for _, f := range list.List {
			for _, name := range f.Names {
				n++
				r.params[r.info.Defs[name]] = n
			}
			if len(f.Names) == 0 {
				n++
			}
		}
	}
}

func (r *reader) find(kind, what string, n ast.Node) *finding {
	if r.quiet(n.Pos()) {
		return &finding{}
	}
	r.out.findings = append(r.out.findings, finding{
		Kind: kind, What: what, Where: r.where(n.Pos()), Module: modulePath(r.pass), at: n.Pos(), end: n.End(), built: r.builtAt(n),
	})
	return &r.out.findings[len(r.out.findings)-1]
}

// source returns the origin of the memory that an expression names: a parameter's number,
// fromOutside or fromLocal.
func (r *reader) source(e ast.Expr) int {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		o := r.object(e)
		v, ok := o.(*types.Var)
		if !ok {
			return fromLocal
		}
		if n, ok := r.params[v]; ok {
			return n
		}
		if v.Pkg() != nil && v.Parent() == v.Pkg().Scope() {
			return fromOutside
		}
		if _, literal := r.fn.(*ast.FuncLit); literal && (v.Pos() < r.fn.Pos() || v.Pos() > r.fn.End()) {
			return fromOutside
		}
	case *ast.SelectorExpr:
		if v, ok := r.info.Uses[e.Sel].(*types.Var); ok && !v.IsField() && v.Pkg() != nil && v.Parent() == v.Pkg().Scope() {
			return fromOutside // a variable of another package
		}
		return r.source(e.X)
	case *ast.UnaryExpr:
		if e.Op == token.AND {
			return r.source(e.X)
		}
	default:
		if x := inner(e); x != nil {
			return r.source(x)
		}
	}
	return fromLocal
}

// inner returns x for e that is x.f, x[i], x[i:j] or *x, and nil for other expressions.
func inner(e ast.Expr) ast.Expr {
	switch n := ast.Unparen(e).(type) {
	case *ast.SelectorExpr:
		return n.X
	case *ast.IndexExpr:
		return n.X
	case *ast.SliceExpr:
		return n.X
	case *ast.StarExpr:
		return n.X
	}
	return nil
}

// shares reports whether a write through the expression changes memory that others see, and not
// a copy: the expression goes through a pointer, a slice or a map, or the variable is outside.
func (r *reader) shares(e ast.Expr, from int) bool {
	if from == fromOutside {
		return true
	}
	for x := inner(e); x != nil; x = inner(x) {
		switch r.info.TypeOf(x).Underlying().(type) { // the operand of * is a pointer
		case *types.Pointer, *types.Slice, *types.Map:
			return true
		}
	}
	return false
}

// passed returns the origin of an argument if the called function can write through it, else
// fromLocal.
func (r *reader) passed(e ast.Expr) int {
	if t := r.info.TypeOf(e); t != nil {
		switch t.Underlying().(type) {
		case *types.Pointer, *types.Slice, *types.Map:
			return r.source(e)
		}
	}
	return fromLocal
}

// receiver returns the origin of a method's receiver if the method can write through it, else
// fromLocal. The call may take the receiver's address implicitly.
func (r *reader) receiver(s *ast.SelectorExpr, fn *types.Func) int {
	recv := fn.Signature().Recv()
	if recv == nil {
		return fromLocal
	}
	if _, pointer := recv.Type().(*types.Pointer); !pointer {
		return r.passed(s.X)
	}
	from := r.source(s.X)
	if _, pointer := r.info.TypeOf(s.X).Underlying().(*types.Pointer); pointer || r.shares(s, from) {
		return from
	}
	return fromLocal
}

// calling records a call, or a function that is taken as a value.
func (r *reader) calling(fn *types.Func, fun ast.Expr, args []ast.Expr, n ast.Node) {
	c := call{fn: fn, at: n.Pos(), end: n.End(), built: r.builtAt(n)}
	if fn.Signature().Recv() != nil {
		from := fromLocal
		if s, ok := ast.Unparen(fun).(*ast.SelectorExpr); ok {
			if sel := r.info.Selections[s]; sel != nil && sel.Kind() == types.MethodVal {
				from = r.receiver(s, fn)
			}
		}
		c.args = append(c.args, from)
	}
	for _, a := range args {
		c.args = append(c.args, r.passed(a))
	}
	r.out.calls = append(r.out.calls, c)
}
