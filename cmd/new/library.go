package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
)

const library = "github.com/foretick/foretick"

// findLibrary decides how the game's go.mod names the library: by its version if this
// program comes from the module cache, or else by the checkout.
func (g *game) findLibrary() error {
	info, ok := debug.ReadBuildInfo()
	if ok && info.Main.Path == library {
		if v, ok := released(&info.Main); ok {
			g.Version = v
			return nil
		}
	}
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", library).Output()
	root := strings.TrimSpace(string(out))
	if err != nil || root == "" {
		return errors.New("the checkout of Foretick was not found: run it there, go run ./cmd/new ../mygame, or once there is a release, go run " + library + "/cmd/new@latest mygame")
	}
	return g.useCheckout(root)
}

// released returns the version of a module, and whether it comes from the module cache. A module
// in a checkout has no sum, even if it has a version.
func released(m *debug.Module) (version string, ok bool) {
	return m.Version, m.Sum != "" && m.Replace == nil
}

// useCheckout makes the game build with a checkout. It returns an error if the game would be
// inside of the checkout, whose go.work would then apply to the game.
func (g *game) useCheckout(root string) error {
	dir, err := filepath.Abs(g.dir)
	if err != nil {
		return err
	}
	if root, err = filepath.EvalSymlinks(root); err != nil {
		return err
	}
	for up := dir; ; up = filepath.Dir(up) {
		if real, err := filepath.EvalSymlinks(up); err == nil && real == root {
			return fmt.Errorf("%s would be inside of the checkout of Foretick, whose go.work the go command would use: name a directory outside, such as %s", g.dir, filepath.Join("..", g.Package))
		}
		if up == filepath.Dir(up) {
			break
		}
	}
	if _, err := os.Stat(filepath.Join(root, "go.mod")); err != nil {
		return err
	}
	g.Version, g.Replace, g.root = "v0.0.0", replacePath(dir, root), root
	if head, err := exec.Command("git", "-C", root, "rev-parse", "HEAD").Output(); err == nil {
		g.Commit = strings.TrimSpace(string(head))
	}
	if g.CI && (!strings.HasPrefix(g.Replace, "../") || strings.HasPrefix(g.Replace, "../../../")) {
		return fmt.Errorf("-ci: the workflow clones Foretick where the game's go.mod looks for it, and %s is no place beside %s: put the game beside the checkout, such as %s", g.Replace, g.dir, filepath.Join("..", g.Package))
	}
	return nil
}

// replacePath returns the path for the game's replace: relative, so that a clone of both builds
// on another machine, if a relative path leads from the game's directory to the checkout both
// with symbolic links and without. Otherwise it is absolute.
func replacePath(dir, root string) string {
	parent := filepath.Dir(dir)
	for ; ; parent = filepath.Dir(parent) { // the game's own directory is not there yet
		if _, err := os.Stat(parent); err == nil || parent == filepath.Dir(parent) {
			break
		}
	}
	real, err := filepath.EvalSymlinks(parent)
	if err != nil {
		return filepath.ToSlash(root)
	}
	below, err := filepath.Rel(parent, dir)
	if err != nil {
		return filepath.ToSlash(root)
	}
	rel, err := filepath.Rel(filepath.Join(real, below), root)
	if err != nil || filepath.Join(dir, rel) != root && !samePlace(filepath.Join(dir, rel), root) {
		return filepath.ToSlash(root)
	}
	return filepath.ToSlash(rel)
}

// samePlace reports whether two paths lead to the same directory.
func samePlace(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}
