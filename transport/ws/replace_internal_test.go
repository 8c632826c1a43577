//go:build !js

package ws

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/transport"
)

// busySocket takes a message when the test reads one.
type busySocket struct {
	socket
	begun chan struct{} // a write waits
	took  chan byte     // the last byte of what was written
}

func (s busySocket) writeMessage(b []byte) error {
	s.begun <- struct{}{}
	s.took <- b[len(b)-1]
	return nil
}

func (s busySocket) closeSocket(int, string) {}
func (s busySocket) abort()                  {}

// What a connection has not taken when the next tick's datagrams come is replaced by them, and
// counted. Datagrams of one tick wait together, and nobody's traffic replaces that of another.
func TestNewestReplacesWhatWaits(t *testing.T) {
	for _, c := range []struct {
		name     string
		ticks    [][]byte // datagrams between two calls of Flush
		want     []byte   // what leaves
		replaced uint64
		together time.Duration
	}{
		{"a tick at a time", [][]byte{{1}, {2}, {3}, {4}}, []byte{1, 4}, 2, 0},
		{"several in a tick", [][]byte{{1}, {2, 3}, {4, 5, 6}}, []byte{1, 4, 5, 6}, 2, 0},
		{"a tick without any", [][]byte{{1}, {2}, {}, {}}, []byte{1, 2}, 0, 0},
		{"all in one tick", [][]byte{{1, 2, 3, 4}}, []byte{1, 2, 3, 4}, 0, 0},
		{"another match's Flush", [][]byte{{1}, {2}, {3}}, []byte{1, 2, 3}, 0, time.Hour},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := &Endpoint{}
			e.init(Config{}.withDefaults())
			e.together = c.together
			var peers [2]*peer
			for i := range peers {
				p := newPeer()
				p.state, p.sock = open, busySocket{begun: make(chan struct{}), took: make(chan byte)}
				p.id = e.peers.Add(p)
				p.q = e.in.Add(p.id, true)
				peers[i] = p
			}
			p := peers[0]
			sock := p.sock.(busySocket)
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				e.writeWaiting(p)
			}()
			for i, tick := range c.ticks {
				for j, b := range tick {
					require.NoError(t, e.Send(p.id, []byte{b}))
					if i == 0 && j == 0 {
						<-sock.begun
					}
				}
				e.Flush()
				require.NoError(t, e.Send(peers[1].id, []byte{9})) // that connection takes nothing at all
			}
			var got []byte
			for range c.want {
				got = append(got, <-sock.took)
				if len(got) < len(c.want) {
					<-sock.begun
				}
			}
			require.Equal(t, c.want, got)
			var info transport.Info
			require.True(t, e.Info(p.id, &info))
			require.Equal(t, c.replaced, info.Stats.SendDropped)
			require.Equal(t, uint64(len(c.want)), info.Stats.Sent)
			sent := len(slices.Concat(c.ticks...))
			require.EqualValues(t, sent-len(c.want), c.replaced)
			require.True(t, e.Info(peers[1].id, &info))
			if c.together == 0 {
				require.Equal(t, uint64(len(c.ticks)-1), info.Stats.SendDropped)
			}
			require.Equal(t, c.replaced+info.Stats.SendDropped, e.Counters().Replaced)
			require.Zero(t, e.Counters().Backlog)
			e.mu.Lock()
			p.state = over
			p.signalWake()
			e.mu.Unlock()
			<-ended
		})
	}
}
