package ecs_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/ecs"
)

type Position struct{ X, Y, Z, W float32 }

type Velocity struct{ X, Y, Z, W float32 }

type Health struct{ Points int16 }

type Dead struct{}

type Name struct{ Text string }

// game is what a user's own struct looks like.
type game struct {
	types  *ecs.Types
	pos    ecs.Component[Position]
	vel    ecs.Component[Velocity]
	hp     ecs.Component[Health]
	dead   ecs.Component[Dead]
	name   ecs.Component[Name]
	score  ecs.Singleton[int64]
	title  ecs.Singleton[Name]
	mover  ecs.Prefab
	rock   ecs.Prefab
	person ecs.Prefab
	empty  ecs.Prefab

	anyWatch, ownWatch *ecs.Watch
}

func newGame(t testing.TB) *game {
	g := &game{types: ecs.NewTypes()}
	copyName := ecs.Copier(func(dst, src *Name) { *dst = *src })
	require.NoError(t, g.types.Register(&g.pos))
	require.NoError(t, g.types.Register(&g.vel))
	require.NoError(t, g.types.Register(&g.hp))
	require.NoError(t, g.types.Register(&g.dead))
	require.NoError(t, g.types.Register(&g.name, copyName))
	require.NoError(t, g.types.RegisterSingleton(&g.score, ecs.Named("score")))
	require.NoError(t, g.types.RegisterSingleton(&g.title, copyName, ecs.Named("title")))
	require.NoError(t, g.types.RegisterPrefab(&g.mover, "mover", &g.pos, &g.vel))
	require.NoError(t, g.types.RegisterPrefab(&g.rock, "rock", &g.pos))
	require.NoError(t, g.types.RegisterPrefab(&g.person, "person", &g.pos, &g.vel, &g.hp, &g.name))
	require.NoError(t, g.types.RegisterPrefab(&g.empty, "empty"))
	require.NoError(t, ecs.SetDefault(g.types, &g.person, &g.hp, Health{100}))
	g.anyWatch = ecs.NewWatch(g.types, ecs.With(&g.pos), ecs.Without(&g.dead))
	g.ownWatch = ecs.NewWatch(g.types, ecs.With(&g.pos), ecs.Without(&g.dead))
	return g
}
