package machines

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strings"
)

// root is a function that is passed to the library: one of this package (fn), or of another (far).
type root struct {
	kind string // what the function was registered as
	what string // how a report names the function
	fn   ast.Node
	far  *types.Func
	at   token.Pos
	end  token.Pos
}

// registered has the library's functions that take a function of the game, with what that function
// becomes. If a call also passes a name, the reports contain it.
var registered = map[string]string{
	"Protocol.Shared":  "shared system",
	"Protocol.OnLevel": kindLevel,
	"Protocol.OnJoin":  kindJoin,
	"Protocol.OnLeave": kindLeave,
	"Protocol.Server":  kindServer,
	"Event.OnServer":   kindEvent,
	"Request.Handle":   kindHandler,
	"PredictRemote":    "guess of remote input",
	"Hitbox":           "hitbox",
	"Hitboxes":         "hitboxes",
	"LifeID":           "life",
	"Decay":            "decayed command",
	"Interpolate":      "interpolation",
	"Event.OnFinal":    kindFinal,
}

// registers returns what a function becomes if it is passed to fn as parameter number i, "" if
// fn does not register it.
func (c *code) registers(fn *types.Func, i int) string {
	if fn.Pkg() == nil {
		return ""
	}
	if fn.Pkg().Path() == library {
		name := fn.Name()
		if r := fn.Signature().Recv(); r != nil {
			if n := namedOf(r.Type()); n != nil {
				name = n.Obj().Name() + "." + name
			}
		}
		if what := registered[name]; what != "" {
			return what
		}
		return registered[strings.TrimPrefix(name, "Protocol.")] // with Go 1.27 such functions are methods too
	}
	if fn.Pkg() == c.pass.Pkg {
		return c.registry[fn][i]
	}
	var r registrar
	if c.pass.ImportObjectFact(fn, &r) {
		return r.Params[i]
	}
	return ""
}

func namedOf(t types.Type) *types.Named {
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	n, _ := types.Unalias(t).(*types.Named)
	return n
}

// givings calls fn for each argument of a function type that is passed to a registering function.
func (c *code) givings(in ast.Node, fn func(call *ast.CallExpr, arg ast.Expr, what string)) {
	ast.Inspect(in, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		to := c.callee(call.Fun)
		if to == nil {
			return true
		}
		for i, a := range call.Args {
			if t := c.info.TypeOf(a); t == nil {
				continue
			} else if _, ok := t.Underlying().(*types.Signature); !ok {
				continue
			}
			if what := c.registers(to, i); what != "" {
				fn(call, a, what)
			}
		}
		return true
	})
}

// findRegistrars finds the functions of this package that pass a parameter on to a registering
// function, and exports them to other packages.
func (c *code) findRegistrars() {
	for again := true; again; {
		again = false
		for fn, decl := range c.declared {
			c.givings(decl, func(_ *ast.CallExpr, arg ast.Expr, what string) {
				v, ok := c.object(arg).(*types.Var)
				if !ok {
					return
				}
				params := fn.Signature().Params()
				for i := range params.Len() {
					if params.At(i) != v || c.registry[fn][i] != "" {
						continue
					}
					if c.registry[fn] == nil {
						c.registry[fn] = map[int]string{}
					}
					c.registry[fn][i] = what
					again = true
				}
			})
		}
	}
	for fn, params := range c.registry {
		c.pass.ExportObjectFact(fn, &registrar{params})
	}
}

// roots returns the functions that this package passes to the library.
func (c *code) roots() (all []root) {
	for _, file := range c.pass.Files {
		c.givings(file, func(call *ast.CallExpr, arg ast.Expr, what string) {
			kind := what
			if name := givenName(c.info, call); name != "" {
				what += " " + name
			}
			for _, r := range c.resolve(arg, what, map[ast.Node]bool{}) {
				r.kind = kind
				all = append(all, r)
			}
		})
	}
	return all
}

// reportNamed reports the findings of functions whose names match, in their own module only: an
// engine that they call has its own clocks and goroutines. Writes through their receivers and
// parameters are not reported, since these may lead to components.
func (c *code) reportNamed(named *regexp.Regexp) {
	for _, file := range c.pass.Files {
		for _, d := range file.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body == nil || !named.MatchString(fn.Name.Name) {
				continue
			}
			all := slices.DeleteFunc(c.reach(fn, nil), func(r reached) bool { return r.far && r.Module != modulePath(c.pass) })
			c.reportReached("function "+fn.Name.Name, all)
		}
	}
}

// givenName returns the first constant string among a call's arguments, quoted.
func givenName(info *types.Info, call *ast.CallExpr) string {
	for _, a := range call.Args {
		if v := info.Types[a].Value; v != nil && v.Kind() == constant.String {
			return v.ExactString()
		}
	}
	return ""
}

// resolve finds the functions that an expression may be.
func (c *code) resolve(e ast.Expr, what string, seen map[ast.Node]bool) (all []root) {
	e = ast.Unparen(e)
	if seen[e] {
		return nil
	}
	seen[e] = true
	if lit, ok := e.(*ast.FuncLit); ok {
		return []root{{what: what, fn: lit}}
	}
	if call, ok := e.(*ast.CallExpr); ok {
		if c.info.Types[call.Fun].IsType() && len(call.Args) == 1 { // a conversion
			return c.resolve(call.Args[0], what, seen)
		}
		e = call.Fun // a function that the call returns is part of the called function's body
	}
	fn := c.callee(e)
	if fn == nil {
		if o := c.object(e); o != nil {
			for _, v := range c.values[o] {
				all = append(all, c.resolve(v, what, seen)...)
			}
		}
		return all
	}
	if !strings.Contains(what, `"`) && fn.Name() != "" {
		what += " " + fn.Name()
	}
	if d := c.declaredAs(fn); d != nil {
		return []root{{what: what, fn: d}}
	}
	return []root{{what: what, far: fn, at: e.Pos(), end: e.End()}}
}
