package netcode_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/netcode"
)

// TestPress: a packet may be pressed beyond the rate up to the MTU, and the rate
// makes up for it.
func TestPress(t *testing.T) {
	c := netcode.NewConn(netcode.Config{Rate: 4000, MTU: 1000})
	for range 10 { // the bucket is emptied
		p := c.Begin(0)
		p.Message(99, make([]byte, p.Room()))
		p.Finish()
	}
	p := c.Begin(0)
	require.Less(t, p.Room(), 70)
	require.Greater(t, p.MostRoom(), 900)
	body := make([]byte, p.MostRoom())
	require.False(t, p.Message(99, body))
	p.Press()
	require.True(t, p.Message(99, body))
	_, b := p.Finish()
	require.LessOrEqual(t, len(b), 1000)
	p.Press() // it is closed: nothing happens
	p = c.Begin(200 * time.Millisecond)
	require.Less(t, p.Room(), 70, "800 bytes of debt are not paid yet")
	p.Finish()
	p = c.Begin(500 * time.Millisecond)
	require.Greater(t, p.Room(), 300)
}
