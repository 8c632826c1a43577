package relay_test

import (
	"testing"
	"time"

	"github.com/foretick/foretick/internal/fieldtest"
	"github.com/foretick/foretick/relay"
	"github.com/foretick/foretick/transport/sim"
)

// TestConfigNumbers: zero is the default, negative is off or an error, and an absurd value is an error
// that names the field.
func TestConfigNumbers(t *testing.T) {
	fieldtest.Config[relay.Config](t, fieldtest.Rules{Off: []string{"MaxObservers", "Wait", "RepeatInput"}}, func(c relay.Config) error {
		c.Transport = sim.NewNetwork(1).Listen()
		r, err := relay.New(c)
		if err != nil {
			return err
		}
		r.Step(time.Unix(0, 0))
		return r.Close("")
	})
}
