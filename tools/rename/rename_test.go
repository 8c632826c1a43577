package main

import (
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/internal/releasetest"
)

var update = flag.Bool("update", false, "TestGolden writes what it got into testdata")

// TestGolden plays the cases in testdata: the files before, the same files after, and the
// places that were not done. What was edited once is not edited again.
func TestGolden(t *testing.T) {
	cases, err := filepath.Glob("testdata/*.txt")
	require.NoError(t, err)
	require.Greater(t, len(cases), 6)
	for _, name := range cases {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(name)
			require.NoError(t, err)
			before, after := sections(string(text))
			dir := t.TempDir()
			for file, text := range before {
				require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, file)), 0o777))
				require.NoError(t, os.WriteFile(filepath.Join(dir, file), []byte(text), 0o666))
			}

			dry := &run{dry: true, folders: map[string]folder{}}
			require.NoError(t, dry.path(dir))
			for file, text := range before {
				require.Equal(t, text, read(t, dir, file), "a dry run wrote a file")
			}

			r := &run{folders: map[string]folder{}}
			require.NoError(t, r.path(dir))
			require.Equal(t, dry.changes, r.changes)
			got := map[string]string{}
			for file := range before {
				got[file] = read(t, dir, file)
			}
			if undone := report(dir, r.undone); undone != "" {
				got["undone"] = undone
			}
			if *update {
				require.NoError(t, os.WriteFile(name, []byte(join(before, "")+join(got, "after ")), 0o666))
			} else {
				require.Equal(t, join(after, ""), join(got, ""))
			}

			again := &run{folders: map[string]folder{}}
			require.NoError(t, again.path(dir))
			require.Zero(t, again.files, "a second run changed a file")
			require.Empty(t, again.changes)
		})
	}
}

func read(t *testing.T, dir, file string) string {
	text, err := os.ReadFile(filepath.Join(dir, file))
	require.NoError(t, err)
	return string(text)
}

func report(dir string, places []place) string {
	var b strings.Builder
	for _, p := range places {
		name, _ := filepath.Rel(dir, p.file)
		b.WriteString(place{filepath.ToSlash(name), p.line, p.text}.String() + "\n")
	}
	return b.String()
}

var section = regexp.MustCompile(`(?m)^-- (after )?(\S+) --\n`)

// sections splits a case into its files before and after.
func sections(text string) (before, after map[string]string) {
	before, after = map[string]string{}, map[string]string{}
	marks := section.FindAllStringSubmatchIndex(text, -1)
	for i, m := range marks {
		end := len(text)
		if i+1 < len(marks) {
			end = marks[i+1][0]
		}
		to := before
		if m[2] >= 0 {
			to = after
		}
		to[text[m[4]:m[5]]] = text[m[1]:end]
	}
	return before, after
}

func join(files map[string]string, prefix string) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(files)) {
		b.WriteString("-- " + prefix + name + " --\n" + files[name])
	}
	return b.String()
}

// TestTable: each name of the table is declared in the root or in its new place, and the table
// has all constants of the types that it has.
func TestTable(t *testing.T) {
	declared := map[string]map[string]bool{}
	constants := 0
	for _, pkg := range []string{"", "server", "client"} {
		names := map[string]bool{}
		declared[pkg] = names
		files, err := releasetest.Glob(filepath.Join(releasetest.Root(t), pkg, "*.go"))
		require.NoError(t, err)
		for _, name := range files {
			tree, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
			require.NoError(t, err)
			all := map[string]ast.Expr{}
			declare(all, tree)
			for n := range all {
				names[n] = true
			}
			for _, n := range constantsOf(tree, map[string]bool{"ClientState": pkg == "", "SessionKind": true, "State": pkg == "client"}) {
				constants++
				if pkg == "" {
					require.Contains(t, table, n)
				} else {
					require.True(t, isNew(pkg, n), "the table lacks %s.%s", pkg, n)
				}
			}
		}
	}
	require.Equal(t, 9, constants)
	for name, to := range table {
		require.True(t, declared[""][name] || declared[to.pkg][to.name], "neither the root declares %s, nor package %s declares %s", name, to.pkg, to.name)
	}
}

// TestInPlaceTable: each package declares the new names, and no old one.
func TestInPlaceTable(t *testing.T) {
	for dir, names := range inPlace {
		declared := map[string]ast.Expr{}
		files, err := releasetest.Glob(filepath.Join(releasetest.Root(t), dir, "*.go"))
		require.NoError(t, err)
		for _, name := range files {
			tree, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
			require.NoError(t, err)
			declare(declared, tree)
		}
		for was, is := range names {
			require.Contains(t, declared, is)
			require.NotContains(t, declared, was)
			require.NotContains(t, table, was)
		}
	}
}

// constantsOf lists the constants of some types, each declared in a group of its own.
func constantsOf(tree *ast.File, types map[string]bool) []string {
	var names []string
	for _, d := range tree.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.CONST {
			continue
		}
		if id, ok := g.Specs[0].(*ast.ValueSpec).Type.(*ast.Ident); !ok || !types[id.Name] {
			continue
		}
		for _, s := range g.Specs {
			for _, n := range s.(*ast.ValueSpec).Names {
				names = append(names, n.Name)
			}
		}
	}
	return names
}
