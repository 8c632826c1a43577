// Package preview runs a game's server and one player of it in one world and one goroutine,
// without a network: for an editor's play button and for single player.
package preview

import (
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/internal/probe"
)

// Preview is a server and its one player. Systems, hooks, events, messages and requests run as
// in a match. Nothing is predicted, so nothing is corrected.
//
// In each tick the systems run for everyone: shared ones, those of servers, and those with
// the tag [foretick.TagClient]. [foretick.Frame.IsServer] is true in them. After the tick the
// hooks of clients run: messages, predicted and confirmed events, levels. Each rendered frame
// then interpolates the entities between the newest two ticks and runs the render systems,
// whose frames belong to a client. Their writes to replicated components are undone.
//
// There is one world, so nothing is hidden: it holds entities that
// [foretick.Frame.SetVisible] and [foretick.Interest] keep from the player, and fields of
// every audience. For those rules play over package transport/local, which runs both ends. A
// Preview is not safe for concurrent use.
type Preview struct {
	foretick.Requester // requests of the player: [foretick.Request.Send] takes the preview

	engine probe.Preview[foretick.View, foretick.Frame, foretick.Server]
}

// New makes a preview. server and client are the game's own configurations, without
// Transport, and client.Protocol may be nil. Fields that only a network needs are not used,
// such as rates, timeouts and History. The error lists every fault.
//
// The player joins in the first tick, which the first Step computes. Build the world before
// it with [Preview.Server].
func New(server foretick.ServerConfig, client foretick.ClientConfig) (*Preview, error) {
	player, engine, err := foretick.PreviewInternals(server, client)
	if err != nil {
		return nil, err
	}
	return &Preview{player, engine}, nil
}

// Server returns the server inside, to spawn entities before the first Step, for
// [foretick.Server.NextLevel], Do and the counters. Do not call its Step: the preview does. Between
// Steps use [Preview.Edit] to change the world: it holds drawn values.
func (p *Preview) Server() *foretick.Server { return p.engine.Server() }

// Step computes the ticks that are due at now, and returns what to draw: the view of a client
// that plays. Call it once per rendered frame, also while paused. now must not go back. At
// most four ticks' time passes in one Step, times the time scale.
func (p *Preview) Step(now time.Time) foretick.View { return p.engine.Step(now) }

// Pause stops the time of the match, or resumes it. While paused, Step still runs the
// render systems, with a DT of 0, and reads no input.
func (p *Preview) Pause(on bool) { p.engine.Pause(on) }

// StepTick pauses the match, and lets the next Step compute one more tick. That Step reads
// the input and shows the new tick as it is, not between two ticks.
func (p *Preview) StepTick() { p.engine.StepTick() }

// SetTimeScale sets how fast the time of the match runs: 1 is real time, 0.25 a quarter of
// it. The length of a tick stays the same, so the scale changes no result. It panics with
// [foretick.UsageError] unless the scale is above 0 and at most 100. Use [Preview.Pause] to stop time.
func (p *Preview) SetTimeScale(scale float64) { p.engine.SetTimeScale(scale) }

// Edit calls fn on the state of the newest tick, and keeps what fn changes: for an editor that
// moves and spawns things between Steps, also while paused. The next Step shows it. f is the
// server's frame. A change made without Edit to a component that is drawn would be undone.
func (p *Preview) Edit(fn func(f *foretick.Frame)) { p.engine.Edit(fn) }

// Close ends the match: OnLeave runs for the player. After it Step does nothing. A second
// Close returns [transport.ErrClosed].
func (p *Preview) Close() error { return p.engine.Close() }

// Internals returns the preview's internal state for package simtest. Games have no use for
// it: its type is internal.
func (p *Preview) Internals() probe.Preview[foretick.View, foretick.Frame, foretick.Server] {
	return p.engine
}
