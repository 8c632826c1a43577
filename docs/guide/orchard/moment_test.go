package orchard_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/docs/guide/orchard"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/server"
)

// A message comes before its apple is drawn. The dust rises in the first frame that shows the apple.
func TestFalls(t *testing.T) {
	m := begin(t, server.Config{})
	var a *seat
	var messages uint64
	early, dust, apples := 0, 0, 0
	at := far
	at.After = func(v client.View) {
		before := dust
		a.game.ShowFalls(v)
		n, drawn := a.client.Stats().Messages, a.game.Apples(v.World)
		if n > messages && drawn == apples {
			early++
		}
		require.Equal(t, dust-before, drawn-apples, "the dust rises with the apple")
		messages, apples = n, drawn
	}
	a = m.join(at, client.Config{})
	a.game.Dust = func(orchard.Fell) { dust++ }
	m.ready(a)
	m.past(7 * time.Second)
	require.Greater(t, dust, 5)
	require.Equal(t, dust, early, "each message came before")
}

// The first frame of the match shows the own player alone. Those who were there follow together.
func TestOthersShown(t *testing.T) {
	m := begin(t, server.Config{})
	m.ready(m.join(far, client.Config{}), m.join(far, client.Config{}), m.join(far, client.Config{}), m.join(far, client.Config{}))
	var late *seat
	frames, alone := 0, 0
	at := far
	at.After = func(v client.View) {
		if v.State != client.Playing {
			require.False(t, late.game.OthersShown(v))
			return
		}
		frames++
		require.NotEqual(t, ecs.None, late.own())
		require.EqualValues(t, orchard.Playing, late.game.Match.Get(v.World).Phase)
		drawn := 0
		for player := foretick.PlayerID(1); player <= 4; player++ {
			if late.game.Own(v.World, player) != ecs.None {
				drawn++
			}
		}
		if !late.game.OthersShown(v) {
			require.Zero(t, drawn)
			alone++
			return
		}
		require.Equal(t, 4, drawn)
	}
	late = m.join(at, client.Config{OnSnapshot: func(t foretick.Tick) { late.game.Snapshot(t) }})
	m.past(time.Second)
	require.Greater(t, frames, 20)
	require.True(t, alone >= 1 && alone <= 3, "%d frames without the others", alone)
}

// An entity that lives for a tick is drawn where each tick has a snapshot, and every other time where
// every other tick has one.
func TestBriefEntities(t *testing.T) {
	const times = 60
	for rate, want := range map[int]int{30: times, 15: times / 2} {
		m := begin(t, server.Config{SnapshotRate: rate})
		a := m.join(far, client.Config{})
		m.ready(a)
		a.sounds = nil
		for range times {
			brief := m.srv.Frame().Spawn(&m.game.Thrown, ecs.Nobody)
			m.game.Flight.Get(m.srv.World(), brief).Left = 2 // the second tick ends it
			m.past(5 * time.Second / 30)
		}
		m.past(time.Second)
		require.Len(t, a.sounds, want, "%d snapshots a second", rate)
	}
}
