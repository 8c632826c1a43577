package foretick_test

import (
	"fmt"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
)

// Wheels are shown with units and named gears, in documents, logs and tools.
type Wheels struct {
	Speed float32 `net:"min=0,max=80,step=0.5" name:"ground speed" unit:"m/s"`
	Gear  uint8   `net:"max=2" enum:"reverse,neutral,drive"`
}

// A document of the protocol for the rest of the team.
func ExampleProtocol_Document() {
	var wheels ecs.Component[Wheels]
	var car ecs.Prefab
	p := foretick.NewProtocol("rally", 3)
	p.Component(&wheels)
	p.Prefab(&car, "car", &wheels)
	fmt.Println(p.Document()[len("# rally, version 3\n\n30 ticks a second. Protocol hash 0123456789abcdef.\n"):])
	// Output:
	// ## Components
	//
	// ### Wheels
	//
	// | field | type | values | unit | meaning | sent to |
	// |---|---|---|---|---|---|
	// | Speed | float32 | 0 to 80 by 0.5 | m/s | ground speed | everyone |
	// | Gear | uint8 | reverse, neutral, drive |  |  | everyone |
	//
	// ## Prefabs
	//
	// - car: Wheels
}
