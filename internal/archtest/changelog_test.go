package archtest_test

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestChangelogLines: each entry of the changelog is one line of at most 25 words.
func TestChangelogLines(t *testing.T) {
	const most = 25
	target := regexp.MustCompile(`\]\([^)]*\)`)
	n := 0
	for i, line := range strings.Split(document(t, "CHANGELOG.md"), "\n") {
		entry, ok := strings.CutPrefix(line, "- ")
		if !ok {
			continue
		}
		n++
		if words := len(strings.Fields(target.ReplaceAllString(entry, "]"))); words > most {
			t.Errorf("CHANGELOG.md:%d has %d words: an entry has at most %d", i+1, words, most)
		}
	}
	require.Greater(t, n, 20, "where are the entries?")
}

// TestChangelogOfFirstRelease: no release came before the first one, so its section lists
// features on one page: at most 60 entries, which name each package that games import. After
// them come the headings for changes, in the order of every release.
func TestChangelogOfFirstRelease(t *testing.T) {
	_, release, found := strings.Cut(document(t, "CHANGELOG.md"), "\n## v0.1.0")
	require.True(t, found, "where is the first release?")
	features, changes, found := strings.Cut(release, "\n### Added\n")
	require.True(t, found, "the changes begin with Added")
	require.LessOrEqual(t, strings.Count(features, "\n- "), 60, "a visitor reads one page: join entries, or move details to the guide")
	headings := regexp.MustCompile(`(?m)^#+ .*$`).FindAllString(changes, -1)
	require.Equal(t, []string{"### Changed", "### Fixed", "### Removed"}, headings)

	packages := importedPackages(t)
	require.Greater(t, len(packages), 30, "found too few packages: the test looks in the wrong place")
	for _, name := range packages {
		if !regexp.MustCompile("`" + regexp.QuoteMeta(name) + "[`.]").MatchString(features) {
			t.Errorf("the first release's page in CHANGELOG.md does not name package `%s`", name)
		}
	}
}

// importedPackages returns the directories of the packages below the root that games import.
// A directory whose tests alone have code is none.
func importedPackages(t *testing.T) []string {
	var dirs []string
	walk(t, func(name string) {
		dir := path.Dir(name)
		code := strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") && path.Base(name) != "doc.go"
		if !code || !imported(name) || strings.Contains(dir, "/internal") || strings.HasPrefix(dir, "docs/") || dir == "." || slices.Contains(dirs, dir) {
			return
		}
		dirs = append(dirs, dir)
	})
	return dirs
}
