package foretick

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A sudden effect brings a snapshot in its tick and the next, whatever the rate;
// what goes on and on does not.
func TestSuddenEffectsAreToldAtOnce(t *testing.T) {
	for name, c := range map[string]struct {
		effects []Tick
		extra   []Tick // ticks with a snapshot besides every fourth
	}{
		"none":                  {nil, nil},
		"one":                   {[]Tick{21}, []Tick{21, 22}},
		"one where one is due":  {[]Tick{24}, []Tick{25}},
		"two with calm between": {[]Tick{21, 33}, []Tick{21, 22, 33, 34}},
		"a poison that goes on": {[]Tick{21, 22, 23, 26, 30, 35, 41}, []Tick{21, 22}},
	} {
		t.Run(name, func(t *testing.T) {
			p := &player{outbox: outbox{every: 4}}
			var extra []Tick
			for now := Tick(1); now < 60; now++ {
				for _, e := range c.effects {
					if e == now {
						p.reasons.Affected(now, 1, 10)
					}
				}
				if p.due(now) && now%4 != 0 {
					extra = append(extra, now)
				}
			}
			require.Equal(t, c.extra, extra)
		})
	}
}
