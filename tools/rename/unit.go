package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/scanner"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// unit is Go source that is edited at a time: a file, or a block of a document.
type unit struct {
	run  *run
	name string // of the file
	line int    // how many lines of the file come before src
	src  []byte
	tree *ast.File
	fset *token.FileSet

	roots    map[string]*ast.ImportSpec // the names of the root's imports; the spec is nil in a block that imports nothing
	others   map[string]bool            // the names of the other imports
	declared map[string]ast.Expr        // what the package declares, in all of its files
	local    map[string]string          // the names in src of the packages that it uses from now on

	// loose holds the packages whose names, undeclared in src, are variables: a block of a
	// document goes on with what others declare. It is nil in a file.
	loose map[string]bool

	apart map[*ast.Ident]bool // identifiers that no scope knows: fields, methods and labels
	edits []edit
}

// edit replaces a range of the source.
type edit struct {
	from, to int
	text     string
}

// folder has what each package of a folder declares, by the name of the package. The types
// have their expressions.
type folder map[string]map[string]ast.Expr

// old finds an old name in a text.
var old = regexp.MustCompile(`(^|[^\w./-]|\.\.\.|pkg\.go\.dev/)(` + regexp.QuoteMeta(root) + `[.#]|foretick\.)([A-Z]\w*)`)

// goFile edits a file of Go.
func (r *run) goFile(name string, src []byte) []byte {
	text, back := src, func(b []byte) []byte { return b }
	if strings.HasSuffix(name, ".tmpl") {
		text, back = mask(src)
	}
	u := &unit{run: r, name: name, src: text}
	if err := u.parse(); err != nil {
		if old.Match(src) {
			r.undone = append(r.undone, place{name, errorLine(err), "the file has a fault of syntax: " + err.Error()})
		}
		return src
	}
	if u.tree.Name.Name == "foretick" {
		return src
	}
	u.declared = r.folder(filepath.Dir(name))[packageOf(u.tree, src)]
	before := len(r.changes)
	out := u.rename()
	if string(out) == string(text) {
		return src
	}
	formatted, err := format.Source(out)
	if err != nil {
		r.undone = append(r.undone, place{name, errorLine(err), "the result would have a fault of syntax: " + err.Error()})
		r.changes = r.changes[:before]
		return src
	}
	if was, err := format.Source(text); strings.HasSuffix(name, ".go") || err == nil && string(was) == string(text) {
		out = formatted
	}
	return back(out)
}

func errorLine(err error) int {
	var list scanner.ErrorList
	if errors.As(err, &list) && len(list) > 0 {
		return list[0].Pos.Line
	}
	return 1
}

// action is an action of a template, which may stand for a quoted text.
var action = regexp.MustCompile("\\{\\{(?:`([^`\n]*)`|[^{}\n]*)\\}\\}")

// mask makes Go of a template: each action becomes a name of its length, a comment where
// it has a line to itself, or the text that it quotes. The function that it returns puts the actions back.
func mask(src []byte) ([]byte, func([]byte) []byte) {
	actions := map[string]string{}
	alone := regexp.MustCompile(`(?m)^[ \t]*$`)
	out := []byte(nil)
	at := 0
	for i, m := range action.FindAllSubmatchIndex(src, -1) {
		line := src[m[0]:m[1]]
		from := 1 + strings.LastIndexByte(string(src[:m[0]]), '\n')
		to := len(src)
		if n := strings.IndexByte(string(src[m[1]:]), '\n'); n >= 0 {
			to = m[1] + n
		}
		name := fmt.Sprintf("zq%02d", i)
		switch {
		case m[2] >= 0:
			name = fmt.Sprintf("%s/*%s*/", src[m[2]:m[3]], name)
		case alone.Match(src[from:m[0]]) && alone.Match(src[m[1]:to]):
			name = "//" + name
			fallthrough
		default:
			name += strings.Repeat("z", max(0, len(line)-len(name)-1)) + "q"
		}
		actions[name] = string(line)
		out = append(append(out, src[at:m[0]]...), name...)
		at = m[1]
	}
	return append(out, src[at:]...), func(b []byte) []byte {
		text := string(b)
		for name, line := range actions {
			text = strings.ReplaceAll(text, name, line)
		}
		return []byte(text)
	}
}

// clause finds the name of a template's package.
var clause = regexp.MustCompile(`(?m)^package (\S+)`)

// packageOf returns the name of a file's package. In a template it may be an action.
func packageOf(tree *ast.File, src []byte) string {
	if m := clause.FindSubmatch(src); m != nil && strings.HasPrefix(tree.Name.Name, "zq") {
		return string(m[1])
	}
	return tree.Name.Name
}

// folder reads what the packages of a folder declare.
func (r *run) folder(dir string) folder {
	if f, ok := r.folders[dir]; ok {
		return f
	}
	f := folder{}
	r.folders[dir] = f
	list, _ := os.ReadDir(dir)
	for _, entry := range list {
		if !isGo(entry.Name()) || entry.IsDir() {
			continue
		}
		src, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			continue // the file is not read either when its turn comes
		}
		text := src
		if strings.HasSuffix(entry.Name(), ".tmpl") {
			text, _ = mask(src)
		}
		if tree, _ := parser.ParseFile(token.NewFileSet(), entry.Name(), text, parser.SkipObjectResolution); tree != nil && tree.Name != nil {
			of := packageOf(tree, src)
			if f[of] == nil {
				f[of] = map[string]ast.Expr{}
			}
			declare(f[of], tree)
		}
	}
	return f
}

// declare adds what a file declares.
func declare(names map[string]ast.Expr, tree *ast.File) {
	for _, d := range tree.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				names[d.Name.Name] = nil
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					names[s.Name.Name] = s.Type
				case *ast.ValueSpec:
					for _, n := range s.Names {
						names[n.Name] = nil
					}
				}
			}
		}
	}
}

func (u *unit) parse() (err error) {
	u.fset = token.NewFileSet()
	u.tree, err = parser.ParseFile(u.fset, "", u.src, parser.ParseComments)
	return err
}

func (u *unit) offset(p token.Pos) int { return u.fset.Position(p).Offset }

func (u *unit) place(p token.Pos, text string, args ...any) place {
	return place{u.name, u.line + u.fset.Position(p).Line, fmt.Sprintf(text, args...)}
}

// undone reports something that has to be done by hand.
func (u *unit) undone(p token.Pos, text string, args ...any) {
	u.run.undone = append(u.run.undone, u.place(p, text, args...))
}

// replace replaces a node's text, and counts it.
func (u *unit) replace(n ast.Node, text string) {
	was := string(u.src[u.offset(n.Pos()):u.offset(n.End())])
	u.run.changes = append(u.run.changes, u.place(n.Pos(), "%s → %s", was, text))
	u.edits = append(u.edits, edit{u.offset(n.Pos()), u.offset(n.End()), text})
}

// rename makes all edits, and returns the source with them.
func (u *unit) rename() []byte {
	u.readImports()
	u.readApart()
	var found []*ast.SelectorExpr
	rest := map[string]bool{} // the names of root imports that are needed all the same
	ast.Inspect(u.tree, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		x, ok := sel.X.(*ast.Ident)
		if _, imports := u.roots[nameOf(x)]; !ok || !imports || x.Obj != nil {
			return true
		}
		if _, ok := table[sel.Sel.Name]; ok {
			found = append(found, sel)
		} else {
			rest[x.Name] = true
		}
		return true
	})
	u.local = map[string]string{}
	needed := map[string]bool{}
	for _, sel := range found {
		needed[table[sel.Sel.Name].pkg] = true
	}
	for _, p := range packages {
		if needed[p.name] || u.loose[p.name] {
			u.nameImport(p.name, p.variable)
		}
	}
	u.embedded()
	for _, sel := range found {
		to := table[sel.Sel.Name]
		u.replace(sel, u.local[to.pkg]+"."+to.name)
	}
	u.addImports(needed, rest, len(found) > 0)
	u.renameInPlace()
	u.comments()
	u.dots()
	u.findStrings()
	return apply(u.src, u.edits)
}

func nameOf(x *ast.Ident) string {
	if x == nil {
		return ""
	}
	return x.Name
}

func apply(src []byte, edits []edit) []byte {
	slices.SortStableFunc(edits, func(a, b edit) int { return cmp.Compare(a.from, b.from) })
	var out []byte
	at := 0
	for _, e := range edits {
		out = append(append(out, src[at:e.from]...), e.text...)
		at = e.to
	}
	return append(out, src[at:]...)
}

// readImports finds how the source calls the root and the other packages.
func (u *unit) readImports() {
	u.roots, u.others = map[string]*ast.ImportSpec{}, map[string]bool{}
	for _, s := range u.tree.Imports {
		p, _ := strconv.Unquote(s.Path.Value)
		name := path.Base(p)
		if s.Name != nil {
			name = s.Name.Name
		}
		if p == root {
			u.roots[name] = s
		} else if path.Dir(p) != root || !slices.ContainsFunc(packages, func(k struct{ name, variable string }) bool { return k.name == path.Base(p) }) {
			u.others[name] = true
		}
	}
	if len(u.roots) == 0 && u.loose != nil {
		u.roots["foretick"] = nil
	}
}

// nameImport chooses what the source calls a package, and renames the variables that would
// hide it.
func (u *unit) nameImport(pkg, variable string) {
	for _, s := range u.tree.Imports {
		if p, _ := strconv.Unquote(s.Path.Value); p == root+"/"+pkg { // from an earlier run
			u.local[pkg] = pkg
			if s.Name != nil {
				u.local[pkg] = s.Name.Name
			}
		}
	}
	if u.local[pkg] == "" {
		u.local[pkg] = pkg
		if _, declared := u.declared[pkg]; declared || u.others[pkg] {
			u.local[pkg] = "f" + pkg
		}
	}
	if name := u.local[pkg]; name == pkg {
		u.renameVariables(pkg, variable)
	} else if _, declared := u.declared[name]; declared || u.others[name] {
		u.undone(u.tree.Name.Pos(), "%s and %s have a meaning here: name the import of %s/%s by hand", pkg, name, root, pkg)
	}
}

// embedded reports the embedded fields whose names change with their types.
func (u *unit) embedded() {
	ast.Inspect(u.tree, func(n ast.Node) bool {
		s, ok := n.(*ast.StructType)
		if !ok {
			return true
		}
		for _, f := range s.Fields.List {
			t := f.Type
			if star, ok := t.(*ast.StarExpr); ok {
				t = star.X
			}
			if sel, ok := t.(*ast.SelectorExpr); ok && len(f.Names) == 0 {
				x, _ := sel.X.(*ast.Ident)
				if _, imports := u.roots[nameOf(x)]; imports && table[sel.Sel.Name].name != sel.Sel.Name && table[sel.Sel.Name].name != "" {
					u.undone(f.Pos(), "the embedded field %s is called %s now: rename its uses", sel.Sel.Name, table[sel.Sel.Name].name)
				}
			}
		}
		return true
	})
}

// addImports imports the packages that are needed, next to the root, and removes what nothing
// needs any more.
func (u *unit) addImports(needed, rest map[string]bool, changed bool) {
	if len(u.tree.Imports) == 0 || !changed {
		return
	}
	var lines []string // what to import
	for _, p := range packages {
		if line := strconv.Quote(root + "/" + p.name); needed[p.name] && !slices.ContainsFunc(u.tree.Imports, func(s *ast.ImportSpec) bool { return s.Path.Value == line }) {
			if u.local[p.name] != p.name {
				line = u.local[p.name] + " " + line
			}
			lines = append(lines, line)
		}
	}
	for _, d := range u.tree.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.IMPORT {
			continue
		}
		for i, s := range g.Specs {
			spec := s.(*ast.ImportSpec)
			name := ""
			for n, of := range u.roots {
				if of == spec {
					name = n
				}
			}
			if name == "" || name == "." || name == "_" {
				continue
			}
			if g.Lparen.IsValid() {
				u.importIn(g, i, lines, !rest[name])
			} else {
				u.importAt(g, spec, lines, !rest[name])
			}
			lines = nil
		}
	}
}

// importIn adds lines to a list of imports, each in its place in the group of the root, which
// is number i, and may remove that.
func (u *unit) importIn(g *ast.GenDecl, i int, lines []string, remove bool) {
	line := func(j int) int { return u.fset.Position(g.Specs[j].End()).Line }
	end := func(j int) int {
		if at := strings.IndexByte(string(u.src[u.offset(g.Specs[j].End()):]), '\n'); at >= 0 {
			return u.offset(g.Specs[j].End()) + at + 1
		}
		return len(u.src)
	}
	from := u.offset(g.Specs[i].Pos())
	start := 1 + strings.LastIndexByte(string(u.src[:from]), '\n')
	if strings.TrimSpace(string(u.src[start:from])) != "" || i+1 < len(g.Specs) && line(i+1) == line(i) {
		u.undone(g.Specs[i].Pos(), "the line holds more than this import: change the imports by hand")
		return
	}
	for _, l := range lines {
		at := i
		quoted := l[strings.IndexByte(l, '"'):]
		for at+1 < len(g.Specs) && line(at+1) == line(at)+1 && g.Specs[at+1].(*ast.ImportSpec).Path.Value < quoted {
			at++
		}
		u.edits = append(u.edits, edit{end(at), end(at), string(u.src[start:from]) + l + "\n"})
	}
	if remove {
		u.edits = append(u.edits, edit{start, end(i), ""})
	}
}

// importAt writes a declaration of one import anew.
func (u *unit) importAt(g *ast.GenDecl, spec *ast.ImportSpec, lines []string, remove bool) {
	if !remove {
		lines = append([]string{string(u.src[u.offset(spec.Pos()):u.offset(spec.End())])}, lines...)
	}
	text := ""
	switch len(lines) {
	case 0:
	case 1:
		text = "import " + lines[0]
	default:
		text = "import (\n\t" + strings.Join(lines, "\n\t") + "\n)"
	}
	u.edits = append(u.edits, edit{u.offset(g.Pos()), u.offset(g.End()), text})
}

// comments follows in the comments.
func (u *unit) comments() {
	for _, g := range u.tree.Comments {
		u.text(u.offset(g.Pos()), min(u.offset(g.End()), len(u.src)))
		u.textInPlace(u.offset(g.Pos()), min(u.offset(g.End()), len(u.src)))
	}
}

// variable finds code in a text that has a variable named like a package.
var variable = regexp.MustCompile(`\b(client|server)(?:\.([A-Z]\w*)| \*?foretick\.|(?:, \w+)* :?= )`)

// text follows in a range of the source that is no code, and reports variables in it.
func (u *unit) text(from, end int) {
	text := u.src[from:end]
	used := map[string]bool{}
	defer func() {
		for _, m := range variable.FindAllSubmatchIndex(text, -1) {
			name, selected := string(text[m[2]:m[3]]), ""
			if m[4] >= 0 {
				selected = string(text[m[4]:m[5]])
			}
			if used[name] && !isNew(name, selected) {
				line := u.line + 1 + bytes.Count(u.src[:from+m[0]], []byte("\n"))
				u.run.undone = append(u.run.undone, place{u.name, line, "a variable in a text may hide package " + name + ": rename it"})
			}
		}
	}()
	for at := 0; at < len(text); {
		m := old.FindSubmatchIndex(text[at:])
		if m == nil {
			return
		}
		for i := range m {
			m[i] += at
		}
		at = m[1]
		to, ok := table[string(text[m[6]:m[7]])]
		if !ok {
			continue
		}
		pkg := to.pkg
		if name := u.local[pkg]; name != "" {
			pkg = name
		}
		before, point := text[m[4]:m[5]-1], text[m[5]-1:m[5]]
		if string(before) == root {
			pkg = root + "/" + to.pkg
		}
		used[to.pkg] = true
		line := u.line + 1 + bytes.Count(u.src[:from+m[4]], []byte("\n"))
		u.run.changes = append(u.run.changes, place{u.name, line, fmt.Sprintf("%s → %s%s%s", text[m[4]:m[7]], pkg, point, to.name)})
		u.edits = append(u.edits, edit{from + m[4], from + m[7], pkg + string(point) + to.name})
	}
}

// dots reports the uses of what a dot import brought.
func (u *unit) dots() {
	if u.roots["."] == nil {
		return
	}
	for _, id := range u.tree.Unresolved {
		to, ok := table[id.Name]
		if _, declared := u.declared[id.Name]; ok && !declared && !u.apart[id] {
			u.undone(id.Pos(), "%s comes from the import of foretick with a dot: write %s.%s", id.Name, to.pkg, to.name)
		}
	}
}

// findStrings finds the strings that hold an old name.
func (u *unit) findStrings() {
	ast.Inspect(u.tree, func(n ast.Node) bool {
		lit, ok := n.(*ast.BasicLit)
		if !ok || lit.Kind != token.STRING {
			return true
		}
		for _, m := range old.FindAllStringSubmatchIndex(lit.Value, -1) {
			if _, ok := table[lit.Value[m[6]:m[7]]]; ok {
				p := u.place(lit.Pos(), "a string holds %s: it stays", lit.Value[m[4]:m[7]])
				p.line += strings.Count(lit.Value[:m[4]], "\n")
				u.run.strings = append(u.run.strings, p)
			}
		}
		return true
	})
}
