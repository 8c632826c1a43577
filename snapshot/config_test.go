package snapshot_test

import (
	"testing"

	"github.com/foretick/foretick/internal/fieldtest"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
)

// TestConfigNumbers: zero is the default, negative is off or an error, and what is
// absurd is an error that names the field.
func TestConfigNumbers(t *testing.T) {
	source := func() *snapshot.Source {
		return snapshot.NewSource(schema.NewRegistry(), snapshot.SourceConfig{})
	}
	fieldtest.Config[snapshot.SourceConfig](t, fieldtest.Rules{}, func(c snapshot.SourceConfig) error {
		snapshot.NewSource(schema.NewRegistry(), c)
		return nil
	})
	fieldtest.Config[snapshot.SenderConfig](t, fieldtest.Rules{}, func(c snapshot.SenderConfig) error {
		source().NewSender(1, c)
		return nil
	})
	fieldtest.Config[snapshot.ReceiverConfig](t, fieldtest.Rules{Any: []string{"Viewer", "Owners", "After"}}, func(c snapshot.ReceiverConfig) error {
		snapshot.NewReceiver(schema.NewRegistry(), c)
		return nil
	})
	fieldtest.Config[snapshot.AreaConfig](t, fieldtest.Rules{Off: []string{"Leave"}, Needed: []string{"Enter"}}, func(c snapshot.AreaConfig) error {
		_, err := snapshot.NewArea(c)
		return err
	})
}
