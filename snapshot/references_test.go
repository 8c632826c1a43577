package snapshot_test

import (
	"testing"

	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
	"github.com/stretchr/testify/require"
)

// asked maps references as a viewer does, and notes which it was asked for.
type asked struct{ refs []uint32 }

func (asked) Net(uint64) uint32 { return 0 }

func (a *asked) Entity(r uint32) uint64 {
	a.refs = append(a.refs, r)
	return uint64(r)
}

// TestUnknownReference: a reference to what the viewer does not know (hidden, not
// near, never put, in the source for the first time, gone) is none to him, and the
// bytes that he is sent are the same whichever it is, however often it changes.
func TestUnknownReference(t *testing.T) {
	const (
		follower, other = snapshot.NetID(1), snapshot.NetID(2)
		hiddenOne       = snapshot.NetID(30)
		hiddenTwo       = snapshot.NetID(40)
		never           = snapshot.NetID(7777)
		goes            = snapshot.NetID(50)
	)
	worlds := map[string]func(tick schema.Tick) snapshot.NetID{
		"none":         func(schema.Tick) snapshot.NetID { return 0 },
		"a hidden one": func(schema.Tick) snapshot.NetID { return hiddenOne },
		"another":      func(schema.Tick) snapshot.NetID { return hiddenTwo },
		"never put":    func(schema.Tick) snapshot.NetID { return never },
		"gone":         func(schema.Tick) snapshot.NetID { return goes },
		"one after the other": func(tick schema.Tick) snapshot.NetID {
			return []snapshot.NetID{hiddenOne, 0, hiddenTwo, never, goes}[tick%5]
		},
	}
	for _, relevance := range []bool{false, true} {
		var want [][]byte
		for name, target := range worlds {
			p := newPlay(t, 1)
			if relevance {
				p.sender = p.src.NewSender(1, snapshot.SenderConfig{Relevant: true})
				p.sender.SetRelevant(follower, true)
				p.sender.SetRelevant(other, true)
			} else {
				for _, id := range []snapshot.NetID{hiddenOne, hiddenTwo, goes} {
					p.sender.SetVisible(id, false)
				}
			}
			a, b := p.add(follower, 2), p.add(other, 1)
			p.add(hiddenOne, 2)
			p.add(hiddenTwo, 3)
			p.add(goes, 3)
			for range 60 {
				if p.tick == 20 {
					delete(p.bodies, goes)
				}
				a.follow.Target, a.follow.Other[1] = entityRef(target(p.tick)), entityRef(target(p.tick+1))
				if p.tick%3 == 0 { // and now and then nothing else changes
					a.pos.X++
					b.pos.Y++
				}
				p.pass(1)
				for _, g := range p.recv.Ghosts() {
					var seen asked
					var got follow
					p.recv.Registry().Schema(cFollow).DequantiseFor(g.Newest().Audience, g.Newest().Component(cFollow), schema.GridPublic, &seen, ptr(&got))
					require.Zero(t, got.Target, name)
					require.Empty(t, seen.refs, name)
				}
			}
			require.Len(t, p.recv.Ghosts(), 2, name)
			var all [][]byte
			for tick := schema.Tick(1); tick <= p.tick; tick++ {
				all = append(all, p.data[tick])
			}
			if want == nil {
				want = all
			}
			for i := range want {
				require.Equal(t, want[i], all[i], "%s, tick %d", name, i+1)
			}
		}
	}
}
