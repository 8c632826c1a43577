package foretick_test

import (
	"testing"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/fieldtest"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/snapshot"
	"github.com/foretick/foretick/transport/sim"
)

// TestConfigNumbers: in every config zero is the default, negative is off or an error,
// and what is no number or absurd is an error that names the field.
func TestConfigNumbers(t *testing.T) {
	fieldtest.Config[server.Config](t, fieldtest.Rules{
		Off: []string{"RepeatInput", "DecayInput", "MaxRewind", "RewindGrowth", "ReconnectWindow", "MaxWaitingPerAddress", "MaxHeldPerAddress"},
	}, func(c server.Config) error {
		c.Protocol, c.Transport = declare(nil), sim.NewNetwork(1).Listen()
		_, err := server.New(c)
		return err
	})
	fieldtest.Config[client.Config](t, fieldtest.Rules{
		Off: []string{"SmoothHalfLife", "SmoothLimit"},
	}, func(c client.Config) error {
		n := sim.NewNetwork(1)
		c.Protocol, c.Transport = declare(nil), n.Dial(n.Listen(), sim.LAN, sim.LAN)
		_, err := client.New(c)
		return err
	})
	fieldtest.Config[foretick.SpawnConfig](t, fieldtest.Rules{}, func(c foretick.SpawnConfig) error {
		return declare(func(h *handles, p *foretick.Protocol) { p.Spawns(&h.player, c) }).Err()
	})
	fieldtest.Config[foretick.RemoteConfig](t, fieldtest.Rules{}, func(c foretick.RemoteConfig) error {
		return declare(func(h *handles, p *foretick.Protocol) {
			foretick.PredictRemote(p, &h.pad, func(*foretick.Frame, ecs.Entity, int, *pad) {}, c)
		}).Err()
	})
	fieldtest.Config[snapshot.AreaConfig](t, fieldtest.Rules{Off: []string{"Leave"}, Needed: []string{"Enter"}}, func(c snapshot.AreaConfig) error {
		return declare(func(h *handles, p *foretick.Protocol) {
			foretick.Interest(p, &h.place, c, func(v *place) (x, y, z float32) { return v.X, 0, 0 })
		}).Err()
	})
}
