package main

import (
	"embed"
	"errors"
	"fmt"
	"go/format"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"text/template"
)

//go:embed templates
var templates embed.FS

// game is the data for the templates.
type game struct {
	Package string
	Module  string
	Version string // version of the library
	Replace string // path of the checkout with the library; empty if the library comes from a tag
	Commit  string // commit of the checkout; empty if it is no git repository
	Ebiten  bool   // the game gets a client in a window
	CI      bool   // the game gets a workflow of GitHub
	// Rollback is whether players exchange inputs through a relay, in place of a server that decides.
	Rollback bool

	root string // the checkout with the library

	dir string // directory of the game
}

var (
	names = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
	// Go allows more module paths. These need no further rules.
	paths = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._~-]*(/[A-Za-z0-9_][A-Za-z0-9._~-]*)*$`)
	other = regexp.MustCompile(`^[^a-z]+|[^a-z0-9_]`)
)

// newGame checks the names. An empty module is the game's name.
func newGame(dir, module string) (*game, error) {
	g := &game{Package: filepath.Base(filepath.Clean(dir)), Module: module, dir: dir}
	if module == "" {
		g.Module = g.Package
	}
	if !names.MatchString(g.Package) {
		hint := other.ReplaceAllString(strings.ToLower(g.Package), "")
		if hint == "" {
			hint = "mygame"
		}
		return nil, fmt.Errorf("the directory %q would give the game's package its name, and no Go package can have that name: begin with a lower-case letter, and use lower-case letters, digits and _, as in %s", g.Package, filepath.Join(filepath.Dir(dir), hint))
	}
	switch {
	case token.IsKeyword(g.Package), g.Package == "main", strings.HasSuffix(g.Package, "_test"):
		return nil, fmt.Errorf("%q has a meaning in Go: name the game otherwise, for example my%s", g.Package, strings.TrimPrefix(strings.TrimSuffix(g.Package, "_test"), "my"))
	case !paths.MatchString(g.Module):
		return nil, fmt.Errorf("-module %q: use letters, digits, dots and slashes, such as example.com/me/%s", module, g.Package)
	case !strings.Contains(g.Module, ".") && reserved(g.Module):
		return nil, fmt.Errorf("%s is a package of Go's own: name the game otherwise, or give its module a path with -module example.com/%[1]s", g.Module)
	}
	return g, nil
}

// reserved reports whether an import path means something else to the go command.
func reserved(path string) bool {
	switch path {
	case "all", "std", "cmd", "tool", "work", "internal", "vendor":
		return true
	}
	cmd := exec.Command("go", "list", "-f", "{{.Standard}}", path)
	cmd.Dir, cmd.Env = os.TempDir(), append(os.Environ(), "GOWORK=off") // outside of any module, so that none changes the list of Go's packages
	out, err := cmd.Output()
	return err == nil && strings.TrimSpace(string(out)) == "true"
}

// write writes the files of the game. It changes no file that exists.
func (g *game) write() error {
	if err := g.templates(); err != nil {
		return err
	}
	return g.sums()
}

func (g *game) templates() error {
	if err := os.MkdirAll(filepath.Dir(filepath.Clean(g.dir)), 0o777); err != nil {
		return err
	}
	switch err := os.Mkdir(g.dir, 0o777); {
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("%s exists: remove it, or name another directory", g.dir)
	case err != nil:
		return err
	}
	return fs.WalkDir(templates, "templates", func(path string, entry fs.DirEntry, err error) error {
		if entry != nil && g.leavesOut(entry.Name()) {
			return fs.SkipDir
		}
		if err != nil || entry.IsDir() {
			return err
		}
		name, ofRollback := strings.CutPrefix(strings.TrimPrefix(path, "templates/"), "rollback/")
		if _, err := fs.Stat(templates, "templates/rollback/"+name); err == nil && g.Rollback && !ofRollback {
			return nil // the file of that name below rollback takes its place
		}
		t, err := template.ParseFS(templates, path)
		if err != nil {
			return err
		}
		name = strings.TrimSuffix(name, ".tmpl")
		if name == "ci/ci.yml" {
			name = ".github/workflows/ci.yml"
		}
		file := filepath.Join(g.dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			return err
		}
		var text strings.Builder
		if err := t.Execute(&text, g); err != nil {
			return err
		}
		content := []byte(text.String())
		if strings.HasSuffix(name, ".go") { // sorts the imports, whose order depends on the module's name
			if content, err = format.Source(content); err != nil {
				return err
			}
		}
		return os.WriteFile(file, content, 0o666)
	})
}

// leavesOut reports whether the game gets no files of a directory of templates.
func (g *game) leavesOut(dir string) bool {
	switch dir {
	case "window":
		return !g.Ebiten
	case "ci":
		return !g.CI
	case "server":
		return g.Rollback
	case "rollback":
		return !g.Rollback
	}
	return false
}

// End returns the package of a player's end, for templates of all games.
func (g *game) End() string {
	if g.Rollback {
		return "rollback"
	}
	return "client"
}

// sums writes a go.sum with the sums of the checkout, so that a machine without a network
// needs no checksum database. tidy later removes the lines that the game does not need.
func (g *game) sums() error {
	if g.Replace == "" {
		return nil
	}
	var sums []byte
	for _, from := range []string{"go.sum", "examples/ebiten/go.sum"} {
		lines, err := os.ReadFile(filepath.Join(g.root, filepath.FromSlash(from)))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		sums = append(sums, lines...)
		if !g.Ebiten {
			break
		}
	}
	return os.WriteFile(filepath.Join(g.dir, "go.sum"), sums, 0o666)
}

// tidy adds the library's dependencies to go.mod, and corrects go.sum.
func (g *game) tidy() error {
	cmd := exec.Command("go", "mod", "tidy")
	cmd.Dir = g.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		return fmt.Errorf("%w: %s", err, lines[len(lines)-1])
	}
	return nil
}
