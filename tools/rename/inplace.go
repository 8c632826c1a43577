package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"path"
	"regexp"
	"strconv"
	"strings"
)

// inPlace has the names that changed and stayed in their package, by the package's folder.
var inPlace = map[string]map[string]string{
	"": {
		"ErrNotIn":    "ErrNotPlaying",
		"ErrTooMany":  "ErrTooManyRequests",
		"ErrNotThere": "ErrUnknownRequest",
		"ErrOverflow": "ErrMessageOverflow",
	},
	"transport": {
		"CloseError": "DisconnectError",
		"CutDetail":  "CutReason",
		"MaxDetail":  "MaxReason",
	},
	"transport/local": {
		"Host": "New",
	},
	"transport/multi": {
		"Join":      "New",
		"JoinParts": "NewNamed",
	},
}

// named finds a name of a package of the module in a text.
var named = regexp.MustCompile(`(^|[^\w./-]|\.\.\.|pkg\.go\.dev/)(` + regexp.QuoteMeta(root) + `(?:/[\w/]+)?|\w+)[.#]([A-Z]\w*)`)

// newNames returns the table of the package with an import path, or nil.
func newNames(imported string) map[string]string {
	if imported == root {
		return inPlace[""]
	}
	return inPlace[strings.TrimPrefix(imported, root+"/")]
}

// renameInPlace follows in the code the names that stayed in their package.
func (u *unit) renameInPlace() {
	packages := map[string]string{} // import paths by what the source calls them
	for _, s := range u.tree.Imports {
		p, _ := strconv.Unquote(s.Path.Value)
		name := path.Base(p)
		if s.Name != nil {
			name = s.Name.Name
		}
		packages[name] = p
	}
	if u.loose != nil && len(packages) == 0 { // a block of a document
		for folder := range inPlace {
			p := path.Join(root, folder)
			packages[path.Base(p)] = p
		}
	}
	ast.Inspect(u.tree, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		x, ok := sel.X.(*ast.Ident)
		if !ok || x.Obj != nil || !strings.HasPrefix(packages[x.Name], root) {
			return true
		}
		if to, ok := newNames(packages[x.Name])[sel.Sel.Name]; ok {
			u.replace(sel.Sel, to)
		}
		return true
	})
	if names := newNames(packages["."]); strings.HasPrefix(packages["."], root) {
		for _, id := range u.tree.Unresolved {
			if to, ok := names[id.Name]; ok && !u.apart[id] {
				u.undone(id.Pos(), "%s comes from an import with a dot: write %s", id.Name, to)
			}
		}
	}
}

// textInPlace follows in a range of the source that is no code.
func (u *unit) textInPlace(from, end int) {
	for _, m := range named.FindAllSubmatchIndex(u.src[from:end], -1) {
		of, name := string(u.src[from+m[4]:from+m[5]]), string(u.src[from+m[6]:from+m[7]])
		for folder := range inPlace {
			if p := path.Join(root, folder); of == path.Base(p) {
				of = p
			}
		}
		if !strings.HasPrefix(of, root) {
			continue
		}
		to, ok := newNames(of)[name]
		if !ok {
			continue
		}
		line := u.line + 1 + bytes.Count(u.src[:from+m[6]], []byte("\n"))
		u.run.changes = append(u.run.changes, place{u.name, line, fmt.Sprintf("%s → %s", name, to)})
		u.edits = append(u.edits, edit{from + m[6], from + m[7], to})
	}
}
