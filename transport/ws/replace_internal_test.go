//go:build !js

package ws

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick/transport"
)

// busySocket accepts a message only when the test reads one.
type busySocket struct {
	socket
	begun chan struct{} // a write waits
	took  chan byte     // the last byte of each message that was written
}

func (s busySocket) writeMessage(b []byte) error {
	s.begun <- struct{}{}
	s.took <- b[len(b)-1]
	return nil
}

func (s busySocket) closeSocket(int, string) {}
func (s busySocket) abort()                  {}

// Datagrams that a connection has not sent when the next tick's come are replaced by these, and
// counted. Datagrams of one tick wait together, and those of one peer never replace those of another.
func TestNewestReplacesWhatWaits(t *testing.T) {
	for _, c := range []struct {
		name     string
		ticks    [][]byte // datagrams between two calls of Flush
		want     []byte   // what is sent
		replaced uint64
		together time.Duration
		slow     bool // slow lets the time of together pass within the third tick.
	}{
		{"a tick at a time", [][]byte{{1}, {2}, {3}, {4}}, []byte{1, 4}, 2, 0, false},
		{"several in a tick", [][]byte{{1}, {2, 3}, {4, 5, 6}}, []byte{1, 4, 5, 6}, 2, 0, false},
		{"a tick without any", [][]byte{{1}, {2}, {}, {}}, []byte{1, 2}, 0, 0, false},
		{"all in one tick", [][]byte{{1, 2, 3, 4}}, []byte{1, 2, 3, 4}, 0, 0, false},
		{"another match's Flush", [][]byte{{1}, {2}, {3}}, []byte{1, 2, 3}, 0, time.Hour, false},
		{"a tick sent slowly", [][]byte{{1}, {2}, {3, 4}}, []byte{1, 2, 3, 4}, 0, time.Hour, true},
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
					if c.slow && i == 2 {
						e.together = 0
					}
				}
				e.Flush()
				require.NoError(t, e.Send(peers[1].id, []byte{9})) // that connection sends nothing at all
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
			require.Equal(t, c.replaced, info.Stats.Replaced)
			require.Zero(t, info.Stats.SendDropped)
			require.Equal(t, uint64(len(c.want)), info.Stats.Sent)
			sent := len(slices.Concat(c.ticks...))
			require.EqualValues(t, sent-len(c.want), c.replaced)
			require.True(t, e.Info(peers[1].id, &info))
			if c.together == 0 {
				require.Equal(t, uint64(len(c.ticks)-1), info.Stats.Replaced)
			}
			require.Equal(t, c.replaced+info.Stats.Replaced, e.Counters().Replaced)
			require.Zero(t, e.Counters().Backlog)
			e.mu.Lock()
			p.state = over
			p.signalWake()
			e.mu.Unlock()
			<-ended
		})
	}
}
