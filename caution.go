package foretick

import (
	"bytes"
	"fmt"

	"github.com/foretick/foretick/ecs"
)

// cautionText is the message of what a debug build logs of a game that can hardly be
// meant so; what it is stands under the key "caution".
const cautionText = "foretick_debug: the game can hardly be meant so"

// cautions are what is declared, allowed, and nearly always a mistake.
func (p *Protocol) cautions() []string {
	var out []string
	singles := p.types.Singletons()
	for _, s := range p.schedule.Systems() {
		if !shared(s) {
			continue
		}
		for _, id := range s.SingleWrites {
			out = append(out, fmt.Sprintf("shared system %q writes singleton %s, which is not sent, not compared and not rolled back: each end has its own, and a replay writes it once more: keep the value in a predicted component, or write it in a Server system", s.Name, singles[id].Name))
		}
	}
	return out
}

// still finds what players own and only the server moves, in debug builds.
type still struct {
	moved map[stillKey]bool // some shared system writes it
	seen  map[stillKey]int  // ticks in which the server alone wrote it
}

type stillKey struct {
	kind uint16
	comp ecs.ID
}

// stillTicks is in how many ticks the server moves something before that is told: once
// in a while it may set down what stands still otherwise.
const stillTicks = 10

func newStill(p *Protocol) still {
	s := still{moved: map[stillKey]bool{}, seen: map[stillKey]int{}}
	for _, sys := range p.schedule.Systems() {
		if !shared(sys) {
			continue
		}
		for i := range p.prefabs {
			mask := p.prefabs[i].ecs.Mask()
			for _, id := range sys.Writes {
				if sys.Once || mask.Contains(sys.With) && !mask.Overlaps(sys.Without) {
					s.moved[stillKey{uint16(i), id}] = true
				}
			}
			for _, id := range sys.OtherWrites {
				s.moved[stillKey{uint16(i), id}] = true
			}
		}
	}
	return s
}

// look notes the rows of a player's that a server system has changed.
func (e *effects) look(t *watchedTable, now, was []byte, system int) {
	s := e.s
	if s.player(t.rows.Owner()) == nil || t.comp.varies && t.rows.Len() > 1 {
		return
	}
	each := len(now) / t.rows.Len()
	for i, id := range s.p.identity.Slice(t.rows) {
		k := stillKey{id.Prefab, t.comp.id}
		if e.still.moved[k] || !t.comp.varies && bytes.Equal(now[i*each:(i+1)*each], was[i*each:(i+1)*each]) {
			continue
		}
		if e.still.seen[k]++; e.still.seen[k] == stillTicks {
			s.cfg.Logger.Warn(cautionText, "caution", fmt.Sprintf("system %q moves %s of prefab %q, which player %d owns and no shared system writes: its client predicts that it stands still, and is corrected each time: write it in a Shared system, spawn it for ecs.Nobody, or leave Predicted out",
				s.p.systemName(uint32(system)+1), t.comp.name, s.p.prefabs[id.Prefab].ecs.Name(), t.rows.Owner()))
		}
	}
}
