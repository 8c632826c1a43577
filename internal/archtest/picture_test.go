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
var leftOut = regexp.MustCompile(`^(benchmarks|cmd|docs|examples|tools|internal/(archtest|chaintest|costtest|counts|fieldtest|guard|copytest|operatetest|matchtest|oracletest|peek|plantedtest|published|releasetest|schematest|screentest|seedtest|standard)|stats/collector|snapshot/internal|transport/(internal|transporttest|dtls/interop))(/|$)`)

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

// layer is a row of the picture. A package imports others of its own layer or of lower ones.
type layer struct {
	title    string
	packages []string // A name that ends in /... has all below it too.
}

var layers = []layer{
	{"around a match", []string{"bots", "bridge", "stats/metrics", "flight", "host/...", "inspect/...", "internal/alarm", "internal/packettest", "internal/proxytest", "observe", "preview", "rollback/rollbacktest", "simtest/..."}},
	{"the ends", []string{"client", "internal/seat", "relay", "rollback", "server"}},
	{"what a game types", []string{""}},
	{"what both ends run", []string{"internal/game", "internal/seam"}},
	{"tables, records and figures of the ends", []string{"internal/gather", "internal/late", "internal/layout", "internal/probe", "internal/cause", "internal/rewind", "internal/settled/...", "internal/tape", "internal/trace", "stats"}},
	{"snapshots", []string{"snapshot"}},
	{"values as bits", []string{"internal/coder", "internal/quantise", "schema"}},
	{"parts that know no other", []string{"ecs", "input", "lagcomp", "mathf", "netcode", "prediction"}},
	{"transports", []string{"internal/contain", "internal/loss", "internal/misuse", "transport/..."}},
}

// layerOf returns the index of a package's layer, −1 if none has it.
func layerOf(p string) int {
	return slices.IndexFunc(layers, func(l layer) bool {
		return slices.ContainsFunc(l.packages, func(of string) bool {
			all, below := strings.CutSuffix(of, "/...")
			return p == all || below && strings.HasPrefix(p, all+"/")
		})
	})
}

// TestLayers: each package has a layer, and imports nothing of a higher one.
func TestLayers(t *testing.T) {
	imports := packageImports(t)
	for p, list := range imports {
		from := layerOf(p)
		if from < 0 {
			t.Errorf("package %s has no layer: add it to one in picture_test.go", p)
		}
		for _, to := range list {
			if at := layerOf(to); at >= 0 && at < from {
				t.Errorf("package %s of %q imports %s of %q, which lies above", p, layers[from].title, to, layers[at].title)
			}
		}
	}
	for _, l := range layers {
		for _, of := range l.packages {
			_, ok := imports[strings.TrimSuffix(of, "/...")]
			require.True(t, ok, "layer %q names package %s, which is not there", l.title, of)
		}
	}
}

// picture draws the layers with their packages as a Mermaid flow chart.
func picture(imports map[string][]string) string {
	var b strings.Builder
	b.WriteString("```mermaid\nflowchart TD\n")
	for i, l := range layers {
		var names []string
		for p := range imports {
			if layerOf(p) == i {
				names = append(names, strings.TrimPrefix(path.Join("foretick", p), "foretick/"))
			}
		}
		slices.Sort(names)
		var lines []string
		for four := range slices.Chunk(names, 4) {
			lines = append(lines, strings.Join(four, ", "))
		}
		fmt.Fprintf(&b, "    l%d[\"<b>%s</b><br>%s\"]\n", i, l.title, strings.Join(lines, "<br>"))
	}
	for i := range layers[1:] {
		fmt.Fprintf(&b, "    l%d --> l%d\n", i, i+1)
	}
	b.WriteString("```\n")
	return b.String()
}

// TestPictureDraws shows what is drawn.
func TestPictureDraws(t *testing.T) {
	drawn := picture(map[string][]string{"": {"transport", "ecs"}, "ecs": nil, "schema": nil, "transport/udp": nil, "transport": nil})
	require.Contains(t, drawn, "l2[\"<b>what a game types</b><br>foretick\"]\n")
	require.Contains(t, drawn, "<br>transport, transport/udp\"]\n")
	require.Contains(t, drawn, "    l7 --> l8\n```\n")
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
