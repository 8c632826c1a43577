package main

import (
	"fmt"
	"go/ast"
	"go/token"
)

// readApart finds the identifiers that are no names of a scope.
func (u *unit) readApart() {
	u.apart = map[*ast.Ident]bool{}
	elided := map[ast.Expr]ast.Expr{} // the types of literals that leave them out
	fields := func(list *ast.FieldList) {
		for _, f := range list.List {
			for _, n := range f.Names {
				u.apart[n] = true
			}
		}
	}
	ast.Inspect(u.tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			u.apart[n.Sel] = true
		case *ast.StructType:
			fields(n.Fields)
		case *ast.InterfaceType:
			fields(n.Methods)
		case *ast.LabeledStmt:
			u.apart[n.Label] = true
		case *ast.BranchStmt:
			if n.Label != nil {
				u.apart[n.Label] = true
			}
		case *ast.FuncDecl:
			if n.Recv != nil {
				u.apart[n.Name] = true
			}
		case *ast.CompositeLit:
			u.readLiteral(n, elided)
		}
		return true
	})
}

// readLiteral tells the keys of a struct from those of a map or an array. A type of another
// package counts as a struct.
func (u *unit) readLiteral(lit *ast.CompositeLit, elided map[ast.Expr]ast.Expr) {
	t := lit.Type
	if t == nil {
		t = elided[lit]
	}
	var key, value ast.Expr
	keyed := false // its keys are expressions
	switch t := u.underlying(t).(type) {
	case *ast.ArrayType:
		value, keyed = t.Elt, true
	case *ast.MapType:
		key, value, keyed = t.Key, t.Value, true
	}
	note := func(e, of ast.Expr) {
		if star, ok := of.(*ast.StarExpr); ok {
			of = star.X
		}
		if inner, ok := e.(*ast.CompositeLit); ok && inner.Type == nil {
			elided[inner] = of
		}
	}
	for _, e := range lit.Elts {
		kv, ok := e.(*ast.KeyValueExpr)
		if !ok {
			note(e, value)
			continue
		}
		note(kv.Key, key)
		note(kv.Value, value)
		if id, ok := kv.Key.(*ast.Ident); ok && !keyed {
			u.apart[id] = true
		}
	}
}

// underlying returns what a type is declared as, as far as this package knows.
func (u *unit) underlying(t ast.Expr) ast.Expr {
	for range 10 { // a fault may declare a type as itself
		switch of := t.(type) {
		case *ast.ParenExpr:
			t = of.X
		case *ast.IndexExpr:
			t = of.X
		case *ast.IndexListExpr:
			t = of.X
		case *ast.Ident:
			if of.Obj != nil {
				spec, ok := of.Obj.Decl.(*ast.TypeSpec)
				if !ok {
					return nil
				}
				t = spec.Type
			} else {
				t = u.declared[of.Name]
			}
		default:
			return t
		}
	}
	return nil
}

// declared is what a name stands for. Its fault, that keys of literals look like uses, is handled here:
// types are not known of code that does not compile.
type declared = ast.Object //nolint:staticcheck // see above

// renameVariables renames the variables that are named like a package.
func (u *unit) renameVariables(pkg, variable string) {
	var free []*ast.Ident               // without a declaration, in a document
	all := map[*declared][]*ast.Ident{} // each variable, with its uses
	scopes := map[*declared]ast.Node{}  // where each can be seen
	var order []*declared
	var above []ast.Node
	selected := map[*ast.Ident]string{}
	ast.Inspect(u.tree, func(n ast.Node) bool {
		if n == nil {
			above = above[:len(above)-1]
			return true
		}
		above = append(above, n)
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := sel.X.(*ast.Ident); ok {
				selected[x] = sel.Sel.Name
			}
		}
		id, ok := n.(*ast.Ident)
		if !ok || id.Name != pkg || u.apart[id] {
			return true
		}
		if id.Obj == nil {
			if u.loose[pkg] && !isNew(pkg, selected[id]) {
				free = append(free, id)
			}
			return true
		}
		if u.tree.Scope.Lookup(pkg) == id.Obj || id.Obj.Kind == ast.Lbl {
			return true
		}
		if all[id.Obj] == nil {
			order = append(order, id.Obj)
			scopes[id.Obj] = scope(above)
		}
		if id.Pos() == id.Obj.Pos() {
			scopes[id.Obj] = scope(above)
		}
		all[id.Obj] = append(all[id.Obj], id)
		return true
	})
	for _, obj := range order {
		name := u.freeName(scopes[obj], variable)
		for _, id := range all[obj] {
			u.replace(id, name)
		}
	}
	if len(free) > 0 {
		name := u.freeName(u.tree, variable)
		for _, id := range free {
			u.replace(id, name)
		}
	}
}

// scope returns the innermost scope that a node lies in: above are the nodes around it. A
// function's parameters and its body are one scope.
func scope(above []ast.Node) ast.Node {
	for i := len(above) - 1; i > 0; i-- {
		switch above[i].(type) {
		case *ast.BlockStmt, *ast.FuncType:
			switch above[i-1].(type) {
			case *ast.FuncDecl, *ast.FuncLit:
				return above[i-1]
			}
			return above[i]
		case *ast.FuncDecl, *ast.FuncLit, *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt, *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.CaseClause, *ast.CommClause:
			return above[i]
		}
	}
	return above[0]
}

// freeName returns a name that means nothing in a scope: the name itself, or with a number.
func (u *unit) freeName(in ast.Node, name string) string {
	taken := map[string]bool{}
	ast.Inspect(in, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && !u.apart[id] {
			taken[id.Name] = true
		}
		return true
	})
	for i := 0; ; i++ {
		numbered := name
		if i > 0 {
			numbered = fmt.Sprint(name, i)
		}
		if !taken[numbered] && !token.IsKeyword(numbered) {
			return numbered
		}
	}
}
