package client

import (
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/netcode"
)

// currentLevel is the level that the client is in.
type currentLevel struct {
	epoch   uint8
	entered bool // the level's information has arrived
}

// enterLevel takes a client into a level.
func (c *Client) enterLevel(info netcode.LevelInfo) {
	if info.Epoch == c.link.level.epoch && c.link.level.entered || info.Epoch != c.link.level.epoch && !netcode.Newer(info.Epoch, c.link.level.epoch) {
		return // it came again, or in a late packet of the level before
	}
	if info.Epoch != c.link.level.epoch && c.clearLevel() != nil {
		return // it cannot happen: the same configuration was accepted before
	}
	c.link.level.epoch, c.link.level.entered = info.Epoch, true
	c.frame.Tick = info.Tick
	for _, fn := range c.p.Handlers.Levels {
		fn(&c.frame, info.Data)
	}
}

// clearLevel forgets everything that belonged to a level.
func (c *Client) clearLevel() error {
	if c.ghosts.receiver != nil {
		ecs.Engine(c.world).Lock()
		for _, g := range c.ghosts.receiver.Ghosts() {
			if g.Data != 0 {
				ecs.Engine(c.world).Manager().Destroy(ecs.Entity(g.Data))
			}
		}
		ecs.Engine(c.world).Unlock()
		for _, g := range c.ghosts.receiver.Ghosts() {
			if g.Data != 0 {
				ecs.Engine(c.world).Unreserve(ecs.Entity(g.Data)) // no save from before is restored any more
			}
		}
	}
	c.timeline.spawning.clearSpawns()
	c.tracer.forgetRecords()
	c.reports.forgetAsked()
	c.ghosts.newReceiver(c.link.newest)
	c.ghosts.ours = c.ghosts.ours[:0]
	c.reasons.Clear()
	c.screen.clearScreen()
	return c.timeline.clearLevel()
}
