package metrics_test

import (
	"fmt"
	"io"
	"reflect"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/internal/fieldtest"
	"github.com/foretick/foretick/stats"
	"github.com/foretick/foretick/stats/metrics"
)

// arena is a server with figures.
type arena struct{}

func (arena) Figures(dst *stats.Server) {
	*dst = stats.Server{Counters: stats.Counters{Ticks: 7, InputsHindsight: 5}, Players: 3, Systems: []stats.System{{Name: "a \"b\"\n\\"}, {Name: "a \"b\"\n\\"}}}
	dst.LossIn.Observe(0.03)
	dst.LossOut.Observe(1)
}

// The page of a single server has each metric's help and type once, before its values, and quotes
// labels where necessary.
func TestPage(t *testing.T) {
	var b strings.Builder
	require.NoError(t, metrics.Write(&b, metrics.OfFigures("arena", arena{}), metrics.Config{}))
	text, name := b.String(), ""
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if m := regexp.MustCompile(`^# HELP (\w+) \S.*\.$|^# HELP (foretick_build_info) `).FindStringSubmatch(line); m != nil {
			require.Greater(t, m[1]+m[2], name, "sorted, and each once")
			name = m[1] + m[2]
			continue
		}
		require.Regexp(t, `^(# TYPE )?`+name+`(_bucket|_sum|_count)?\b`, line)
	}
	for _, want := range []string{
		`foretick_ticks_total{kind="arena"} 7`,
		`foretick_inputs_hindsight_total{kind="arena"} 5`,
		`foretick_players{kind="arena",state="playing"} 3`,
		`foretick_system_runs_total{kind="arena",system="a \"b\"\n\\"} 0`,
		`foretick_loss_ratio_bucket{direction="in",kind="arena",le="0.02"} 0`,
		`foretick_loss_ratio_bucket{direction="in",kind="arena",le="0.05"} 1`,
		`foretick_loss_ratio_bucket{direction="out",kind="arena",le="+Inf"} 1`,
		`go="` + runtime.Version() + `"`,
	} {
		require.Equal(t, 1, strings.Count(text, want), want)
	}
	require.NotContains(t, text, "foretick_host_")
}

// All returns each metric of a page.
func TestAll(t *testing.T) {
	known := map[*metrics.Metric]bool{}
	for _, m := range metrics.All() {
		require.False(t, known[m])
		known[m] = true
	}
	metrics.Each(metrics.OfFigures("arena", arena{}), metrics.Config{}, func(s *metrics.Sample) {
		require.True(t, known[s.Metric], s.Metric.Name)
		require.Len(t, s.Labels, len(s.Metric.Labels))
	})
}

// A config that cannot be used is an error at once, which names the fix.
func TestCheck(t *testing.T) {
	require.PanicsWithError(t, "metrics: Each: there is no source: pass a *host.Host, or Of a server", func() { metrics.Each(nil, metrics.Config{}, nil) })
	fieldtest.Config[metrics.Config](t, fieldtest.Rules{}, func(c metrics.Config) (err error) {
		defer func() {
			if v := recover(); v != nil {
				err = fmt.Errorf("%v", v)
			}
		}()
		return metrics.Write(io.Discard, metrics.OfFigures("arena", arena{}), c)
	})
}

// counting is a server with one counter that is not zero.
type counting struct{ at int }

func (c counting) Figures(dst *stats.Server) {
	*dst = stats.Server{}
	reflect.ValueOf(&dst.Counters).Elem().Field(c.at).SetUint(77)
}

// TestEveryCounterHasAMetric: the page has every counter of a server without code for it outside of
// stats.Counters.
func TestEveryCounterHasAMetric(t *testing.T) {
	of := reflect.TypeFor[stats.Counters]()
	for i := range of.NumField() {
		if of.Field(i).Name == "Refused" {
			continue // stats.Server.Refused has it by reason
		}
		shown := 0
		metrics.Each(metrics.OfFigures("arena", counting{i}), metrics.Config{}, func(s *metrics.Sample) {
			if s.Value == 77 {
				shown++
			}
		})
		require.Equal(t, 1, shown, of.Field(i).Name)
	}
}
