package lifecycle_test

import (
	"context"
	"testing"

	"github.com/foretick/foretick/host"
	"github.com/foretick/foretick/host/lifecycle"
	"github.com/foretick/foretick/internal/fieldtest"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/sim"
)

// TestConfigNumbers: zero is the default, negative is off or an error, and an absurd value is an
// error that names the field.
func TestConfigNumbers(t *testing.T) {
	fieldtest.Config[lifecycle.Config](t, fieldtest.Rules{Off: []string{"Idle"}}, func(c lifecycle.Config) error {
		h, err := host.New(host.Config{Transport: sim.NewNetwork(1).Listen(), NewMatch: func(string, transport.Endpoint) (host.Match, error) { return nil, nil }})
		if err != nil {
			return err
		}
		h.Drain("it ends at once")
		return lifecycle.Run(context.Background(), h, &lifecycle.Files{}, c)
	})
}
