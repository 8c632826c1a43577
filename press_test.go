package foretick_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
)

// A press needs something that is pressed, and only commands have one.
func TestPressNeedsAOneShot(t *testing.T) {
	type aim struct {
		Yaw  float32 `net:"angle,press"`
		Fire bool
	}
	type turret struct {
		Yaw float32 `net:"angle,press"`
	}
	var command ecs.Component[aim]
	var component ecs.Component[turret]
	p := foretick.NewProtocol("press", 1)
	p.Component(&component)
	p.Command(&command)
	err := p.Err()
	require.ErrorContains(t, err, "component turret: field Yaw is tagged press, which is for the command: drop it")
	require.ErrorContains(t, err, "command aim: field Yaw is tagged press, and nothing can be pressed: tag the bool that is pressed with oneshot, or drop press")
}
