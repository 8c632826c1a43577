package machines

import (
	"go/ast"
	"go/token"
	"go/types"
)

// body is what one function does by itself, the literals within it included.
type body struct {
	findings []finding
	calls    []call
	fields   map[string]bool // the fields that it names, by fieldKey
}

// call is a function that a body calls or takes as a value.
type call struct {
	fn   *types.Func
	at   token.Pos
	end  token.Pos
	args []int // by parameter, a receiver first: what leads to it, see source

	built bool // the function given to Server.NextLevel calls it
}

// What leads to a value: a parameter from 1 on, or one of these.
const (
	fromLocal   = -1 // the call's own memory, or what is not known
	fromOutside = 0  // a package variable, or one that a literal captured
)

// reader walks one function.
type reader struct {
	*code
	fn       ast.Node // *ast.FuncDecl or *ast.FuncLit
	params   map[types.Object]int
	out      *body
	settings map[string][]setting  // what variables and fields are set to, by path
	sorted   map[types.Object]bool // variables that the function sorts
	done     map[ast.Node]bool     // iterators that are sorted at once

	twoResults map[*ast.CallExpr]bool // see findPairs
	builds     []ast.Expr             // the functions given to Server.NextLevel
}

// bodyOf walks a function once.
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
		block = fn.Body // its parameters are the library's own
		r.number(nil, fn.Type)
	}
	r.findSettings(block)
	r.findSorted(block)
	r.findPairs(block)
	r.findBuilds(block)
	ast.Inspect(block, r.visit)
	return b
}

// number numbers the parameters, a receiver first.
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

// source says what leads to the memory that an expression names.
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

// inner is the expression whose field, element, part or target e names; nil where it names
// none.
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

// shares says that a write through the expression reaches memory of others, and not a copy:
// there is a pointer, a slice or a map on its way, or the variable itself is outside.
func (r *reader) shares(e ast.Expr, from int) bool {
	if from == fromOutside {
		return true
	}
	for x := inner(e); x != nil; x = inner(x) {
		switch r.info.TypeOf(x).Underlying().(type) { // a star's is a pointer
		case *types.Pointer, *types.Slice, *types.Map:
			return true
		}
	}
	return false
}

// passed says what leads to an argument, if the called function can write through it.
func (r *reader) passed(e ast.Expr) int {
	if t := r.info.TypeOf(e); t != nil {
		switch t.Underlying().(type) {
		case *types.Pointer, *types.Slice, *types.Map:
			return r.source(e)
		}
	}
	return fromLocal
}

// receiver says the same of a method's receiver, whose address may be taken on the way.
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

// calling notes a call, or a function that is taken as a value.
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
