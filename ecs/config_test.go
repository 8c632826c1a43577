package ecs_test

import (
	"testing"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/fieldtest"
)

// TestConfigNumbers: zero is the default, negative is off or an error, and an
// absurd value is an error that names the field.
func TestConfigNumbers(t *testing.T) {
	fieldtest.Config[ecs.WorldConfig](t, fieldtest.Rules{}, func(c ecs.WorldConfig) error {
		ecs.NewWorld(ecs.NewTypes(), c)
		return nil
	})
}
