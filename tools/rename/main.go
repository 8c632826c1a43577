// Rename follows the cut of package foretick in code that uses it: what runs a server is in
// package server now, and what runs a client in package client.
//
//	go run github.com/foretick/foretick/tools/rename [-n] [-v] PATH...
//
// A path is a file or a folder. In a folder it reads all files named .go, .go.tmpl and .md, of
// every build and every module, but nothing in folders whose names begin with a dot and in
// vendor. It edits in place, so commit first. With -n it changes nothing and prints what it
// would change. With -v it prints each change, and the strings that hold an old name.
//
//	sv, err := foretick.NewServer(foretick.ServerConfig{Protocol: p})
//
// becomes
//
//	sv, err := server.New(server.Config{Protocol: p})
//
// It adds the imports and removes that of foretick where nothing else needs it. A local
// variable named server or client would hide the package: it becomes srv or cl. Where a
// package declares that name, the import is called fserver or fclient. Comments follow where
// they say foretick.NewServer. So do documents: their Go blocks as code, their text word by
// word. Strings stay as they are.
//
// Names that changed and stayed in their package follow too: foretick.ErrNotIn becomes
// foretick.ErrNotPlaying.
//
// It reads syntax alone, so the code need not compile. What it cannot do it prints, with
// the line and the reason, and then its exit code is 1.
package main

import (
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	dry := flag.Bool("n", false, "print what would change, and change nothing")
	verbose := flag.Bool("v", false, "print each change, and the strings that hold an old name")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: rename [-n] [-v] PATH...")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() == 0 {
		flag.Usage()
		os.Exit(2)
	}
	r := &run{dry: *dry, folders: map[string]folder{}}
	for _, path := range flag.Args() {
		if err := r.path(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
	}
	r.print(os.Stdout, *dry || *verbose)
	if len(r.undone) > 0 {
		os.Exit(1)
	}
}

// run is what one call of the program does.
type run struct {
	dry     bool
	folders map[string]folder

	files   int     // how many were changed
	changes []place // what was changed
	undone  []place // what has to be done by hand
	strings []place // strings that hold an old name
}

// place is something in a line of a file.
type place struct {
	file string
	line int
	text string
}

func (p place) String() string { return fmt.Sprintf("%s:%d: %s", p.file, p.line, p.text) }

// path edits a file, or all files in a folder.
func (r *run) path(top string) error {
	return filepath.WalkDir(top, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != top && (strings.HasPrefix(d.Name(), ".") && d.Name() != ".." || d.Name() == "vendor"):
			return filepath.SkipDir
		case d.IsDir() || !d.Type().IsRegular():
			return nil
		}
		return r.file(name)
	})
}

// file edits a file, if it is of a kind that can be edited.
func (r *run) file(name string) error {
	var edit func(name string, src []byte) []byte
	switch {
	case isGo(name):
		edit = r.goFile
	case strings.HasSuffix(name, ".md"):
		edit = r.document
	default:
		return nil
	}
	src, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	out := edit(name, src)
	if string(out) == string(src) {
		return nil
	}
	r.files++
	if r.dry {
		return nil
	}
	return os.WriteFile(name, out, 0o666) // an existing file keeps its mode
}

// isGo reports whether a file holds Go code, or becomes Go code.
func isGo(name string) bool {
	return strings.HasSuffix(name, ".go") || strings.HasSuffix(name, ".go.tmpl")
}

// print prints what was done and what was not.
func (r *run) print(w io.Writer, all bool) {
	if all {
		for _, p := range r.changes {
			fmt.Fprintln(w, p)
		}
		for _, p := range r.strings {
			fmt.Fprintln(w, p)
		}
	}
	for _, p := range r.undone {
		fmt.Fprintln(w, p)
	}
	fmt.Fprintf(w, "%d files, %d replacements, %d places to do by hand, %d strings left alone\n", r.files, len(r.changes), len(r.undone), len(r.strings))
}
