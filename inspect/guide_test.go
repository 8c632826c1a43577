package inspect_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// guideWords has the guide's words for a chart, or for a series that only one end has.
var guideWords = map[string]string{
	"Tick": "time of", "Ticks lost": "skipped ticks", "Round trip": "round trip", "Input buffer": "input buffer", "Snapshot buffer": "snapshot buffer",
	"Time scale": "time scale", "Delay": "lead and input delay", "Rewind": "rewind", "Loss by cause": "loss by cause",
	"Traffic": "traffic", "Corrections": "corrections", "Players": "players", "Message queue": "message queue",
	"Bytes by field": "bytes by field", "Time by system": "time by system",
	"jitter_ms": "jitter", "input_buffer_target_ms": "target", "late_ms": "lateness",
}

// The guide lists the charts of a server and of a client. Each list has the charts of that end,
// and none that only the other end has.
func TestGuideListsTheChartsOfEachEnd(t *testing.T) {
	m := play(t, 1, 0)
	require.NoError(t, m.in.AddServer("server", m.srv))
	guide, err := os.ReadFile("../docs/guide/inspect.md")
	require.NoError(t, err)
	rows := map[string]string{}
	for line := range strings.Lines(string(guide)) {
		if rest, ok := strings.CutPrefix(line, "| Charts of a "); ok {
			role, text, _ := strings.Cut(rest, " | ")
			rows[role] = text
		}
	}
	require.Len(t, rows, 2)
	for _, e := range m.in.Ends() {
		series, err := m.in.Series(e.Name)
		require.NoError(t, err)
		has := map[string]bool{}
		for _, s := range series {
			require.Contains(t, guideWords, s.Chart, "a new chart: tell of it in the guide")
			has[s.Chart], has[s.Key] = true, true
		}
		for name, words := range guideWords {
			require.Equal(t, has[name], strings.Contains(rows[e.Role], words), "%s of a %s", name, e.Role)
		}
	}
}
