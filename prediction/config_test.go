package prediction_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/internal/fieldtest"
	"github.com/foretick/foretick/prediction"
)

type still struct{}

func (still) Save(int, prediction.Tick)  {}
func (still) Load(int, prediction.Tick)  {}
func (still) Step(prediction.Tick, bool) {}

// TestConfigNumbers: zero is the default, negative is off or an error, and an
// absurd value is an error that names the field.
func TestConfigNumbers(t *testing.T) {
	fieldtest.Config[prediction.Config](t, fieldtest.Rules{}, func(c prediction.Config) error {
		_, err := prediction.NewPredictor(c, still{})
		return err
	})
}

// TestFadeOff: a negative half-life fades nothing, and a negative limit is none.
func TestFadeOff(t *testing.T) {
	off := prediction.Fade{HalfLife: -1}
	require.Zero(t, off.Add(1, 5, 3))
	require.Zero(t, off.Factor(time.Nanosecond))
	require.EqualValues(t, 1001, prediction.Fade{Limit: -1}.Add(1, 1000, 0))
	require.Zero(t, prediction.Fade{Limit: 2}.Add(1, 1000, 0))
}
