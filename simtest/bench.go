package simtest

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/foretick/foretick/internal/seedtest"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/transport/sim"
)

// BenchConfig configures [Bench]. The zero value is ready to use.
type BenchConfig struct {
	// Players is the number of clients, up to 1024. 0 means 8; negative is an error.
	Players int
	// Link is the link of each client, in both directions. The zero Link means 40 ms each
	// way without jitter and loss. It gives the steadiest figures: on a link with loss a
	// change of the game also changes which packets are lost.
	Link sim.Link
	// Seconds is the virtual time that is measured in each match, up to 3600. The two
	// seconds before it, in which the clients join, are not measured. 0 means 20; negative is
	// an error.
	Seconds int
	// Seeds is the number of matches, up to 1000. Their seeds are 1, 2, 3 and so on, and
	// each figure is the mean over them. 0 means 3; negative is an error.
	Seeds int
	// Server changes the server's configuration, whose Protocol and MaxClients are already
	// set. nil leaves it unchanged.
	Server func(cfg *server.Config)
	// Limits are the largest allowed values of metrics, by the unit that Bench reports
	// them under, such as "down-B/s". A larger value fails the benchmark, after a line with
	// all metrics on standard output. A unit that Bench does not report also fails the
	// benchmark, and the error lists the units that Bench reports.
	Limits map[string]float64
}

// Bench measures what a game costs in a match without faults, and reports it as metrics of
// the benchmark b. The match runs in virtual time, so two runs of the same code report the
// same values, except for the two times. newPlayer returns one end of the game. It is
// called for the server and for each client. Bench reports:
//
//   - down-B/s and up-B/s: bytes a second to and from one player, without UDP's headers.
//   - corrections/min: corrections of one client a minute. code-corrections/min and
//     the like are those of one [prediction.Cause].
//   - server-allocs/tick: allocations in all calls of Server.Step, for each tick.
//   - client-allocs/step: allocations in one Client.Step, with the Sampler's.
//   - Position-B/s and the like: bytes of one component in snapshots, per second and player.
//     snapshots-B/s is the rest of the snapshots, packets-B/s everything outside of snapshots.
//   - noisy-server-ns/tick and noisy-client-ns/step: the time that the same calls took.
//     It depends on the machine and on what else runs there.
//
// Allocations are counted in the first seed's match, which is played twice more for this. No match
// is repeated for -benchtime; with -benchtime 1x the benchmark ends at once after the last.
//
// Bench fails if a match breaks, if nobody plays in it, if a client leaves it, or if it takes
// another course when it is played again. It does not run in builds with the tag
// foretick_debug, whose figures are not those of the game.
func Bench(b *testing.B, newPlayer func() Player, cfg BenchConfig) {
	b.Helper()
	var figures []benchFigure
	var err error
	for first := true; b.Loop(); first = false {
		if first {
			figures, err = cfg.measureMatches(newPlayer)
		}
	}
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(0, "ns/op") // removes ns/op, which says nothing about the game
	for _, f := range figures {
		b.ReportMetric(f.value, f.unit)
	}
	over := exceeded(figures, cfg.Limits)
	if len(over) > 0 {
		fmt.Println(resultLine(b.Name(), b.N, figures)) // package testing prints no metrics of a failed benchmark
	}
	for _, err := range over {
		b.Error(err)
	}
}

// resultLine returns the line that package testing prints for a benchmark that passes.
func resultLine(name string, n int, figures []benchFigure) string {
	if procs := runtime.GOMAXPROCS(0); procs != 1 {
		name += fmt.Sprintf("-%d", procs)
	}
	extra := make(map[string]float64, len(figures))
	for _, f := range figures {
		extra[f.unit] = f.value
	}
	return name + "\t" + testing.BenchmarkResult{N: n, Extra: extra}.String()
}

// errBenchDebug is the error of Bench in a debug build.
var errBenchDebug = errors.New("simtest: Bench does not measure builds with the tag foretick_debug: their servers also send hashes of what each shared system wrote, so a player receives 2 to 4 times the bytes, and both ends allocate for it; run the benchmark without -tags foretick_debug")

// benchFigure is one metric.
type benchFigure struct {
	unit  string
	value float64
}

// measureMatches plays all matches and returns the means.
func (c BenchConfig) measureMatches(newPlayer func() Player) ([]benchFigure, error) {
	if seedtest.BuildTags != "" {
		return nil, errBenchDebug
	}
	if newPlayer == nil {
		return nil, errors.New("simtest: newPlayer is nil: pass a function that returns one end of your game")
	}
	if err := c.checkConfig(); err != nil {
		return nil, err
	}
	c = c.withDefaults()
	var sum benchCounts
	r := benchRun{BenchConfig: c, newPlayer: newPlayer, sum: &sum}
	for seed := range c.Seeds {
		if err := r.play(uint64(seed + 1)); err != nil {
			return nil, fmt.Errorf("simtest: Bench, seed %d: %w", seed+1, err)
		}
	}
	if err := r.countAllocs(); err != nil {
		return nil, fmt.Errorf("simtest: Bench, seed 1: %w", err)
	}
	return sum.figures(), nil
}

func (c BenchConfig) withDefaults() BenchConfig {
	set := func(v *int, to int) {
		if *v == 0 {
			*v = to
		}
	}
	set(&c.Players, 8)
	set(&c.Seconds, 20)
	set(&c.Seeds, 3)
	if c.Link == (sim.Link{}) {
		c.Link.Latency = 40 * time.Millisecond
	}
	return c
}

// checkConfig reports every fault at once.
func (c BenchConfig) checkConfig() error {
	var errs []error
	for _, v := range []struct {
		name                string
		is, most, byDefault int
	}{{"Players", c.Players, 1024, 8}, {"Seconds", c.Seconds, 3600, 20}, {"Seeds", c.Seeds, 1000, 3}} {
		if v.is < 0 || v.is > v.most {
			errs = append(errs, fmt.Errorf("simtest: BenchConfig.%s is %d: use up to %d, or 0 for %d", v.name, v.is, v.most, v.byDefault))
		}
	}
	if err := c.Link.Validate(); err != nil {
		errs = append(errs, fmt.Errorf("simtest: BenchConfig.Link: %w", err))
	}
	for _, unit := range slices.Sorted(maps.Keys(c.Limits)) {
		if limit := c.Limits[unit]; !(limit >= 0) || math.IsInf(limit, 0) {
			errs = append(errs, fmt.Errorf("simtest: BenchConfig.Limits[%q] is %v: use a number from 0 up, or leave the metric out", unit, limit))
		}
	}
	return errors.Join(errs...)
}

// exceeded returns an error for each metric above its limit, and for each limit without a
// metric.
func exceeded(figures []benchFigure, limits map[string]float64) (errs []error) {
	for _, unit := range slices.Sorted(maps.Keys(limits)) {
		i := slices.IndexFunc(figures, func(f benchFigure) bool { return f.unit == unit })
		if i < 0 {
			var units []string
			for _, f := range figures {
				units = append(units, f.unit)
			}
			errs = append(errs, fmt.Errorf("simtest: BenchConfig.Limits has %q, which is no metric of this game: use %s", unit, strings.Join(units, ", ")))
		} else if v, limit := figures[i].value, limits[unit]; v > limit {
			errs = append(errs, fmt.Errorf("%s is %.4g, more than its limit %.4g: find what the change added, or raise BenchConfig.Limits if the game means it", unit, v, limit))
		}
	}
	return errs
}
