package archtest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/internal/releasetest"
)

// opaque are the endpoints that hold another one and do not wrap it, with the reason.
var opaque = map[string]string{
	"flight.deck":              "a tape stands in for the network of the server that it plays",
	"host.port":                "a match's own share of an endpoint: the rest is not the match's",
	"simtest/campaign.door":    "it makes identities up, which the endpoint inside does not know",
	"transport/local.client":   "a client holds the other end of its connection",
	"transport/multi.Endpoint": "it joins several endpoints, and answers for all of them",
	"transport/multi.part":     "what multi notes of one endpoint, and hands to nobody",
}

const transports = module + "/transport"

// code is a package of the module with its types.
type code struct {
	dir   string
	set   *token.FileSet
	files []*ast.File
	pkg   *types.Package
	info  *types.Info
	end   *types.Interface // transport.Endpoint, as the package sees it
	wraps *types.Interface // transport.Wrapper
	shows *types.Interface // transport.Counted
}

// overEndpointsOnce is what overEndpoints returned.
var overEndpointsOnce []*code

// overEndpoints checks the types of every package that can see an endpoint, tests left out.
func overEndpoints(t *testing.T) (all []*code) {
	if overEndpointsOnce != nil {
		return overEndpointsOnce
	}
	defer func() { overEndpointsOnce = all }()
	list := releasetest.GoCommand("list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles,Deps", "./...")
	list.Dir, list.Stderr = repository(t), os.Stderr
	out, err := list.Output()
	require.NoError(t, err)
	type listed struct {
		ImportPath, Dir, Export string
		GoFiles, Deps           []string
	}
	var ours []listed
	exports := map[string]string{}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := d.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		exports[p.ImportPath] = p.Export
		if _, own := local(p.ImportPath); own && (p.ImportPath == transports || slices.Contains(p.Deps, transports)) {
			ours = append(ours, p)
		}
	}
	set := token.NewFileSet()
	imports := importer.ForCompiler(set, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	for _, p := range ours {
		dir, _ := local(p.ImportPath)
		c := &code{dir: dir, set: set, info: &types.Info{Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}, Types: map[ast.Expr]types.TypeAndValue{}}}
		for _, name := range p.GoFiles {
			f, err := parser.ParseFile(set, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			require.NoError(t, err)
			c.files = append(c.files, f)
		}
		c.pkg, err = (&types.Config{Importer: imports}).Check(p.ImportPath, set, c.files, c.info)
		require.NoError(t, err)
		contract := c.pkg
		if p.ImportPath != transports {
			contract, err = imports.Import(transports)
			require.NoError(t, err)
		}
		named := func(name string) *types.Interface {
			return contract.Scope().Lookup(name).Type().Underlying().(*types.Interface)
		}
		c.end, c.wraps, c.shows = named("Endpoint"), named("Wrapper"), named("Counted")
		all = append(all, c)
	}
	require.Greater(t, len(all), 20)
	return all
}

// is reports whether a type, or a pointer to it, has an interface.
func is(t types.Type, i *types.Interface) bool {
	return types.Implements(t, i) || types.Implements(types.NewPointer(t), i)
}

// holds reports whether a value of a type leads to an endpoint other than itself.
func (c *code) holds(t types.Type, self *types.Named, seen map[types.Type]bool) bool {
	t = types.Unalias(t)
	if seen[t] {
		return false
	}
	seen[t] = true
	switch t := t.(type) {
	case *types.Pointer:
		return c.holds(t.Elem(), self, seen)
	case *types.Slice:
		return c.holds(t.Elem(), self, seen)
	case *types.Array:
		return c.holds(t.Elem(), self, seen)
	case *types.Map:
		return c.holds(t.Key(), self, seen) || c.holds(t.Elem(), self, seen)
	case *types.Interface:
		return types.Implements(t, c.end)
	case *types.Named:
		if t.Origin() != self && is(t, c.end) {
			return true
		}
		if of := t.Obj().Pkg(); of == nil || !within(of.Path(), module) {
			return false
		}
		return c.holds(t.Underlying(), self, seen)
	case *types.Struct:
		for f := range t.Fields() {
			if _, open := types.Unalias(f.Type()).Underlying().(*types.Interface); f.Embedded() && !open && is(f.Type(), c.end) {
				continue // its methods are the outer type's
			}
			if c.holds(f.Type(), self, seen) {
				return true
			}
		}
	}
	return false
}

// wrappers returns the package's endpoints that hold another one, and whether each is a Wrapper.
func (c *code) wrappers() map[string]bool {
	found := map[string]bool{}
	for _, o := range c.info.Defs {
		name, ok := o.(*types.TypeName)
		if !ok || name.IsAlias() {
			continue
		}
		t, ok := name.Type().(*types.Named)
		if !ok || types.IsInterface(t) || !is(t, c.end) || !c.holds(t.Underlying(), t, map[types.Type]bool{}) {
			continue
		}
		found[c.dir+"."+name.Name()] = is(t, c.wraps)
	}
	return found
}

// uncounted lists the package's endpoints that have Counters, and do not show them as counts.
func (c *code) uncounted() (faults []string) {
	for _, name := range c.pkg.Scope().Names() {
		o, ok := c.pkg.Scope().Lookup(name).(*types.TypeName)
		if !ok || types.IsInterface(o.Type()) || !is(o.Type(), c.end) || is(o.Type(), c.shows) {
			continue
		}
		if m, _, _ := types.LookupFieldOrMethod(types.NewPointer(o.Type()), false, c.pkg, "Counters"); m != nil {
			faults = append(faults, c.dir+"."+name+" has Counters that reach no host, log or metric: implement transport.Counted")
		}
	}
	return faults
}

// assertions lists where the package asks an endpoint itself for another interface.
func (c *code) assertions() (faults []string) {
	ask := func(of, to ast.Expr) {
		if to == nil || !types.IsInterface(c.info.Types[of].Type) || !types.Implements(c.info.Types[of].Type, c.end) {
			return
		}
		if t := c.info.Types[to]; t.IsType() && types.IsInterface(t.Type) {
			faults = append(faults, fmt.Sprintf("%v: ask with transport.As, which looks into wrappers", c.set.Position(to.Pos())))
		}
	}
	for _, f := range c.files {
		if c.dir == "transport" && strings.HasSuffix(c.set.Position(f.Pos()).Filename, "/as.go") {
			continue
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.TypeAssertExpr:
				ask(n.X, n.Type)
			case *ast.TypeSwitchStmt:
				var of ast.Expr
				ast.Inspect(n.Assign, func(n ast.Node) bool {
					if a, ok := n.(*ast.TypeAssertExpr); ok && a.Type == nil {
						of = a.X
					}
					return of == nil
				})
				for _, s := range n.Body.List {
					for _, to := range s.(*ast.CaseClause).List {
						ask(of, to)
					}
				}
			}
			return true
		})
	}
	return faults
}

// TestEndpointsAreFoundInWrappers: what an endpoint can do is found through every wrapper. An
// endpoint that holds another one is a Wrapper or stands in opaque, all code asks transport.As, and
// endpoints with Counters are transport.Counted.
func TestEndpointsAreFoundInWrappers(t *testing.T) {
	held, wrapped := map[string]bool{}, 0
	for _, c := range overEndpoints(t) {
		for name, wraps := range c.wrappers() {
			held[name] = true
			if wraps {
				wrapped++
			}
			if wraps == (opaque[name] != "") {
				t.Errorf("%s holds an endpoint, and %v is whether it has Unwrap: give it one, or say in opaque why not", name, wraps)
			}
		}
		for _, fault := range append(c.assertions(), c.uncounted()...) {
			t.Error(fault)
		}
	}
	for name := range opaque {
		if !held[name] {
			t.Errorf("%s of opaque holds no endpoint", name)
		}
	}
	require.GreaterOrEqual(t, wrapped, 5)
}
