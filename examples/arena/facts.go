package main

import (
	"bufio"
	"encoding/json"
	"io"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/examples/arena/game"
	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/stats"
)

// Fact is a line of the log that -log writes: an event at one end, raw, in
// order. Players are identified by owner number, times are nanoseconds from the
// start. The values of F:
//
//	match   the options that matter: Rate, Clients, Seconds, NoLag, and the number of ticks
//	        for which an input may be Late; whether they run again in the whole World, and
//	        whether the match is played over Sockets, in real time
//	tick    server: tick T was computed; Bodies and Bolts after it, the counts
//	        Out, In and Resent so far, and the number of Entities
//	exec    server: state for player P's guns at tick T: the command Cmd that
//	        runs, and Body before the guns work
//	undo    server: tick T is about to run again with all later ones, in the whole world; what
//	        they did before is undone
//	redone  server: they have run again up to T, which left these Bodies
//	rerun   server: before tick T+1 or a later one, P's part of tick T ran again, with Cmd
//	input   server: at tick T player P's command was there (Ok), or was Missing; and so
//	        many commands of earlier ticks came Late, and ran in their own ticks or were
//	        Refused; Final is the newest tick that no late command can change
//	write   server: only the server knew of this change to P's predicted state
//	        at T; By is the system that made it
//	verdict server: P's shot, Ray, judged in tick T, which is later than the shot's own
//	        if its input came late; Hit is the target, 0 for none
//	tell    server: a message of a Kind was queued for P
//	recv    client: a snapshot of tick T, newer than all before
//	hand    client: P's input was sampled; T is the newest predicted tick, Cmd
//	        the input, Body the player's own body on screen (if there is one)
//	step    client: tick T was predicted with Cmd, first or again (Replay);
//	        Body is the result
//	pic     client: a rendered frame; Render is the render time of other players; Stalled is
//	        set while prediction waits for the server
//	shot    client: P's gun fired at T along Ray; Bodies are the hitboxes on the
//	        screen, Render as for pic
//	hear    client: message Kind number ID arrived
//	hurt    client: the message about what hit P at the server's tick T: Hurt
//	end     play is over, the match comes to rest; Out and In are the server's
//	shown   client: everything on P's screen at the end
//	report  the match's own report
type Fact struct {
	F  string            `json:"f"`
	At time.Duration     `json:"at,omitempty"`
	T  uint32            `json:"t,omitempty"`
	P  foretick.PlayerID `json:"p,omitempty"`

	Rate    int     `json:"rate,omitempty"`
	Clients int     `json:"clients,omitempty"`
	Seconds float64 `json:"seconds,omitempty"`
	NoLag   bool    `json:"nolag,omitempty"`
	Late    int     `json:"late,omitempty"`
	Refused int     `json:"refused,omitempty"`
	Final   uint32  `json:"final,omitempty"`
	World   bool    `json:"world,omitempty"`
	Sockets bool    `json:"sockets,omitempty"`

	Cmd      *game.Command     `json:"cmd,omitempty"`
	Body     *Body             `json:"body,omitempty"`
	Bodies   []Body            `json:"bodies,omitempty"`
	Bolts    []Flight          `json:"bolts,omitempty"`
	Entities int               `json:"entities,omitempty"`
	Out      uint64            `json:"out,omitempty"`
	In       uint64            `json:"in,omitempty"`
	Resent   uint64            `json:"resent,omitempty"`
	Ok       bool              `json:"ok,omitempty"`
	Missing  bool              `json:"missing,omitempty"`
	By       string            `json:"by,omitempty"`
	Ray      []float32         `json:"ray,omitempty"` // x and y of the start, x and y of the direction, range
	Hit      foretick.PlayerID `json:"hit,omitempty"`
	Render   []float64         `json:"render,omitempty"`   // tick, fraction
	Fraction float32           `json:"fraction,omitempty"` // part of the player's own tick
	Delay    time.Duration     `json:"delay,omitempty"`
	Stalled  bool              `json:"stalled,omitempty"`
	Replay   bool              `json:"replay,omitempty"`
	Kind     string            `json:"kind,omitempty"`
	ID       uint32            `json:"id,omitempty"`
	Report   *Report           `json:"report,omitempty"`
	Circles  []Circle          `json:"circles,omitempty"`
	Hurt     *game.Hurt        `json:"hurt,omitempty"`
}

// Body is a player's body: fields that everyone may see and, if Own is set,
// those of the player alone.
type Body struct {
	P    foretick.PlayerID `json:"p"`
	X    float32           `json:"x"`
	Y    float32           `json:"y"`
	A    float32           `json:"a"`
	Stun uint8             `json:"stun,omitempty"`
	Dead bool              `json:"dead,omitempty"`
	HP   int16             `json:"hp"`
	Team uint8             `json:"team"`
	Own  bool              `json:"own,omitempty"`
	VX   float32           `json:"vx,omitempty"`
	VY   float32           `json:"vy,omitempty"`
	Gun  game.Weapon       `json:"gun"`
}

// Flight is a bolt in flight.
type Flight struct {
	X float32 `json:"x"`
	Y float32 `json:"y"`
	A float32 `json:"a"`
}

// Circle is a hitbox on a screen.
type Circle struct {
	P foretick.PlayerID `json:"p"`
	X float32           `json:"x"`
	Y float32           `json:"y"`
	R float32           `json:"r"`
}

// facts writes the log. A nil one writes nothing.
type facts struct {
	w   *bufio.Writer
	to  io.WriteCloser
	enc *json.Encoder
	now func() time.Duration
	err error
}

func newFacts(to io.WriteCloser) *facts {
	l := &facts{w: bufio.NewWriterSize(to, 1<<16), to: to, now: func() time.Duration { return 0 }}
	l.enc = json.NewEncoder(l.w)
	return l
}

func (l *facts) add(f Fact) {
	if l == nil || l.err != nil {
		return
	}
	f.At = l.now()
	l.err = l.enc.Encode(f)
}

// close ends the log, and returns its first error.
func (l *facts) close() error {
	for _, next := range []func() error{l.w.Flush, l.to.Close} {
		if err := next(); l.err == nil {
			l.err = err
		}
	}
	return l.err
}

// bodyAt returns a row's body; own says whether the player's private fields are
// known.
func bodyAt(g *game.Game, rows ecs.Rows, i int, own bool) Body {
	at, s := g.Pos.Slice(rows)[i], g.Status.Slice(rows)[i]
	b := Body{
		P: rows.Owner(), X: at.X, Y: at.Y, A: g.Face.Slice(rows)[i].Angle, Stun: s.Stun, Dead: s.Dead,
		HP: g.HP.Slice(rows)[i].Points, Team: g.Team.Slice(rows)[i].ID, Own: own,
	}
	if own {
		v := g.Vel.Slice(rows)[i]
		b.VX, b.VY, b.Gun = v.X, v.Y, g.Gun.Slice(rows)[i]
	}
	return b
}

// bodiesIn lists all bodies of a world. me is the player whose private fields
// are known; Nobody means all players.
func bodiesIn(g *game.Game, w *ecs.World, me foretick.PlayerID) (bodies []Body, bolts []Flight) {
	for _, rows := range g.Avatars.All(w) {
		for i := range rows.Len() {
			bodies = append(bodies, bodyAt(g, rows, i, me == ecs.Nobody || rows.Owner() == me))
		}
	}
	for _, rows := range g.Flights.All(w) {
		pos, face := g.Pos.Slice(rows), g.Face.Slice(rows)
		for i := range pos {
			bolts = append(bolts, Flight{pos[i].X, pos[i].Y, face[i].Angle})
		}
	}
	return bodies, bolts
}

func rayFact(r lagcomp.Ray) []float32 { return []float32{r.X, r.Y, r.DX, r.DY, r.Range} }

// server hooks into the game on the server, so that each later event there, such as a command, a
// judged shot or a death, is written to the log as a Fact.
func (l *facts) server(m *match) {
	g := m.game
	before, judged, stunned, died := g.Watch.Before, g.Watch.Judged, g.Watch.Stunned, g.Watch.Died
	l.reruns(g)
	g.Watch.Before = func(f *foretick.Frame, rows ecs.Rows) {
		before(f, rows)
		cmd := g.Cmd.Slice(rows)
		for i := range cmd {
			b := bodyAt(g, rows, i, true)
			l.add(Fact{F: "exec", T: f.Tick, P: rows.Owner(), Cmd: &cmd[i], Body: &b})
		}
	}
	g.Watch.Stepped = func(f *foretick.Frame, rows ecs.Rows) {
		for _, cmd := range g.Cmd.Slice(rows) {
			l.add(Fact{F: "rerun", T: f.Tick, P: rows.Owner(), Cmd: &cmd})
		}
	}
	g.Watch.Judged = func(f *foretick.Frame, by foretick.PlayerID, ray lagcomp.Ray, hit ecs.Entity, ok bool) {
		judged(f, by, ray, hit, ok)
		fact := Fact{F: "verdict", T: f.Tick, P: by, Ray: rayFact(ray)}
		if ok {
			fact.Hit = f.World.Owner(hit)
		}
		l.add(fact)
	}
	g.Watch.Stunned = func(f *foretick.Frame, player foretick.PlayerID) {
		stunned(f, player)
		l.add(Fact{F: "write", T: f.Tick, P: player, By: "stun"})
	}
	g.Watch.Died = func(f *foretick.Frame, who ecs.Entity) {
		died(f, who)
		l.add(Fact{F: "write", T: f.Tick, P: f.World.Owner(who), By: "die"})
	}
	g.Watch.Born = func(f *foretick.Frame, player foretick.PlayerID, by string) {
		l.add(Fact{F: "write", T: f.Tick, P: player, By: by})
	}
}

// reruns hooks into the server, so that the log gets a Fact before and after ticks run again in the
// whole world.
func (l *facts) reruns(g *game.Game) {
	began, again := g.Watch.Began, false
	g.Watch.Began = func(f *foretick.Frame) {
		began(f)
		switch {
		case f.Replay:
			l.add(Fact{F: "undo", T: f.Tick})
		case again:
			bodies, _ := bodiesIn(g, f.World, ecs.Nobody)
			l.add(Fact{F: "redone", T: f.Tick - 1, Bodies: bodies})
		}
		again = f.Replay
	}
}

// ticks returns a function that logs each server tick after it ran.
func (l *facts) ticks(m *match) func(f *foretick.ServerFrame) {
	seen := map[foretick.PlayerID]stats.Player{}
	var players []server.Player
	return func(f *foretick.ServerFrame) {
		players = m.server.Players(players[:0])
		for _, player := range players {
			st, _ := m.server.PlayerStats(player)
			p := player.ID
			was := seen[p]
			seen[p] = st
			l.add(Fact{F: "input", T: f.Tick, P: p, Ok: st.InputsTaken > was.InputsTaken, Missing: st.InputsMissing > was.InputsMissing, Late: int(st.InputsRerun - was.InputsRerun),
				Final: f.Final(), Refused: int(st.InputsHindsight + st.InputsOverBudget - was.InputsHindsight - was.InputsOverBudget)})
		}
		st := m.server.Stats()
		fact := Fact{F: "tick", T: f.Tick, Entities: f.World.Len(), Out: st.BytesOut, In: st.BytesIn, Resent: st.MessagesResent}
		fact.Bodies, fact.Bolts = bodiesIn(m.game, f.World, ecs.Nobody)
		l.add(fact)
	}
}

// client hooks into the game on a client, so that each later event there, such as a predicted tick, a
// shot or a snapshot, is written to the log as a Fact.
func (l *facts) client(s *seat, cfg *client.Config) {
	g := s.game
	me := func() foretick.PlayerID { return s.client.View().Player }
	received, hurt := g.Watch.Received, g.Watch.Hurt
	g.Watch.Received = func(f *foretick.Frame, t foretick.Tick, kind string, id uint32) {
		received(f, t, kind, id)
		l.add(Fact{F: "hear", P: me(), Kind: kind, ID: id})
	}
	g.Watch.Hurt = func(f *foretick.Frame, t foretick.Tick, h game.Hurt) {
		hurt(f, t, h)
		l.add(Fact{F: "hurt", T: t, P: me(), Hurt: &h})
	}
	g.Watch.Stepped = func(f *foretick.Frame, rows ecs.Rows) {
		for i := range rows.Len() {
			b, cmd := bodyAt(g, rows, i, true), g.Cmd.Slice(rows)[i]
			l.add(Fact{F: "step", T: f.Tick, P: rows.Owner(), Replay: f.Replay, Body: &b, Cmd: &cmd})
		}
	}
	g.Watch.Aimed = func(f *foretick.Frame, by foretick.PlayerID, ray lagcomp.Ray, seen foretick.HitView) {
		fact := Fact{F: "shot", T: f.Tick, P: by, Ray: rayFact(ray), Render: []float64{float64(seen.Used.Tick), float64(seen.Used.Fraction)}}
		for _, rows := range g.Avatars.All(f.World) {
			for i := range rows.Len() {
				if v, ok := seen.Hitbox(rows.Entity(i), 0); ok {
					ball, _ := v.Sphere()
					fact.Circles = append(fact.Circles, Circle{rows.Owner(), ball.X, ball.Y, ball.R})
				}
			}
		}
		l.add(fact)
	}
	s.sampled = func(v client.View, cmd game.Command) {
		fact := Fact{F: "hand", T: v.Tick, P: v.Player, Cmd: &cmd}
		for _, rows := range g.Avatars.Owned(v.World, v.Player) {
			b := bodyAt(g, rows, 0, true)
			fact.Body = &b
		}
		l.add(fact)
	}
	cfg.OnSnapshot = func(t foretick.Tick) { l.add(Fact{F: "recv", T: t, P: me()}) }
}

// frame logs a rendered frame of a client.
func (l *facts) frame(v client.View) {
	if l != nil && v.State == client.Playing {
		l.add(Fact{F: "pic", T: v.Tick, P: v.Player, Render: render(v), Fraction: v.Fraction, Delay: v.InputDelay, Stalled: v.Stalled})
	}
}

func render(v client.View) []float64 {
	return []float64{float64(v.RenderTick), float64(v.RenderFraction)}
}
