package main

import (
	"fmt"
	"io"
	"os"

	"github.com/foretick/foretick/examples/arena/game"
)

// printBindings prints all bindings, after it has loaded a player's file of bindings.
func printBindings(name string, out io.Writer) error {
	in, err := os.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	c, ignored, err := game.LoadControls(in)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	for _, why := range ignored {
		fmt.Fprintln(out, "not used:", why)
	}
	return c.Map.SaveAll(out)
}
