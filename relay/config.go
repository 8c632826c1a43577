package relay

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/foretick/foretick/internal/guard"
	"github.com/foretick/foretick/internal/settled"
	"github.com/foretick/foretick/transport"
)

// Config sets a Relay up. Transport is required. Zero in any other field means the default named.
// What the game decides, such as its tick rate, peers say themselves.
type Config struct {
	// Transport is the listening endpoint that peers connect through. Required. The relay reads it, and
	// closes it only in Close.
	Transport transport.Endpoint
	// Players is how many peers may play at once. More are refused. 0 means 2. Negative is an error. At
	// most 64.
	Players int
	// MaxObservers is how many peers may watch the match and not play. More are refused. 0 means 16.
	// Negative lets nobody watch. At most 4096.
	MaxObservers int
	// Wait is how long the relay waits for a player's input after its clock reached a tick. Then another
	// input stands in for it: see RepeatInput. The relay does not wait again for a player that made it
	// wait, until an input of that player comes in time. 0 means the time of the window of ticks that
	// peers run ahead, or 250 ms in lockstep. Negative means that the relay never waits. At most 1 s.
	Wait time.Duration
	// RepeatInput is for how long a missing input is replaced by the player's last one, without its
	// presses. After that time it is zero: the player idles. 0 means 250 ms. Negative never repeats. At
	// most 10 s.
	RepeatInput time.Duration
	// Timeout is the silence after which a player leaves the match, in the same tick for everybody. Until
	// then its place is held for it. 0 means 10 s. Negative is an error. 100 ms to 24 h.
	Timeout time.Duration
	// History is for how long the relay keeps settled inputs. A peer whose newest settled tick is older
	// gets the world of a player. 0 means 60 s. Negative is an error. 10 s to 4 min.
	History time.Duration
	// CloseAfter is the time without a match after which the relay closes itself, as each relay of a host should:
	// a host forgets a match that has closed. 0 means never: the relay waits for the next match. Negative is an
	// error. At most 24 h.
	CloseAfter time.Duration
	// MaxWorld is the largest world that a peer who joins late may get, in bytes. 0 means 16 MiB.
	// Negative is an error. At most 1 GiB. A world must also arrive within History, at SendRate of the relay and of
	// the player that sends it, in which ticks and inputs are sent too. By default that is 1.7 MB, since
	// players send 32 000 bytes a second. A peer whose world is too long or comes too late is dropped
	// with [transport.Overflow], and the reason names what to raise: see Stats.WorldsFailed.
	MaxWorld int
	// SendRate limits the data sent to one peer, in bytes a second of the transport's payload. 0 means
	// 64 000. Negative is an error. At most 2³⁰.
	SendRate int
	// Rand is the source of the tokens with which players come back to their places, and of the match's
	// seed. nil means crypto/rand.Reader, which tests replace to play the same match again.
	Rand io.Reader
	// Logger, when set, logs who joins and leaves and why, and whose world differs.
	Logger *slog.Logger
}

// within sets a number to its default, and returns an error if it is outside of its limits.
func within[N ~int | ~int64](name string, n *N, least, most, byDefault N) error {
	if *n == 0 {
		*n = byDefault
	}
	if *n < least || *n > most {
		return fmt.Errorf("foretick: relay.Config.%s is %v: use %v to %v, or 0 for %v", name, *n, least, most, byDefault)
	}
	return nil
}

// upTo sets a number to its default. It returns an error if it is too great, and leaves negative ones.
func upTo[N ~int | ~int64](name string, n *N, most, byDefault N) error {
	if *n == 0 {
		*n = byDefault
	}
	if *n > most {
		return fmt.Errorf("foretick: relay.Config.%s is %v: use up to %v, 0 for %v, or less for none", name, *n, most, byDefault)
	}
	return nil
}

// lockstepWait is the default of Wait for peers that run no tick ahead.
const lockstepWait = 250 * time.Millisecond

// check fills in defaults and reports every fault at once. The default of Wait is the first player's.
func (c *Config) check() error {
	var errs []error
	if guard.Missing(c.Transport) {
		errs = append(errs, errors.New("foretick: relay.Config.Transport is nil: pass a listening endpoint, for example udp.Listen, and look at its error first"))
	}
	if c.Wait > time.Second {
		errs = append(errs, fmt.Errorf("foretick: relay.Config.Wait is %v: use up to 1s, 0 for the time of the window, or less for none", c.Wait))
	}
	if c.CloseAfter < 0 || c.CloseAfter > guard.LongestTimeout {
		errs = append(errs, fmt.Errorf("foretick: relay.Config.CloseAfter is %v: use up to %v, or 0 for a relay that stays", c.CloseAfter, guard.LongestTimeout))
	}
	errs = append(errs,
		within("Players", &c.Players, 1, settled.MaxPlaces, 2),
		upTo("MaxObservers", &c.MaxObservers, 4096, 16),
		upTo("RepeatInput", &c.RepeatInput, 10*time.Second, 250*time.Millisecond),
		within("Timeout", &c.Timeout, guard.LeastTimeout, guard.LongestTimeout, 10*time.Second),
		within("History", &c.History, 10*time.Second, 4*time.Minute, time.Minute),
		within("MaxWorld", &c.MaxWorld, 1, 1<<30, 16<<20),
		within("SendRate", &c.SendRate, 1, 1<<30, 64_000))
	if c.Rand == nil {
		c.Rand = rand.Reader
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return errors.Join(errs...)
}

// draw fills b from Rand. If that has nothing left, it draws as crypto/rand does.
func (c *Config) draw(b []byte) {
	if _, err := io.ReadFull(c.Rand, b); err != nil {
		_, _ = rand.Read(b)
	}
}
