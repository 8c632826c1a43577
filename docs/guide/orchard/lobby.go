package orchard

import (
	"errors"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/transport"
)

// A round lasts two minutes, at 30 ticks a second.
const round = 2 * 60 * 30

type (
	// Ready is a press of the lobby's button.
	Ready struct{ Is bool }
	// Pause asks to pause the match, or to continue.
	Pause struct{ On bool }
)

func (g *Game) declareLobby(p *foretick.Protocol) {
	g.ready = map[foretick.PlayerID]bool{}
	g.Ready.Handle(p, g.setReady)
	g.Pause.Handle(p, g.setPause)
}

// setReady runs on the server. The match starts when all are ready.
func (g *Game) setReady(f *foretick.ServerFrame, player foretick.PlayerID, r Ready) {
	g.ready[player] = r.Is
	m := g.Match.Get(f.World)
	if m.Phase != Lobby {
		return
	}
	for _, other := range g.server.Players(nil) {
		if !g.ready[other.ID] {
			return
		}
	}
	*m = Match{Phase: Playing, Left: round}
}

// setPause runs on the server.
func (g *Game) setPause(f *foretick.ServerFrame, _ foretick.PlayerID, p Pause) {
	m := g.Match.Get(f.World)
	switch {
	case p.On && m.Phase == Playing:
		m.Phase = Paused
	case !p.On && m.Phase == Paused:
		m.Phase = Playing
	}
}

// Screen says what to show instead of the match; empty shows the match.
func (g *Game) Screen(v client.View) string {
	switch v.State {
	case client.Connecting, client.Syncing:
		return "connecting"
	case client.Resuming:
		return "connection lost, trying again"
	case client.Closed:
		return reason(v.Err)
	}
	if v.Stalled {
		return "nothing comes from the server"
	}
	return [...]string{Lobby: "lobby", Playing: "", Paused: "paused", Over: "over"}[g.Match.Get(v.World).Phase]
}

// reason says in words why a match ended for this player.
func reason(err error) string {
	var other *client.ProtocolError
	if errors.As(err, &other) {
		return "the server has another version of the game"
	}
	var gone *transport.DisconnectError
	if !errors.As(err, &gone) {
		return "you left"
	}
	switch gone.Code {
	case transport.Timeout, transport.Gone:
		return "the connection is lost"
	case transport.Unreachable, transport.Refused:
		return "no server there"
	case transport.Full:
		return "the match is full"
	case transport.Kicked:
		return "removed: " + gone.Reason
	}
	return "the match has ended: " + gone.Reason
}
