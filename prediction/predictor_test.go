package prediction_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/foretick/foretick/internal/costtest"
	"github.com/foretick/foretick/prediction"
)

// counter is the smallest world: a number that each tick's input adds to. The
// server may add something that the client cannot know.
type counter struct {
	value  int64
	saves  [64]int64
	inputs map[prediction.Tick]int64
	first  map[prediction.Tick]int // runs that were not replays
	runs   int
	truth  map[prediction.Tick]int64 // the server's value after a tick
}

func newCounter() *counter {
	return &counter{inputs: map[prediction.Tick]int64{}, first: map[prediction.Tick]int{}, truth: map[prediction.Tick]int64{}}
}

func (c *counter) Save(slot int, _ prediction.Tick) { c.saves[slot] = c.value }
func (c *counter) Load(slot int, _ prediction.Tick) { c.value = c.saves[slot] }

func (c *counter) Step(t prediction.Tick, replay bool) {
	c.value = c.value*3 + c.inputs[t] // order matters: a skipped or doubled tick shows
	c.runs++
	if !replay {
		c.first[t]++
	}
}

func (c *counter) Compare(slot int, t prediction.Tick) prediction.Verdict {
	if c.saves[slot] == c.truth[t] {
		return prediction.Same
	}
	return prediction.Different
}

func (c *counter) Adopt(t prediction.Tick) { c.value = c.truth[t] }

func start(t testing.TB, history int) (*prediction.Predictor, *counter) {
	c := newCounter()
	p, err := prediction.NewPredictor(prediction.Config{History: history}, c)
	require.NoError(t, err)
	c.value = 1
	p.Start(10)
	return p, c
}

func TestAgreementChangesNothing(t *testing.T) {
	p, c := start(t, 0)
	for range 5 {
		p.Advance()
	}
	require.EqualValues(t, 15, p.Tick())
	c.truth[12] = 1 * 3 * 3
	before := c.runs
	r := p.Reconcile(12, c)
	require.Equal(t, prediction.Result{Compared: true}, r)
	require.Equal(t, before, c.runs)
}

func TestDifferenceIsReplayed(t *testing.T) {
	p, c := start(t, 0)
	for k := prediction.Tick(11); k <= 15; k++ {
		c.inputs[k] = int64(k)
		p.Advance()
	}
	c.truth[12] = 100
	r := p.Reconcile(12, c)
	require.Equal(t, prediction.Result{Compared: true, Verdict: prediction.Different, Replayed: 3}, r)
	want := int64(100)
	for k := 13; k <= 15; k++ {
		want = want*3 + int64(k)
	}
	require.Equal(t, want, c.value)
	for k, n := range c.first {
		require.Equal(t, 1, n, "tick %d ran more than once as new", k)
	}
	// The corrected ticks are the new prediction.
	c.truth[13] = 100*3 + 13
	require.Equal(t, prediction.Same, p.Reconcile(13, c).Verdict)
}

func TestServerAheadIsAdopted(t *testing.T) {
	p, c := start(t, 0)
	c.truth[20] = 7
	require.True(t, p.Reconcile(20, c).Jumped)
	require.EqualValues(t, 20, p.Tick())
	require.EqualValues(t, 7, c.value)
	require.False(t, p.Reconcile(12, c).Compared, "what was before is forgotten")
}

func TestBeyondTheHistoryNothingIsCompared(t *testing.T) {
	p, c := start(t, 4)
	for range 10 {
		p.Advance()
	}
	require.False(t, p.Reconcile(15, c).Compared)
	c.truth[17] = 5
	require.True(t, p.Reconcile(17, c).Compared)
}

func TestPresentUndoesWhatWasDrawn(t *testing.T) {
	p, c := start(t, 0)
	p.Advance()
	held := c.value
	c.value = 999
	p.Present()
	require.Equal(t, held, c.value)
	c.value = 55
	p.Rewrite()
	c.value = 999
	p.Present()
	require.EqualValues(t, 55, c.value)
}

func TestRestartReplaysFromThere(t *testing.T) {
	p, c := start(t, 0)
	for range 5 {
		p.Advance()
	}
	c.value = 2
	require.Equal(t, 3, p.Restart(12))
	require.EqualValues(t, 2*27, c.value)
	require.EqualValues(t, 15, p.Tick())
	require.Zero(t, p.Restart(15))
}

func TestTicksWrap(t *testing.T) {
	c := newCounter()
	p, err := prediction.NewPredictor(prediction.Config{}, c)
	require.NoError(t, err)
	c.value = 1
	p.Start(^prediction.Tick(0) - 2)
	for range 6 {
		p.Advance()
	}
	require.EqualValues(t, 3, p.Tick())
	c.truth[^prediction.Tick(0)] = 4
	require.Equal(t, 4, p.Reconcile(^prediction.Tick(0), c).Replayed)
	require.EqualValues(t, 4*81, c.value)
}

func TestBadConfig(t *testing.T) {
	_, err := prediction.NewPredictor(prediction.Config{History: 1}, newCounter())
	require.ErrorContains(t, err, "History")
	_, err = prediction.NewPredictor(prediction.Config{}, nil)
	require.ErrorContains(t, err, "World")
	require.False(t, (&prediction.Predictor{}).Started())
}

// Whatever the server changes and whenever the client hears of it, the client
// ends where the server is.
func TestAlwaysConverges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newCounter()
		p, err := prediction.NewPredictor(prediction.Config{}, c)
		require.NoError(t, err)
		p.Start(0)
		server, at := int64(0), prediction.Tick(0)
		heard := prediction.Tick(0)
		for range 200 {
			next := p.Tick() + 1
			c.inputs[next] = rapid.Int64Range(-3, 3).Draw(t, "input")
			p.Advance()
			if p.Tick()-at > 8 {
				at++
				server = (server*3 + c.inputs[at]) % 1_000_003
				if rapid.IntRange(0, 9).Draw(t, "effect") == 0 {
					server += 11
				}
				c.truth[at] = server
				if rapid.Bool().Draw(t, "received") {
					heard = at
					p.Reconcile(at, c)
				}
			}
			// Values grow without bound; both ends fold at the same ticks.
			c.value %= 1_000_003
			p.Rewrite()
		}
		if heard == 0 {
			return
		}
		want := c.truth[heard]
		for k := heard + 1; int32(k-p.Tick()) <= 0; k++ {
			want = want*3 + c.inputs[k]
		}
		require.Equal(t, want%1_000_003, c.value%1_000_003)
	})
}

func TestReconcileAllocatesNothing(t *testing.T) {
	costtest.Allocations(t)
	p, c := start(t, 0)
	k := prediction.Tick(12)
	for range 20 {
		p.Advance()
	}
	require.Zero(t, testing.AllocsPerRun(100, func() {
		p.Advance()
		c.value = 0
		p.Reconcile(k, c)
		k++
	})-allocsOfMaps(c))
}

// allocsOfMaps returns the allocations of the test's own maps in a run, after
// they have grown.
func allocsOfMaps(c *counter) float64 {
	k := prediction.Tick(5000)
	return testing.AllocsPerRun(100, func() { c.first[k]++; k++ })
}

func ExamplePredictor() {
	c := newCounter()
	p, err := prediction.NewPredictor(prediction.Config{}, c)
	if err != nil {
		panic(err)
	}
	c.value = 1
	p.Start(0)
	for range 3 { // three ticks ahead of the server
		p.Advance()
	}
	c.truth[1] = 5 // but the server had 5 after tick 1, not 3
	r := p.Reconcile(1, c)
	fmt.Println(r.Verdict == prediction.Different, r.Replayed, c.value)
	// Output: true 2 45
}

func BenchmarkReconcileSame(b *testing.B) {
	p, c := start(b, 0)
	for range 10 {
		p.Advance()
	}
	slot, _ := p.Slot(15)
	c.truth[15] = c.saves[slot]
	b.ReportAllocs()
	for b.Loop() {
		p.Reconcile(15, c)
	}
}

// lenient is a counter that lets small differences pass and adopts them.
type lenient struct{ *counter }

func (l lenient) Compare(slot int, t prediction.Tick) prediction.Verdict {
	switch d := l.saves[slot] - l.truth[t]; {
	case d == 0:
		return prediction.Same
	case d*d <= 4:
		return prediction.Near
	}
	return prediction.Different
}

func (l lenient) Amend(t, k prediction.Tick) { l.value += l.truth[t] - int64(l.first[t]) }

func TestSmallDifferencesAreAdoptedWithoutReplay(t *testing.T) {
	p, c := start(t, 0)
	l := lenient{c}
	for range 5 {
		p.Advance()
	}
	runs := c.runs
	slot, _ := p.Slot(13)
	c.first[13], c.truth[13] = int(c.saves[slot]), c.saves[slot]+2
	held := c.value
	r := p.Reconcile(13, l)
	require.Equal(t, prediction.Result{Compared: true, Verdict: prediction.Near, SoftCorrections: 3}, r)
	require.Equal(t, runs, c.runs, "nothing ran again")
	require.Equal(t, held+2, c.value)
	require.Equal(t, c.truth[13], c.saves[slot], "the history has the server's value")
	require.Equal(t, prediction.Same, p.Reconcile(13, l).Verdict)
	c.truth[13] += 3
	require.Equal(t, 2, p.Reconcile(13, l).Replayed, "a larger one is replayed")
	// An Authority that cannot amend keeps the prediction.
	c.truth[14] = 1
	near := struct{ prediction.Authority }{nearly{}}
	require.Equal(t, prediction.Result{Compared: true, Verdict: prediction.Near}, p.Reconcile(14, near))
}

// nearly finds every prediction near, and adopts nothing.
type nearly struct{}

func (nearly) Compare(int, prediction.Tick) prediction.Verdict { return prediction.Near }
func (nearly) Adopt(prediction.Tick)                           {}
