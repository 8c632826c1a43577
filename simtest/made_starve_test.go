package simtest_test

import (
	"fmt"
	"slices"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/probe"
)

// A player is starved if it receives snapshots that for starveAfter say nothing about an entity
// that it may see, neither a value nor that the entity did not change. It is also starved if the
// server takes none of its commands in that time. Nothing counts for a while after a pause of its
// process or the server's, a change of its link, or its own join.
//
// For entities that are longer than a packet the time is longLasts: a lossy link leaves 2 kB a
// second for them, and four of 2 kB may be on their way at once.
const (
	starveAfter = 2 * time.Second
	longLasts   = 6 * time.Second
)

// madeHunger records how long a seat waits for values and for its commands to run.
type madeHunger struct {
	calm   time.Duration // time from which on waits count
	asked  foretick.Tick // tick of the last snapshot that was checked
	taken  uint64        // commands that the server had taken by then
	since  foretick.Tick // tick at which taken changed last
	seen   map[ecs.Entity]foretick.Tick
	oldest foretick.Tick // greatest counted age of a value
	idle   foretick.Tick // longest counted time without a command
	looks  int
}

// upset makes waits of a seat not count until starveAfter after span from now.
func (a *madeMatch) upset(s *madeSeat, span time.Duration) {
	s.hunger.calm = max(s.hunger.calm, a.m.Net.Now()+span+starveAfter)
}

// lengthens reports whether a prefab's entities may be longer than a packet.
func (p *madePlan) lengthens(prefab string) bool {
	k := slices.Index(madePrefabs[:], prefab)
	return p.long && k >= 0 && slices.Contains(p.has[k], len(madeShapes())-1)
}

// feed checks the ages of a seat's values with a snapshot, every eighth tick.
func (a *madeMatch) feed(s *madeSeat, t foretick.Tick) {
	h, me := &s.hunger, s.c.View().Player
	if t < h.asked+8 || me == ecs.Nobody || s.c.View().State != client.Playing {
		return
	}
	h.asked = t
	most, longest := foretick.Tick(starveAfter.Seconds()*float64(a.g.rate)), foretick.Tick(longLasts.Seconds()*float64(a.g.rate))
	counts := a.m.Net.Now() >= h.calm
	if st, ok := a.srv.PlayerStats(a.srv.Player(me)); ok {
		if st.InputsTaken != h.taken || !counts {
			h.taken, h.since = st.InputsTaken, t
		}
		if h.idle = max(h.idle, t-h.since); t-h.since > most {
			a.starved = append(a.starved, fmt.Sprintf("player %d: no command was taken in ticks %d to %d", me, h.since, t))
			h.since = t
		}
	}
	all, _ := probe.OfServer(a.srv).Entities(me)
	known := map[ecs.Entity]foretick.Tick{}
	for _, e := range all {
		if e.Hidden {
			continue
		}
		had := probe.OfClient(s.c).Entity(e.Wire)
		first, ok := h.seen[e.Entity]
		if !ok {
			first = t
		}
		if known[e.Entity] = first; !counts {
			known[e.Entity] = t
			continue
		}
		if h.looks++; had.Known && had.Told > first {
			known[e.Entity], first = had.Told, had.Told
		}
		late := most
		if a.g.lengthens(e.Prefab) {
			late = longest
		} else if int32(t-first) > 0 {
			h.oldest = max(h.oldest, t-first)
		}
		if int32(t-first) > int32(late) {
			a.starved = append(a.starved, fmt.Sprintf("player %d: no value of %v, a %s, from tick %d to %d", me, e.Entity, e.Prefab, first, t))
			known[e.Entity] = t
		}
	}
	h.seen = known
}
