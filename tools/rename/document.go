package main

import (
	"go/ast"
	"go/format"
	"regexp"
	"strings"
)

// fence begins or ends a block of a document.
var fence = regexp.MustCompile("^([ \t]*)(```+|~~~+)[ \t]*([\\w-]*)")

// document edits a document: its blocks of Go as code, all else word by word.
func (r *run) document(name string, src []byte) []byte {
	var out, part strings.Builder
	loose := map[string]bool{} // blocks go on with one another, whichever of them names the package
	for _, m := range old.FindAllSubmatch(src, -1) {
		if to, ok := table[string(m[3])]; ok {
			loose[to.pkg] = true
		}
	}
	first := 0 // the lines before part
	lines := strings.SplitAfter(string(src), "\n")
	flush := func(at int, edit func(line int, text string) string) {
		out.WriteString(edit(first, part.String()))
		part.Reset()
		first = at
	}
	text := func(line int, text string) string { return r.words(name, line, text) }
	mark, indent, language := "", "", ""
	for i, line := range lines {
		m := fence.FindStringSubmatch(line)
		switch {
		case mark == "" && m != nil: // a block begins with the next line
			part.WriteString(line)
			flush(i+1, text)
			indent, mark, language = m[1], m[2], m[3]
			continue
		case mark != "" && m != nil && strings.HasPrefix(m[2], mark) && m[3] == "":
			flush(i, func(line int, text string) string {
				if language != "go" {
					return r.words(name, line, text)
				}
				return r.block(name, line, text, indent, loose)
			})
			mark = ""
		}
		part.WriteString(line)
	}
	flush(0, text)
	return []byte(out.String())
}

// words replaces old names in a text that is no code.
func (r *run) words(name string, line int, text string) string {
	u := &unit{run: r, name: name, line: line, src: []byte(text)}
	u.text(0, len(text))
	u.textInPlace(0, len(text))
	return string(apply(u.src, u.edits))
}

// block edits a block of Go: a file, declarations, statements or the fields of a literal. What is none of them is edited
// word by word.
func (r *run) block(name string, line int, text, indent string, loose map[string]bool) string {
	plain, ok := cutIndent(text, indent)
	if !ok {
		return r.words(name, line, text)
	}
	for _, around := range [][2]string{{"", ""}, {"package p\n", ""}, {"package p\nfunc _() {\n", "\n}\n"}, {"package p\nvar _ = t{\n", "}\n"}} {
		u := &unit{run: r, name: name, line: line - strings.Count(around[0], "\n"), src: []byte(around[0] + plain + around[1]), loose: loose}
		if u.parse() != nil {
			continue
		}
		u.declared = map[string]ast.Expr{}
		declare(u.declared, u.tree)
		after := strings.TrimSuffix(strings.TrimPrefix(string(u.rename()), around[0]), around[1])
		if was, err := format.Source([]byte(plain)); err == nil && string(was) == plain && after != plain {
			if formatted, err := format.Source([]byte(after)); err == nil {
				after = string(formatted)
			}
		}
		return addIndent(after, indent)
	}
	return r.words(name, line, text)
}

// cutIndent removes the indent of a block in a list. It reports whether all lines have it.
func cutIndent(text, indent string) (string, bool) {
	lines := strings.SplitAfter(text, "\n")
	for i, line := range lines {
		if strings.TrimSpace(line) == "" {
			continue
		}
		rest, ok := strings.CutPrefix(line, indent)
		if !ok {
			return "", false
		}
		lines[i] = rest
	}
	return strings.Join(lines, ""), true
}

func addIndent(text, indent string) string {
	lines := strings.SplitAfter(text, "\n")
	for i, line := range lines {
		if strings.TrimSpace(line) != "" {
			lines[i] = indent + line
		}
	}
	return strings.Join(lines, "")
}
