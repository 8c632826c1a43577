package server_test

import (
	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
)

// thing is the only component of its protocol.
type thing struct{ N uint32 }

// ofThings returns a protocol of one component and one prefab.
func ofThings(name string) (*foretick.Protocol, *ecs.Component[thing], *ecs.Prefab) {
	p, c, prefab := foretick.NewProtocol(name, 1), &ecs.Component[thing]{}, &ecs.Prefab{}
	p.Component(c)
	p.Prefab(prefab, "thing", c)
	return p, c, prefab
}
