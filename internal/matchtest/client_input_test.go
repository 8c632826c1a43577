package matchtest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
)

// The tag press needs a one-shot in the command. Only commands may have the tags press and sum.
func TestTagsOfCommands(t *testing.T) {
	type aim struct {
		Yaw  float32 `net:"angle,press"`
		Fire bool
	}
	type wheel struct {
		Turns int8 `net:"sum"`
	}
	type turret struct {
		Yaw float32 `net:"angle,press"`
	}
	var command ecs.Component[aim]
	var component ecs.Component[turret]
	var summed ecs.Component[wheel]
	p := foretick.NewProtocol("press", 1)
	p.Component(&component)
	p.Component(&summed)
	p.Command(&command)
	err := p.Err()
	require.ErrorContains(t, err, "component turret: field Yaw is tagged press, which is for the command: drop the tag, or declare the type by Command alone if it is the command")
	require.ErrorContains(t, err, "component wheel: field Turns is tagged sum, which is for the command: drop the tag")
	require.ErrorContains(t, err, "command aim: field Yaw is tagged press, and nothing can be pressed: tag the bool that is pressed with oneshot, or drop press")

	p = foretick.NewProtocol("declared by both", 1)
	var both ecs.Component[wheel]
	p.Component(&both)
	p.Command(&both)
	require.ErrorContains(t, p.Err(), "Command of wheel, which is declared already: declare the command by Command alone")
}
