//go:build !foretick_debug

package main

import (
	"flag"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	all    = flag.Bool("all", false, "play all matches of the table, not those of two players alone")
	update = flag.Bool("update", false, "write the table into ../models.md")
)

const page = "../models.md"

var tableOfPage = regexp.MustCompile(`(?m)^\| players \| .*\n(?:\|.*\n)*`)

// TestPage: the page has the table of this program. A figure may differ by 5 % and 2, so that not every change of a
// packet changes the page. A server built with foretick_debug sends more, so those builds leave this test out. A long
// test of the repository runs it with -all.
func TestPage(t *testing.T) {
	played := sizes[:1]
	if *all || *update {
		played = sizes
	}
	var out strings.Builder
	require.NoError(t, table(&out, played))
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	require.Len(t, tableOfPage.FindAll(text, -1), 1)
	if *update {
		text = tableOfPage.ReplaceAllLiteral(text, []byte(out.String()))
		require.NoError(t, os.WriteFile(page, text, 0o600))
	}
	have, want := cells(string(tableOfPage.Find(text))), cells(out.String())
	require.Len(t, have, 2+len(models)*len(sizes), "go test ./docs/guide/models -update")
	for i := range want {
		require.Len(t, have[i], len(want[i]))
		for k, now := range want[i] {
			a, errA := strconv.ParseFloat(strings.TrimSuffix(have[i][k], " ms"), 64)
			b, errB := strconv.ParseFloat(strings.TrimSuffix(now, " ms"), 64)
			if errA != nil || errB != nil {
				require.Equal(t, now, have[i][k])
				continue
			}
			require.InDelta(t, b, a, 0.05*b+2, "row %d of the page: go test ./docs/guide/models -update", i+1)
		}
	}
}

func cells(table string) (out [][]string) {
	for line := range strings.Lines(table) {
		out = append(out, strings.Split(strings.Trim(line, "| \n"), " | "))
	}
	return out
}
