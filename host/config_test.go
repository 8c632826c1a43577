package host

import (
	"testing"
	"time"

	"github.com/foretick/foretick/internal/fieldtest"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
)

// TestConfigNumbers: zero is the default, negative is off or an error, and an absurd value is an
// error that names the field.
func TestConfigNumbers(t *testing.T) {
	fieldtest.Config[Config](t, fieldtest.Rules{Off: []string{"Linger"}}, func(c Config) error {
		c.Transport = sim.NewNetwork(1).Listen()
		c.NewMatch = func(string, transport.Endpoint) (Server, error) { return nil, nil }
		h, err := New(c)
		if err != nil {
			return err
		}
		h.Step(time.Unix(0, 0))
		return h.Close("")
	})
}
