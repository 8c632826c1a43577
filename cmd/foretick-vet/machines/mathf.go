package machines

import (
	"go/ast"
	"go/token"
	"go/types"
	"strconv"
	"strings"

	"golang.org/x/tools/go/analysis"
)

const mathfPath = library + "/mathf"

// useMathf returns the fix that calls package mathf instead of package math: it computes in
// float32, and converts back. There is no fix for a function that is taken as a value, and
// for math.Sincos if its results are passed directly to another call.
func (r *reader) useMathf(fn *types.Func, n ast.Node) []analysis.SuggestedFix {
	call, ok := n.(*ast.CallExpr)
	if !ok || inexact[fn.Name()] != "mathf."+fn.Name() {
		return nil
	}
	file := r.file(n.Pos())
	prefix, edits := r.importMathf(file, n.Pos())
	if prefix == "" {
		return nil
	}
	var args []string
	for _, a := range call.Args {
		args = append(args, r.narrowed(a))
	}
	names := []string{fn.Name()}
	if fn.Name() == "Sincos" {
		if !r.twoResults[call] || !simple(call.Args[0]) {
			return nil
		}
		names = []string{"Sin", "Cos"}
	}
	var text []string
	for _, name := range names {
		text = append(text, "float64("+prefix+name+"("+strings.Join(args, ", ")+"))")
	}
	return []analysis.SuggestedFix{{
		Message:   "Compute with package mathf, in float32",
		TextEdits: append(edits, analysis.TextEdit{Pos: n.Pos(), End: n.End(), NewText: []byte(strings.Join(text, ", "))}),
	}}
}

// narrowed returns the text of an argument as a float32.
func (r *reader) narrowed(e ast.Expr) string {
	if call, ok := ast.Unparen(e).(*ast.CallExpr); ok && r.widened(call) {
		if t := r.info.TypeOf(call.Args[0]); t == types.Typ[types.Float32] {
			return types.ExprString(call.Args[0])
		}
	}
	return "float32(" + types.ExprString(e) + ")"
}

// simple reports whether an expression may be evaluated twice, because it calls nothing.
func simple(e ast.Expr) bool {
	ok := true
	ast.Inspect(e, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.CallExpr, *ast.FuncLit:
			ok = false
		}
		return ok
	})
	return ok
}

// findPairs records the calls whose two results are assigned to two variables.
func (r *reader) findPairs(block *ast.BlockStmt) {
	ast.Inspect(block, func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok && len(a.Lhs) == 2 && len(a.Rhs) == 1 {
			if call, ok := a.Rhs[0].(*ast.CallExpr); ok {
				r.twoResults[call] = true
			}
		}
		return true
	})
}

func (r *reader) file(at token.Pos) *ast.File {
	for _, f := range r.pass.Files {
		if f.FileStart <= at && at < f.FileEnd {
			return f
		}
	}
	return nil
}

// importMathf returns the name of package mathf at a place, with a dot, and the edits that import
// it if the file does not yet. The name is "" if it means something else at that place.
func (r *reader) importMathf(file *ast.File, at token.Pos) (prefix string, edits []analysis.TextEdit) {
	scope := r.info.Scopes[file].Innermost(at)
	for _, spec := range file.Imports {
		if path, _ := strconv.Unquote(spec.Path.Value); path == mathfPath {
			name := r.info.PkgNameOf(spec)
			if _, o := scope.LookupParent(name.Name(), at); o != name {
				return "", nil
			}
			return name.Name() + ".", nil
		}
	}
	if _, o := scope.LookupParent("mathf", at); o != nil {
		return "", nil
	}
	for _, d := range file.Decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.IMPORT && g.Rparen.IsValid() {
			return "mathf.", []analysis.TextEdit{{Pos: g.Rparen, End: g.Rparen, NewText: []byte("\n\t" + strconv.Quote(mathfPath) + "\n")}}
		}
	}
	return "mathf.", []analysis.TextEdit{{Pos: file.Name.End(), End: file.Name.End(), NewText: []byte("\n\nimport " + strconv.Quote(mathfPath))}}
}
