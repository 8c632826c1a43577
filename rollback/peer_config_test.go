package rollback_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/fieldtest"
	"github.com/foretick/foretick/relay"
	"github.com/foretick/foretick/rollback"
	"github.com/foretick/foretick/transport/sim"
)

type button struct {
	Down bool `net:"oneshot"`
}

type secret struct {
	N uint8 `net:"owner"`
}

type plain struct{ N uint8 }

// TestPeerConfigNumbers: zero is the default, negative is off or an error, and absurd numbers are errors.
func TestPeerConfigNumbers(t *testing.T) {
	fieldtest.Config[rollback.Config](t, fieldtest.Rules{Off: []string{"Window", "DelayAbove"}}, func(c rollback.Config) error {
		n := sim.NewNetwork(1)
		var cmd ecs.Component[button]
		c.Protocol, c.Transport = foretick.NewProtocol("buttons", 1), n.Dial(n.Listen(), sim.LAN, sim.LAN)
		c.Protocol.Command(&cmd)
		_, err := rollback.New(c)
		return err
	})
}

// TestReplayConfigNumbers: zero is the default, and absurd numbers are errors.
func TestReplayConfigNumbers(t *testing.T) {
	n := sim.NewNetwork(1)
	protocol := func() *foretick.Protocol {
		var cmd ecs.Component[button]
		p := foretick.NewProtocol("buttons", 1)
		p.Command(&cmd)
		return p
	}
	listening := n.Listen()
	relay, err := relay.New(relay.Config{Transport: listening, Players: 1})
	require.NoError(t, err)
	peer, err := rollback.New(rollback.Config{Protocol: protocol(), Transport: n.Dial(listening, sim.LAN, sim.LAN)})
	require.NoError(t, err)
	var replay bytes.Buffer
	require.ErrorContains(t, peer.WriteReplay(&replay), "no match yet")
	for end := n.Now() + 2*time.Second; n.Now() < end; n.Run(n.Now() + 10*time.Millisecond) {
		relay.Step(time.Unix(0, int64(n.Now())))
		peer.Step(time.Unix(0, int64(n.Now())))
	}
	require.Equal(t, rollback.Playing, peer.View().State)
	require.NoError(t, peer.WriteReplay(&replay))
	fieldtest.Config[rollback.ReplayConfig](t, fieldtest.Rules{}, func(c rollback.ReplayConfig) error {
		c.Protocol, c.From = protocol(), bytes.NewReader(replay.Bytes())
		r, err := rollback.NewReplay(c)
		for more := err == nil; more; {
			more, err = r.Step()
		}
		if err == nil {
			require.Equal(t, peer.View().Settled, r.Tick())
		}
		return err
	})
}

// TestFaultsOfNumbers: an error of a number names the least and the most, and what 0 means. NewReplay lists
// every fault at once.
func TestFaultsOfNumbers(t *testing.T) {
	_, err := rollback.New(rollback.Config{Behind: -1, Delay: 31, SendRate: -1})
	for _, text := range []string{
		"Behind is -1 ticks: use 0 to 36000, where 0 sees the match without delay",
		"Delay is 31 ticks: use 0 to 30, where 0 lets DelayAbove decide",
		"SendRate is -1: use 1 to 1073741824, or 0 for 32000",
	} {
		require.ErrorContains(t, err, text)
	}
	_, err = rollback.NewReplay(rollback.ReplayConfig{MaxWorld: -1, MaxEntities: -1})
	for _, text := range []string{"Protocol is nil", "From is nil", "MaxWorld is -1", "MaxEntities is -1: use 1 to 8000000, or 0 for 65536"} {
		require.ErrorContains(t, err, text)
	}
}

// TestRefusals: New names all that a protocol declares and that only a server can do, at once.
func TestRefusals(t *testing.T) {
	var (
		open       ecs.Component[plain]
		hidden     ecs.Component[secret]
		local      ecs.Component[button]
		kept, only ecs.Prefab
		note       foretick.Message[plain]
		wish       foretick.Request[plain]
	)
	p := foretick.NewProtocol("refused", 1)
	p.Audience("spies")
	p.Component(&open, foretick.Predicted())
	p.Component(&hidden)
	p.LocalComponent(&local)
	p.Prefab(&kept, "kept", &open)
	p.Prefab(&only, "only", &open)
	p.Interpolated(&kept)
	p.Spawns(&only, foretick.SpawnConfig{ClientOnly: true})
	p.Server("judge", func(*foretick.ServerFrame, ecs.Rows) {}, ecs.Once())
	p.Shared("glow", func(*foretick.Frame, ecs.Rows) {}, ecs.Once(), ecs.Tags(foretick.TagClient))
	note.OnClient(p, func(*foretick.Frame, foretick.Tick, plain) {})
	wish.Handle(p, func(*foretick.ServerFrame, foretick.PlayerID, plain) {})
	p.OnDisconnect(func(*foretick.ServerFrame, foretick.PlayerID) {})
	p.OnLevel(func(*foretick.Frame, []byte) {})
	p.OnAppear(func(*foretick.Frame, ecs.Entity) {})
	n := sim.NewNetwork(1)
	_, err := rollback.New(rollback.Config{Protocol: p, Transport: n.Dial(n.Listen(), sim.LAN, sim.LAN)})
	require.Error(t, err)
	for _, name := range []string{
		`audience "spies"`, "component secret: field N", "component button is declared with LocalComponent", `prefab "kept" is Interpolated`,
		`prefab "only" is ClientOnly`, `system "judge"`, `system "glow"`, "message plain", "request plain", "OnDisconnect", "OnLevel",
		"OnAppear and OnVanish are not called on peers: drop them, and read the world in a Render system", "no command",
	} {
		require.ErrorContains(t, err, name)
	}
}
