package archtest_test

import (
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/internal/releasetest"
)

// TestGuideIsTested: each piece of Go code in the guide is part of a file that is
// compiled and tested, which the line above it links to.
func TestGuideIsTested(t *testing.T) {
	code := regexp.MustCompile("(?s)([^\n]*)\n\n```go\n(.*?)```")
	link := regexp.MustCompile(`\]\(([^)#\s]+)\):$`)
	n := 0
	walk(t, func(name string) {
		if !strings.HasPrefix(name, "docs/guide/") || !strings.HasSuffix(name, ".md") {
			return
		}
		text := document(t, name)
		found := code.FindAllStringSubmatch(text, -1)
		if blocks := strings.Count(text, "```go\n"); blocks != len(found) {
			t.Errorf("%s: %d pieces of Go code, %d after a line that could name a file", name, blocks, len(found))
		}
		for _, m := range found {
			n++
			to := link.FindStringSubmatch(m[1])
			if to == nil {
				t.Errorf("%s: end the line %q with a link to the file, and a colon:\n%s", name, m[1], m[2])
				continue
			}
			file := path.Join(path.Dir(name), to[1])
			if !strings.Contains(fill(document(t, file)), m[2]) {
				t.Errorf("%s: %s does not have, or no longer has:\n%s", name, file, m[2])
			}
		}
	})
	require.Greater(t, n, 20, "where is the guide?")
}

// TestModelsPage: the whole table of the page about models is what its program prints. The program's own test plays the
// first rows alone.
func TestModelsPage(t *testing.T) {
	costtest.Long(t)
	cmd := releasetest.GoCommand("test", "-v", "-run", "^TestPage$", "./docs/guide/models", "-all")
	cmd.Dir = repository(t)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "--- PASS: TestPage")
}

// fill does to a template of cmd/new what that does for a game named mygame.
func fill(text string) string {
	return strings.NewReplacer("{{.Package}}", "mygame", "{{.Module}}", "mygame").Replace(text)
}
