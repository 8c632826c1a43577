package foretick

import (
	"reflect"
	"unsafe"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/transport"
)

// mostUsed is how much of the world's hard limits may be taken by what a server sends.
// What is left is for what one Step still adds: no message does more of it than it has
// bits.
const mostUsed = 0.75

const crowdedDetail = "the server's entities have more combinations of components and owners than a client can hold"

// crowded reports whether the world has no room for more sets of components. What needs
// one is then left as it is, and the connection ends.
func (c *Client) crowded() bool {
	c.overfull = c.overfull || c.world.Used() > c.mostUsed
	return c.overfull
}

// leaveCrowded ends a connection whose server filled the world.
func (c *Client) leaveCrowded() {
	c.stats.Malformed++
	c.endpoint.Disconnect(c.peer, transport.Malformed, "")
	c.end(&DisconnectError{Code: transport.Malformed, Detail: crowdedDetail})
}

// takeAway removes a component that a ghost has no more.
func (c *Client) takeAway(e ecs.Entity, id ecs.ID) {
	if !c.crowded() {
		c.world.RemoveByID(e, id)
	}
}

// spare is a place for a component that finds none in the world.
func (c *Client) spare(i int) unsafe.Pointer {
	return reflect.New(c.world.Types().Info(c.p.components[i].id).Type).UnsafePointer()
}
