package rollback

import (
	"errors"
	"fmt"
	"time"
	"unsafe"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/guard"
	"github.com/foretick/foretick/internal/settled"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/transport"
)

// Lockstep as [Config].Window predicts nothing: a tick runs once the inputs of all players are known.
const Lockstep = -1

// Config sets a [Peer] up. Protocol and Transport are required. Zero in any other field means the default named.
type Config struct {
	// Protocol is the declaration that all peers share. Required. New refuses what only servers do, such as
	// Server systems, messages and audiences, and names all of it.
	Protocol *foretick.Protocol
	// Transport is the endpoint that was dialled to the relay. Required. The peer closes it in Close.
	Transport transport.Endpoint
	// Redial makes a new connection to the relay after one was lost. The peer then has its place again, and
	// receives what it missed. nil ends the match with the connection.
	Redial func() (transport.Endpoint, error)
	// ResumeToken, when set, is what [Peer.ResumeToken] returned in an earlier process of the same player. The peer
	// takes that player's place if the relay still holds it, and the world of another player. Otherwise it joins as a
	// new player. nil joins as a new player.
	ResumeToken []byte
	// Sample reads the player's input, once a Step. nil gives zero commands.
	Sample Sampler
	// Observe makes the peer a spectator: it has no player and gives no input.
	Observe bool
	// Behind is how many ticks later a spectator sees the match. 0 means none. Negative is an error. At most
	// 36 000. Players leave it 0.
	Behind int
	// Tags are tags of systems to run, besides those without tags. All peers of a match must have the same.
	Tags []string
	// Window is how many ticks the peer may run ahead of the inputs that are known. If an input is missing for
	// longer, the match waits: see View.Waiting. 0 means 8. Negative is Lockstep. At most 32. All peers of a match
	// must have the same.
	Window int
	// DelayAbove is the time by which the peer runs ahead of others' inputs before it delays its own. The part of
	// the path beyond that becomes input delay in place of rollbacks. 0 means 50 ms. Negative never delays input
	// for that. At most 1 s.
	DelayAbove time.Duration
	// Delay is the input delay in ticks, whatever the path. 0 means that DelayAbove decides. Negative is an error.
	// At most 30. SetDelay changes it in play. In lockstep neither Delay nor DelayAbove has an effect: a tick runs once it
	// is settled.
	Delay int
	// Timeout is the silence of the relay after which the connection counts as lost. 0 means 5 s. Negative is an
	// error. 100 ms to 24 h.
	Timeout time.Duration
	// SendRate limits the data that is sent, in bytes a second. 0 means 32 000. Negative is an error. At most 2³⁰.
	SendRate int
	// MaxWorld is the most bytes of a world that a peer accepts when it joins late. 0 means 16 MiB. Negative is an
	// error. At most 1 GiB.
	MaxWorld int
	// MaxEntities is the most entities that such a world may have room for. 0 means 65 536. Negative is an error. At
	// most 8 million.
	MaxEntities int
	// OnDesync, when set, is called if the peer's world differs from another peer's after the same inputs: some
	// system is not deterministic, or code outside of systems writes the world. It is called within Step, once the
	// cause is found or the search for it is over, and not again while the worlds go on to differ: see Stats.Desyncs.
	OnDesync func(Desync)
	// Logger receives lost connections and desyncs. nil logs nothing.
	Logger interface {
		Info(msg string, args ...any)
		Warn(msg string, args ...any)
		Error(msg string, args ...any)
	}
}

const (
	defaultWindow     = 8
	defaultDelayAbove = 50 * time.Millisecond
	defaultMaxWorld   = 16 << 20
	defaultEntities   = 1 << 16

	mostDelay    = 30
	mostBehind   = 36_000
	mostMaxWorld = 1 << 30
	mostEntities = 8_000_000
)

// check fills in defaults and reports every fault at once.
func (c *Config) check() error {
	var errs []error
	fault := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("foretick: rollback.Config."+format, args...))
	}
	if c.Protocol == nil {
		fault("Protocol is nil")
	} else if err := c.Protocol.Err(); err != nil {
		errs = append(errs, err)
	} else {
		p := compiledOf(c.Protocol)
		errs = append(errs, refuseProtocol(p), p.CheckConfigTags("rollback.Config", c.Tags), c.checkSample(p))
	}
	if guard.Missing(c.Transport) {
		fault("Transport is nil: pass a dialled endpoint, for example udp.Dial, and look at its error first")
	}
	if c.Behind < 0 || c.Behind > mostBehind {
		fault("Behind is %d ticks: use 0 to %d, where 0 sees the match without delay", c.Behind, mostBehind)
	}
	if c.Delay < 0 || c.Delay > mostDelay {
		fault("Delay is %d ticks: use 0 to %d, where 0 lets DelayAbove decide", c.Delay, mostDelay)
	}
	errs = append(errs, checkNumber("rollback.Config.SendRate", &c.SendRate, 32_000, 1<<30),
		checkNumber("rollback.Config.MaxWorld", &c.MaxWorld, defaultMaxWorld, mostMaxWorld),
		checkNumber("rollback.Config.MaxEntities", &c.MaxEntities, defaultEntities, mostEntities))
	if c.Window == 0 {
		c.Window = defaultWindow
	}
	if c.Window > settled.MaxWindow {
		fault("Window is %d ticks: use up to %d, 0 for %d, or Lockstep", c.Window, settled.MaxWindow, defaultWindow)
	}
	c.Window = max(c.Window, 0)
	if c.DelayAbove == 0 {
		c.DelayAbove = defaultDelayAbove
	}
	if c.DelayAbove > time.Second {
		fault("DelayAbove is %v: use up to 1s, 0 for %v, or less to never delay input", c.DelayAbove, defaultDelayAbove)
	}
	if c.Timeout == 0 {
		c.Timeout = guard.DefaultTimeout
	}
	errs = append(errs, guard.Timeout("foretick: rollback.Config.Timeout", c.Timeout))
	switch {
	case c.ResumeToken != nil && len(c.ResumeToken) != len(settled.Welcome{}.Token):
		fault("ResumeToken has %d bytes: use what Peer.ResumeToken returned, or nil for a new player", len(c.ResumeToken))
	case c.Observe && c.ResumeToken != nil:
		fault("ResumeToken is set, but a spectator takes no player's place: leave it out, or do not set Observe")
	case c.Observe && c.Sample != nil:
		fault("Sample is set, but a spectator gives no input: leave it out, or do not set Observe")
	case !c.Observe && c.Behind > 0:
		fault("Behind is set, but only spectators see the match later: leave it out, or set Observe")
	}
	if c.Logger == nil {
		c.Logger = guard.Silent{}
	}
	return errors.Join(errs...)
}

// checkNumber fills in the default of a field, and returns an error if the field is out of its range.
func checkNumber(field string, v *int, byDefault, most int) error {
	if *v == 0 {
		*v = byDefault
	}
	if *v < 0 || *v > most {
		return fmt.Errorf("foretick: %s is %d: use 1 to %d, or 0 for %d", field, *v, most, byDefault)
	}
	return nil
}

func (c *Config) checkSample(p *compiled) error {
	if c.Sample == nil {
		return nil
	}
	if fault := c.Sample.fault(); fault != "" {
		return errors.New("foretick: rollback.Config.Sample: " + fault)
	}
	if h := c.Sample.handle(); p.Command == nil || !p.Types.Has(h) || h.ID() != p.Command.ID {
		return errors.New("foretick: rollback.Config.Sample is for a component that is not the protocol's Command: pass the component of the game value that made the Protocol")
	}
	return nil
}

// rules returns what all peers of a match must agree on.
func (c *Config) rules(p *compiled) settled.Rules {
	return settled.Rules{Rate: uint8(p.TickRate), Window: uint8(c.Window), Size: uint16(p.CommandSize()), Tags: tagsHash(c.Tags), Fields: commandFields(p)}
}

// clockConfig returns the configuration of the clock that follows the relay's.
func (c *Config) clockConfig(p *compiled) netcode.ClockConfig {
	return netcode.ClockConfig{TickRate: p.TickRate, History: 4096}
}

// Sampler reads a player's input into a command. Make one with [Sample].
type Sampler interface {
	sample(v View, dst unsafe.Pointer)
	handle() ecs.Handle
	fault() string // fault returns what is missing, or "".
}

// Sample returns a Sampler that calls fn. c is the protocol's command. fn receives the result of the Step before.
func Sample[T any](c *ecs.Component[T], fn func(View) T) Sampler { return sampleOf[T]{c, fn} }

type sampleOf[T any] struct {
	c  *ecs.Component[T]
	fn func(View) T
}

func (s sampleOf[T]) sample(v View, dst unsafe.Pointer) { *(*T)(dst) = s.fn(v) }

func (s sampleOf[T]) handle() ecs.Handle { return s.c }

func (s sampleOf[T]) fault() string {
	switch {
	case s.c == nil:
		return "Sample is given a nil component: pass the address of the command's"
	case s.fn == nil:
		return "Sample has no function: give it one that reads the input"
	}
	return ""
}
