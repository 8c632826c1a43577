package inspect

import (
	"context"
	"fmt"
	"strings"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/probe"
)

// Sights is what one player receives of all replicated entities of a server.
type Sights struct {
	Player uint16 `json:"player"`
	Tick   Tick   `json:"tick"`
	Total  int    `json:"total"` // replicated entities
	Sees   int    `json:"sees"`  // entities that the server sends to the player
	Found  int    `json:"found"` // entities that match the query
	List   []Seen `json:"list"`  // the first matching entities, in the order of their numbers on the network
}

// Seen is an entity, and what one player receives of it.
type Seen struct {
	ID       EntityID `json:"id"`
	Net      uint32   `json:"net"`
	Prefab   string   `json:"prefab"`
	Owner    uint16   `json:"owner"`              // number of the owning player; 0: nobody
	Sees     bool     `json:"sees"`               // the server sends the entity to the player
	Known    bool     `json:"known"`              // a snapshot with the entity was delivered
	Why      []string `json:"why"`                // reasons as sentences, in the order in which they decide
	Withheld []string `json:"withheld,omitempty"` // sent fields that the player does not receive of an entity that it sees
}

// SightsQuery chooses entities. The zero SightsQuery chooses all.
type SightsQuery struct {
	Text   string // words as in [EntityQuery], or words of the reasons
	Unseen bool   // only entities that the player does not receive, or not with all fields
	Most   int    // how many entities to list: 0 means 200; at most 1000
}

// Sights lists what a player receives of the entities of a server, and why. The error is
// [ErrClient] for a client.
func (in *Inspector) Sights(ctx context.Context, name string, player uint16, q SightsQuery) (Sights, error) {
	e, err := in.findEnd(name)
	if err != nil {
		return Sights{}, err
	}
	server, ok := e.internals.(probe.Server)
	if !ok {
		return Sights{}, ErrClient
	}
	most := q.Most
	if most <= 0 {
		most = defaultMost
	}
	out := Sights{Player: player}
	var wrong error
	err = e.askEnd(ctx, func() { wrong = e.sights(&out, server, q, min(most, mostEntities)) })
	if err != nil {
		return Sights{}, err
	}
	return out, wrong
}

func (e *end) sights(out *Sights, server probe.Server, q SightsQuery, most int) error {
	w, words := e.world(), strings.Fields(strings.ToLower(q.Text))
	out.Tick = e.newest.Load()
	for _, r := range server.Replicated() {
		s, ok := server.Sight(ecs.Owner(out.Player), r.Entity)
		if !ok {
			return fmt.Errorf("inspect: there is no player %d: players.json lists those that play", out.Player)
		}
		one := Seen{ID: EntityID(r.Entity), Net: r.Net, Prefab: r.Prefab, Owner: owner(w.Owner(r.Entity)), Known: s.Known}
		one.Sees, one.Why = explain(&s)
		out.Total++
		if one.Sees {
			out.Sees++
			one.Withheld = e.withheld(r.Entity, &s)
		}
		if q.Unseen && one.Sees && len(one.Withheld) == 0 || !one.matches(words) {
			continue
		}
		if out.Found++; len(out.List) < most {
			out.List = append(out.List, one)
		}
	}
	return nil
}

// withheld lists the sent fields that a player does not receive of an entity that it sees.
func (e *end) withheld(id ecs.Entity, s *probe.Sight) (paths []string) {
	all := Sight{Entity: EntityID(id), Sees: true}
	e.received(&all, s)
	for _, f := range all.Fields {
		if !f.Gets && f.Why != notSent {
			paths = append(paths, f.Path)
		}
	}
	return paths
}

func (s *Seen) matches(words []string) bool {
	if len(words) == 0 {
		return true
	}
	of := Entity{ID: s.ID, Net: s.Net, Prefab: s.Prefab, Owner: s.Owner, Components: append(s.Withheld[:len(s.Withheld):len(s.Withheld)], s.Why...)}
	return of.matches(words)
}
