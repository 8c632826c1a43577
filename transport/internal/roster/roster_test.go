package roster_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/foretick/foretick/transport"
	"github.com/foretick/foretick/transport/internal/roster"
)

var (
	ann = []byte("ann")
	now = time.Unix(1000, 0)
)

func TestSame(t *testing.T) {
	var r roster.Roster[int]
	for _, same := range []transport.Same{transport.ReplaceOld, transport.RefuseNew, transport.AllowBoth} {
		replaced, err := r.Judge(ann, same, now)
		require.NoError(t, err)
		assert.Empty(t, replaced)
	}
	r.Add(ann, 1)
	r.Add(ann, 2)
	r.Add([]byte("bob"), 3)
	replaced, err := r.Judge(ann, transport.ReplaceOld, now)
	require.NoError(t, err)
	assert.Equal(t, []int{1, 2}, replaced)
	_, err = r.Judge(ann, transport.RefuseNew, now)
	assert.Equal(t, transport.Refused, transport.CloseCode(err))
	replaced, err = r.Judge(ann, transport.AllowBoth, now)
	require.NoError(t, err)
	assert.Empty(t, replaced)
}

func TestBans(t *testing.T) {
	var r roster.Roster[int]
	judge := func(at time.Time) error { _, err := r.Judge(ann, transport.AllowBoth, at); return err }
	r.Ban(ann, now.Add(time.Minute), now, "cheats")
	require.EqualError(t, judge(now), `foretick: disconnected: refused: cheats`)
	assert.Equal(t, transport.Refused, transport.CloseCode(judge(now.Add(59*time.Second))))
	assert.NoError(t, judge(now.Add(time.Minute)))
	r.Ban(ann, time.Time{}, now, "")
	assert.Error(t, judge(now.Add(1000*time.Hour)), "for good")
	r.Unban(ann)
	assert.NoError(t, judge(now))
	r.Ban(ann, now.Add(time.Second), now, "")
	r.Ban(ann, now.Add(time.Minute), now, "")
	assert.Error(t, judge(now.Add(2*time.Second)), "the later ban holds")
	_, err := r.Judge([]byte("bob"), transport.RefuseNew, now)
	assert.NoError(t, err)
}

func TestNobody(t *testing.T) {
	var r roster.Roster[int]
	for _, nobody := range [][]byte{nil, {}} {
		r.Add(nobody, 1)
		r.Ban(nobody, time.Time{}, now, "")
		replaced, err := r.Judge(nobody, transport.RefuseNew, now)
		assert.NoError(t, err)
		assert.Empty(t, replaced)
		assert.Empty(t, r.Find(nobody))
		r.Remove(nobody, 1)
	}
	assert.Zero(t, r.Len())
}

// The roster agrees with a list, and holds nothing of peers that are gone.
func TestRoster(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var r roster.Roster[int]
		model := map[string][]int{}
		for i := range 100 {
			id := rapid.SampledFrom([]string{"", "a", "b", "c"}).Draw(t, "identity")
			if list := model[id]; len(list) > 0 && rapid.Bool().Draw(t, "remove") {
				k := rapid.IntRange(0, len(list)-1).Draw(t, "which")
				r.Remove([]byte(id), list[k])
				model[id] = append(append([]int(nil), list[:k]...), list[k+1:]...)
			} else {
				r.Add([]byte(id), i)
				if id != "" {
					model[id] = append(model[id], i)
				}
			}
			r.Remove([]byte(id), -1)
			n := 0
			for _, list := range model {
				if len(list) > 0 {
					n++
				}
			}
			assert.Equal(t, n, r.Len())
			assert.ElementsMatch(t, model[id], r.Find([]byte(id)))
		}
	})
}
