package simtest_test

import (
	"testing"

	"github.com/foretick/foretick/internal/fieldtest"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport/sim"
)

// TestConfigNumbers: zero is the default, negative is off or an error, and an
// absurd value is an error that names the field.
func TestConfigNumbers(t *testing.T) {
	fieldtest.Config[simtest.SyncConfig](t, fieldtest.Rules{Off: []string{"Back"}, Any: []string{"Seed"}}, func(c simtest.SyncConfig) error {
		_, err := simtest.FindDesyncs(func() simtest.Player { return (&planted{}).End(nil) }, c)
		return err
	})
	links := []string{"Link.Latency", "Link.Jitter", "Link.Burst", "Link.MaxBurst", "Link.Hold", "Link.Bandwidth", "Link.Queue", "Link.Outage", "Link.OutageEvery"}
	fieldtest.Config[simtest.BenchConfig](t, fieldtest.Rules{Any: links}, func(c simtest.BenchConfig) error {
		// Package sim checks the other fields itself.
		c.Link = sim.Link{Loss: c.Link.Loss, Duplicate: c.Link.Duplicate, Reorder: c.Link.Reorder, Corrupt: c.Link.Corrupt}
		return simtest.CheckBench(c)
	})
}
