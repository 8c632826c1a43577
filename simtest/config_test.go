package simtest_test

import (
	"testing"

	"github.com/foretick/foretick/internal/fieldtest"
	"github.com/foretick/foretick/simtest"
)

// TestConfigNumbers: zero is the default, negative is off or an error, and an
// absurd value is an error that names the field.
func TestConfigNumbers(t *testing.T) {
	fieldtest.Config[simtest.SyncConfig](t, fieldtest.Rules{Off: []string{"Back"}, Any: []string{"Seed"}}, func(c simtest.SyncConfig) error {
		_, err := simtest.FindDesyncs(func() simtest.Player { return (&planted{}).End(nil) }, c)
		return err
	})
}
