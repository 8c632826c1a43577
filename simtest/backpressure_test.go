package simtest_test

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/transport/sim"
)

// purchase is a packed one: an item of 7 bits, and a number.
func purchase(n int) []byte { return binary.LittleEndian.AppendUint32(nil, 7|uint32(n)<<7)[:3] }

// asker is a rogue that has sent more purchase requests than allowed at once; the
// server accepts 576.
func asker(t *testing.T, m *simtest.Match, n int) (*rogue, *shop) {
	t.Helper()
	srv := &shop{}
	_, err := m.Serve(server.Config{Protocol: srv.protocol()})
	require.NoError(t, err)
	p := new(shop).protocol()
	require.NoError(t, p.Err())
	link := sim.Link{Latency: 20 * time.Millisecond}
	c := &rogue{endpoint: m.Dial(link, link), hash: p.Hash()}
	sent := 0
	c.add = func(*netcode.Packet) {
		for ; sent < n; sent++ {
			require.NoError(t, c.conn.SendOn(0, c.newest, 1, purchase(sent)))
		}
	}
	return c, srv
}

func (c *rogue) play(m *simtest.Match, upto time.Duration) {
	for now := m.Net.Now(); now < upto; now += time.Second / 60 {
		m.Run(now)
		c.stepRogue(now)
	}
}

// Requests that come sooner than the server's allowance permits wait in the connection:
// they are acknowledged, and none is lost.
func TestRequestsBeyondTheAllowanceWait(t *testing.T) {
	m := simtest.New(1)
	c, srv := asker(t, m, 800)
	c.play(m, 4*time.Second)
	require.True(t, c.joined())
	require.Zero(t, c.conn.Pending(), "all are acknowledged")
	require.Greater(t, len(srv.bought), 576)
	require.Less(t, len(srv.bought), 750)
	c.play(m, 14*time.Second)
	require.Nil(t, c.gone)
	require.Len(t, srv.bought, 800)
	for i, n := range srv.bought {
		require.EqualValues(t, i, n)
	}
}

// Requests that wait when the connection is lost are kept: those of the new connection
// follow them, and the waiting ones still count against the allowance.
func TestRequestsThatWaitSurviveTheirConnection(t *testing.T) {
	m := simtest.New(1)
	c, srv := asker(t, m, 800)
	c.play(m, 3*time.Second)
	require.Zero(t, c.conn.Pending())
	require.Less(t, len(srv.bought), 750)
	link := sim.Link{Latency: 20 * time.Millisecond}
	again := &rogue{endpoint: m.Dial(link, link), hash: c.hash, resume: c.welcome.Resume, taken: []uint32{0, 0}}
	again.play(m, 4*time.Second)
	require.True(t, again.joined())
	require.Equal(t, c.welcome.Owner, again.welcome.Owner)
	require.EqualValues(t, 800, again.welcome.Taken)
	require.Len(t, srv.bought, 800)
	_ = again.conn.SendOn(0, again.newest, 1, purchase(800))
	again.play(m, 5*time.Second)
	require.Len(t, srv.bought, 800, "what was taken in with the connection is paid for")
	again.play(m, 14*time.Second)
	require.Len(t, srv.bought, 801)
}
