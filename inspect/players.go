package inspect

import (
	"context"

	"github.com/foretick/foretick/internal/probe"
)

// Player is a player or an observer of a server. A client lists only its own player.
type Player struct {
	Player uint16 `json:"player"` // 0 for an observer
	// State on a server is playing, away (its place is held), local or observing. On a client it
	// is the state of its View.
	State    string      `json:"state"`
	Team     uint8       `json:"team,omitempty"`
	Identity string      `json:"identity,omitempty"`
	Address  string      `json:"address,omitempty"`
	Owns     int         `json:"owns"`             // entities that the player owns
	Hidden   int         `json:"hidden,omitempty"` // entities that the game hides from the player
	Eye      *[3]float32 `json:"eye,omitempty"`    // where the game makes the player look from, instead of its own entities
	Figures  []Figure    `json:"figures"`
}

// Figure is a measurement or a counter of a player.
type Figure struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit,omitempty"`
}

// Players lists the players and observers of an end.
func (in *Inspector) Players(ctx context.Context, name string) (out []Player, err error) {
	e, err := in.findEnd(name)
	if err != nil {
		return nil, err
	}
	var all []Player
	switch x := e.collect.(type) {
	case *serverEnd:
		err = e.askEnd(ctx, func() { all = x.listPlayers() })
	case *clientEnd:
		err = e.askEnd(ctx, func() { all = x.listPlayers() })
	}
	if err != nil {
		return nil, err
	}
	return all, nil
}

func (x *serverEnd) listPlayers() (all []Player) {
	for _, seat := range x.probe.Seats(nil) {
		all = append(all, x.player(&seat))
	}
	return all
}

func (x *serverEnd) player(seat *probe.Seat) Player {
	p := Player{Player: uint16(seat.Player), State: seat.State, Team: seat.Team, Identity: seat.Identity, Address: seat.Address, Owns: seat.Owns, Hidden: seat.Hidden}
	if seat.Near {
		eye := seat.Eye
		p.Eye = &eye
	}
	st, ok := x.s.PlayerStats(x.s.Player(seat.Player))
	if !ok || seat.Player == 0 {
		return p
	}
	p.Figures = []Figure{
		{"round trip", float64(ms(st.RTT)), "ms"},
		{"input buffer", float64(ms(st.InputBuffer)), "ms"},
		{"rewind", float64(ms(st.RenderDelay)), "ms"},
		{"lost to it", float64(st.PacketsLost), "packets"},
		{"lost from it", float64(st.PacketsLostIn), "packets"},
		{"inputs missing", float64(st.InputsMissing), "ticks"},
		{"inputs late", float64(st.InputsLate), ""},
		{"inputs refused", float64(st.InputsRejected), "ticks"},
		{"claims clamped", float64(st.Clamped), ""},
		{"sent", float64(st.BytesOut), "B"},
		{"received", float64(st.BytesIn), "B"},
		{"messages wait", float64(st.Queued), "B"},
		{"session", float64(st.SessionNumber), ""},
		{"connection", float64(st.ConnectionNumber), ""},
	}
	return p
}

func (x *clientEnd) listPlayers() []Player {
	v, st := x.c.View(), x.c.Stats()
	p := Player{Player: uint16(v.Player), State: v.State.String()}
	if v.Player != 0 {
		for _, rows := range x.all.Owned(v.World, v.Player) {
			p.Owns += rows.Len()
		}
	}
	p.Figures = []Figure{
		{"round trip", float64(ms(st.Connection.RTT)), "ms"},
		{"jitter", float64(ms(st.Connection.Jitter)), "ms"},
		{"loss", st.Connection.Loss * 100, "%"},
		{"lead", float64(ms(v.Lead)), "ms"},
		{"input delay", float64(ms(v.InputDelay)), "ms"},
		{"corrections", float64(st.Mispredictions), ""},
		{"ticks compared", float64(st.Compared), ""},
		{"hard resets", float64(st.HardResets), ""},
		{"stalls", float64(st.Stalls), ""},
		{"half of the inputs came back within", float64(ms(st.Confirm(0.5))), "ms"},
		{"99 % of the inputs came back within", float64(ms(st.Confirm(0.99))), "ms"},
	}
	return []Player{p}
}
