package foretick_test

import (
	"fmt"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
)

// A client makes a model for each entity that appears on its screen, and removes the model when
// the entity disappears.
func ExampleProtocol_OnAppear() {
	server, _, crate := ofThings("stage")
	client, things, seen := ofThings("stage")
	models := map[ecs.Entity]string{}
	client.OnAppear(func(f *foretick.Frame, e ecs.Entity) {
		models[e] = fmt.Sprint("crate number ", things.Get(f.World, e).N)
		fmt.Println("add", models[e])
	}, foretick.OfPrefab(seen))
	client.OnVanish(func(_ *foretick.Frame, e ecs.Entity) {
		fmt.Println("remove", models[e])
		delete(models, e)
	}, foretick.OfPrefab(seen))
	match, srv, _ := play(server, client, nil)
	e := srv.Frame().Spawn(crate, ecs.Nobody)
	_ = srv.World().SetValue(e, "thing.N", 7)
	match.Run(2 * time.Second)
	srv.Frame().Destroy(e)
	match.Run(3 * time.Second)
	// Output:
	// add crate number 7
	// remove crate number 7
}
