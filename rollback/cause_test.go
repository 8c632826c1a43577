package rollback_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/rollback"
)

// TestCauseString: the sentence names the prefab of the entity, if it has one, in each kind of cause.
func TestCauseString(t *testing.T) {
	e := ecs.Entity(1<<32 | 3)
	at := e.String()
	for want, c := range map[string]rollback.Cause{
		`tick 4711, system "strike", Fighter.Life of fighter ` + at + `: here 900, there 855`: {Prefab: "fighter", Entity: e},
		`tick 4711, system "strike", Fighter.Life of ` + at + `: here 900, there 855`:         {Entity: e},
		`tick 4711, system "strike", Fighter.Life: here 900, there 855`:                       {},
		`player 2: Fighter.Life of fighter ` + at + ` was written outside of systems after ticks 4711 to 4712: here 900, there 855`: {
			Prefab: "fighter", Entity: e, Outside: true,
		},
		`player 2: system "strike" makes Fighter.Life of fighter ` + at + ` 900 in one run of tick 4711 and 855 in another: it uses what is not in the world, such as a clock, a random number, the order of a map or a Go variable`: {
			Prefab: "fighter", Entity: e, Unsteady: true,
		},
	} {
		c.Tick, c.Last, c.Writer, c.Field, c.Own, c.Theirs = 4711, 4712, 2, "Fighter.Life", "900", "855"
		if !c.Outside {
			c.System = "strike"
		}
		require.Equal(t, want, c.String())
	}
}
