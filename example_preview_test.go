package foretick_test

import (
	"fmt"
	"time"

	"github.com/foretick/foretick"
)

// An editor plays the game in one world, without a network: in slow motion, halted, tick by
// tick. A game for one player runs the same way.
func ExampleNewPreview() {
	game := &Walk{}
	preview, err := foretick.NewPreview(
		foretick.ServerConfig{Protocol: game.Protocol()},
		foretick.ClientConfig{Sample: foretick.Sample(&game.Move, func(foretick.View) Move { return Move{X: 1} })},
	)
	if err != nil {
		panic(err)
	}
	now := time.Unix(0, 0) // time.Now() in a real program
	frame := func() foretick.View {
		now = now.Add(time.Second / 60)
		return preview.Step(now)
	}
	for range 60 {
		frame()
	}
	fmt.Println("after a second: tick", frame().Tick)
	preview.SetTimeScale(0.5)
	for range 60 {
		frame()
	}
	fmt.Println("in slow motion: tick", frame().Tick)
	preview.Pause(true)
	frame()
	preview.StepTick()
	fmt.Println("one step: tick", frame().Tick)
	_ = preview.Close()
	// Output:
	// after a second: tick 30
	// in slow motion: tick 46
	// one step: tick 47
}
