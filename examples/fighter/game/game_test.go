package game

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/input"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
)

// script returns a player's command in a tick of the fight.
type script func(tick int) Command

// state is a tick of a fight as the server had it.
type state struct {
	of    [2]Fighter
	balls []Fireball
	round Round
}

// fight plays the first ticks of a round, over a network without delay.
func fight(t *testing.T, ticks int, scripts ...script) (states []state) {
	t.Helper()
	truth, m := &Game{}, simtest.New(1)
	_, err := m.Serve(server.Config{Protocol: truth.Protocol(), OnTick: func(f *foretick.ServerFrame) {
		_, of, ok := truth.both(f.World)
		if round := *truth.Round.Get(f.World); ok && round.Phase != Waiting && round.Phase != Ready && len(states) < ticks {
			s := state{of: [2]Fighter{*of[0], *of[1]}, round: round}
			for _, rows := range truth.balls.All(f.World) {
				s.balls = append(s.balls, truth.Fireball.Slice(rows)...)
			}
			states = append(states, s)
		}
	}})
	require.NoError(t, err)
	for _, script := range scripts {
		g := &Game{}
		p := g.Protocol()
		_, err := m.Join(client.Config{Protocol: p, Sample: client.Sample(&g.Command, func(v client.View) Command {
			if v.World == nil || g.Round.Get(v.World).Phase != Fight {
				return Command{}
			}
			return script(fightFor - int(g.Round.Get(v.World).Clock))
		})}, simtest.Seat{})
		require.NoError(t, err)
		m.RunFor(500 * time.Millisecond)
	}
	m.RunFor(time.Duration(ticks+6*TickRate) * time.Second / TickRate)
	require.NoError(t, m.Err())
	require.Len(t, states, ticks)
	return states
}

// meet walks to the other, and from tick 60 on goes on with then.
func meet(x int8, then script) script {
	return func(tick int) Command {
		if tick < 60 {
			return Command{X: x}
		}
		return then(tick - 60)
	}
}

// once presses once. A frame may skip a tick, so it does in two.
func once(c Command) script {
	return func(tick int) Command {
		if tick < 2 {
			return c
		}
		return Command{X: 0, Y: c.Y}
	}
}

// hold gives the same command in each tick.
func hold(c Command) script { return func(int) Command { return c } }

// TestAdvantage: who is free first after an attack, and by how many ticks, is as the frame data says.
func TestAdvantage(t *testing.T) {
	for name, c := range map[string]struct {
		press, defence Command
		act            Act
		want           int
		life           int16
	}{
		"jab":                {Command{Punch: true}, Command{}, Jab, 4, fullLife - 45},
		"jab blocked":        {Command{Punch: true}, Command{X: 1}, Jab, 1, fullLife},
		"roundhouse":         {Command{Kick: true}, Command{}, Roundhouse, 2, fullLife - 95},
		"roundhouse blocked": {Command{Kick: true}, Command{X: 1}, Roundhouse, -5, fullLife},
		"sweep blocked":      {Command{Kick: true, Y: -1}, Command{X: 1, Y: -1}, Sweep, -9, fullLife},
	} {
		t.Run(name, func(t *testing.T) {
			states := fight(t, 150, meet(1, once(c.press)), meet(-1, hold(c.defence)))
			met, attacker, defender := -1, -1, -1
			for i, s := range states {
				a, b := s.of[0], s.of[1]
				switch {
				case met < 0:
					if b.Act == Hurt || b.Act == Block {
						met = i
						require.Equal(t, c.act, a.Act)
						require.Equal(t, MoveOf(c.act).Startup+1, a.For, "the first active tick")
					}
				default:
					if attacker < 0 && a.Free() {
						attacker = i
					}
					if defender < 0 && b.Free() {
						defender = i
					}
				}
			}
			require.Positive(t, met)
			require.Positive(t, attacker)
			require.Positive(t, defender)
			require.Equal(t, c.want, defender-attacker)
			hit, block := MoveOf(c.act).Advantage()
			require.Contains(t, []int{hit, block}, c.want)
			require.Equal(t, c.life, states[149].of[1].Life)
		})
	}
}

// TestHeights: a low attack is blocked crouching and one from above standing, on the ground and only
// away from it.
func TestHeights(t *testing.T) {
	for _, c := range []struct {
		who    Fighter
		height Height
		from   int32
		want   bool
	}{
		{Fighter{X0: -1}, Mid, 100, true},
		{Fighter{X0: -1}, Mid, -100, false},
		{Fighter{X0: 1}, Mid, -100, true},
		{Fighter{}, Mid, 100, false},
		{Fighter{X0: -1, Y0: -1}, Mid, 100, true},
		{Fighter{X0: -1}, Low, 100, false},
		{Fighter{X0: -1, Y0: -1}, Low, 100, true},
		{Fighter{X0: -1, Y0: -1}, Overhead, 100, false},
		{Fighter{X0: -1}, Overhead, 100, true},
		{Fighter{X0: -1, Act: Jump, Y: 100}, Mid, 100, false},
		{Fighter{X0: -1, Act: Jab}, Mid, 100, false},
		{Fighter{X0: -1, Act: Hurt}, Mid, 100, false},
		{Fighter{X0: -1, Act: Block}, Mid, 100, true},
	} {
		require.Equal(t, c.want, c.who.blocks(c.height, c.from), "%+v", c)
	}
}

// TestTrade: two who hit in the same tick both suffer.
func TestTrade(t *testing.T) {
	g, m := &Game{}, simtest.New(1)
	srv, err := m.Serve(server.Config{Protocol: g.Protocol()})
	require.NoError(t, err)
	g.join(srv.Frame(), 1)
	g.join(srv.Frame(), 2)
	_, of, ok := g.both(srv.World())
	require.True(t, ok)
	*g.Round.Get(srv.World()) = Round{Phase: Fight, Clock: 100}
	for i, a := range of {
		a.X, a.Act, a.For = int32(i)*600, Jab, MoveOf(Jab).Startup
	}
	m.RunFor(time.Second / TickRate)
	_, of, _ = g.both(srv.World())
	for _, a := range of {
		require.Equal(t, int16(fullLife-45), a.Life)
		require.Equal(t, Hurt, a.Act)
	}
}

// TestFireball: a fireball flies and hits. Two that meet both end.
func TestFireball(t *testing.T) {
	ball := func(tick int) Command { return Command{Special: tick == 20 || tick == 21} }
	states := fight(t, 120, ball, hold(Command{}))
	seen := 0
	for i, s := range states {
		if len(s.balls) > 0 {
			require.Len(t, s.balls, 1)
			if seen++; seen > 1 {
				require.Equal(t, states[i-1].balls[0].X+ballSpeed, s.balls[0].X)
			}
		}
	}
	require.Greater(t, seen, 5)
	require.Empty(t, states[119].balls)
	require.Equal(t, int16(fullLife-65), states[119].of[1].Life)

	states = fight(t, 120, ball, ball)
	for _, a := range states[119].of {
		require.Equal(t, int16(fullLife), a.Life)
	}
	require.Empty(t, states[119].balls)
}

// TestJump: a jump goes over a fireball and over the other fighter, and both turn round.
func TestJump(t *testing.T) {
	states := fight(t, 150, meet(1, func(tick int) Command { return Command{X: 1, Y: 1 - int8(min(tick/2, 1))} }), meet(-1, hold(Command{})))
	high := int32(0)
	for _, s := range states {
		high = max(high, s.of[0].Y)
	}
	end := states[149].of
	require.Greater(t, high, int32(1000))
	require.Greater(t, end[0].X, end[1].X)
	require.True(t, end[0].Left)
	require.False(t, end[1].Left)
}

// TestEdge: nobody leaves the stage, and nobody stands in another.
func TestEdge(t *testing.T) {
	states := fight(t, 300, hold(Command{X: 1}), hold(Command{X: 1}))
	for _, s := range states {
		require.GreaterOrEqual(t, s.of[1].X-s.of[0].X, int32(500))
		require.LessOrEqual(t, s.of[1].X, int32(edge))
	}
	require.Equal(t, int32(edge), states[299].of[1].X)
	require.Equal(t, int32(edge-500), states[299].of[0].X)
}

// TestRounds: who wins two rounds wins the match, and another begins.
func TestRounds(t *testing.T) {
	kick := func(tick int) Command { return Command{X: 1, Kick: tick%60 < 2} }
	states := fight(t, 3600, kick, hold(Command{}))
	var phases []Phase
	most := uint8(0)
	for _, s := range states {
		if len(phases) == 0 || phases[len(phases)-1] != s.round.Phase {
			phases = append(phases, s.round.Phase)
		}
		most = max(most, s.of[0].Wins)
		require.Zero(t, s.of[1].Wins)
	}
	require.Equal(t, []Phase{Fight, Over, Fight, Over, Done, Fight}, phases[:6])
	require.Equal(t, uint8(toWin), most)
}

// TestControls: keys and a pad make commands.
func TestControls(t *testing.T) {
	m, err := Controls()
	require.NoError(t, err)
	read, err := input.Fill[Command, client.View](m)
	require.NoError(t, err)
	m.Key("a", true)
	m.Key("s", true)
	m.Key("u", true)
	require.Equal(t, Command{X: -1, Y: -1, Punch: true}, read(client.View{}))
	m.EndFrame()
	require.Equal(t, Command{X: -1, Y: -1}, read(client.View{}), "a press is one press")
	m.ReleaseAll()
	m.EndFrame()
	m.Axis("gamepad_lstick_x", 1)
	m.Key("gamepad_up", true)
	m.Key("gamepad_b", true)
	require.Equal(t, Command{X: 1, Y: 1, Special: true}, read(client.View{}))
}

// TestSync: the rules have the same result when ticks run again.
func TestSync(t *testing.T) {
	simtest.SyncTest(t, func() simtest.Player {
		g := &Game{}
		p, bot := g.Protocol(), NewBot(g, 5)
		return simtest.Player{Protocol: p, Sample: client.Sample(&g.Command, func(v client.View) Command { return bot.Command(v.World, v.Player, v.Tick) })}
	}, simtest.SyncConfig{Players: 2, Ticks: 300})
}

// TestThirdPlayer: a third player watches.
func TestThirdPlayer(t *testing.T) {
	g, m := &Game{}, simtest.New(1)
	srv, err := m.Serve(server.Config{Protocol: g.Protocol()})
	require.NoError(t, err)
	for player := range foretick.PlayerID(3) {
		g.join(srv.Frame(), player+1)
	}
	pair, ok := g.Pair(srv.World())
	require.True(t, ok)
	require.Equal(t, []ecs.Owner{1, 2}, []ecs.Owner{srv.World().Owner(pair[0]), srv.World().Owner(pair[1])})
	require.Equal(t, 2, g.fighters.Count(srv.World()))
	require.Equal(t, Command{}, NewBot(g, 1).Command(srv.World(), 3, 1))
}
