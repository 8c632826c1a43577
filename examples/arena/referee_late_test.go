package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// With late inputs the referee gets the same counts as the report too: it follows which ticks wait for
// their input, and which command each ran in the end. It does so in virtual time and in real time.
// Wi-Fi and LTE are in the long form.
func TestRefereeAgreesOnLateInputs(t *testing.T) {
	for name, args := range map[string][]string{
		"wifi":         {"-seconds", "20", "-preset", "wifi"},
		"lte":          {"-seconds", "12", "-preset", "lte", "-no-lagcomp"},
		"60 Hz":        {"-seconds", "8", "-preset", "wifi", "-tickrate", "60", "-snapshotrate", "20"},
		"share":        {"-seconds", "12", "-rtt", "100ms", "-jitter", "30ms", "-loss", "0.05", "-late-share", "0.1"},
		"real packets": {"-seconds", "4", "-preset", "wifi", "-transport", "udp"},
	} {
		if !longer() && (name == "wifi" || name == "lte") {
			continue
		}
		log := logged(t, append([]string{"-late-inputs", "200ms", "-clients", "6", "-seed", "5"}, args...)...)
		again := 0
		rewrite(t, log, func(f *Fact) {
			if f.F == "rerun" {
				again++
			}
		})
		out, err := recounted(t, log)
		require.NoError(t, err, "%s\n%s", name, out)
		require.NotContains(t, out, "DIFFERS", name)
		if name == "real packets" {
			continue // how late they come differs from run to run
		}
		require.Greater(t, again, 3, name)
	}
}

// Without the facts of late inputs the counts differ.
func TestRefereeNeedsTheFactsOfLateInputs(t *testing.T) {
	seconds := "10"
	if longer() {
		seconds = "20"
	}
	facts, err := os.ReadFile(logged(t, "-seconds", seconds, "-clients", "6", "-seed", "3", "-preset", "wifi", "-late-inputs", "200ms"))
	require.NoError(t, err)
	for key, change := range map[string]func(f *Fact){
		"mispredictions": func(f *Fact) {
			if f.F == "match" {
				f.Late = 0
			}
		},
		"inputs_rerun": func(f *Fact) {
			if f.F == "input" {
				f.Late = 0
			}
		},
	} {
		log := filepath.Join(t.TempDir(), "facts")
		require.NoError(t, os.WriteFile(log, facts, 0o600))
		rewrite(t, log, change)
		out, err := recounted(t, log)
		require.ErrorContains(t, err, key, out)
	}
}
