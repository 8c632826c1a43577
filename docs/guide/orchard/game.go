// Package orchard is the game of the guide's pages. Players meet in a lobby, run about an
// orchard, pick up apples and throw them. Each file belongs to one page of the guide.
package orchard

import (
	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/server"
)

// The rules.
const (
	Size  = 32 // metres, both ways
	speed = 6  // metres a second
	reach = 1  // metres, to pick up
)

type (
	// Position in metres.
	Position struct {
		X, Y float32 `net:"min=0,max=32,step=0.01,lerp"`
	}
	// Bag is what a player carries.
	Bag struct {
		Apples uint8 `net:"max=9"`
		Coins  uint8 `net:"max=99,owner"`
	}
	// Command is a player's input of a tick.
	Command struct {
		X, Y  float32 `net:"min=-1,max=1,step=0.0078125"`
		Throw bool    `net:"oneshot"`
	}
)

// Game holds the handles of one end, and on a client what it shows.
type Game struct {
	Pos    ecs.Component[Position]
	Bag    ecs.Component[Bag]
	Flight ecs.Component[Flight]
	Pose   ecs.Component[Pose]
	Name   ecs.Component[Name]
	Cmd    ecs.Component[Command]
	Match  ecs.Singleton[Match]

	Player, Apple, Thrown ecs.Prefab

	Ready foretick.Request[Ready]
	Pause foretick.Request[Pause]
	Say   foretick.Request[Say]
	Buy   foretick.Request[Buy]
	Said  foretick.Message[Said]
	Sold  foretick.Message[Sold]
	Fell  foretick.Message[Fell]

	// Play plays a sound, Print shows a line and Dust rises where an apple falls. They are for clients.
	Play  func(sound string)
	Print func(line string)
	Dust  func(at Fell)

	players, apples *ecs.Query
	level           *Level
	server          *server.Server // on the server
	ready           map[foretick.PlayerID]bool
	apart           map[ecs.Entity]uint8 // apples that each body had in the frame before
	falls           []fall               // on a client, those that are not drawn yet
	first           foretick.Tick        // of the client's first snapshot
}

// Protocol declares the game: a function for each page.
func (g *Game) Protocol() *foretick.Protocol {
	p := foretick.NewProtocol("orchard", 1)
	p.Component(&g.Pos, foretick.Predicted())
	p.Component(&g.Bag, foretick.Predicted())
	p.Command(&g.Cmd)
	g.declareMatch(p)
	g.declareLobby(p)
	g.declareSpawns(p)
	g.declarePose(p)
	g.declareMoments(p)
	g.declareSeats(p)
	p.Prefab(&g.Player, "player", &g.Pos, &g.Bag, &g.Pose, &g.Name, &g.Cmd)
	g.declareTouch(p)
	g.declareLevels(p)
	g.declareChecks(p)
	g.players = p.Query(ecs.With(&g.Pos, &g.Name))
	g.apples = p.Query(ecs.With(&g.Pos), ecs.Without(&g.Flight, &g.Name))
	return p
}

// Own returns a player's body, or None.
func (g *Game) Own(w *ecs.World, player foretick.PlayerID) ecs.Entity {
	for _, rows := range g.players.Owned(w, player) {
		return rows.Entity(0)
	}
	return ecs.None
}

// print shows a line where there is a screen.
func (g *Game) print(line string) {
	if g.Print != nil {
		g.Print(line)
	}
}

// play plays a sound where there is a screen.
func (g *Game) play(sound string) {
	if g.Play != nil {
		g.Play(sound)
	}
}
