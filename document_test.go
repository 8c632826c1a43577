package foretick_test

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"fmt"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/observe"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport/sim"
)

// labelledGame declares the same game with labels or without them, by its types.
func labelledGame[Body, Input, Talk any](body *ecs.Component[Body], input *ecs.Component[Input], body2 *ecs.Prefab, move func(*Body)) *foretick.Protocol {
	p := foretick.NewProtocol("labelled", 1)
	p.Component(body, foretick.Predicted())
	p.Command(input)
	p.Prefab(body2, "body", body, input)
	var talk foretick.Request[Talk]
	var said foretick.Message[Talk]
	talk.Handle(p, func(*foretick.ServerFrame, foretick.PlayerID, Talk) {})
	said.OnClient(p, func(*foretick.Frame, foretick.Tick, Talk) {})
	p.OnJoin(func(f *foretick.ServerFrame, player foretick.PlayerID) { f.Spawn(body2, player) })
	p.Shared("move", func(*foretick.Frame, ecs.Rows) {}, ecs.Write(body))
	p.Server("spoil", func(f *foretick.ServerFrame, rows ecs.Rows) {
		for i := range body.Slice(rows) {
			if f.Tick%30 == 0 {
				move(&body.Slice(rows)[i])
			}
		}
	}, ecs.Write(body))
	return p
}

func plainGame() *foretick.Protocol {
	type Body struct {
		Speed float32 `net:"min=0,max=30,step=0.5"`
		State uint8   `net:"max=3"`
	}
	type Input struct {
		Turn int8 `net:"min=-4,max=4"`
	}
	type Talk struct {
		Volume uint8
	}
	return labelledGame[Body, Input, Talk](new(ecs.Component[Body]), new(ecs.Component[Input]), new(ecs.Prefab), func(*Body) {})
}

type shownGame struct {
	p    *foretick.Protocol
	find func(w *ecs.World, e ecs.Entity) (string, error)
}

func newShownGame() shownGame {
	type Body struct {
		Speed float32 `net:"min=0,max=30,step=0.5" name:"ground speed" unit:"m/s"`
		State uint8   `net:"max=3" enum:"standing,walking,dead"`
	}
	type Input struct {
		Turn int8 `net:"min=-4,max=4" unit:"quarter turns"`
	}
	type Talk struct {
		Volume uint8 `unit:"dB"`
	}
	body := new(ecs.Component[Body])
	return shownGame{
		p: labelledGame[Body, Input, Talk](body, new(ecs.Component[Input]), new(ecs.Prefab), func(b *Body) { b.Speed, b.State = b.Speed+40, 2 }),
		find: func(w *ecs.World, e ecs.Entity) (string, error) {
			err := w.SetValue(e, "Body.State", "walking")
			return string('0' + rune(body.Get(w, e).State)), err
		},
	}
}

// Names and units change neither the description of a protocol, nor its hash, nor its schema's bytes.
func TestLabelsAreInNoHash(t *testing.T) {
	type Body struct {
		Speed float32 `net:"min=0,max=30,step=0.5" name:"ground speed" unit:"m/s"`
		State uint8   `net:"max=3" name:"what it does"`
	}
	type Input struct {
		Turn int8 `net:"min=-4,max=4" unit:"quarter turns"`
	}
	type Talk struct {
		Volume uint8 `unit:"dB"`
	}
	plain, shown := plainGame(), labelledGame[Body, Input, Talk](new(ecs.Component[Body]), new(ecs.Component[Input]), new(ecs.Prefab), func(*Body) {})
	require.NoError(t, plain.Err())
	require.NoError(t, shown.Err())
	require.Equal(t, plain.Describe(), shown.Describe())
	require.Equal(t, plain.Hash(), shown.Hash())
	require.Equal(t, plain.Schema(nil), shown.Schema(nil))
	require.NotEqual(t, plain.Document(), shown.Document())
}

// valuesGame is a game whose body stands for 0, or is dead.
func valuesGame(deadFirst bool) *foretick.Protocol {
	type Input struct {
		Turn int8 `net:"min=-4,max=4"`
	}
	type Talk struct {
		Mood uint8 `enum:"calm,loud"`
	}
	if deadFirst {
		type Body struct {
			State uint8 `net:"max=3" enum:"dead,walking,standing"`
			Local uint8 `net:"-" enum:"b,a"`
		}
		return labelledGame[Body, Input, Talk](new(ecs.Component[Body]), new(ecs.Component[Input]), new(ecs.Prefab), func(*Body) {})
	}
	type Body struct {
		State uint8 `net:"max=3" enum:"standing,walking,dead"`
		Local uint8 `net:"-" enum:"a,b"`
	}
	return labelledGame[Body, Input, Talk](new(ecs.Component[Body]), new(ecs.Component[Input]), new(ecs.Prefab), func(*Body) {})
}

// Builds that number the values of a field in another order do not play together unseen: the client is refused,
// or told the field with both orders where builds may differ. A field that is not sent does not count.
func TestBuildsNumberValuesAlike(t *testing.T) {
	p := valuesGame(false)
	require.NoError(t, p.Err())
	require.NotEqual(t, p.Hash(), valuesGame(true).Hash())
	require.NotContains(t, p.Describe(), "Local")
	for _, other := range []bool{false, true} {
		m := simtest.New(4)
		_, err := m.Serve(server.Config{Protocol: valuesGame(true), AllowOtherBuilds: other})
		require.NoError(t, err)
		c, err := m.Join(client.Config{Protocol: valuesGame(false)}, simtest.Seat{Up: sim.LAN, Down: sim.LAN})
		require.NoError(t, err)
		m.Run(2 * time.Second)
		if other {
			require.Equal(t, client.Playing, c.View().State)
			require.Equal(t, []string{"Body.State (standing,walking,dead here, dead,walking,standing on the server)"}, c.BuildDifference().Changed)
			continue
		}
		var why *client.ProtocolError
		require.ErrorAs(t, c.View().Err, &why)
		require.Equal(t, "values Body.State standing,walking,dead", why.OurLine)
		require.Equal(t, "values Body.State dead,walking,standing", why.TheirLine)
	}
	b := p.Schema(nil)
	s, err := schema.ReadProtocol(b)
	require.NoError(t, err)
	require.Equal(t, p.Describe(), s.Describe())
	require.Equal(t, p.Hash(), s.Hash())
	at := len(b) - len(s.Values.Append(nil))
	for n := range len(b) {
		_, err := schema.ReadProtocol(b[:n])
		require.ErrorIs(t, err, schema.ErrMalformed, "cut at %d", n)
	}
	for name, l := range map[string]schema.Labels{"none": {}, "a unit": {"Body.State": {Unit: "m", Values: []string{"a"}}}} {
		_, err := schema.ReadProtocol(l.Append(b[:at:at]))
		require.ErrorIs(t, err, schema.ErrMalformed, name)
	}
}

func TestFaultyLabelsAreNamed(t *testing.T) {
	type Body struct {
		Speed float32 `unit:"a unit that is so long that no table could ever show it in a single line of text"`
	}
	p := foretick.NewProtocol("faulty", 1)
	p.Component(new(ecs.Component[Body]))
	require.ErrorContains(t, p.Err(), "Body.Speed: label")
}

// Labels' units and names are shown in explanations of mispredictions, in logs, in editors that
// use paths, and in tools without the game's types.
func TestLabelsAreShown(t *testing.T) {
	m := simtest.New(3)
	truth, cl := newShownGame(), newShownGame()
	var log strings.Builder
	srv, err := m.Serve(server.Config{
		Protocol: truth.p, Logger: slog.New(slog.NewTextHandler(&log, nil)),
		Observe: func(server.Observer) (server.Grant, error) { return server.Everything(), nil },
	})
	require.NoError(t, err)
	var why []string
	_, err = m.Join(client.Config{Protocol: cl.p, OnMisprediction: func(w prediction.Misprediction) { why = append(why, w.String()) }}, simtest.Seat{Up: sim.LAN, Down: sim.LAN})
	require.NoError(t, err)
	o, err := observe.New(observe.Config{Transport: m.Dial(sim.LAN, sim.LAN)})
	require.NoError(t, err)
	for m.Net.Now() < 3*time.Second {
		m.Run(m.Net.Now() + 10*time.Millisecond)
		require.NoError(t, o.Step(m.Now()))
	}
	require.NotEmpty(t, why)
	require.Contains(t, why[0], "body Body.Speed (ground speed) predicted 0 m/s, server has 30 m/s; body Body.State predicted standing, server has dead")
	require.Contains(t, log.String(), `field=Speed min=0 max=30 step=0.03125 shown="ground speed" unit=m/s`)

	require.Zero(t, o.Malformed())
	require.Equal(t, truth.p.Document(), o.Schema().Document(o.Labels()))
	seen := map[string]string{}
	for _, e := range o.Entities() {
		for f := range e.Fields() {
			seen[f.Name] = f.String()
		}
	}
	require.Equal(t, map[string]string{"Speed": "30 m/s", "State": "dead"}, seen)

	var e ecs.Entity
	for _, rows := range truth.p.Query().All(srv.World()) {
		e = rows.Entity(0)
	}
	got, err := truth.find(srv.World(), e)
	require.NoError(t, err)
	require.Equal(t, "1", got)
}

// Wheels has units and named gears, which documents, logs and tools show.
type Wheels struct {
	Speed float32 `net:"min=0,max=80,step=0.5" name:"ground speed" unit:"m/s"`
	Gear  uint8   `net:"max=2" enum:"reverse,neutral,drive"`
}

// Document describes the protocol for other members of the team.
func ExampleProtocol_Document() {
	var wheels ecs.Component[Wheels]
	var car ecs.Prefab
	p := foretick.NewProtocol("rally", 3)
	p.Component(&wheels)
	p.Prefab(&car, "car", &wheels)
	fmt.Println(p.Document()[len("# rally, version 3\n\n30 ticks a second. Protocol hash 0123456789abcdef.\n"):])
	// Output:
	// ## Components
	//
	// ### Wheels
	//
	// | field | type | values | unit | meaning | sent to |
	// |---|---|---|---|---|---|
	// | Speed | float32 | 0 to 80 by 0.5 | m/s | ground speed | everyone |
	// | Gear | uint8 | reverse, neutral, drive |  |  | everyone |
	//
	// ## Prefabs
	//
	// - car: Wheels
}
