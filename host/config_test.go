package host_test

import (
	"testing"
	"time"

	"github.com/foretick/foretick/host"
	"github.com/foretick/foretick/internal/fieldtest"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
)

// TestConfigNumbers: zero is the default, negative is off or an error, and an absurd value is an
// error that names the field.
func TestConfigNumbers(t *testing.T) {
	fieldtest.Config[host.Config](t, fieldtest.Rules{Off: []string{"Linger"}}, func(c host.Config) error {
		c.Transport = sim.NewNetwork(1).Listen()
		c.NewMatch = func(string, transport.Endpoint) (host.Match, error) { return nil, nil }
		h, err := host.New(c)
		if err != nil {
			return err
		}
		h.Step(time.Unix(0, 0))
		return h.Close("")
	})
}
