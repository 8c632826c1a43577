package slot_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/internal/slot"
)

// The table agrees with a map, gives no id twice, and keeps slots small.
func TestTable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var tab slot.Table[int]
		live := make(map[transport.PeerID]int)
		var ids []transport.PeerID
		ever := make(map[transport.PeerID]bool)
		most := 0
		for i := range 200 {
			if len(ids) > 0 && rapid.Bool().Draw(t, "remove") {
				id := rapid.SampledFrom(ids).Draw(t, "id")
				_, there := live[id]
				if tab.Remove(id) != there {
					t.Fatalf("Remove of %v, which is there: %v", id, there)
				}
				delete(live, id)
			} else {
				id := tab.Add(i)
				if id == 0 || ever[id] {
					t.Fatalf("id %v was there before", id)
				}
				ever[id], live[id] = true, i
				ids = append(ids, id)
			}
			most = max(most, len(live))
			if tab.Len() != len(live) || tab.Slots() > most {
				t.Fatalf("%d in %d slots; %d are there, %d at most were", tab.Len(), tab.Slots(), len(live), most)
			}
		}
		seen := 0
		for s := range tab.Slots() {
			if _, ok := tab.At(s); ok {
				seen++
			}
		}
		if seen != len(live) {
			t.Fatalf("%d by slot, want %d", seen, len(live))
		}
		for id := range ever {
			v, ok := tab.Get(id)
			want, there := live[id]
			if ok != there || v != want {
				t.Fatalf("Get(%v) = %v %v, want %v %v", id, v, ok, want, there)
			}
		}
	})
}

func TestStrangers(t *testing.T) {
	var tab slot.Table[int]
	id := tab.Add(7)
	for _, p := range []transport.PeerID{0, ^transport.PeerID(0), transport.MakePeerID(1, 1), transport.MakePeerID(0, 2)} {
		_, ok := tab.Get(p)
		assert.False(t, ok, p)
		assert.False(t, tab.Remove(p), p)
	}
	_, ok := tab.Get(id)
	assert.True(t, ok)
}
