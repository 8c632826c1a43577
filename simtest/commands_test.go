package simtest_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
)

// lever is a command with something held and something pressed.
type lever struct {
	Pull float32 `net:"min=-1,max=1,step=0.0078125"`
	Fire bool    `net:"oneshot"`
	Raw  float32 // a float without a range
}

// engine sums up what its levers did.
type engine struct {
	Sum   float32 `net:"min=-4000,max=4000,step=0.01"`
	Fired uint16  `net:"max=60000"`
}

type mill struct {
	cmd    ecs.Component[lever]
	eng    ecs.Component[engine]
	prefab ecs.Prefab
	ran    func(f *foretick.Frame, cmd lever) // called for each command that a tick runs with
}

func (g *mill) protocol(more ...func(p *foretick.Protocol)) *foretick.Protocol {
	p := foretick.NewProtocol("mill", 1)
	p.Component(&g.eng, foretick.Predicted())
	p.Command(&g.cmd)
	p.Prefab(&g.prefab, "mill", &g.eng, &g.cmd)
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { f.Spawn(&g.prefab, player) })
	p.Shared("turn", func(f *foretick.Frame, rows ecs.Rows) {
		eng, cmd := g.eng.Slice(rows), g.cmd.Slice(rows)
		for i := range eng {
			eng[i].Sum += cmd[i].Pull
			if cmd[i].Fire {
				eng[i].Fired++
			}
			if g.ran != nil {
				g.ran(f, cmd[i])
			}
		}
	}, ecs.Read(&g.cmd), ecs.Write(&g.eng))
	for _, fn := range more {
		fn(p)
	}
	return p
}

// rawClient speaks the protocol by hand, so it can lie.
type rawClient struct {
	endpoint *sim.Endpoint
	conn     *netcode.Conn
	peer     transport.PeerID
	hash     uint64
	size     int
	events   [16]transport.Event
}

// step handles incoming packets and sends one, with bodies of commands or none.
func (c *rawClient) step(now time.Duration, bodies ...[]byte) error {
	b, err := c.packet(now, bodies...)
	if b == nil {
		return err
	}
	return c.endpoint.Send(c.peer, b)
}

// packet handles incoming packets and returns the next one to send: nil before it is connected.
func (c *rawClient) packet(now time.Duration, bodies ...[]byte) ([]byte, error) {
	for n := c.endpoint.Recv(c.events[:]); n > 0; n = c.endpoint.Recv(c.events[:]) {
		for _, ev := range c.events[:n] {
			switch ev.Kind {
			case transport.Connected:
				c.peer, c.conn = ev.Peer, netcode.NewConn(netcode.Config{MTU: 1200})
			case transport.Data:
				if err := c.take(now, ev.Data); err != nil {
					return nil, err
				}
			}
		}
	}
	if c.conn == nil {
		return nil, nil
	}
	pk := c.conn.Begin(now)
	if c.size == 0 {
		pk.Message(netcode.MessageHello, netcode.Hello{Version: netcode.Version, Protocol: c.hash}.Append(nil))
	}
	for _, body := range bodies {
		if body != nil {
			pk.Message(netcode.MessageCommands, body)
		}
	}
	_, b := pk.Finish()
	return b, nil
}

func (c *rawClient) take(now time.Duration, b []byte) error {
	if err := c.conn.Receive(now, b); err != nil {
		return err
	}
	for m, ok := c.conn.NextMessage(); ok; m, ok = c.conn.NextMessage() {
		if m.Type == netcode.MessageWelcome {
			w, err := netcode.ParseWelcome(m.Body)
			if err != nil {
				return err
			}
			c.size = int(w.CommandSize)
		}
	}
	return nil
}

// Whatever a client sends, and however often, each tick runs at most one of its
// commands: in any window at most rate × window + 3. Commands not sent in time
// cannot be saved up, and each refusal is counted by its reason.
func TestSpeedHack(t *testing.T) {
	costtest.Figures(t)
	net := sim.NewNetwork(3)
	listen := net.Listen()
	g := &mill{}
	var ran []time.Duration // times at which a command that the client sent ran
	var fired []foretick.Tick
	g.ran = func(f *foretick.Frame, cmd lever) {
		if cmd.Pull != 0 {
			ran = append(ran, net.Now())
		}
		if cmd.Fire {
			fired = append(fired, f.Tick)
		}
	}
	p := g.protocol()
	srv, err := server.New(server.Config{Protocol: p, Transport: listen, RepeatInput: -1})
	require.NoError(t, err)
	link := sim.Link{Latency: 20 * time.Millisecond}
	raw := &rawClient{endpoint: net.Dial(listen, link, link), hash: p.Hash()}
	data := []byte{0, 3, 0, 0, 0, 0} // Pull 1 in nine bits, and Fire
	const every = 8 * time.Millisecond
	body := func(from, to netcode.Tick) []byte {
		s := netcode.NewCommandSender(raw.size, netcode.CommandConfig{Redundancy: 64})
		for k := from; k != to; k++ {
			s.Push(netcode.Command{Tick: k, Render: srv.Tick(), Data: data})
		}
		return s.Append(nil, 1000)
	}
	for now := time.Duration(0); now < 20*time.Second; now += every {
		net.Run(now)
		srv.Step(simtest.Epoch.Add(now))
		var b []byte
		// Every other second it sends nothing, and in the seconds between it sends
		// thousands of commands, for the past, the present and the future, as fast as
		// the server allows without dropping it.
		if k := srv.Tick(); k > 60 && now/time.Second%2 == 1 {
			switch now / every % 4 {
			case 0:
				b = body(k-40, k+20)
			case 1:
				b = body(k, k+8)
			case 2:
				b = body(k+100, k+140)
			case 3:
				b = body(k+1000, k+1030)
			}
		}
		require.NoError(t, raw.step(now, b))
	}
	require.Greater(t, len(ran), 250)
	for i := range ran {
		for j := i; j < len(ran); j++ {
			window := (ran[j] - ran[i]).Seconds()
			require.LessOrEqual(t, float64(j-i+1), 30*window+3)
		}
	}
	for i := 1; i < len(fired); i++ {
		require.Greater(t, fired[i], fired[i-1], "a command ran twice")
	}
	require.Len(t, fired, len(ran))
	st, ok := srv.PlayerStats(srv.Player(1))
	require.True(t, ok)
	require.EqualValues(t, len(ran), st.InputsTaken)
	require.Greater(t, st.InputsLate, uint64(100))
	require.Greater(t, st.InputsDuplicate, uint64(1000))
	require.Greater(t, st.InputsFar, uint64(1000))
	require.Zero(t, st.InputsMalformed)
	require.Greater(t, st.InputsMissing, uint64(80), "the silent seconds are not made up for")
}

// A missing command is replaced by the last one for a while, without its
// one-shots, then by the result of the game's decay, and then by nothing.
func TestMissingCommandRepeatsDecaysAndEnds(t *testing.T) {
	fallSilent(t, 0, []float32{1. / 256, 1. / 128, 1. / 64, 1. / 32, 1. / 16, 1. / 8, 1. / 4, 1. / 2}) // eight ticks at 30 Hz
	fallSilent(t, -1, nil)
}

// fallSilent plays a client that stops sending commands. It compares what the replacements after
// the last repeated command pulled with decayed, the newest first.
func fallSilent(t *testing.T, decayFor time.Duration, decayed []float32) {
	m := simtest.New(6)
	g := &mill{}
	decay := func(p *foretick.Protocol) {
		foretick.Decay(p, &g.cmd, func(cmd *lever, missing int) {
			require.Greater(t, missing, 7)
			cmd.Pull /= 2
			cmd.Fire = true // Decay cannot set a one-shot
		})
	}
	var at []foretick.Tick
	var pulls []float32
	var fires int
	g.ran = func(f *foretick.Frame, cmd lever) {
		at, pulls = append(at, f.Tick), append(pulls, cmd.Pull)
		if cmd.Fire {
			fires++
		}
	}
	srv, err := m.Serve(server.Config{Protocol: g.protocol(decay), DecayInput: decayFor})
	require.NoError(t, err)
	cg := &mill{}
	pressed := 0
	sample := client.Sample(&cg.cmd, func(client.View) lever {
		// The last command before the silence fires.
		if m.Net.Now() > 2900*time.Millisecond && m.Net.Now() < 3*time.Second {
			pressed++
			return lever{Pull: 1, Fire: true}
		}
		return lever{Pull: 1}
	})
	link := sim.Link{Latency: 40 * time.Millisecond}
	c, err := m.Join(client.Config{Protocol: cg.protocol(), Sample: sample}, simtest.Seat{Up: link, Down: link, FrameRate: 30})
	require.NoError(t, err)
	m.Run(3 * time.Second)
	m.Link(c, sim.Link{Loss: 1}, link)
	m.Run(5 * time.Second)
	var silent []float32
	first := -1
	for i := len(at) - 1; i > 0; i-- {
		if pulls[i] != 0 && first < 0 {
			first = i
		}
	}
	require.Positive(t, first)
	for i := first; pulls[i] != 1; i-- {
		silent = append(silent, pulls[i])
	}
	require.Equal(t, decayed, silent)
	missing := int(srv.Stats().InputsMissing)
	require.Greater(t, missing, 40)
	repeated := missing - (len(at) - 1 - first) - len(silent)
	require.InDelta(t, 7, repeated, 1, "ticks that ran with the last command")
	require.Equal(t, pressed, fires, "one-shots are neither repeated nor made up")
	m.Link(c, link, link)
	m.Run(8 * time.Second)
	require.EqualValues(t, 1, pulls[len(pulls)-1])
	require.NotZero(t, c.Stats().ByCause.Of(prediction.Input))
}

// However many packets are lost, no press runs twice, a press whose command came in time
// runs, and both ends run the same values.
func TestOneShotsSurviveLoss(t *testing.T) {
	for _, loss := range []float64{0.05, 0.2} {
		m := simtest.New(8)
		g, cg := &mill{}, &mill{}
		truth, cl := map[foretick.Tick]lever{}, map[foretick.Tick]lever{}
		g.ran = func(f *foretick.Frame, cmd lever) { truth[f.Tick] = cmd }
		cg.ran = func(f *foretick.Frame, cmd lever) {
			if !f.Replay {
				cl[f.Tick] = cmd
			}
		}
		srv, err := m.Serve(server.Config{Protocol: g.protocol()})
		require.NoError(t, err)
		n := 0
		link := sim.Link{Latency: 50 * time.Millisecond, Jitter: 10 * time.Millisecond, Loss: loss}
		_, err = m.Join(client.Config{Protocol: cg.protocol(), Sample: client.Sample(&cg.cmd, func(client.View) lever {
			n++
			return lever{Pull: float32(n%199)/99.7 - 1, Fire: n%11 == 0}
		})}, simtest.Seat{Up: link, Down: link})
		require.NoError(t, err)
		m.Run(60 * time.Second)
		presses, ran, differ := 0, 0, 0
		for k, cmd := range cl {
			other, both := truth[k]
			if !both {
				continue // newer than the server
			}
			if cmd != other {
				differ++
			}
			if cmd.Fire {
				presses++
				if other.Fire {
					ran++
				}
			} else {
				require.False(t, other.Fire, "tick %d fired on the server alone", k)
			}
		}
		missing := int(srv.Stats().InputsMissing)
		t.Logf("loss %.0f %%: %d presses, %d ran; %d of %d ticks went without their command", loss*100, presses, ran, missing, len(truth))
		require.Greater(t, presses, 300)
		require.GreaterOrEqual(t, float64(ran), 0.99*float64(presses))
		require.LessOrEqual(t, differ, missing, "only a missing command makes a difference")
		require.LessOrEqual(t, float64(missing), 0.01*float64(len(truth)))
	}
}

var errTooHard = errors.New("nobody pulls that hard")

// A command that the game refuses does not run, and its player learns why.
func TestValidatorRefuses(t *testing.T) {
	m := simtest.New(9)
	g, cg := &mill{}, &mill{}
	g.ran = func(_ *foretick.Frame, cmd lever) { require.LessOrEqual(t, cmd.Pull, float32(0.5)) }
	srv, err := m.Serve(server.Config{Protocol: g.protocol(func(p *foretick.Protocol) {
		foretick.CheckCommand(p, &g.cmd, func(f *foretick.Frame, player foretick.PlayerID, cmd lever) error {
			require.True(t, f.IsServer())
			require.EqualValues(t, 1, player)
			if cmd.Pull > 0.5 {
				return errTooHard
			}
			return nil
		})
	})})
	require.NoError(t, err)
	var told []foretick.Tick
	var explained []prediction.Misprediction
	hard := map[foretick.Tick]bool{}
	cg.ran = func(f *foretick.Frame, cmd lever) {
		if cmd.Pull > 0.5 {
			hard[f.Tick] = true
		}
	}
	link := sim.Link{Latency: 40 * time.Millisecond}
	c, err := m.Join(client.Config{Protocol: cg.protocol(), Sample: client.Sample(&cg.cmd, func(v client.View) lever {
		if v.Tick%50 == 0 && m.Net.Now() < 10*time.Second {
			return lever{Pull: 1}
		}
		if m.Net.Now() > 10*time.Second {
			return lever{}
		}
		return lever{Pull: 0.25}
	}), OnRefused: func(k foretick.Tick, why string) {
		require.Equal(t, errTooHard.Error(), why)
		told = append(told, k)
	}, OnMisprediction: func(p prediction.Misprediction) { explained = append(explained, p) }}, simtest.Seat{Up: link, Down: link})
	require.NoError(t, err)
	m.Run(12 * time.Second)
	require.Greater(t, len(told), 4)
	require.Len(t, told, len(hard))
	for _, k := range told {
		require.True(t, hard[k], "tick %d", k)
	}
	require.EqualValues(t, len(told), srv.Stats().InputsRejected)
	require.EqualValues(t, len(told), c.Stats().CommandsRefused)
	require.Greater(t, len(explained), 4)
	for _, e := range explained[1:] { // the first correction is from before any command arrived
		require.Equal(t, prediction.Input, e.Cause)
		require.True(t, hard[e.CauseTick])
		require.Equal(t, lever{Pull: 1}, e.Input)
		require.Equal(t, lever{Pull: 0.25}, e.Executed)
	}
	require.Zero(t, m.Audit(c).Differences, m.Audit(c).First)
}

func TestValidateAndDecayNeedTheCommand(t *testing.T) {
	g := &mill{}
	p := foretick.NewProtocol("early", 1)
	foretick.CheckCommand(p, &g.cmd, func(*foretick.Frame, foretick.PlayerID, lever) error { return nil })
	foretick.Decay(p, &g.cmd, func(*lever, int) {})
	require.ErrorContains(t, p.Err(), "CheckCommand of lever")
	require.ErrorContains(t, p.Err(), "Decay of lever")
}
