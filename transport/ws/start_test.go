//go:build !js

package ws

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// locking is a socket whose close locks the endpoint, as that of a listener's connection does.
type locking struct {
	socket
	srv   *Server
	freed bool
}

func (l *locking) abort()      { l.srv.withLock(func() {}) }
func (l *locking) freeSocket() { l.srv.withLock(func() { l.freed = true }) }

// A connection that was cut off while the server replied to its handshake is released without delaying
// the endpoint.
func TestCutOffDuringTheHandshake(t *testing.T) {
	srv, err := NewServer(Config{})
	require.NoError(t, err)
	defer srv.Close(0, "")
	p := newPeer()
	require.Zero(t, srv.reserve(p))
	srv.withLock(func() { srv.cut(p) })
	sock := &locking{srv: srv}
	srv.startPeer(p, sock)
	assert.True(t, sock.freed)
	assert.Zero(t, Held(&srv.Endpoint))
}
