package inspect

import (
	"context"
	"fmt"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/probe"
	"github.com/foretick/foretick/schema"
)

// Sight is what one player receives of an entity, and why.
type Sight struct {
	Player uint16     `json:"player"`
	Entity EntityID   `json:"entity"`
	Sees   bool       `json:"sees"`  // the server sends the entity to the player
	Known  bool       `json:"known"` // a snapshot with the entity was delivered
	Why    []string   `json:"why"`   // reasons as sentences, in the order in which they decide
	Fields []Received `json:"fields"`
}

// Received says whether a player receives a field of an entity that it sees.
type Received struct {
	Path string `json:"path"`
	Gets bool   `json:"gets"`
	Why  string `json:"why"`
}

// Sight says what a player receives of an entity of a server, and why. The error is
// [ErrClient] for a client.
func (in *Inspector) Sight(ctx context.Context, name string, player uint16, id EntityID) (Sight, error) {
	e, err := in.findEnd(name)
	if err != nil {
		return Sight{}, err
	}
	server, ok := e.internals.(probe.Server)
	if !ok {
		return Sight{}, ErrClient
	}
	out := Sight{Player: player, Entity: id}
	var wrong error
	err = e.askEnd(ctx, func() {
		if !e.world().Alive(ecs.Entity(id)) {
			wrong = fmt.Errorf("inspect: entity %v of %s: %w", id, e.name, ecs.ErrStale)
			return
		}
		s, ok := server.Sight(ecs.Owner(player), ecs.Entity(id))
		if !ok {
			wrong = fmt.Errorf("inspect: player %d or entity %v: the player is not there, or the entity is not replicated and never sent", player, id)
			return
		}
		out.Known = s.Known
		out.Sees, out.Why = explain(&s)
		e.received(&out, &s)
	})
	if err != nil {
		return Sight{}, err
	}
	return out, wrong
}

// explain says whether the server sends an entity, and why.
func explain(s *probe.Sight) (sees bool, why []string) {
	switch {
	case !s.Plays:
		return false, []string{"The player is not connected: nothing is sent to it."}
	case s.Private:
		return false, []string{"Each client has its own entities of this prefab: none is sent."}
	case s.Hidden:
		return false, []string{"The game hides it from this player with ServerFrame.SetVisible."}
	case s.Own:
		why = append(why, "It is the player's own, or a shared physics object: always sent, at any distance.")
	case s.Interest.On:
		sees, text := nearby(&s.Interest)
		why = append(why, text)
		if !sees {
			return false, why
		}
	default:
		why = append(why, "The game declares no Interest: every entity is sent.")
	}
	if !s.Known {
		why = append(why, "No snapshot with it was delivered yet: it waits for room in a packet, or for an acknowledgement.")
	}
	return true, why
}

// nearby reports whether the game's Interest sends an entity, and why.
func nearby(n *probe.Interest) (sees bool, why string) {
	switch {
	case n.Always:
		return true, "The game's Relevant function says Always."
	case n.Never:
		return false, "The game's Relevant function says Never."
	case !n.Placed:
		return true, "It has no position: sent at any distance."
	case n.Distance < 0:
		return n.Relevant, "The player has no eye: it owns no entity with a position, and the game set none with ServerFrame.SetEye."
	case n.Relevant && n.Distance > n.Enter:
		return true, fmt.Sprintf("It is %.5g away: beyond Enter (%.5g), and not yet beyond Leave (%.5g).", n.Distance, n.Enter, n.Leave)
	case n.Relevant:
		return true, fmt.Sprintf("It is %.5g away: within Enter (%.5g).", n.Distance, n.Enter)
	}
	return false, fmt.Sprintf("It is %.5g away: Interest begins to send within Enter (%.5g), and ends beyond Leave (%.5g).", n.Distance, n.Enter, n.Leave)
}

const notSent = "The component is not sent: it is not replicated."

// received lists the fields of an entity, and who gets them.
func (e *end) received(out *Sight, s *probe.Sight) {
	w := e.world()
	has := s.Audience
	if has == 0 { // nothing was sent yet
		has = expected(s)
	}
	l := e.internals.Layout()
	for _, id := range shown(w.Types(), ecs.Engine(w).Mask(ecs.Entity(out.Entity))) {
		name, i := w.Types().Info(id).Name, l.Index(id)
		if i < 0 {
			out.Fields = append(out.Fields, Received{name, false, notSent})
			continue
		}
		for _, f := range l.Components[i].Schema.Fields() {
			out.Fields = append(out.Fields, e.receives(joined(name, f.Name), f.Audience, has, out.Sees))
		}
	}
}

func (e *end) receives(path string, wants, has schema.Audience, sees bool) Received {
	switch {
	case !sees:
		return Received{path, false, "The player does not receive the entity."}
	case wants == 0:
		return Received{path, true, "For everybody."}
	case wants&has != 0:
		return Received{path, true, "For " + e.audience(wants) + "; the player is of " + e.audience(wants&has) + "."}
	}
	return Received{path, false, "For " + e.audience(wants) + " only."}
}

// expected returns the audiences that the player will belong to for an entity that was not sent
// yet. The game's own audiences are not included.
func expected(s *probe.Sight) (a schema.Audience) {
	switch {
	case s.Own:
		a = schema.ToOwner | schema.ToAllies
	case s.Of != 0 && s.Of == s.Team:
		a = schema.ToAllies
	case s.Of != 0 && s.Team != 0:
		a = schema.ToEnemies
	}
	return a
}
