package simtest

import (
	"fmt"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/client"
)

// Checker watches a match and reports violations. Pass it to [Match.Watch]; the
// first error ends the match. A checker serves one match.
type Checker interface {
	// Tick runs after each of the server's ticks.
	Tick(m *Match) error
}

// QuietChecker is a Checker that also looks at quiet points: there has been no action and
// no fault for long enough that both ends agree.
type QuietChecker interface {
	Checker
	Quiet(m *Match) error
}

// WorkedChecker is a Checker that also says in one line what it checked. It returns an error
// when that was nothing: a checker that never looked proves nothing.
type WorkedChecker interface {
	Checker
	Worked(m *Match) (string, error)
}

// PacketChecker is a Checker that also inspects packets.
type PacketChecker interface {
	Checker
	// Packet is called for each packet when it is sent; from and to are endpoint
	// numbers, see [Match.Owner]. b is valid during the call.
	Packet(m *Match, from, to int, b []byte) error
}

// MessageChecker is a Checker that also follows the reliable messages.
type MessageChecker interface {
	Checker
	Sent(m *Match, s MessageSent)
	Received(m *Match, c *client.Client, r MessageReceived) error
}

// RequestChecker is a Checker that also follows players' requests.
type RequestChecker interface {
	Checker
	Asked(m *Match, c *client.Client, r RequestSent)
	Handling(m *Match, r RequestTaken) error
}

// Watch adds checkers that follow the match from now on. A [PredictionChecker]
// follows only the clients that join later.
func (m *Match) Watch(checkers ...Checker) {
	for _, c := range checkers {
		m.checkers = append(m.checkers, c)
		if p, ok := c.(PacketChecker); ok {
			m.packets = append(m.packets, p)
		}
		if p, ok := c.(MessageChecker); ok {
			m.messages = append(m.messages, p)
		}
		if p, ok := c.(RequestChecker); ok {
			m.asks = append(m.asks, p)
		}
		if p, ok := c.(PredictionChecker); ok {
			m.wrongs = append(m.wrongs, p)
		}
	}
}

// Quiet runs the Quiet method of every [QuietChecker]; the match must be at rest.
func (m *Match) Quiet() error {
	m.each(func(c Checker, m *Match) error {
		if q, ok := c.(QuietChecker); ok {
			return q.Quiet(m)
		}
		return nil
	})
	return m.err
}

// Worked returns the line of each [WorkedChecker]; the error comes from one that had nothing
// to check.
func (m *Match) Worked() ([]string, error) {
	var lines []string
	for _, c := range m.checkers {
		w, ok := c.(WorkedChecker)
		if !ok {
			continue
		}
		line, err := w.Worked(m)
		if err != nil {
			return lines, m.faultOf(c, err)
		}
		lines = append(lines, line)
	}
	return lines, nil
}

// worked records what the checkers did, and returns an error if too little happened.
func (d *director) worked() (err error) {
	if d.out.Worked, err = d.m.Worked(); !d.m.played {
		return errUnplayed // anything else that was idle follows from this
	}
	d.out.Unset, d.out.Unmatched = unused(d.m.activity.Command), unused(d.m.activity.Systems)
	d.out.Tapped = d.taps.names()
	if still := d.m.still(); err == nil && still != nil && !d.plan.Idle {
		return still
	}
	return err
}

// Err returns the first violation that a checker found, or the first panic of the
// game, as a *Fault; nil if there is none.
func (m *Match) Err() error { return m.err }

// Fault is a violation that a checker found, or a panic of the game.
type Fault struct {
	Checker Checker       // the checker that found the fault; nil: the game's code panicked
	At      time.Duration // virtual time of the match
	Tick    foretick.Tick // tick of the server; 0 while there is no server
	Err     error         // the violation, or the panic
}

// Error implements error.
func (f *Fault) Error() string {
	if f.Checker == nil {
		return fmt.Sprintf("after %v, tick %d: %v", f.At, f.Tick, f.Err)
	}
	return fmt.Sprintf("%T after %v, tick %d: %v", f.Checker, f.At, f.Tick, f.Err)
}

// Unwrap returns the checker's error.
func (f *Fault) Unwrap() error { return f.Err }

func (m *Match) each(run func(Checker, *Match) error) {
	for _, c := range m.checkers {
		m.recordFault(c, run(c, m))
	}
}

// recordFault records the first fault.
func (m *Match) recordFault(c Checker, err error) {
	if err == nil || m.err != nil {
		return
	}
	m.err = m.faultOf(c, err)
}

// faultOf returns a Fault with the current time and tick.
func (m *Match) faultOf(c Checker, err error) *Fault {
	f := &Fault{Checker: c, At: m.Net.Now(), Err: err}
	if m.server != nil {
		f.Tick = m.server.Tick()
	}
	return f
}
