package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Thirty single steps are thirty ticks. An edit is shown though no time passes. The reply to a wrong
// line names the commands.
func TestPreview(t *testing.T) {
	play := func(commands string) []string {
		e, err := newEditor(3)
		require.NoError(t, err)
		var out bytes.Buffer
		require.NoError(t, e.run(strings.NewReader(commands), &out))
		return strings.Split(strings.TrimSpace(out.String()), "\n")[1:]
	}
	single := play(strings.Repeat("\n", 30))
	require.Len(t, single, 30)
	many := play("30\n")
	require.Equal(t, single[29], many[0])
	require.NotEqual(t, single[0], single[29])

	edited := play("60\nkick\n\n")
	tick, _, _ := strings.Cut(edited[0], ":")
	require.Contains(t, edited[1], tick+": 0 at 0.00 0.00", "the ball moved, and no tick passed")
	require.NotContains(t, edited[0], " 0 at 0.00 0.00")
	require.NotContains(t, edited[2], " 0 at 0.00 0.00")
	require.Contains(t, play("foo\n0\n")[0], `"foo" is no command`)
}
