//go:build go1.27

package foretick

import (
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/lagcomp"
	"github.com/foretick/foretick/snapshot"
)

// Default does what the function [Default] does.
func (p *Protocol) Default[T any](k *ecs.Prefab, c *ecs.Component[T], v T) { Default(p, k, c, v) }

// Interpolate does what the function [Interpolate] does.
func (p *Protocol) Interpolate[T any](c *ecs.Component[T], fn func(from, to T, t float32) T) {
	Interpolate(p, c, fn)
}

// CheckCommand does what the function [CheckCommand] does.
func (p *Protocol) CheckCommand[T any](c *ecs.Component[T], fn func(f *Frame, player PlayerID, cmd T) error) {
	CheckCommand(p, c, fn)
}

// Decay does what the function [Decay] does.
func (p *Protocol) Decay[T any](c *ecs.Component[T], fn func(cmd *T, missing int)) { Decay(p, c, fn) }

// PredictRemote does what the function [PredictRemote] does.
func (p *Protocol) PredictRemote[T any](c *ecs.Component[T], guess func(f *Frame, avatar ecs.Entity, ahead int, cmd *T), cfg RemoteConfig) {
	PredictRemote(p, c, guess, cfg)
}

// Interest does what the function [Interest] does.
func (p *Protocol) Interest[T any](c *ecs.Component[T], cfg snapshot.AreaConfig, at func(*T) (x, y, z float32)) {
	Interest(p, c, cfg, at)
}

// Hitbox does what the function [Hitbox] does.
func (p *Protocol) Hitbox[T any](c *ecs.Component[T], fn func(*T) lagcomp.Sphere) { Hitbox(p, c, fn) }

// LifeID does what the function [LifeID] does.
func (p *Protocol) LifeID[T any](c *ecs.Component[T], fn func(*T) uint32) { LifeID(p, c, fn) }

// TrackHistory does what the function [TrackHistory] does.
func (p *Protocol) TrackHistory[T any](c *ecs.Component[T]) { TrackHistory(p, c) }

// Field does what the function [HitboxField] does.
func (b *HitboxBuilder) Field[T any](c *ecs.Component[T]) *T { return HitboxField(b, c) }

// Component does what the function [ComponentAt] does.
func (s HitView) Component[T any](c *ecs.Component[T], e ecs.Entity) (v T, ok bool) {
	return ComponentAt(s, c, e)
}
