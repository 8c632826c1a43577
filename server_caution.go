package foretick

import (
	"bytes"
	"fmt"
	"log/slog"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/layout"
)

// cautionText is the message with which a debug build logs a likely mistake of the game.
// The key "caution" says which.
const cautionText = "foretick_debug: the game can hardly be meant so"

// still finds player-owned components that only the server uses, in debug builds. One that
// shared systems read, such as health or a stun, is Predicted for good reason: a client
// rolls back to the tick of its change.
type still struct {
	log  *slog.Logger
	used map[stillKey]bool // some shared system reads or writes it
	seen map[stillKey]int  // ticks in which the server alone wrote it
	once map[string]bool   // other cautions that were logged
	push map[pushKey]int   // ticks in which a shared system wrote another player's rows
}

type pushKey struct {
	system int
	comp   ecs.ID
}

type stillKey struct {
	kind uint16
	comp ecs.ID
}

// stillTicks is the number of ticks in which the server moves a component before that is
// logged. The server may occasionally place something that otherwise does not move.
const stillTicks = 10

func newStill(p *compiled, log *slog.Logger) still {
	s := still{log: log, used: map[stillKey]bool{}, seen: map[stillKey]int{}, once: map[string]bool{}, push: map[pushKey]int{}}
	for _, sys := range p.schedule.Systems() {
		if !layout.Shared(sys) {
			continue
		}
		for i := range p.Prefabs {
			mask := p.Prefabs[i].ECS.Mask()
			for _, id := range append(sys.Reads[:len(sys.Reads):len(sys.Reads)], sys.Writes...) {
				if sys.Once || mask.Contains(sys.With) && !mask.Overlaps(sys.Without) {
					s.used[stillKey{uint16(i), id}] = true
				}
			}
			for _, id := range append(sys.OtherReads[:len(sys.OtherReads):len(sys.OtherReads)], sys.OtherWrites...) {
				s.used[stillKey{uint16(i), id}] = true
			}
		}
	}
	return s
}

// look notes the rows of a player's that a server system has changed.
func (e *writeWatch) look(t *watchedTable, now, was []byte, system int) {
	if e.sessions.player(t.rows.Owner()) == nil || t.comp.Varies && t.rows.Len() > 1 {
		return
	}
	each := len(now) / t.rows.Len()
	for i, id := range e.p.identity.Slice(t.rows) {
		k := stillKey{id.Prefab, t.comp.ID}
		if e.still.used[k] || e.p.Prefabs[id.Prefab].Interpolated && !id.ahead || !t.comp.Varies && bytes.Equal(now[i*each:(i+1)*each], was[i*each:(i+1)*each]) {
			continue
		}
		if e.still.seen[k]++; e.still.seen[k] == stillTicks {
			e.still.log.Error(cautionText, "caution", fmt.Sprintf("system %q moves %s of prefab %q, which player %d owns and no shared system reads or writes: its client predicts that it stands still, and is corrected each time: write it in a Shared system, declare the prefab with Protocol.Interpolated, spawn it for ecs.Nobody, or leave Predicted out",
				e.p.systemName(uint32(system)+1), t.comp.Name, e.p.Prefabs[id.Prefab].ECS.Name(), t.rows.Owner()))
		}
	}
}

// unheard logs an event that is raised and has no handler, once.
func (s *Server) unheard(event string) {
	c := &s.sim.writes.still
	if !c.once[event] {
		c.once[event] = true
		c.log.Error(cautionText, "caution", fmt.Sprintf("event %s is raised and has no handler, so nothing follows from it: declare OnServer for what it changes, and OnPredicted for what its player sees and hears", event))
	}
}

// pushes notes that a shared system wrote a player's rows in a run for another player.
func (c *still) pushes(system int, name string, t *watchedTable) {
	k := pushKey{system, t.comp.ID}
	if c.push[k]++; c.push[k] == stillTicks {
		c.log.Error(cautionText, "caution", fmt.Sprintf("shared system %q writes %s of player %d's entities in its runs for other players. Player %d's client does not run it for them, and is corrected each time: raise an Event and write in its OnServer handler, let each body write only itself, or predict other players with PredictRemote",
			name, t.comp.Name, t.rows.Owner(), t.rows.Owner()))
	}
}
