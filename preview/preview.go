// Package preview runs a game's server and one player of it in one world and one goroutine,
// without a network: for an editor's play button and for single player.
//
// Compatibility: a minor version may change it, with a note. See docs/COMPATIBILITY.md.
package preview

import (
	"errors"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
	"github.com/foretick/foretick/internal/probe"
	"github.com/foretick/foretick/internal/seat"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/transport"
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
// [foretick.ServerFrame.SetVisible] and [foretick.Interest] keep from the player, and fields of
// every audience. For those rules play over package transport/local, which runs both ends. A
// Preview is not safe for concurrent use.
type Preview struct {
	foretick.Requester // requests of the player: [foretick.Request.Send] takes the preview

	srv    *server.Server
	engine probe.Preview[client.View, foretick.ServerFrame]
}

// New makes a preview. srv and cl are the game's own configurations, without
// Transport, and cl.Protocol may be nil. Fields that only a network needs are not used,
// such as rates, timeouts and History. The error lists every fault.
//
// The player joins in the first tick, which the first Step computes. Build the world before
// it with [Preview.Server].
func New(srv server.Config, cl client.Config) (*Preview, error) {
	if err := check(&srv, &cl); err != nil {
		return nil, err
	}
	srv.Tags = append(append([]string{foretick.TagClient, foretick.TagRender}, srv.Tags...), cl.Tags...)
	s, m, err := ofServer().NewPreview(srv)
	if err != nil {
		return nil, err
	}
	player := ofClient().NewPreview(cl, m)
	return &Preview{player, s, player.(probe.Preview[client.View, foretick.ServerFrame])}, nil
}

// serverHalf and clientHalf are what the server and the client packages offer for a preview alone.
type (
	serverHalf interface {
		CheckPreview(cfg *server.Config) error
		NewPreview(cfg server.Config) (*server.Server, seat.Match, error)
	}
	clientHalf interface {
		CheckPreview(cfg *client.Config) error
		NewPreview(cfg client.Config, m seat.Match) foretick.Requester
	}
)

// ofServer and ofClient are called without a server or a client. So a program that makes no preview
// does not link the code.
func ofServer() serverHalf { return probe.OfServer((*server.Server)(nil)).(serverHalf) }
func ofClient() clientHalf { return probe.OfClient((*client.Client)(nil)).(clientHalf) }

// check checks the configurations of a preview, and fills in their defaults.
func check(srv *server.Config, cl *client.Config) error {
	var errs []error
	if srv.Transport != nil || cl.Transport != nil {
		errs = append(errs, errors.New("preview: New is given a Transport, and a preview has no network: leave it out, or host a match with package transport/local"))
	}
	if cl.Observe != nil {
		errs = append(errs, errors.New("preview: New is given client.Config.Observe, and one player plays in a preview: leave it out"))
	}
	if cl.Protocol == nil {
		cl.Protocol = srv.Protocol
	}
	if cl.Protocol != srv.Protocol {
		errs = append(errs, errors.New("preview: New is given two Protocols, and a preview has one world: pass that of one game value in both, or in server.Config alone"))
	}
	srv.Transport, cl.Transport = nowhere{}, nowhere{}
	if err := ofServer().CheckPreview(srv); err != nil {
		errs = append(errs, err)
	} else if err := ofClient().CheckPreview(cl); err != nil {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// Server returns the server inside, to spawn entities before the first Step, for
// [server.Server.NextLevel], Do and the counters. Do not call its Step: the preview does. Between Steps
// use [Preview.Edit] to change the world, because the world then holds drawn values.
func (p *Preview) Server() *server.Server { return p.srv }

// Step computes the ticks that are due at now, and returns what to draw: the view of a client
// that plays. Call it once per rendered frame, also while paused. now must not go back. At
// most four ticks' time passes in one Step, times the time scale.
func (p *Preview) Step(now time.Time) client.View { return p.engine.Step(now) }

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
// moves and spawns things between Steps, also while paused. The next Step shows it, and draws
// what fn changed as it is, not between two ticks. f is the server's frame. A change made without Edit to a component that is drawn would be undone.
func (p *Preview) Edit(fn func(f *foretick.ServerFrame)) { p.engine.Edit(fn) }

// Close ends the match: OnLeave runs for the player, unless it was kicked before. After it Step does nothing. A second
// Close returns [transport.ErrClosed].
func (p *Preview) Close() error { return p.engine.Close() }

// nowhere is the endpoint of a server without a network.
type nowhere struct{}

func (nowhere) Recv([]transport.Event) int                          { return 0 }
func (nowhere) Ready() <-chan struct{}                              { return nil }
func (nowhere) Send(transport.PeerID, []byte) error                 { return transport.ErrNoPeer }
func (nowhere) Flush()                                              {}
func (nowhere) Disconnect(transport.PeerID, transport.Code, string) {}
func (nowhere) Info(transport.PeerID, *transport.Info) bool         { return false }
func (nowhere) Close(transport.Code, string) error                  { return nil }
