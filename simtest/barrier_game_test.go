package simtest_test

import (
	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
)

type (
	barrierPlace struct {
		X float32 `net:"min=-100,max=100,step=0.01,lerp"`
	}
	barrierPush struct {
		Move float32 `net:"min=-1,max=1,step=0.0078125"`
		Fire bool    `net:"oneshot"`
	}
	barrierKey struct {
		By   foretick.PlayerID
		Tick foretick.Tick
	}
	barrierWord struct {
		Kind uint8 // wordOfTick, wordOfFinal or wordOfAnswer
		By   foretick.PlayerID
		N    uint32
	}
	barrierAsk struct{ N uint32 }
)

const (
	wordOfTick   = iota // a message of each tick
	wordOfFinal         // a message about an event that became final
	wordOfAnswer        // the reply to a request
)

// barrierGame is a game with every output that a server may hold back. The maps of the server's
// end record what the last run of each tick decided, and which outputs came.
type barrierGame struct {
	place ecs.Component[barrierPlace]
	cmd   ecs.Component[barrierPush]
	body  ecs.Prefab
	hit   foretick.Event[barrierKey]
	next  foretick.Event[barrierKey] // raised by the OnFinal of hit
	left  foretick.Event[barrierKey] // raised by OnLeave
	word  foretick.Message[barrierWord]
	ask   foretick.Request[barrierAsk]

	whole  bool // late inputs make whole ticks run again (Late.World)
	at     foretick.Tick
	end    func(f *foretick.ServerFrame) // called in tick at
	joined map[foretick.PlayerID]foretick.Tick
	gone   []foretick.PlayerID

	decided                      map[barrierKey]bool
	handled, final, nexts, lefts map[barrierKey]int
	reacts                       func(f *foretick.ServerFrame) // called in the OnFinal of hit

	heard map[barrierWord]int // how often a client received each message
	alive map[ecs.Entity]int  // on a client: 1 for entities that appeared, 0 for those that vanished
	twice int                 // entities that appeared twice, or vanished without having appeared
}

func (g *barrierGame) protocol() *foretick.Protocol {
	g.joined, g.decided = map[foretick.PlayerID]foretick.Tick{}, map[barrierKey]bool{}
	g.handled, g.final, g.nexts, g.lefts = map[barrierKey]int{}, map[barrierKey]int{}, map[barrierKey]int{}, map[barrierKey]int{}
	g.heard, g.alive = map[barrierWord]int{}, map[ecs.Entity]int{}
	p := foretick.NewProtocol("barriers", 1)
	p.Component(&g.place, foretick.Predicted())
	p.Command(&g.cmd)
	p.Prefab(&g.body, "body", &g.place, &g.cmd)
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) {
		g.joined[player] = f.Tick
		f.Spawn(&g.body, player)
	})
	p.OnLeave(func(f *foretick.ServerFrame, player foretick.PlayerID) {
		delete(g.joined, player)
		g.gone = append(g.gone, player)
		g.left.Raise(f.Frame, ecs.None, barrierKey{player, f.Tick})
	})
	p.Shared("run", func(f *foretick.Frame, rows ecs.Rows) {
		place, cmd := g.place.Slice(rows), g.cmd.Slice(rows)
		for i := range place {
			place[i].X += cmd[i].Move / 8
			k := barrierKey{rows.Owner(), f.Tick}
			if g.decided[k] = cmd[i].Fire || f.Tick%2 == 0; g.whole {
				delete(g.handled, k) // the run that handled the event is undone
			}
			if g.decided[k] {
				g.hit.Raise(f, rows.Entity(i), k)
			}
		}
	}, ecs.Read(&g.cmd), ecs.Write(&g.place))
	p.Server("tell", func(f *foretick.ServerFrame, _ ecs.Rows) {
		g.tell(f, barrierWord{wordOfTick, ecs.Nobody, f.Tick})
		if f.Tick == g.at && g.end != nil && !f.Replay {
			g.end(f)
		}
	}, ecs.Once())
	g.hit.OnServer(p, func(_ *foretick.ServerFrame, _ foretick.By, k barrierKey) { g.handled[k]++ })
	g.hit.OnFinal(p, func(f *foretick.ServerFrame, by foretick.By, k barrierKey) {
		g.tell(f, barrierWord{wordOfFinal, k.By, k.Tick})
		g.next.Raise(f.Frame, ecs.None, k)
		if !f.Replay {
			g.final[k]++
			if g.reacts != nil {
				g.reacts(f)
			}
		}
	})
	once := func(to *map[barrierKey]int) func(*foretick.ServerFrame, foretick.By, barrierKey) {
		return func(f *foretick.ServerFrame, _ foretick.By, k barrierKey) {
			if !f.Replay {
				(*to)[k]++
			}
		}
	}
	g.next.OnFinal(p, once(&g.nexts))
	g.left.OnFinal(p, once(&g.lefts))
	g.ask.Handle(p, func(f *foretick.ServerFrame, player foretick.PlayerID, v barrierAsk) {
		_ = g.word.Send(f, player, barrierWord{wordOfAnswer, player, v.N}) // fails if the player has left
	})
	g.word.OnClient(p, func(_ *foretick.Frame, _ foretick.Tick, w barrierWord) { g.heard[w]++ })
	p.OnAppear(func(_ *foretick.Frame, e ecs.Entity) { g.count(e, 1) })
	p.OnVanish(func(_ *foretick.Frame, e ecs.Entity) { g.count(e, -1) })
	return p
}

func (g *barrierGame) count(e ecs.Entity, by int) {
	if g.alive[e] += by; g.alive[e] < 0 || g.alive[e] > 1 {
		g.twice++
	}
}

// tell sends a message to every player of the match.
func (g *barrierGame) tell(f *foretick.ServerFrame, w barrierWord) {
	for player := range foretick.PlayerID(4) {
		if _, ok := g.joined[player]; ok {
			_ = g.word.Send(f, player, w) // fails if the player has lost its connection
		}
	}
}

// build makes the bodies of a new level.
func (g *barrierGame) build(f *foretick.ServerFrame) {
	for player := range foretick.PlayerID(4) {
		if _, ok := g.joined[player]; ok {
			f.Spawn(&g.body, player)
		}
	}
}
