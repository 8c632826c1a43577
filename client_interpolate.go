package foretick

import (
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/snapshot"
)

// A client with ClientConfig.NoPrediction draws its own entities in the past, like all
// others. Nothing is rolled back, so there is no predicted state. Its events are those of
// the ticks that snapshots prove: each is run once more on the state before it, with the
// player's command, and its results are dropped. The events wait until the screen shows
// their tick.

// interpolate takes a snapshot in place of reconcile.
func (tl *timeline) interpolate(t Tick) {
	tl.transferred(t)
	from := tl.acted
	tl.acted = t
	if d := int32(t - from); from != 0 && d > 0 && d <= int32(tl.cfg.History) {
		tl.act(from, t)
	}
	tl.settleEvents(t, prediction.Same)
	tl.settle(t)
	tl.agree(t)
}

// act runs the ticks after from, up to t, on the player's own entities as the server had
// them in from. Events are all that remains.
func (tl *timeline) act(from, t Tick) {
	tl.ghosts.othersNewest()
	tl.saves.own.Save(0)
	for _, g := range tl.ghosts.receiver.Ghosts() {
		if e := ecs.Entity(g.Data); tl.owns(g) && tl.world.Alive(e) {
			if s, ok := g.At(from); ok {
				tl.write(g, s, from)
			} else if g.Gone != 0 && int32(g.Gone-from) <= 0 {
				tl.world.Manager().Destroy(e) // it is drawn for a while yet
			}
		}
	}
	for k := from + 1; int32(k-t) <= 0; k++ {
		tl.actTick(k)
	}
	tl.saves.own.Restore(0)
	for _, e := range tl.spawning.practised {
		tl.world.Unreserve(e)
	}
	tl.spawning.practised = tl.spawning.practised[:0]
}

// actTick is Step without records. What is spawned lasts for the tick: the server sends it.
func (tl *timeline) actTick(t Tick) {
	f := &tl.frame
	f.Tick, f.Replay = t, false
	tl.row.give()
	tl.parents.apply()
	tl.fillCommand(t)
	for _, q := range f.queues {
		q.begin(t)
	}
	tl.beginSpawns(t)
	if debugBuild {
		tl.losses.begin()
		tl.reasons.ours.Begin(t)
	}
	tl.tester.replay = true
	tl.world.WatchOutside(false)
	tl.p.schedule.ExecutePlayer(tl.world, f, tl.view.Player)
	tl.world.WatchOutside(true)
	tl.endSpawns()
	tl.tester.replay = false
	for _, q := range f.queues {
		q.end(f)
	}
}

// owns reports whether a ghost is the player's own.
func (tl *timeline) owns(g *snapshot.Ghost) bool {
	return g.Mine && PlayerID(g.Owner) == tl.view.Player && g.Data != 0 && !tl.ghosts.alien(g)
}

// showEvents calls the handlers of the events that waited for the screen to show their tick.
func (tl *timeline) showEvents(t Tick) {
	f := &tl.frame
	was := f.Tick
	for _, q := range f.queues {
		q.show(f, t)
	}
	f.Tick = was
}
