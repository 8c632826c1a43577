package machines

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"testing"
)

// TestRegistersMethods: a function of the library registers as a method of its first argument too. The
// methods need Go 1.27, so a library that has them without type parameters stands in here.
func TestRegistersMethods(t *testing.T) {
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, "p.go", `package foretick
type Protocol struct{}
func (p *Protocol) Hitbox(fn func()) {}
func (p *Protocol) Shared(fn func()) {}
func (p *Protocol) Asset(fn func()) {}
func Hitbox(p *Protocol, fn func()) {}
func Shared(p *Protocol, fn func()) {}
`, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	pkg, err := (&types.Config{Importer: importer.Default()}).Check(library, set, []*ast.File{f}, nil)
	if err != nil {
		t.Fatal(err)
	}
	method := func(name string) *types.Func {
		o, _, _ := types.LookupFieldOrMethod(types.NewPointer(pkg.Scope().Lookup("Protocol").Type()), false, pkg, name)
		return o.(*types.Func)
	}
	var c code
	for fn, want := range map[*types.Func]string{
		method("Hitbox"): "hitbox", pkg.Scope().Lookup("Hitbox").(*types.Func): "hitbox",
		method("Shared"): "shared system", pkg.Scope().Lookup("Shared").(*types.Func): "",
		method("Asset"): "",
	} {
		if got := c.registers(fn, 0); got != want {
			t.Errorf("%v registers %q, want %q", fn, got, want)
		}
	}
}
