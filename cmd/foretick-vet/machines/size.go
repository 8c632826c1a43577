package machines

import (
	"fmt"
	"go/ast"
	"go/types"
	"reflect"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// reportSizes reports int, uint and uintptr in types that are sent.
func (c *code) reportSizes() {
	for _, file := range c.pass.Files {
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			fn := c.callee(call.Fun)
			if fn == nil || fn.Pkg() == nil || fn.Pkg().Path() != library && fn.Pkg().Path() != library+"/client" {
				return true
			}
			var handle ast.Expr
			switch fn.Name() {
			case "Component", "Command", "Singleton", "PredictRemote", "Sample":
				if len(call.Args) > 0 {
					handle = call.Args[0]
					if fn.Name() == "PredictRemote" && len(call.Args) > 1 {
						handle = call.Args[1]
					}
				}
			case "OnClient", "OnServer", "OnPredicted", "Handle":
				if s, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok {
					handle = s.X
				}
			}
			if handle == nil {
				return true
			}
			if n := namedOf(c.info.TypeOf(handle)); n != nil && n.TypeArgs().Len() == 1 {
				c.reportSize(n.TypeArgs().At(0), n.TypeArgs().At(0).String(), handle, map[types.Type]bool{})
			}
			return true
		})
	}
}

func (c *code) reportSize(t types.Type, name string, at ast.Node, seen map[types.Type]bool) {
	if seen[t] {
		return
	}
	seen[t] = true
	switch u := t.Underlying().(type) {
	case *types.Basic:
		switch u.Kind() {
		case types.Int, types.Uint, types.Uintptr:
			if i := strings.LastIndexByte(name, '/'); i >= 0 {
				name = name[i+1:]
			}
			key := fmt.Sprint("size", name)
			if c.reported[key] || c.quiet(at.Pos()) {
				return
			}
			c.reported[key] = true
			c.pass.Report(analysis.Diagnostic{
				Pos: at.Pos(), End: at.End(), Category: "size",
				Message: fmt.Sprintf("%s travels and is %s, which has 32 bits on some machines; write %s32 or %s64", name, t, u.Name(), u.Name()),
			})
		}
	case *types.Array:
		c.reportSize(u.Elem(), name+"[]", at, seen)
	case *types.Slice:
		c.reportSize(u.Elem(), name+"[]", at, seen)
	case *types.Struct:
		for i := range u.NumFields() {
			f := u.Field(i)
			if reflect.StructTag(u.Tag(i)).Get("net") == "-" || f.Name() == "_" {
				continue
			}
			where := at
			if d := c.fieldNode(f); d != nil {
				where = d
			}
			if b := basic(f.Type()); b != nil {
				c.reportSize(f.Type(), name+"."+f.Name(), where, map[types.Type]bool{})
			} else {
				c.reportSize(f.Type(), name+"."+f.Name(), where, seen)
			}
		}
	}
}

// fieldNode returns the node at which this package declares a field, nil for other packages'.
func (c *code) fieldNode(f *types.Var) ast.Node {
	if f.Pkg() != c.pass.Pkg {
		return nil
	}
	for id, o := range c.info.Defs {
		if o == f {
			return id
		}
	}
	return nil
}
