package foretick_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/snapshot"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/impair"
	"github.com/foretick/foretick/transport/sim"
	"github.com/foretick/foretick/transport/udp"
)

type place struct {
	X, Y float32 `net:"min=-100,max=100,step=0.01,lerp"`
}

type health struct {
	Points int16 `net:"min=0,max=100"`
}

type pad struct {
	X    float32 `net:"min=-1,max=1,step=0.0078125"`
	Jump bool    `net:"oneshot"`
}

type secret struct{ N int32 }

type purse struct {
	Shown bool
	Coins uint16 `net:"owner"`
}

type long struct{ N [40]uint64 }

type pointed struct{ P *int }

type handles struct {
	place   ecs.Component[place]
	health  ecs.Component[health]
	pad     ecs.Component[pad]
	secret  ecs.Component[secret]
	purse   ecs.Component[purse]
	bad     ecs.Component[pointed]
	player  ecs.Prefab
	score   foretick.Message[health]
	hit     foretick.Message[hit]
	long    foretick.Message[long]
	wish    foretick.Request[hit]
	plea    foretick.Request[health]
	shot    foretick.Event[hit]
	other   foretick.Event[health]
	prefabs [300]ecs.Prefab
}

func nothing[F any](F, ecs.Rows) {}

// declare makes a correct protocol, which spoil then changes.
func declare(spoil func(h *handles, p *foretick.Protocol)) *foretick.Protocol {
	h := &handles{}
	p := foretick.NewProtocol("test", 1)
	p.Component(&h.place, foretick.Predicted())
	p.Component(&h.health)
	p.Command(&h.pad)
	p.LocalComponent(&h.secret)
	p.Prefab(&h.player, "player", &h.place, &h.health, &h.pad)
	p.Shared("move", nothing, ecs.Read(&h.pad), ecs.Write(&h.place))
	if spoil != nil {
		spoil(h, p)
	}
	return p
}

type (
	typed struct {
		Name string `net:"max=16"`
	}
	aimed  struct{ Target ecs.Entity }
	titled struct {
		Title string `net:"max=8"`
	}
)

// spoiltBy declares a command with a fault, and uses it in all ways in which a game can.
func spoiltBy[T any](p *foretick.Protocol) {
	var h struct {
		place ecs.Component[place]
		cmd   ecs.Component[T]
		unit  ecs.Prefab
	}
	*p = *foretick.NewProtocol("spoilt", 1)
	p.Component(&h.place, foretick.Predicted())
	p.Command(&h.cmd)
	p.Prefab(&h.unit, "unit", &h.place, &h.cmd)
	foretick.Default(p, &h.unit, &h.place, place{})
	foretick.CheckCommand(p, &h.cmd, func(*foretick.Frame, foretick.PlayerID, T) error { return nil })
	p.Shared("move", nothing, ecs.Read(&h.cmd), ecs.Write(&h.place))
}

// A component's fault is reported once, and not again for what uses the component.
func TestAFaultIsToldOnce(t *testing.T) {
	once := func(err error) { require.Len(t, err.(interface{ Unwrap() []error }).Unwrap(), 1, err) }
	p := foretick.NewProtocol("", 1)
	spoiltBy[typed](p)
	once(p.Err())
	spoiltBy[aimed](p)
	once(p.Err())

	once(declare(func(h *handles, p *foretick.Protocol) {
		var k ecs.Prefab
		p.Component(&h.bad, foretick.Predicted())
		p.Prefab(&k, "bad", &h.bad)
		foretick.Default(p, &k, &h.bad, pointed{})
		foretick.Hitbox(p, &h.bad, func(*pointed) lagcomp.Sphere { return lagcomp.Sphere{} })
		p.Shared("spoil", nothing, ecs.Write(&h.bad))
	}).Err())
	once(declare(func(h *handles, p *foretick.Protocol) {
		var k ecs.Prefab
		p.Prefab(&k, "player", &h.health) // the name is used already
		foretick.Default(p, &k, &h.health, health{})
		p.Spawns(&k, foretick.SpawnConfig{})
	}).Err())
}

// All faults of a type are reported, each by itself.
func TestEveryFaultOfATypeIsTold(t *testing.T) {
	type spoilt struct {
		X float32 `net:"step=0.1"`
		Y map[int]int
		Z int8 `net:"max=300"`
	}
	type order struct {
		Name   string `net:"max=16"`
		Target [2]ecs.Entity
		Whom   ecs.Entity
		Items  []uint8 `net:"max=4"`
	}
	var c ecs.Component[spoilt]
	var cmd ecs.Component[order]
	var held ecs.Component[pointed2]
	p := foretick.NewProtocol("spoilt", 1)
	p.Component(&c)
	p.Command(&cmd)
	p.Component(&held)
	p.LocalComponent(new(ecs.Component[local2]))
	(&foretick.Message[order]{}).OnClient(p, func(*foretick.Frame, foretick.Tick, order) {})
	want := []string{
		"spoilt.X: step needs a range", "spoilt.Y: a map cannot be sent", "spoilt.Z: min=-300 and max=300",
		"command order: field Target[0] is an ecs.Entity", "command order: field Whom is an", "command order: field Name is a string", "command order: field Items is a []uint8",
		"pointed2.P: holds a pointer", "pointed2.Q: holds a pointer",
		"field local2.P holds a pointer", "field local2.Q holds a pointer",
		"message order: field Target[0] is an", "message order: field Whom is an",
	}
	all := p.Err().(interface{ Unwrap() []error }).Unwrap()
	require.Len(t, all, len(want), p.Err())
	for i, w := range want {
		require.ErrorContains(t, all[i], w)
	}
}

type (
	pointed2 struct {
		P, Q *int `net:"-"`
	}
	local2 struct{ P, Q *int }
)

func TestProtocolFaultsNameTheFix(t *testing.T) {
	require.NoError(t, declare(nil).Err())
	for name, c := range map[string]struct {
		spoil func(h *handles, p *foretick.Protocol)
		want  []string
	}{
		"shared system writes what is not predicted": {
			func(h *handles, p *foretick.Protocol) { p.Shared("heal", nothing, ecs.Write(&h.health)) },
			[]string{"heal", "health", "not predicted", "Predicted"},
		},
		"shared system reads what never travels": {
			func(h *handles, p *foretick.Protocol) { p.Shared("peek", nothing, ecs.ReadOther(&h.secret)) },
			[]string{"peek", "reads secret.N, which a client does not have"},
		},
		"shared system reads a private field of others": {
			func(h *handles, p *foretick.Protocol) {
				p.Component(&h.purse)
				p.Shared("spy", nothing, ecs.ReadOther(&h.purse))
			},
			[]string{"spy", "purse", "whose Coins a client does not receive"},
		},
		"shared system reads the commands of others": {
			func(h *handles, p *foretick.Protocol) { p.Shared("mind", nothing, ecs.ReadOther(&h.pad)) },
			[]string{"mind", "pad", "commands travel to the server alone"},
		},
		"component with a pointer": {
			func(h *handles, p *foretick.Protocol) { p.Component(&h.bad) },
			[]string{"pointed", "P"},
		},
		"component twice": {
			func(h *handles, p *foretick.Protocol) { p.Component(&h.place) },
			[]string{"place"},
		},
		"command twice": {
			func(h *handles, p *foretick.Protocol) { p.Command(&h.pad) },
			[]string{"Command was declared twice"},
		},
		"prefab of an undeclared component": {
			func(h *handles, p *foretick.Protocol) { p.Prefab(&ecs.Prefab{}, "ghost", &h.bad) },
			[]string{"ghost", "pointed", "Component"},
		},
		"volume of an undeclared component": {
			func(h *handles, p *foretick.Protocol) {
				foretick.Hitbox(p, &h.secret, func(*secret) lagcomp.Sphere { return lagcomp.Sphere{} })
			},
			[]string{"Hitbox", "secret", "Component"},
		},
		"command with a string": {
			func(_ *handles, p *foretick.Protocol) { spoiltBy[typed](p) },
			[]string{"command typed", "Name", "array, as in [24]byte"},
		},
		"command with a handle": {
			func(_ *handles, p *foretick.Protocol) { spoiltBy[aimed](p) },
			[]string{"command aimed", "Target", "ecs.Entity", "foretick.PlayerID"},
		},
		"message with a handle": {
			func(_ *handles, p *foretick.Protocol) {
				(&foretick.Message[aimed]{}).OnClient(p, func(*foretick.Frame, foretick.Tick, aimed) {})
			},
			[]string{"message aimed", "Target", "ecs.Entity", "foretick.PlayerID"},
		},
		"default of an undeclared prefab": {
			func(h *handles, p *foretick.Protocol) { foretick.Default(p, &ecs.Prefab{}, &h.health, health{}) },
			[]string{"Default of health", "call Prefab first"},
		},
		"default that does not fit": {
			func(_ *handles, p *foretick.Protocol) {
				var c ecs.Component[titled]
				var k ecs.Prefab
				p.Component(&c)
				p.Prefab(&k, "knight", &c)
				foretick.Default(p, &k, &c, titled{Title: "of the Round Table"})
			},
			[]string{`"knight"`, "titled.Title", "room for 8"},
		},
		"interest by two components": {
			func(h *handles, p *foretick.Protocol) {
				near := snapshot.AreaConfig{Enter: 10}
				foretick.Interest(p, &h.place, near, func(*place) (x, y, z float32) { return })
				foretick.Interest(p, &h.health, near, func(*health) (x, y, z float32) { return })
			},
			[]string{"Interest was declared twice", "place and health", "let all prefabs carry it"},
		},
		"tick rate": {
			func(_ *handles, p *foretick.Protocol) { p.SetTickRate(1000) },
			[]string{"TickRate(1000)", "10 to 128"},
		},
		"system without a function": {
			func(_ *handles, p *foretick.Protocol) { p.Shared("empty", nil) },
			[]string{"empty", "no function"},
		},
		"message twice": {
			func(h *handles, p *foretick.Protocol) {
				fn := func(*foretick.Frame, foretick.Tick, health) {}
				h.score.OnClient(p, fn)
				h.score.OnClient(p, fn)
			},
			[]string{"message health", "twice"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			err := declare(c.spoil).Err()
			require.Error(t, err)
			for _, w := range c.want {
				require.ErrorContains(t, err, w)
			}
		})
	}
}

// A bullet's local component is not sent. Shared systems may use it if only prefabs with the policy
// ClientOnly have it. A client does not have other players' bullets.
func TestLocalComponentsOfLocalKinds(t *testing.T) {
	var bullets ecs.Prefab
	bullet := func(h *handles, p *foretick.Protocol, clientOnly bool) {
		p.Prefab(&bullets, "bullet", &h.place, &h.secret)
		p.Spawns(&bullets, foretick.SpawnConfig{ClientOnly: clientOnly})
	}
	for name, c := range map[string]struct {
		spoil func(h *handles, p *foretick.Protocol)
		want  string
	}{
		"none but ClientOnly prefabs carry it": {func(h *handles, p *foretick.Protocol) {
			bullet(h, p, true)
			p.Shared("fly", nothing, ecs.Write(&h.secret))
			p.Shared("look", nothing, ecs.Read(&h.secret))
		}, ""},
		"no prefab carries it": {func(h *handles, p *foretick.Protocol) {
			p.Shared("fly", nothing, ecs.Write(&h.secret))
		}, `"fly" writes secret, which is not predicted`},
		"a Matched prefab carries it": {func(h *handles, p *foretick.Protocol) {
			bullet(h, p, false)
			p.Shared("fly", nothing, ecs.Write(&h.secret))
		}, `"fly" writes secret, which is not predicted`},
		"another prefab carries it too": {func(h *handles, p *foretick.Protocol) {
			var more ecs.Prefab
			bullet(h, p, true)
			p.Prefab(&more, "vault", &h.secret)
			p.Shared("look", nothing, ecs.Read(&h.secret))
		}, `"look" reads secret.N, which a client does not have`},
		"of others": {func(h *handles, p *foretick.Protocol) {
			bullet(h, p, true)
			p.Shared("look", nothing, ecs.ReadOther(&h.secret))
		}, `"look" reads secret.N, which a client does not have`},
		"of others, to write": {func(h *handles, p *foretick.Protocol) {
			bullet(h, p, true)
			p.Shared("rob", nothing, ecs.WriteOther(&h.secret))
		}, `"rob" writes secret, which is not predicted`},
		"it travels": {func(h *handles, p *foretick.Protocol) {
			p.Component(&h.purse)
			p.Prefab(&bullets, "bullet", &h.purse)
			p.Spawns(&bullets, foretick.SpawnConfig{ClientOnly: true})
			p.Shared("fly", nothing, ecs.Write(&h.purse))
		}, `"fly" writes purse, which is not predicted`},
	} {
		bullets = ecs.Prefab{}
		err := declare(c.spoil).Err()
		if c.want == "" {
			require.NoError(t, err, name)
		} else {
			require.ErrorContains(t, err, c.want, name)
		}
	}
}

func TestEveryFaultAtOnce(t *testing.T) {
	err := declare(func(h *handles, p *foretick.Protocol) {
		p.SetTickRate(1)
		p.Shared("heal", nothing, ecs.Write(&h.health))
		p.Component(&h.bad)
	}).Err()
	require.ErrorContains(t, err, "TickRate(1)")
	require.ErrorContains(t, err, "heal")
	require.ErrorContains(t, err, "pointed")
	_, err = server.New(server.Config{Protocol: declare(nil), SnapshotRate: 7, MaxClients: -1, SendRate: -1})
	require.ErrorContains(t, err, "Transport")
	require.ErrorContains(t, err, "SnapshotRate")
	require.ErrorContains(t, err, "MaxClients")
	require.ErrorContains(t, err, "SendRate")
	_, err = client.New(client.Config{})
	require.ErrorContains(t, err, "Protocol")
	_, err = client.New(client.Config{Protocol: declare(nil), History: 1, SmoothLimit: float32(math.NaN())})
	require.ErrorContains(t, err, "Transport")
	require.ErrorContains(t, err, "History")
	require.ErrorContains(t, err, "SmoothLimit")
}

func TestHashCoversWhatBothEndsMustAgreeOn(t *testing.T) {
	base := declare(nil)
	require.NoError(t, base.Err())
	same := declare(nil)
	require.NoError(t, same.Err())
	require.Equal(t, base.Hash(), same.Hash())
	for name, spoil := range map[string]func(h *handles, p *foretick.Protocol){
		"tick rate":     func(_ *handles, p *foretick.Protocol) { p.SetTickRate(60) },
		"shared system": func(_ *handles, p *foretick.Protocol) { p.Shared("more", nothing) },
		"message": func(h *handles, p *foretick.Protocol) {
			h.score.OnClient(p, func(*foretick.Frame, foretick.Tick, health) {})
		},
		"prefab": func(h *handles, p *foretick.Protocol) { p.Prefab(&ecs.Prefab{}, "crate", &h.place) },
		"default": func(h *handles, p *foretick.Protocol) {
			foretick.Default(p, &h.player, &h.health, health{Points: 50})
		},
	} {
		p := declare(spoil)
		require.NoError(t, p.Err(), name)
		require.NotEqual(t, base.Hash(), p.Hash(), name)
	}
	srv := declare(func(_ *handles, p *foretick.Protocol) { p.Server("ai", nothing) })
	require.NoError(t, srv.Err())
	require.Equal(t, base.Hash(), srv.Hash(), "what only the server runs is its own business")
}

type feature struct{ h *handles }

func (f feature) Declare(p *foretick.Protocol) {
	p.Shared("feature", nothing, ecs.Write(&f.h.place))
}

func TestUseComposesAGame(t *testing.T) {
	p := declare(func(h *handles, p *foretick.Protocol) { p.Use(feature{h}) })
	require.NoError(t, p.Err())
	require.Contains(t, p.Describe(), "shared system feature")
}

func TestClientRefusesAForeignSampler(t *testing.T) {
	h := &handles{}
	n := sim.NewNetwork(1)
	_, err := client.New(client.Config{
		Protocol: declare(nil), Transport: n.Dial(n.Listen(), sim.LAN, sim.LAN),
		Sample: client.Sample(&h.place, func(client.View) place { return place{} }),
	})
	require.ErrorContains(t, err, "not the protocol's Command")
}

// A history that is too short for the round trips is an error at the start, which names a length
// that is enough.
func TestHistoryMustCoverTheRoundTrip(t *testing.T) {
	n := sim.NewNetwork(1)
	at := func(rate, history int, rtt time.Duration) error {
		p := declare(func(_ *handles, p *foretick.Protocol) { p.SetTickRate(rate) })
		_, err := client.New(client.Config{Protocol: p, Transport: n.Dial(n.Listen(), sim.LAN, sim.LAN), History: history, MaxRTT: rtt})
		return err
	}
	require.NoError(t, at(30, 32, 0))
	require.NoError(t, at(60, 0, 0), "the default history grows with the rate")
	require.ErrorContains(t, at(60, 32, 400*time.Millisecond), "needs 49")
	require.NoError(t, at(60, 49, 400*time.Millisecond))
	require.NoError(t, at(60, 32, 100*time.Millisecond))
	require.ErrorContains(t, at(30, 0, time.Minute), "MaxRTT")
}

// A protocol's description is the same before and after Err.
func TestDescriptionBeforeAndAfterErr(t *testing.T) {
	first, later := declare(nil), declare(nil)
	hash, text, schema := first.Hash(), declare(nil).Describe(), declare(nil).Schema(nil)
	require.NoError(t, later.Err())
	require.Equal(t, later.Hash(), hash)
	require.Equal(t, later.Describe(), text)
	require.Equal(t, later.Schema(nil), schema)
	require.NoError(t, first.Err())
	require.Equal(t, hash, first.Hash())
}

// A server cannot have more places than its transport has connections. By default it has as many.
func TestClientsAndPeersAreOneLimit(t *testing.T) {
	listen, err := udp.Listen("127.0.0.1:0", udp.Config{MaxPeers: 70})
	require.NoError(t, err)
	defer func() { _ = listen.Close(transport.Closed, "") }()
	bad := impair.Wrap(listen, sim.Link{}, sim.Link{}, 1)
	defer func() { _ = bad.Close(transport.Closed, "") }()
	for _, e := range []transport.Endpoint{listen, bad} {
		_, err = server.New(server.Config{Protocol: declare(nil), Transport: e, MaxClients: 80})
		require.ErrorContains(t, err, "MaxPeers to 80")
		for _, n := range []int{0, 1, 70} {
			_, err = server.New(server.Config{Protocol: declare(nil), Transport: e, MaxClients: n})
			require.NoError(t, err)
		}
	}
}

// thing is the only component of ofThings' protocol.
type thing struct{ N uint32 }

// ofThings declares a protocol with one component and one prefab.
func ofThings(name string) (*foretick.Protocol, *ecs.Component[thing], *ecs.Prefab) {
	p, c, prefab := foretick.NewProtocol(name, 1), &ecs.Component[thing]{}, &ecs.Prefab{}
	p.Component(c)
	p.Prefab(prefab, "thing", c)
	return p, c, prefab
}
