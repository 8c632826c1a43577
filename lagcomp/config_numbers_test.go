package lagcomp_test

import (
	"testing"

	"github.com/foretick/foretick/internal/fieldtest"
	"github.com/foretick/foretick/lagcomp"
)

// TestConfigNumbers: zero is the default, negative is off or an error, and what is
// absurd is an error that names the field.
func TestConfigNumbers(t *testing.T) {
	fieldtest.Config[lagcomp.Config](t, fieldtest.Rules{
		Off: []string{"MaxRewind", "Settle", "Growth", "GrowthRate"},
	}, func(c lagcomp.Config) error {
		_, err := lagcomp.NewHistory(c)
		if err == nil {
			lagcomp.NewJudge(c)
		}
		return err
	})
}
