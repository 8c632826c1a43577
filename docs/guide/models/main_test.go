package main

import (
	"flag"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/rollback"
)

var (
	all    = flag.Bool("all", false, "play all matches of the table, not those of two players alone")
	update = flag.Bool("update", false, "write the table into ../models.md")
)

const page = "../models.md"

var tableOfPage = regexp.MustCompile(`(?m)^\| players \| .*\n(?:\|.*\n)*`)

// TestPage: the page has the table of this program. A figure may differ by 5 % and 2, so that not every change of a
// packet changes the page. A long test of the repository runs it with -all.
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

// TestModels: what the page says of the three models holds in each match, whatever the digits.
func TestModels(t *testing.T) {
	server, err := measure(serve, 3, 100, 3*time.Second)
	require.NoError(t, err)
	few, err := measure(serve, 3, 0, 3*time.Second)
	require.NoError(t, err)
	back, err := measure(relay(0, 0), 3, 100, 3*time.Second)
	require.NoError(t, err)
	alone, err := measure(relay(0, 0), 3, 0, 3*time.Second)
	require.NoError(t, err)
	undelayed, err := measure(relay(0, -1), 3, 100, 3*time.Second)
	require.NoError(t, err)
	lock, err := measure(relay(rollback.Lockstep, 0), 3, 100, 3*time.Second)
	require.NoError(t, err)
	for _, f := range []figures{server, few, back, alone, undelayed, lock} {
		require.Greater(t, f.shown, 3*2*3, "each screen shows more than a press a second of each other player")
	}
	require.Greater(t, server.down, few.down+1000, "hares cost bytes where a server sends them")
	require.InDelta(t, back.down, alone.down, 50, "and none where inputs alone travel")
	require.Less(t, server.own, back.own)
	require.Less(t, undelayed.own, back.own)
	require.Less(t, back.own, lock.own)
	require.Less(t, back.others, lock.others)
	require.Less(t, lock.others, server.others)
	require.InDelta(t, 1, lock.computed, 0.01, "lockstep runs each tick once")
	require.Greater(t, back.computed, 1.1)
	require.Greater(t, undelayed.computed, back.computed)
}
