package machines

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"math"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// A compiler may fuse a product and a sum, also across statements, unless a conversion is
// between them: https://go.dev/ref/spec#Floating_point_operators

// fusing are the machines for which Go's compiler does so.
const fusing = "arm64, ppc64, s390x, riscv64 and amd64 with GOAMD64=v3"

func (r *reader) binary(n *ast.BinaryExpr) {
	switch n.Op {
	case token.ADD, token.SUB:
		r.operand(n.X)
		r.operand(n.Y)
	case token.MUL, token.QUO:
		if b := basic(r.info.TypeOf(n)); b != nil && b.Info()&types.IsComplex != 0 && r.info.Types[n].Value == nil {
			r.find("product", "multiplies complex numbers, whose parts are products that are added: "+fusing+" may round them once only", n)
		}
	case token.EQL, token.NEQ:
		r.comparesPointers(n)
	}
}

// operand reports an operand of a sum that is a product without rounding, or may hold one.
func (r *reader) operand(e ast.Expr) {
	how := ""
	switch {
	case r.product(e):
		how = "is added without being rounded"
	case r.holdsProduct(e):
		how = "holds a product without rounding, and is added"
	default:
		return
	}
	text := short(types.ExprString(ast.Unparen(e)))
	f := r.find("product", fmt.Sprintf("%s %s: %s may fuse the two and get other last bits", text, how, fusing), e)
	name, ok := r.typeName(r.info.TypeOf(e), e)
	if !ok {
		return
	}
	x := ast.Unparen(e)
	f.What += fmt.Sprintf("; write %s(%s)", name, text)
	f.fixes = []analysis.SuggestedFix{{
		Message:   "Round the product before it is added",
		TextEdits: edits(e, x, name),
	}}
}

// edits returns the edits that put a conversion around an expression. They use the expression's
// parentheses if it has some.
func edits(outer, inner ast.Expr, name string) []analysis.TextEdit {
	if outer != inner {
		return []analysis.TextEdit{{Pos: outer.Pos(), End: outer.Pos(), NewText: []byte(name)}}
	}
	return []analysis.TextEdit{
		{Pos: inner.Pos(), End: inner.Pos(), NewText: []byte(name + "(")},
		{Pos: inner.End(), End: inner.End(), NewText: []byte(")")},
	}
}

func short(s string) string {
	if len(s) > 40 {
		return s[:37] + "..."
	}
	return s
}

// typeName returns how a type is written at the place of e. It returns false if the type cannot be
// named there.
func (r *reader) typeName(t types.Type, e ast.Expr) (string, bool) {
	ok := true
	name := types.TypeString(t, func(p *types.Package) string {
		if p == r.pass.Pkg {
			return ""
		}
		_, obj := r.scope(e).LookupParent(p.Name(), e.Pos())
		if imported, is := obj.(*types.PkgName); is && imported.Imported() == p {
			return p.Name()
		}
		ok = false
		return p.Name()
	})
	if b, is := t.(*types.Basic); is { // a local name may hide the type
		if _, obj := r.scope(e).LookupParent(b.Name(), e.Pos()); obj != nil && obj.Parent() != types.Universe {
			ok = false
		}
	}
	return name, ok && !strings.ContainsAny(name, " {[")
}

func (r *reader) scope(e ast.Expr) *types.Scope {
	for _, f := range r.pass.Files {
		if f.FileStart <= e.Pos() && e.Pos() < f.FileEnd {
			if s := r.info.Scopes[f].Innermost(e.Pos()); s != nil {
				return s
			}
		}
	}
	return r.pass.Pkg.Scope()
}

func basic(t types.Type) *types.Basic {
	if t == nil {
		return nil
	}
	b, _ := t.Underlying().(*types.Basic)
	return b
}

// isFloat reports whether a type is a floating-point type, or a type parameter that may be one.
func isFloat(t types.Type) bool {
	if p, ok := types.Unalias(t).(*types.TypeParam); ok {
		u, ok := p.Constraint().Underlying().(*types.Interface)
		if !ok {
			return false
		}
		for i := range u.NumEmbeddeds() {
			if n, ok := u.EmbeddedType(i).(*types.Union); ok {
				for j := range n.Len() {
					if isFloat(n.Term(j).Type()) {
						return true
					}
				}
			} else if isFloat(u.EmbeddedType(i)) {
				return true
			}
		}
		return false
	}
	b := basic(t)
	return b != nil && b.Info()&types.IsFloat != 0
}

// product reports whether the value of an expression is a product that was not rounded and is
// not exact.
func (r *reader) product(e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.UnaryExpr:
		return (e.Op == token.SUB || e.Op == token.ADD) && r.product(e.X)
	case *ast.BinaryExpr:
		tv := r.info.Types[e]
		return e.Op == token.MUL && tv.Value == nil && tv.Type != nil && isFloat(tv.Type) &&
			!r.exactFactor(e.X) && !r.exactFactor(e.Y) && !(r.widened(e.X) && r.widened(e.Y))
	case *ast.CallExpr:
		return r.returnsProduct(e)
	}
	return false
}

// exactFactor reports whether a factor is zero or a power of two, so that the product is exact.
func (r *reader) exactFactor(e ast.Expr) bool {
	v := r.info.Types[e].Value
	if v == nil {
		return false
	}
	f, _ := constant.Float64Val(constant.ToFloat(v))
	frac, _ := math.Frexp(math.Abs(f))
	return frac == 0.5 || f == 0
}

// widened reports whether an expression converts a float32 to float64. The product of two such
// values is exact.
func (r *reader) widened(e ast.Expr) bool {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok || len(call.Args) != 1 || !r.info.Types[call.Fun].IsType() {
		return false
	}
	to, from := basic(r.info.TypeOf(call)), basic(r.info.TypeOf(call.Args[0]))
	return to != nil && from != nil && to.Kind() == types.Float64 && from.Kind() == types.Float32
}

// returnsProduct reports whether a call is of a function of this package that only returns a
// product. The compiler may inline it.
func (r *reader) returnsProduct(call *ast.CallExpr) bool {
	fn := r.callee(call.Fun)
	if fn == nil {
		return false
	}
	decl := r.declared[fn]
	if decl == nil || len(decl.Body.List) != 1 {
		return false
	}
	ret, ok := decl.Body.List[0].(*ast.ReturnStmt)
	if !ok || len(ret.Results) != 1 {
		return false
	}
	if inner, ok := ast.Unparen(ret.Results[0]).(*ast.CallExpr); ok && r.callee(inner.Fun) == fn {
		return false
	}
	return r.product(ret.Results[0])
}

// setting is one assignment to a variable or field.
type setting struct {
	at      token.Pos // end of the statement
	product bool      // the value is a product that was not rounded
	block   ast.Node  // innermost block with the statement
}

// findSettings records the function's assignments to variables and fields, in the order of the
// text.
func (r *reader) findSettings(block *ast.BlockStmt) {
	var blocks []ast.Node
	set := func(to ast.Expr, at token.Pos, product bool) {
		if name := r.name(to); name != "" {
			r.settings[name] = append(r.settings[name], setting{at, product, blocks[len(blocks)-1]})
		}
	}
	var nodes []ast.Node
	ast.Inspect(block, func(n ast.Node) bool {
		if n == nil {
			if last := nodes[len(nodes)-1]; len(blocks) > 0 && blocks[len(blocks)-1] == last {
				blocks = blocks[:len(blocks)-1]
			}
			nodes = nodes[:len(nodes)-1]
			return true
		}
		nodes = append(nodes, n)
		switch n := n.(type) {
		case *ast.BlockStmt, *ast.CaseClause, *ast.CommClause, *ast.IfStmt, *ast.ForStmt:
			blocks = append(blocks, n)
		case *ast.AssignStmt:
			for i, l := range n.Lhs {
				switch {
				case n.Tok == token.MUL_ASSIGN:
					set(l, n.End(), isFloat(r.info.TypeOf(l)) && !r.exactFactor(n.Rhs[0]))
				case len(n.Lhs) == len(n.Rhs) && (n.Tok == token.ASSIGN || n.Tok == token.DEFINE):
					set(l, n.End(), r.product(n.Rhs[i]))
				default:
					set(l, n.End(), false)
				}
			}
		case *ast.ValueSpec:
			for i, name := range n.Names {
				set(name, n.End(), i < len(n.Values) && r.product(n.Values[i]))
			}
		}
		return true
	})
}

// name returns a name for a variable or one of its fields or elements, unique within a function.
// It returns "" for other expressions.
func (r *reader) name(e ast.Expr) string {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		if v, ok := r.object(e).(*types.Var); ok {
			return fmt.Sprintf("%s@%d", v.Name(), v.Pos())
		}
	case *ast.SelectorExpr:
		if x := r.name(e.X); x != "" {
			return x + "." + e.Sel.Name
		}
	case *ast.IndexExpr:
		if x := r.name(e.X); x != "" {
			return x + "[" + types.ExprString(e.Index) + "]"
		}
	case *ast.StarExpr:
		return r.name(e.X)
	}
	return ""
}

// holdsProduct reports whether a variable may hold a product that was not rounded.
func (r *reader) holdsProduct(e ast.Expr) bool {
	switch x := ast.Unparen(e).(type) {
	case *ast.UnaryExpr:
		return (x.Op == token.SUB || x.Op == token.ADD) && r.holdsProduct(x.X)
	case *ast.Ident, *ast.SelectorExpr, *ast.IndexExpr, *ast.StarExpr:
		if t := r.info.TypeOf(e); t == nil || !isFloat(t) {
			return false
		}
		return r.looseAt(r.name(x), x.Pos())
	}
	return false
}

// looseAt reports whether a variable may hold a product that was not rounded at a place: the last
// assignment above it, or one that may have been the last, assigned a product.
func (r *reader) looseAt(name string, at token.Pos) bool {
	all := r.settings[name]
	for i := len(all) - 1; i >= 0; i-- {
		switch s := all[i]; {
		case s.at > at:
		case s.product:
			return true
		case s.block.Pos() <= at && at < s.block.End(): // this assignment always runs before the place
			return false
		}
	}
	return false
}
