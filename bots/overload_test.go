package bots_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/bots"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/transport/sim"
)

// A light bot follows a server that computes fewer ticks than are due. Three seconds after the
// overload it has its usual lead.
func TestLightBotFollowsAnOverloadedServer(t *testing.T) {
	for _, speed := range []int{100, 89, 75, 50, 20} {
		for _, rtt := range []time.Duration{0, 100 * time.Millisecond, 300 * time.Millisecond} {
			t.Run(fmt.Sprintf("%d %%, %v", speed, rtt), func(t *testing.T) {
				net := sim.NewNetwork(5)
				listen := net.Listen()
				var g game
				srv, err := server.New(server.Config{Protocol: g.protocol(), Transport: listen})
				require.NoError(t, err)
				light, err := bots.New(new(game).protocol(), walk)
				require.NoError(t, err)
				line := sim.Link{Latency: rtt / 2}
				bot, err := light.Join(0, net.Dial(listen, line, line))
				require.NoError(t, err)
				next, every := time.Duration(0), 5*time.Millisecond
				run := func(d time.Duration) {
					for end := net.Now() + d; net.Now() < end; {
						net.Run(net.Now() + time.Millisecond)
						now := time.Unix(1000, 0).Add(net.Now())
						if net.Now() >= next {
							srv.Step(now)
							next = net.Now() + every
						}
						if !now.Before(bot.Next()) {
							require.NoError(t, bot.Step(now))
						}
					}
				}
				run(10 * time.Second)
				before := bot.Stats().Lead
				if speed < 100 {
					every = time.Duration(4*100*1000/(30*speed)) * time.Millisecond
				}
				run(4 * time.Second)
				began := srv.Stats()
				run(12 * time.Second)
				ended := srv.Stats()
				every, next = 5*time.Millisecond, net.Now()
				run(3 * time.Second)
				taken, missed := ended.InputsTaken-began.InputsTaken, ended.InputsMissing-began.InputsMissing
				again := srv.Stats().InputsMissing - ended.InputsMissing
				t.Logf("%.1f %% taken, %d missed after, lead %v and %v", 100*float64(taken)/float64(taken+missed), again, before, bot.Stats().Lead)
				require.GreaterOrEqual(t, float64(taken), 0.95*float64(taken+missed))
				require.LessOrEqual(t, again, uint64(30*(rtt.Seconds()+0.5)))
				require.LessOrEqual(t, bot.Stats().Lead.Seconds(), 1.2*before.Seconds())
				require.Positive(t, bot.Stats().Lead)
			})
		}
	}
}
