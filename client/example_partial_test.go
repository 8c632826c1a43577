package client_test

import (
	"fmt"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport/sim"
)

type road struct {
	X float32
}

type gas struct {
	X float32 `net:"min=-1,max=1,step=0.0078125"`
}

// At 144 frames and 30 ticks a second, the first frame that reads a press shows it, instead of the next
// tick.
func ExampleConfig_partialTicks() {
	declare := func() (*foretick.Protocol, *ecs.Component[road], *ecs.Component[gas]) {
		p, place, pedal, car := foretick.NewProtocol("drive", 1), &ecs.Component[road]{}, &ecs.Component[gas]{}, &ecs.Prefab{}
		p.Component(place, foretick.Predicted())
		p.Command(pedal)
		p.Prefab(car, "car", place, pedal)
		p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { f.Spawn(car, player) })
		p.Shared("drive", func(f *foretick.Frame, rows ecs.Rows) {
			for i := range place.Slice(rows) {
				place.Slice(rows)[i].X += float32(pedal.Slice(rows)[i].X * 20 * f.DT) // f.DT is shorter in a part
			}
		}, ecs.Read(pedal), ecs.Write(place), ecs.Partial())
		return p, place, pedal
	}
	far := sim.Link{Latency: 50 * time.Millisecond}
	for _, partial := range []bool{false, true} {
		match := simtest.New(1)
		srv, _, _ := declare()
		if _, err := match.Serve(server.Config{Protocol: srv}); err != nil {
			panic(err)
		}
		cl, place, pedal := declare()
		pressed, frames := false, 0
		cars := cl.Query(ecs.With(place))
		_, err := match.Join(client.Config{
			Protocol: cl, PartialTicks: partial,
			Sample: client.Sample(pedal, func(v client.View) gas {
				if pressed = pressed || v.State == client.Playing && v.Tick > 90 && v.Fraction-float32(int(v.Fraction)) < 0.2; pressed {
					return gas{X: 1}
				}
				return gas{}
			}),
		}, simtest.Seat{Up: far, Down: far, FrameRate: 144, After: func(v client.View) {
			for _, rows := range cars.All(v.World) {
				if pressed && place.Slice(rows)[0].X == 0 {
					frames++
				}
			}
		}})
		if err != nil {
			panic(err)
		}
		match.Run(5 * time.Second)
		fmt.Printf("partial ticks %v: %d frames without the press\n", partial, frames)
	}
	// Output:
	// partial ticks false: 4 frames without the press
	// partial ticks true: 0 frames without the press
}
