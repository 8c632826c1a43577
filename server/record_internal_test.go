package server

import (
	"reflect"
	"testing"

	"github.com/foretick/foretick/internal/tape"
	"github.com/stretchr/testify/require"
)

// Every field of Config is on the tape, or does not affect what a tape shows.
func TestEveryFieldIsOnTheTape(t *testing.T) {
	left := map[string]string{
		"Protocol":         "the replay's game adds it, and its hash is compared",
		"Transport":        "the tape takes its place",
		"Random":           "the tape takes its place",
		"Recorder":         "the tape takes its place",
		"TrainCompression": "it only counts",
		"Verify":           "the replay's game adds it, as its systems",
		"Executor":         "the results are the same with any",
		"Logger":           "lines change nothing",
		"OnPanic":          "it is told, and changes nothing",
		"Clock":            "it measures how long ticks take",
		"AllowTrace":       "what was asked for is recorded as it was granted",
		"OnDrain":          "the replay's game adds it, as its systems",
		"OnTick":           "the replay's game adds it, as its systems",
	}
	on := map[string]bool{}
	for _, s := range (&Config{}).settings() {
		on[s.Name] = true
	}
	fields := 0
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Config]()) {
		names := []string{f.Name}
		if f.Name == "Late" { // tapes name its three settings, as they were named before it was a type
			require.Equal(t, 3, f.Type.NumField())
			names = []string{"LateInputs", "LateWorld", "LateShare"}
		}
		for _, name := range names {
			why, listed := left[name]
			require.NotEqual(t, listed, on[name], "%s: put it on the tape with its kind in settings, or into this list with its reason (%q)", name, why)
		}
		fields += len(names)
	}
	require.Len(t, on, fields-len(left))
}

// asked is a recorder that stores what was granted.
type asked struct {
	tape.Sink
	got tape.Grant
}

func (a *asked) Observed(ask func() tape.Grant) tape.Grant {
	a.got = ask()
	return a.got
}

// TestGrantsOnTheTape: a recorder changes no grant. The view of nobody is refused with one, too, and in a
// replay: it is not the public view.
func TestGrantsOnTheTape(t *testing.T) {
	for _, want := range []Grant{Public(), OfTeam(3), OfPlayer(2), Everything(), Public().FollowOnly(), OfTeam(3).FollowOnly()} {
		r := recording{sink: &asked{}}
		got, err := r.observeGrant(func(Observer) (Grant, error) { return want, nil }, Observer{})
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	sink := &asked{}
	r := recording{sink: sink}
	_, err := r.observeGrant(func(Observer) (Grant, error) { return OfPlayer(0), nil }, Observer{})
	require.ErrorContains(t, err, "the view of player 0, which does not play")
	require.True(t, sink.got.Refused)
}
