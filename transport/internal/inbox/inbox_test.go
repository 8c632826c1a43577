package inbox_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/internal/inbox"
)

func push(in *inbox.Inbox, q *inbox.Queue, v byte) bool {
	buf := in.Buffer()
	buf[0] = v
	return in.Push(q, buf, buf[:1])
}

func recv(in *inbox.Inbox, n int) []transport.Event {
	ev := make([]transport.Event, n)
	return ev[:in.Recv(ev)]
}

func TestPeersTakeTurns(t *testing.T) {
	in := inbox.New(16, 100)
	loud, quiet := in.Add(1, false), in.Add(2, false)
	for i := range byte(50) {
		push(in, loud, i)
	}
	push(in, quiet, 77)
	ev := recv(in, 2)
	assert.EqualValues(t, 1, ev[0].Peer)
	assert.EqualValues(t, 2, ev[1].Peer)
	assert.Equal(t, []byte{77}, ev[1].Data)
}

func TestTheOldestGoes(t *testing.T) {
	in := inbox.New(16, 3)
	q := in.Add(1, true)
	for i := range byte(5) {
		assert.Equal(t, i >= 3, push(in, q, i))
	}
	in.End(q, transport.Kicked, "out")
	ev := recv(in, 9)
	require.Len(t, ev, 5)
	assert.Equal(t, transport.Connected, ev[0].Kind)
	for i := range byte(3) {
		assert.Equal(t, []byte{i + 2}, ev[1+i].Data)
	}
	assert.Equal(t, transport.Event{Kind: transport.Disconnected, Peer: 1, Code: transport.Kicked, Reason: "out"}, ev[4])
	assert.Zero(t, in.Open())
}

func TestSignal(t *testing.T) {
	in := inbox.New(16, 10)
	q := in.Add(1, false)
	assert.Empty(t, in.Ready())
	push(in, q, 1)
	push(in, q, 2)
	assert.Len(t, in.Ready(), 1)
	<-in.Ready()
	recv(in, 1)
	assert.Len(t, in.Ready(), 1, "something is left")
	<-in.Ready()
	recv(in, 9)
	assert.Empty(t, in.Ready())
}

// In all cases the events of a peer come in order, and none comes after the peer was dropped.
func TestInboxAgreesWithAModel(t *testing.T) {
	const limit = 4
	rapid.Check(t, func(t *rapid.T) {
		in := inbox.New(8, limit)
		type peer struct {
			id   transport.PeerID
			q    *inbox.Queue
			want []byte // kinds and data that are expected: 0xF0 connected, 0xFF disconnected
			data int
		}
		var peers []*peer
		byID := make(map[transport.PeerID]*peer)
		next := transport.PeerID(0)
		for i := range 150 {
			switch op := rapid.IntRange(0, 9).Draw(t, "op"); {
			case op == 0 && len(peers) < 6:
				next++
				p := &peer{id: next, q: in.Add(next, true), want: []byte{0xF0}}
				peers = append(peers, p)
				byID[next] = p
			case op <= 5 && len(peers) > 0:
				p := rapid.SampledFrom(peers).Draw(t, "p")
				over := push(in, p.q, byte(i))
				if over != (p.data == limit) {
					t.Fatal("overrun told wrongly")
				}
				if p.data == limit {
					at := len(p.want) - limit
					p.want = append(p.want[:at], p.want[at+1:]...)
					p.data--
				}
				p.want = append(p.want, byte(i))
				p.data++
			case op == 6 && len(peers) > 0:
				k := rapid.IntRange(0, len(peers)-1).Draw(t, "k")
				p := peers[k]
				peers = append(peers[:k], peers[k+1:]...)
				if rapid.Bool().Draw(t, "here") {
					in.Drop(p.q)
					delete(byID, p.id)
				} else {
					in.End(p.q, transport.Closed, "")
					p.want = append(p.want, 0xFF)
				}
			default:
				for _, ev := range recv(in, rapid.IntRange(0, 10).Draw(t, "n")) {
					p := byID[ev.Peer]
					if p == nil || len(p.want) == 0 {
						t.Fatalf("unexpected %v", ev)
					}
					got := byte(0xF0)
					switch ev.Kind {
					case transport.Data:
						got = ev.Data[0]
						p.data--
					case transport.Disconnected:
						got = 0xFF
					}
					if got != p.want[0] {
						t.Fatalf("got %x, want %x", got, p.want)
					}
					p.want = p.want[1:]
				}
			}
		}
		left := 0
		for _, p := range byID {
			left += len(p.want)
		}
		if n := len(recv(in, 1000)); n != left {
			t.Fatalf("%d events left, want %d", n, left)
		}
		if in.Open() != len(peers) {
			t.Fatalf("%d queues open for %d peers", in.Open(), len(peers))
		}
	})
}

func TestSteadyStateDoesNotAllocate(t *testing.T) {
	costtest.Allocations(t)
	in := inbox.New(1280, 100)
	q := in.Add(1, true)
	ev := make([]transport.Event, 16)
	round := func() {
		for i := range byte(10) {
			push(in, q, i)
		}
		in.Recv(ev)
	}
	round()
	round()
	assert.Zero(t, testing.AllocsPerRun(100, round))
}
