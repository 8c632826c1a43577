// Declared prints the tests that declare a kind, from their source: a line for each
// package, its directory and a pattern for go test -run.
//
//	go run ./internal/costtest/declared Long ./simtest ./netcode
//
// Long finds the tests that call costtest.Long or costtest.Count, themselves or through
// functions and variables of their package. It also finds tests that read FORETICK_LONG, since
// examples may not use costtest. Concurrent also finds the tests that start goroutines themselves.
// Machine finds the tests that use files, programs, addresses or the machine.
// Without directories it looks in all of the module.
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/foretick/foretick/internal/releasetest"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: declared KIND [DIRECTORY ...]")
		os.Exit(2)
	}
	kinds := []string{os.Args[1]}
	if os.Args[1] == "Long" {
		kinds = append(kinds, "Count")
	}
	dirs := os.Args[2:]
	if len(dirs) == 0 {
		dirs = directories(".")
	}
	found := 0
	for _, dir := range dirs {
		names, err := tests(dir, kinds)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		if len(names) > 0 {
			found += len(names)
			fmt.Printf("./%s ^(%s)$\n", filepath.ToSlash(filepath.Clean(dir)), strings.Join(names, "|"))
		}
	}
	if found == 0 {
		fmt.Fprintf(os.Stderr, "no test declares %s\n", os.Args[1])
		os.Exit(1)
	}
}

// directories returns those below top that belong to its module.
func directories(top string) []string {
	var dirs []string
	_ = filepath.WalkDir(top, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return nil //nolint:nilerr // what cannot be read has no tests
		}
		base := d.Name()
		_, nested := os.Stat(filepath.Join(name, "go.mod"))
		if name != top && (base == "testdata" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") || nested == nil) {
			return fs.SkipDir
		}
		dirs = append(dirs, name)
		return nil
	})
	return dirs
}

// tests returns the names of a directory's tests that reach a call of one of the kinds.
func tests(dir string, kinds []string) ([]string, error) {
	files, err := releasetest.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		return nil, err
	}
	uses := map[string][]string{} // the names that a function or variable of the package uses
	reach := map[string]bool{}
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, decl := range f.Decls {
			for _, of := range declares(decl) {
				named, calls := names(decl, kinds)
				uses[of] = append(uses[of], named...)
				reach[of] = reach[of] || calls
			}
		}
	}
	for more := true; more; {
		more = false
		for of, named := range uses {
			if !reach[of] && slices.ContainsFunc(named, func(n string) bool { return reach[n] }) {
				reach[of], more = true, true
			}
		}
	}
	var all []string
	for of, yes := range reach {
		if yes && strings.HasPrefix(of, "Test") && of != "TestMain" {
			all = append(all, of)
		}
	}
	slices.Sort(all)
	return all, nil
}

// declares returns the functions and variables that a declaration declares.
func declares(decl ast.Decl) []string {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			return []string{d.Name.Name}
		}
	case *ast.GenDecl:
		var all []string
		for _, spec := range d.Specs {
			if v, ok := spec.(*ast.ValueSpec); ok {
				for _, n := range v.Names {
					all = append(all, n.Name)
				}
			}
		}
		return all
	}
	return nil
}

// machine has packages, by the names under which tests use them. A test that uses one of them may
// pass on one machine and fail on another.
var machine = map[string]bool{
	"exec": true, "net": true, "nettest": true, "http": true, "httptest": true, "websocket": true,
	"filepath": true, "fs": true, "syscall": true, "unix": true, "user": true, "signal": true, "embed": true, "releasetest": true,
}

// ofProgram has the names of package os that concern the program itself, and not the machine.
var ofProgram = map[string]bool{"Args": true, "Exit": true, "Getenv": true, "LookupEnv": true, "Stderr": true, "Stdout": true}

// names returns the identifiers in a declaration, and whether it calls costtest for a kind.
func names(decl ast.Decl, kinds []string) (named []string, calls bool) {
	var visit func(n ast.Node) bool
	visit = func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.SelectorExpr:
			of, ok := x.X.(*ast.Ident)
			calls = calls || ok && of.Name == "costtest" && slices.Contains(kinds, x.Sel.Name)
			calls = calls || ok && slices.Contains(kinds, "Machine") && (machine[of.Name] || of.Name == "os" && !ofProgram[x.Sel.Name])
			ast.Inspect(x.X, visit) // fields and methods are not the package's names
			return false
		case *ast.GoStmt:
			calls = calls || slices.Contains(kinds, "Concurrent")
		case *ast.CallExpr:
			of, ok := x.Fun.(*ast.SelectorExpr)
			calls = calls || ok && of.Sel.Name == "Go" && slices.Contains(kinds, "Concurrent")
		case *ast.BasicLit:
			calls = calls || x.Value == `"FORETICK_LONG"` && slices.Contains(kinds, "Long")
		case *ast.Ident:
			named = append(named, x.Name)
		}
		return true
	}
	ast.Inspect(decl, visit)
	return named, calls
}
