package simtest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
)

type ticks struct{ n int }

func (c *ticks) Tick(*simtest.Match) error { c.n++; return nil }

type rests struct{ ticks }

func (c *rests) Quiet(*simtest.Match) error            { c.n = -c.n; return nil }
func (c *rests) Worked(*simtest.Match) (string, error) { return "rested", nil }

// A checker needs Tick alone. Quiet and Worked call the checkers that have them.
func TestCheckerIsTickAlone(t *testing.T) {
	m := simtest.New(1)
	_, err := m.Serve(server.Config{Protocol: foretick.NewProtocol("checked", 1)})
	require.NoError(t, err)
	a, b := &ticks{}, &rests{}
	m.Watch(a, b)
	m.Run(time.Second)
	require.NoError(t, m.Quiet())
	require.Positive(t, a.n)
	require.Equal(t, -a.n, b.n)
	lines, err := m.Worked()
	require.NoError(t, err)
	require.Equal(t, []string{"rested"}, lines)
}
