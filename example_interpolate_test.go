package foretick_test

import (
	"fmt"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
)

type hop struct {
	X      float32 `net:"min=-100,max=100,step=0.01,lerp"`
	Height float32 `net:"min=0,max=10,step=0.01"`
}

// A frog is on the ground in each tick and in the air between two ticks, both on screens and
// for shots at it.
func ExampleInterpolate() {
	var place ecs.Component[hop]
	var frog ecs.Prefab
	declare := func(place *ecs.Component[hop], frog *ecs.Prefab) *foretick.Protocol {
		p := foretick.NewProtocol("pond", 1)
		p.Component(place)
		foretick.Interpolate(p, place, func(from, to hop, t float32) hop {
			return hop{X: from.X + float32((to.X-from.X)*t), Height: 4 * t * (1 - t)}
		})
		p.Prefab(frog, "frog", place)
		p.Server("hop", func(f *foretick.ServerFrame, rows ecs.Rows) {
			for i := range place.Slice(rows) {
				place.Slice(rows)[i].X = float32(f.Tick % 100)
			}
		}, ecs.Write(place))
		return p
	}
	server := declare(new(ecs.Component[hop]), &frog)
	client := declare(&place, new(ecs.Prefab))
	match, srv, cli := play(server, client, nil)
	srv.Frame().Spawn(&frog, ecs.Nobody)
	highest := float32(0)
	frogs := client.Query(ecs.With(&place))
	for range 200 {
		match.Run(match.Net.Now() + time.Second/100)
		for _, rows := range frogs.All(cli.View().World) {
			highest = max(highest, place.Slice(rows)[0].Height)
		}
	}
	fmt.Println("it was drawn in the air:", highest > 0.5)
	// Output: it was drawn in the air: true
}

// A pet belongs to a player, but only the server moves it. So its owner sees it in the past,
// as other players do, until the owner rides it.
func ExampleProtocol_Interpolated() {
	declare := func() (*foretick.Protocol, *ecs.Component[hop], *ecs.Prefab) {
		p, place, pet := foretick.NewProtocol("pets", 1), &ecs.Component[hop]{}, &ecs.Prefab{}
		p.Component(place, foretick.Predicted())
		p.Prefab(pet, "pet", place)
		p.Interpolated(pet)
		p.Shared("walk", func(f *foretick.Frame, rows ecs.Rows) {
			for i := range place.Slice(rows) {
				place.Slice(rows)[i].X = float32(f.Tick%2000) / 20
			}
		}, ecs.Write(place))
		return p, place, pet
	}
	server, there, pet := declare()
	client, here, _ := declare()
	match, srv, cli := play(server, client, nil)
	match.Run(time.Second)
	f := srv.Frame()
	dog := f.Spawn(pet, cli.View().Player)
	pets := client.Query(ecs.With(here))
	where := func() string {
		match.Run(match.Net.Now() + 3*time.Second)
		if here.Slice(pets.All(cli.View().World)[0])[0].X < there.Get(f.World, dog).X {
			return "in the past"
		}
		return "ahead of the server"
	}
	fmt.Println("a pet is", where())
	f.SetPredicted(dog, true)
	fmt.Println("a mount is", where())
	// Output:
	// a pet is in the past
	// a mount is ahead of the server
}
