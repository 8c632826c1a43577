package transport_test

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
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
	err = fmt.Errorf("join: %w", &transport.CloseError{Code: transport.Kicked, Detail: "a\nb"})
	assert.ErrorIs(t, err, net.ErrClosed)
	assert.Equal(t, `join: connection ended: kicked "a\nb"`, err.Error())
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

func TestCutDetail(t *testing.T) {
	assert.Equal(t, "short", transport.CutDetail("short"))
	for _, s := range []string{"x", "ö", "漢", "🎮", "a🎮", "\x80"} {
		long := strings.Repeat(s, 300)
		cut := transport.CutDetail(long)
		assert.LessOrEqual(t, len(cut), transport.MaxDetail)
		assert.GreaterOrEqual(t, len(cut), transport.MaxDetail-4)
		assert.True(t, strings.HasPrefix(long, cut))
		assert.Equal(t, utf8.ValidString(long), utf8.ValidString(cut), s)
	}
}
