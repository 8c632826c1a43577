package crowd_test

import (
	"testing"
	"time"

	"github.com/foretick/foretick/benchmarks/crowd"
)

// BenchmarkCrowd: the server's step with players who all see each other, as rates allow whole
// packets, or 12 kB/s for each player.
func BenchmarkCrowd(b *testing.B) {
	for _, c := range []struct {
		name          string
		players, rate int
	}{
		{"256", 256, 1 << 17},
		{"512", 512, 1 << 17},
		{"256_budget", 256, 12_000},
		{"512_budget", 512, 12_000},
	} {
		b.Run(c.name, func(b *testing.B) {
			match, err := crowd.New(c.players, c.rate)
			if err != nil {
				b.Fatal(err)
			}
			before, spent := match.Server.Stats(), match.Spent
			b.ResetTimer()
			for b.Loop() {
				match.Run(1)
			}
			after := match.Server.Stats()
			turns := float64(after.Ticks-before.Ticks) * float64(c.players)
			b.ReportMetric(float64(match.Spent-spent)/float64(time.Microsecond)/turns, "µs/client-tick")
			b.ReportMetric(float64(after.BytesOut-before.BytesOut)/turns, "B/client-tick")
			b.ReportMetric(float64(after.InputsMissing-before.InputsMissing)/turns*100, "missing_percent")
		})
	}
}

func TestEverybodyPlays(t *testing.T) {
	match, err := crowd.New(16, 1<<17)
	if err != nil {
		t.Fatal(err)
	}
	before := match.Server.Stats()
	match.Run(60)
	after := match.Server.Stats()
	if ticks := after.Ticks - before.Ticks; ticks != 60 {
		t.Errorf("%d ticks in two seconds", ticks)
	}
	if taken := after.InputsTaken - before.InputsTaken; taken < 60*16*9/10 {
		t.Errorf("%d commands were taken in 60 ticks of 16 players", taken)
	}
	if after.PacketsOut-before.PacketsOut < 60*16 {
		t.Error("not everybody got a packet in each tick")
	}
	if match.Hits() == 0 {
		t.Error("nobody was hit")
	}
}
