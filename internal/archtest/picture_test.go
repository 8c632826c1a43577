package archtest_test

import (
	"flag"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "TestPicture writes the picture into ARCHITECTURE.md")

// leftOut are packages that the picture does without: helpers, programs and tests.
var leftOut = regexp.MustCompile(`^(benchmarks|cmd|docs|examples|tools|internal/(archtest|costtest|counts|fieldtest|guard|copytest|operatetest|oracletest|plantedtest|published|releasetest|schematest|screentest|standard)|figures/collector|snapshot/internal|transport/(internal|transporttest|dtls/interop))(/|$)`)

const pictureBegin, pictureEnd = "<!-- diagram -->\n", "<!-- end -->\n"

// TestPicture: the picture in ARCHITECTURE.md shows the packages as they import one
// another.
func TestPicture(t *testing.T) {
	text := document(t, "ARCHITECTURE.md")
	before, rest, ok := strings.Cut(text, pictureBegin)
	require.True(t, ok)
	was, after, ok := strings.Cut(rest, pictureEnd)
	require.True(t, ok)
	now := "\n" + picture(packageImports(t)) + "\n"
	if *update {
		name := filepath.Join(repository(t), "ARCHITECTURE.md")
		require.NoError(t, os.WriteFile(name, []byte(before+pictureBegin+now+pictureEnd+after), 0o600))
		return
	}
	if was != now {
		t.Error("the packages or their imports changed: go test ./internal/archtest -run Picture -update")
	}
}

// packageImports lists the packages that each package of the module imports.
func packageImports(t *testing.T) map[string][]string {
	imports := map[string][]string{}
	walk(t, func(name string) {
		dir := strings.TrimPrefix(path.Dir(name), ".")
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || leftOut.MatchString(dir) {
			return
		}
		src, err := os.ReadFile(filepath.Join(repository(t), filepath.FromSlash(name)))
		require.NoError(t, err)
		f, err := parse(name, src)
		require.NoError(t, err)
		list := imports[dir]
		for _, i := range f.tree.Imports {
			p, err := strconv.Unquote(i.Path.Value)
			require.NoError(t, err)
			own, ok := strings.CutPrefix(p, module)
			if own = strings.TrimPrefix(own, "/"); ok && !leftOut.MatchString(own) && !slices.Contains(list, own) {
				list = append(list, own)
			}
		}
		imports[dir] = list
	})
	require.Greater(t, len(imports), 8, "found too few packages: the test looks in the wrong place")
	return imports
}

// picture draws packages and their imports as a Mermaid flow chart.
func picture(imports map[string][]string) string {
	label := func(p string) string { return strings.TrimPrefix(path.Join("foretick", p), "foretick/") }
	id := func(p string) string { return "p_" + strings.ReplaceAll(label(p), "/", "_") }
	var b strings.Builder
	b.WriteString("```mermaid\nflowchart TD\n")
	names := make([]string, 0, len(imports))
	for p := range imports {
		names = append(names, p)
	}
	slices.Sort(names)
	for _, group := range []struct{ title, prefix string }{{"transports", "transport"}, {"internal", "internal/"}} {
		fmt.Fprintf(&b, "    subgraph %s\n", group.title)
		for _, p := range names {
			if strings.HasPrefix(p, group.prefix) {
				fmt.Fprintf(&b, "        %s[%s]\n", id(p), label(p))
			}
		}
		b.WriteString("    end\n")
	}
	for _, p := range names {
		if !strings.HasPrefix(p, "transport") && !strings.HasPrefix(p, "internal/") {
			fmt.Fprintf(&b, "    %s[%s]\n", id(p), label(p))
		}
	}
	for _, p := range names {
		slices.Sort(imports[p])
		for _, to := range imports[p] {
			fmt.Fprintf(&b, "    %s --> %s\n", id(p), id(to))
		}
	}
	b.WriteString("```\n")
	return b.String()
}

// TestPictureDraws shows what is drawn.
func TestPictureDraws(t *testing.T) {
	require.Equal(t, "```mermaid\nflowchart TD\n    subgraph transports\n        p_transport[transport]\n    end\n    subgraph internal\n    end\n"+
		"    p_foretick[foretick]\n    p_ecs[ecs]\n    p_foretick --> p_ecs\n    p_foretick --> p_transport\n```\n",
		picture(map[string][]string{"": {"transport", "ecs"}, "ecs": nil, "transport": nil}))
}

// TestArchitectureNames: the files that ARCHITECTURE.md names are there, and declare the
// functions that it names after them.
func TestArchitectureNames(t *testing.T) {
	root := repository(t)
	named := regexp.MustCompile("`([\\w/]+\\.go)`((?:,? `[A-Za-z]\\w*`)*)")
	n := 0
	for _, m := range named.FindAllStringSubmatch(document(t, "ARCHITECTURE.md"), -1) {
		n++
		src, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(m[1])))
		if err != nil {
			t.Errorf("ARCHITECTURE.md names %s, which is not there: name the file that took its place", m[1])
			continue
		}
		for _, fn := range regexp.MustCompile(`\w+`).FindAllString(m[2], -1) {
			if !regexp.MustCompile(`(?m)^func (\([^)]*\) )?` + fn + `\b`).Match(src) {
				t.Errorf("ARCHITECTURE.md names %s in %s, which does not declare it: name its new place", fn, m[1])
			}
		}
	}
	require.Greater(t, n, 60, "found too few names: the test looks in the wrong place")
}
