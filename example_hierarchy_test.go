package foretick_test

import (
	"fmt"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
)

// A turret that the server mounts on a vehicle is the vehicle's child on each client.
func ExampleProtocol_Hierarchy() {
	declare := func() (p *foretick.Protocol, part *ecs.Component[thing], vehicle, turret *ecs.Prefab) {
		p, part, vehicle, turret = foretick.NewProtocol("motor pool", 1), &ecs.Component[thing]{}, &ecs.Prefab{}, &ecs.Prefab{}
		p.Hierarchy()
		p.Component(part)
		p.Prefab(vehicle, "vehicle", part)
		p.Prefab(turret, "turret", part)
		return p, part, vehicle, turret
	}
	server, part, vehicle, turret := declare()
	client, seen, _, _ := declare()
	match, srv, cli := play(server, client, nil)
	f := srv.Frame()
	car := f.Spawn(vehicle, ecs.Nobody)
	part.Get(f.World, car).N = 1
	for range 2 {
		gun := f.Spawn(turret, ecs.Nobody)
		if err := f.World.SetParent(gun, car); err != nil {
			panic(err)
		}
	}
	match.Run(2 * time.Second)
	for _, rows := range client.Query(ecs.With(seen)).All(cli.View().World) {
		for i, e := range rows.Entities() {
			if seen.Slice(rows)[i].N == 1 {
				fmt.Println("the vehicle has", len(cli.View().World.Children(e)), "turrets")
			}
		}
	}
	f.Destroy(car)
	match.Run(4 * time.Second)
	fmt.Println("left:", cli.View().World.Len())
	// Output:
	// the vehicle has 2 turrets
	// left: 0
}
