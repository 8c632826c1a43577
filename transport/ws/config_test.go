//go:build !js

package ws_test

import (
	"testing"

	"github.com/foretick/foretick/internal/fieldtest"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/ws"
)

// TestConfigNumbers: zero is the default, negative is off or an error, and an
// absurd value is an error that names the field.
func TestConfigNumbers(t *testing.T) {
	fieldtest.Config[ws.Config](t, fieldtest.Rules{
		Off: []string{"MaxPendingPerAddr", "MaxConns", "ControlRate"},
	}, func(c ws.Config) error {
		e, err := ws.Listen("127.0.0.1:0", c)
		if err != nil {
			return err
		}
		return e.Close(transport.Closed, "")
	})
}
