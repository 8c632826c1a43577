package machines

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"path/filepath"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// code holds what the analyzer knows about the functions of one package.
type code struct {
	pass     *analysis.Pass
	info     *types.Info
	declared map[*types.Func]*ast.FuncDecl
	bodies   map[ast.Node]*body             // bodies of declared functions, and of literals that are roots
	values   map[types.Object][]ast.Expr    // expressions assigned to variables and fields that hold functions
	users    map[types.Object]int           // number of declared functions that name a field
	registry map[*types.Func]map[int]string // what a function of this package registers its parameters as
	allowed  map[string]*allow              // allow comments by file and line
	reported map[string]bool                // keys of findings that were reported
}

// allow is a comment that suppresses the findings of a line.
type allow struct {
	at     token.Pos
	reason string
}

const allowComment = "//foretick:allow"

func newCode(pass *analysis.Pass) *code {
	c := &code{
		pass: pass, info: pass.TypesInfo,
		declared: map[*types.Func]*ast.FuncDecl{}, bodies: map[ast.Node]*body{},
		values: map[types.Object][]ast.Expr{}, users: map[types.Object]int{},
		registry: map[*types.Func]map[int]string{}, allowed: map[string]*allow{}, reported: map[string]bool{},
	}
	for _, file := range pass.Files {
		for _, d := range file.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil {
				if f, ok := c.info.Defs[fn.Name].(*types.Func); ok {
					c.declared[f] = fn
				}
				c.countFields(fn)
			}
		}
		c.collectValues(file)
		for _, group := range file.Comments {
			for _, line := range group.List {
				if reason, ok := strings.CutPrefix(line.Text, allowComment); ok {
					p := pass.Fset.Position(line.Pos())
					c.allowed[place(p)] = &allow{line.Pos(), strings.TrimSpace(reason)}
				}
			}
		}
	}
	c.findRegistrars()
	return c
}

func place(p token.Position) string { return fmt.Sprintf("%s:%d", p.Filename, p.Line) }

// quiet reports whether an allow comment on the line, or on the line above, suppresses findings.
func (c *code) quiet(at token.Pos) bool {
	p := c.pass.Fset.Position(at)
	if a := c.allowed[place(p)]; a != nil && a.reason != "" {
		return true
	}
	p.Line--
	a := c.allowed[place(p)]
	return a != nil && a.reason != ""
}

func (c *code) reportEmptyAllows() {
	for _, a := range c.allowed {
		if a.reason == "" {
			c.pass.Report(analysis.Diagnostic{Pos: a.at, Category: "allow", Message: "say why: //foretick:allow REASON"})
		}
	}
}

// where returns the file and line of a place, for a finding that another package reports.
func (c *code) where(at token.Pos) string {
	p := c.pass.Fset.Position(at)
	return fmt.Sprintf("%s:%d", filepath.Base(p.Filename), p.Line)
}

// collectValues records the expressions that are assigned to variables and fields of function
// types.
func (c *code) collectValues(file *ast.File) {
	put := func(to types.Object, from ast.Expr) {
		if to != nil && from != nil {
			if _, ok := to.Type().Underlying().(*types.Signature); ok {
				c.values[to] = append(c.values[to], from)
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if len(n.Lhs) == len(n.Rhs) {
				for i, l := range n.Lhs {
					put(c.object(l), n.Rhs[i])
				}
			}
		case *ast.ValueSpec:
			for i, name := range n.Names {
				if i < len(n.Values) {
					put(c.info.Defs[name], n.Values[i])
				}
			}
		case *ast.CompositeLit:
			s, ok := structOf(c.info.TypeOf(n))
			if !ok {
				return true
			}
			for i, e := range n.Elts {
				if kv, ok := e.(*ast.KeyValueExpr); ok {
					if name, ok := kv.Key.(*ast.Ident); ok {
						put(c.info.Uses[name], kv.Value)
					}
				} else if i < s.NumFields() {
					put(s.Field(i), e)
				}
			}
		}
		return true
	})
}

// countFields counts, for each field that a declared function names, that function as a user.
func (c *code) countFields(fn *ast.FuncDecl) {
	seen := map[types.Object]bool{}
	ast.Inspect(fn, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if v, ok := c.info.Uses[s.Sel].(*types.Var); ok && v.IsField() && !seen[v] {
				seen[v] = true
				c.users[v]++
			}
		}
		return true
	})
}

// object returns what a name or a selector stands for, such as a variable, a field or a function. It
// returns nil for any other expression.
func (c *code) object(e ast.Expr) types.Object {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		if o := c.info.Defs[e]; o != nil {
			return o
		}
		return c.info.Uses[e]
	case *ast.SelectorExpr:
		return c.info.Uses[e.Sel]
	}
	return nil
}

// callee returns the function that a call or a function value names, nil if it is not known at
// compile time.
func (c *code) callee(e ast.Expr) *types.Func {
	switch e := ast.Unparen(e).(type) {
	case *ast.IndexExpr:
		return c.callee(e.X)
	case *ast.IndexListExpr:
		return c.callee(e.X)
	case *ast.Ident, *ast.SelectorExpr:
		f, ok := c.object(e).(*types.Func)
		if !ok {
			return nil
		}
		if r := f.Signature().Recv(); r != nil && types.IsInterface(r.Type()) {
			return nil
		}
		return f.Origin()
	}
	return nil
}

func structOf(t types.Type) (*types.Struct, bool) {
	if t == nil {
		return nil, false
	}
	t = t.Underlying()
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem().Underlying()
	}
	s, ok := t.(*types.Struct)
	return s, ok
}
