package ws

import (
	"bytes"
	"encoding/hex"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/transport"
)

var golden = []struct {
	name, hex string
	b         []byte
}{
	{"hello", "017469636b6574", append([]byte{typeHello}, "ticket"...)},
	{"end", "0401016869", appendEnd(nil, transport.FirstUserCode+1, "hi")},
}

func TestGoldenVectors(t *testing.T) {
	doc, err := os.ReadFile("../../docs/STANDARD-ws.md")
	require.NoError(t, err)
	for _, g := range golden {
		assert.Equal(t, g.hex, hex.EncodeToString(g.b), g.name)
		assert.Contains(t, string(doc), "`"+g.hex+"`")
	}
	token, err := parseHello(golden[0].b)
	require.NoError(t, err)
	assert.Equal(t, "ticket", string(token))
	c, reason, err := parseEnd(golden[1].b)
	require.NoError(t, err)
	assert.Equal(t, transport.FirstUserCode+1, c)
	assert.Equal(t, "hi", reason)
	assert.Contains(t, string(doc), Subprotocol)
}

// A code with a matching status is the same after the round trip, for clients that only read close
// frames.
func TestStatusAndBack(t *testing.T) {
	for c := transport.Code(0); c < 2000; c++ {
		s := status(c)
		require.True(t, s == statusNormal || s >= 3000 && s < 5000, "a browser's script may not close with %d", s)
		if s == statusOther {
			require.GreaterOrEqual(t, int(c), 999)
			continue
		}
		if s == statusNormal {
			require.Equal(t, transport.Unreachable, codeOf(s), "a proxy closes with it, too")
			continue
		}
		require.Equal(t, c, codeOf(s))
	}
	for s := range 1 << 16 {
		require.NotPanics(t, func() { _ = codeOf(s) }, "whatever it is")
	}
}

func TestReasonFits(t *testing.T) {
	for _, s := range []string{"x", "ö", "漢", "🎮", "a🎮", "\xff"} {
		r := closeReason(strings.Repeat(s, 200))
		assert.LessOrEqual(t, len(r), maxReason)
		if utf8.ValidString(s) {
			assert.Greater(t, len(r), maxReason-4)
		}
		assert.True(t, utf8.ValidString(r))
	}
	assert.Equal(t, "short", closeReason("short"))
}

// The queue holds the newest datagrams, whole and in order, as a slice would. The first of a batch replaces those of
// the batches before.
func TestQueue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(100, 9000).Draw(t, "limit")
		var q queue
		var want [][]byte
		size := 0
		next, batch, newest := byte(0), uint64(0), uint64(0)
		t.Repeat(map[string]func(*rapid.T){
			"flush": func(*rapid.T) { batch++ },
			"push": func(t *rapid.T) {
				next++
				replaced := 0
				if batch != newest {
					newest, replaced, size, want = batch, len(want), 0, nil
				}
				b := bytes.Repeat([]byte{next}, rapid.IntRange(0, min(1200, limit-lengthSize)).Draw(t, "size"))
				want = append(want, b)
				size += lengthSize + len(b)
				dropped := 0
				for ; size > limit; dropped++ {
					size -= lengthSize + len(want[0])
					want = want[1:]
				}
				r, d := q.pushDatagram(b, batch, limit)
				require.Equal(t, replaced, r)
				require.Equal(t, dropped, d)
			},
			"pop": func(t *rapid.T) {
				b, ok := q.pop([]byte("x"))
				require.Equal(t, len(want) > 0, ok)
				if ok {
					require.Equal(t, append([]byte("x"), want[0]...), b)
					size -= lengthSize + len(want[0])
					want = want[1:]
				}
			},
			"": func(t *rapid.T) {
				require.Equal(t, len(want), q.waiting)
				require.Equal(t, size, q.n)
				require.LessOrEqual(t, len(q.ring), max(4096, 2*limit))
			},
		})
	})
}

func TestQueueAllocatesOnce(t *testing.T) {
	costtest.Allocations(t)
	var q queue
	b, buf := make([]byte, 500), make([]byte, 0, 2000)
	round := func() {
		for range 100 {
			q.pushDatagram(b, 0, 16<<10)
		}
		for ok := true; ok; {
			_, ok = q.pop(buf)
		}
	}
	round()
	assert.Zero(t, testing.AllocsPerRun(10, round))
}

// FuzzMessages passes a message to a server and to a client in each state, as their readers do.
func FuzzMessages(f *testing.F) {
	for _, g := range golden {
		f.Add(g.b)
	}
	f.Add([]byte{typeAccept})
	f.Add([]byte{typeAlive, 1})
	f.Add([]byte{typeData, 1, 2, 3})
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > maxMessage {
			b = b[:maxMessage]
		}
		for _, client := range []bool{false, true} {
			for _, s := range []state{greeting, open, leaving, ended, over} {
				e := &Endpoint{}
				e.init(Config{}.withDefaults())
				p := newPeer()
				p.state = s
				if client {
					e.dial = p
				}
				if client || s == open {
					p.id = e.peers.Add(p)
					p.q = e.in.Add(p.id, s == open)
				}
				buf := append(make([]byte, 0, bufferSize), b...)[:bufferSize]
				costtest.Bound(t, len(b), func() { e.takeMessage(p, buf, len(b)) })
				var ev [4]transport.Event
				n := e.Recv(ev[:])
				for _, ev := range ev[:n] {
					if len(ev.Reason) > 3*transport.MaxReason || !utf8.ValidString(ev.Reason) {
						t.Fatalf("reason %q", ev.Reason)
					}
				}
				if s > open && n > 0 {
					t.Fatalf("events after the end: %v", ev[0])
				}
			}
		}
	})
}
