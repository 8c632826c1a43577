package bots_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/bots"
	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/transport/sim"
)

// A light bot continues to play when its server stalls once, and is slow afterwards.
func TestLightBotOutlastsAStall(t *testing.T) {
	for _, slow := range []time.Duration{0, 200 * time.Millisecond, 800 * time.Millisecond} {
		for _, still := range []time.Duration{time.Second, 3 * time.Second, 4500 * time.Millisecond} {
			for _, rtt := range []time.Duration{0, 100 * time.Millisecond, 300 * time.Millisecond} {
				name := fmt.Sprintf("%v still, then a step each %v, round trip %v", still, slow, rtt)
				net := sim.NewNetwork(3)
				listen := net.Listen()
				var g game
				srv, err := server.New(server.Config{Protocol: g.protocol(), Transport: listen})
				require.NoError(t, err)
				newest := uint32(0)
				light, err := bots.New(new(game).protocol(), func(dst *Move, _ int, tick uint32) { dst.X, newest = 1, max(newest, tick) })
				require.NoError(t, err)
				line := sim.Link{Latency: rtt / 2}
				bot, err := light.Join(0, net.Dial(listen, line, line))
				require.NoError(t, err)
				next, ahead := time.Duration(0), 0
				for now := time.Duration(0); now < 20*time.Second; now += 5 * time.Millisecond {
					net.Run(now)
					at := time.Unix(1000, 0).Add(now)
					if stands := now >= 5*time.Second && now < 5*time.Second+still; !stands && now >= next {
						srv.Step(at)
						if next = now; now > 5*time.Second && now < 12*time.Second {
							next += slow
						}
					}
					if !at.Before(bot.Next()) {
						require.NoError(t, bot.Step(at), name)
					}
					if now > 18*time.Second {
						ahead = max(ahead, int(newest)-int(srv.Tick()))
					}
				}
				require.True(t, bot.Playing(), name)
				require.Less(t, ahead, 6+int(rtt.Seconds()*30), "%s: commands are as early again as before", name)
			}
		}
	}
}

// The command function gets the number with which the bot joined. A command allocates nothing.
func TestCommandsOfBots(t *testing.T) {
	net := sim.NewNetwork(3)
	listen := net.Listen()
	var g game
	srv, err := server.New(server.Config{Protocol: g.protocol(), Transport: listen})
	require.NoError(t, err)
	made := map[int]int{3: 0, 7: 0}
	light, err := bots.New(new(game).protocol(), func(dst *Move, bot int, _ uint32) {
		dst.X = 1
		made[bot]++
	})
	require.NoError(t, err)
	var all []*bots.Light
	for n := range made {
		b, err := light.Join(n, net.Dial(listen, sim.Link{}, sim.Link{}))
		require.NoError(t, err)
		all = append(all, b)
	}
	now := time.Duration(0)
	second := func() {
		for end := now + time.Second; now < end; now += 5 * time.Millisecond {
			net.Run(now)
			at := time.Unix(1000, 0).Add(now)
			srv.Step(at)
			for _, b := range all {
				if !at.Before(b.Next()) {
					require.NoError(t, b.Step(at))
				}
			}
		}
	}
	for range 4 {
		second()
	}
	require.Len(t, made, 2)
	require.Greater(t, min(made[3], made[7]), 60)
	t.Run("allocations", func(t *testing.T) {
		costtest.Allocations(t)
		require.LessOrEqual(t, testing.AllocsPerRun(20, func() { second() }), 8., "of 60 commands")
	})
}
