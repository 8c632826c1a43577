//go:build !js

package ws

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// locking is a socket whose end takes the endpoint's lock, as that of a listener's connection does.
type locking struct {
	socket
	srv   *Server
	freed bool
}

func (l *locking) abort() { l.srv.note(func() {}) }
func (l *locking) free()  { l.srv.note(func() { l.freed = true }) }

// A connection that was cut off while its handshake was answered is let go of, without holding up the endpoint.
func TestCutOffDuringTheHandshake(t *testing.T) {
	srv, err := NewServer(Config{})
	require.NoError(t, err)
	defer srv.Close(0, "")
	p := newPeer()
	require.Zero(t, srv.reserve(p))
	srv.note(func() { srv.cut(p) })
	sock := &locking{srv: srv}
	srv.start(p, sock)
	assert.True(t, sock.freed)
	assert.Zero(t, Held(&srv.Endpoint))
}
