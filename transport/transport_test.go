package transport_test

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"

	"github.com/foretick/foretick/transport"
)

func TestPeerID(t *testing.T) {
	p := transport.MakePeerID(7, 3)
	assert.Equal(t, 7, p.Slot())
	assert.EqualValues(t, 3, p.Generation())
	assert.Equal(t, "7#3", p.String())
	assert.NotZero(t, transport.MakePeerID(0, 1))
}

func TestErrors(t *testing.T) {
	assert.ErrorIs(t, transport.ErrClosed, net.ErrClosed)
	var err error = &transport.TooBigError{Size: 1300, Limit: 1191}
	assert.ErrorIs(t, err, transport.ErrTooBig)
	assert.ErrorContains(t, err, "1300 bytes exceeds the limit of 1191")
	err = fmt.Errorf("join: %w", &transport.DisconnectError{Code: transport.Kicked, Reason: "a\nb"})
	assert.ErrorIs(t, err, net.ErrClosed)
	assert.Equal(t, `join: foretick: disconnected: kicked: "a\nb"`, err.Error())
	assert.Equal(t, transport.Kicked, transport.CloseCode(err))
	assert.Equal(t, transport.None, transport.CloseCode(errors.New("x")))
}

// Codes travel, so their numbers must not move.
func TestCodesHaveTheirNumbers(t *testing.T) {
	for i, name := range []string{"none", "closed", "timeout", "refused", "kicked", "full", "mismatch", "protocol", "unreachable",
		"replaced", "malformed", "gone", "overflow", "restart", "code 14"} {
		assert.Equal(t, name, transport.Code(i).String())
	}
	assert.Equal(t, "code 256", transport.FirstUserCode.String())
	assert.Equal(t, "connected data disconnected event 9", fmt.Sprint(transport.Connected, " ", transport.Data, " ",
		transport.Disconnected, " ", transport.EventKind(9)))
}

func TestCutReason(t *testing.T) {
	assert.Equal(t, "short", transport.CutReason("short"))
	for _, s := range []string{"x", "ö", "漢", "🎮", "a🎮", "\x80"} {
		long := strings.Repeat(s, 300)
		cut := transport.CutReason(long)
		assert.LessOrEqual(t, len(cut), transport.MaxReason)
		assert.GreaterOrEqual(t, len(cut), transport.MaxReason-4)
		assert.True(t, strings.HasPrefix(long, cut))
		assert.Equal(t, utf8.ValidString(long), utf8.ValidString(cut), s)
	}
}

// end is an endpoint that nobody calls.
type end struct{ transport.Endpoint }

// limited and barred are ends that can do one thing each.
type limited struct {
	end
	most int
}

func (l *limited) MaxPeers() int { return l.most }

type barred struct{ end }

func (*barred) DisconnectIdentity([]byte, transport.Code, string) bool { return true }
func (*barred) Ban([]byte, time.Time, string)                          {}
func (*barred) Unban([]byte)                                           {}

// around is a wrapper.
type around struct {
	end
	inside transport.Endpoint
}

func (w *around) Unwrap() transport.Endpoint { return w.inside }

// limits is a wrapper that has a limit of its own.
type limits struct{ around }

func (*limits) MaxPeers() int { return 3 }

func TestAs(t *testing.T) {
	most := func(e transport.Endpoint) int {
		if l, ok := transport.As[transport.Limited](e); ok {
			return l.MaxPeers()
		}
		return -1
	}
	ten := &limited{most: 10}
	for _, c := range []struct {
		name string
		of   transport.Endpoint
		most int
	}{
		{"nil", nil, -1},
		{"it can", ten, 10},
		{"it cannot", &barred{}, -1},
		{"wrapped", &around{inside: ten}, 10},
		{"wrapped twice", &around{inside: &around{inside: ten}}, 10},
		{"around nothing", &around{}, -1},
		{"the outermost counts", &around{inside: &limits{around{inside: ten}}}, 3},
		{"another thing", &around{inside: &barred{}}, -1},
	} {
		assert.Equal(t, c.most, most(c.of), c.name)
	}
	b, ok := transport.As[transport.BanList](&limits{around{inside: &barred{}}})
	assert.True(t, ok && b.DisconnectIdentity(nil, 0, ""))
	inner, ok := transport.As[*limited](&around{inside: ten})
	assert.True(t, ok)
	assert.Same(t, ten, inner)
}
