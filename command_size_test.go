package foretick_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
)

// A command that is too long is refused at its declaration, with its length.
func TestCommandTooLong(t *testing.T) {
	type (
		longest struct{ Keys [256]int32 }
		longer  struct {
			Keys [256]int32
			One  bool
		}
	)
	var fits ecs.Component[longest]
	p := foretick.NewProtocol("long", 1)
	p.Command(&fits)
	require.NoError(t, p.Err())
	var over ecs.Component[longer]
	p = foretick.NewProtocol("long", 1)
	p.Command(&over)
	require.ErrorContains(t, p.Err(), "longer takes 1025 bytes, and at most 1024")
}
