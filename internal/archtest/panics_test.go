package archtest_test

import (
	"go/ast"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// mayPanic are the files and folders that panic with anything, with the reason. All others report
// a wrong call with package misuse, so that one errors.As finds it in what a game recovers.
var mayPanic = map[string]string{
	"bridge/system.go":  "panics again with what it recovered",
	"ecs/parallel.go":   "panics again with what a worker recovered",
	"protocol_spawn.go": "panics again with what it recovered",
	"server/panic.go":   "panics again with what it recovered",
	"server/tick.go":    "panics again with what it recovered",

	"stats/collector/collector.go": "an unknown type in this module's own table of metrics",
	"flight/block.go":              "a level of compression that package flate has",
	"internal/coder/builtin.go":    "a table that is part of the program",
	"internal/misuse/misuse.go":    "the one type's own",

	"benchmarks/": "a program",
	"host/lifecycle/agones/agonestest/sidecar.go": "net/http ends a request so",
	"internal/costtest/":                          "for tests alone",
	"internal/peek/":                              "for tests alone",
	"internal/plantedtest/":                       "for tests alone",
	"simtest/campaign/packet_life.go":             "reports what the tested game panicked with",
	"simtest/campaign/rogue_game.go":              "panics in a game's place",
	"simtest/campaign/rogue_match.go":             "panics in a game's place",
	"transport/internal/nettest/":                 "panics in a game's place",
}

// panics returns what a file panics with in another way than all do: with a value that is no
// UsageError or unwraps to none, or with a text that does not name the package which was called.
func (f *file) panics() (faults []string) {
	names := []string{"foretick", f.dir(), path.Base(f.dir())}
	ast.Inspect(f.tree, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		if fn, ok := call.Fun.(*ast.Ident); ok && fn.Name == "panic" {
			value, _ := call.Args[0].(*ast.CompositeLit)
			if value == nil || !strings.HasSuffix(nameOf(value.Type), "UsageError") && nameOf(value.Type) != "AccessError" {
				faults = append(faults, f.at(call.Pos(), "calls panic: use package misuse, or add the file to mayPanic with the reason"))
			}
		}
		if called(call) == "misuse.Panicf" {
			begin := call.Args[0]
			for {
				sum, ok := begin.(*ast.BinaryExpr)
				if !ok {
					break
				}
				begin = sum.X
			}
			if of, _, _ := strings.Cut(text(begin), ": "); !slices.Contains(names, of) {
				faults = append(faults, f.at(call.Pos(), "begin the text with the package's name"))
			}
		}
		return true
	})
	return faults
}

// nameOf returns the name of a type, without its package.
func nameOf(e ast.Expr) string {
	switch x := e.(type) {
	case *ast.Ident:
		return x.Name
	case *ast.SelectorExpr:
		return x.Sel.Name
	}
	return ""
}

// TestPanics: the packages panic with one type for their caller.
func TestPanics(t *testing.T) {
	root := repository(t)
	met := map[string]bool{}
	walk(t, func(name string) {
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || within(name, "examples") {
			return
		}
		src, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		require.NoError(t, err)
		f, err := parse(name, src)
		require.NoError(t, err)
		for _, fault := range f.panics() {
			if key := allowedToPanic(name); key != "" {
				met[key] = true
				continue
			}
			t.Error(fault)
		}
	})
	for key := range mayPanic {
		assert.True(t, met[key], "%s does not panic any more: take it from mayPanic", key)
	}
}

// allowedToPanic returns the entry of mayPanic that allows a file, or "".
func allowedToPanic(name string) string {
	for key := range mayPanic {
		if name == key || strings.HasSuffix(key, "/") && strings.HasPrefix(name, key) {
			return key
		}
	}
	return ""
}

// TestPanicsAreFound has one line of each kind that TestPanics refuses, and some that it allows.
func TestPanicsAreFound(t *testing.T) {
	for line, refused := range map[string]bool{
		`panic("sim: a text")`:                       true,
		`panic(fmt.Sprintf("sim: %d", 1))`:           true,
		`panic(err)`:                                 true,
		`panic(&UsageError{Text: "sim: a pointer"})`: true,
		`panic(ConfigError{})`:                       true,
		`misuse.Panicf("no package")`:                true,
		`misuse.Panicf("ecs: " + other)`:             true,
		`misuse.Panicf(text)`:                        true,
		`panic(UsageError{Text: "sim: a value"})`:    false,
		`panic(ecs.UsageError{Text: "a value"})`:     false,
		`panic(AccessError{a, b})`:                   false,
		`misuse.Panicf("sim: %d"+more, 1)`:           false,
		`misuse.Panicf("transport/sim: %d", 1)`:      false,
		`misuse.Panicf("foretick: a game's")`:        false,
		`misuse.Panic(err)`:                          false,
	} {
		f, err := parse("transport/sim/a.go", "package p\nfunc f() {\n"+line+"\n}\n")
		require.NoError(t, err)
		require.Equal(t, refused, len(f.panics()) == 1, line)
	}
}
