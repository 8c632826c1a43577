package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// logged plays a match with a log and returns the log's name.
func logged(t *testing.T, args ...string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "match.log")
	play(t, append(args, "-log", name)...)
	return name
}

func recounted(t *testing.T, name string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	err := run(context.Background(), []string{"-check", name}, &out)
	return out.String(), err
}

// The referee, which only knows the facts, gets the same counts as the report.
func TestRefereeAgrees(t *testing.T) {
	for _, args := range [][]string{
		{}, {"-mode", "interpolate"}, {"-mode", "delay", "-rtt", "300ms"},
		{"-tickrate", "60", "-snapshotrate", "20"}, {"-loss", "0.2", "-jitter", "100ms", "-duplicate", "0.1", "-reorder", "0.1"},
		{"-rtt", "300ms"}, {"-plant", "code"}, {"-plant", "desync"}, {"-peaceful"},
	} {
		out, err := recounted(t, logged(t, append([]string{"-seconds", "4", "-clients", "6", "-seed", "3"}, args...)...))
		require.NoError(t, err, "%v\n%s", args, out)
		lines := 37
		if slices.Contains(args, "desync") {
			lines++
			require.Regexp(t, `first_desync +report "player \d: Team.ID .*", referee "player \d: team of`, out)
		}
		require.Equal(t, lines, strings.Count(out, "\n"), out)
		require.NotContains(t, out, "DIFFERS")
	}
}

// The counts also agree if links fail for seconds. Then predictions wait for the server, inputs arrive
// after that time, and bodies whose commands are missing keep their aim.
func TestRefereeAgreesOnOutages(t *testing.T) {
	long(t)
	for _, preset := range []string{"train", "hell"} {
		log := logged(t, "-seconds", "20", "-clients", "6", "-seed", "3", "-preset", preset)
		stalled, turned := 0, 0
		var end Report
		rewrite(t, log, func(f *Fact) {
			switch {
			case f.F == "pic" && f.Stalled:
				stalled++
			case f.F == "report":
				end = *f.Report
			case f.F == "tick" && f.T > 90:
				for _, b := range f.Bodies {
					if b.A == 0 && !b.Dead {
						turned++
					}
				}
			}
		})
		require.Greater(t, stalled, 20)
		require.Less(t, turned, 10, "bots hardly ever aim there")
		require.Zero(t, end.Desyncs)
		require.Greater(t, end.InputToConfirmP99, 1500.)
		out, err := recounted(t, log)
		require.NoError(t, err, "%s\n%s", preset, out)
		require.NotContains(t, out, "DIFFERS", preset)
	}
}

// Without lag compensation every verdict matches the present, which differs
// from what shooters see.
func TestVerdictsWithoutLagCompensation(t *testing.T) {
	out, err := recounted(t, logged(t, with("-no-lagcomp", "-seconds", "12")...))
	require.NoError(t, err, out)
	require.Contains(t, out, " 0 of 2", "of more than two hundred verdicts")
	// With lag compensation the verdicts differ from the present.
	name := logged(t, with("-seconds", "12")...)
	rewrite(t, name, func(f *Fact) {
		if f.F == "match" {
			f.NoLag = true
		}
	})
	_, err = recounted(t, name)
	require.ErrorContains(t, err, "verdicts")
}

// rewrite changes facts in a log.
func rewrite(t *testing.T, name string, change func(f *Fact)) {
	t.Helper()
	b, err := os.ReadFile(name)
	require.NoError(t, err)
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	d := json.NewDecoder(bytes.NewReader(b))
	for d.More() {
		var f Fact
		require.NoError(t, d.Decode(&f))
		if change(&f); f.F != "" {
			require.NoError(t, enc.Encode(f))
		}
	}
	require.NoError(t, os.WriteFile(name, out.Bytes(), 0o644))
}

// The referee finds a log whose facts or report are wrong.
func TestRefereeFinds(t *testing.T) {
	play := logged(t, "-seconds", "4", "-clients", "4")
	b, err := os.ReadFile(play)
	require.NoError(t, err)
	once := false
	first := func(kind string, change func(f *Fact)) func(f *Fact) {
		once = false
		return func(f *Fact) {
			if f.F == kind && !once {
				once = true
				change(f)
			}
		}
	}
	for key, change := range map[string]func() func(f *Fact){
		"mispredictions":   func() func(*Fact) { return first("report", func(f *Fact) { f.Report.Mispredictions++ }) },
		"shots_confirmed":  func() func(*Fact) { return first("report", func(f *Fact) { f.Report.ShotsConfirmed-- }) },
		"events_delivered": func() func(*Fact) { return first("hear", func(f *Fact) { f.F = "" }) },
		"events_sent":      func() func(*Fact) { return first("tell", func(f *Fact) { f.F = "" }) },
		"stuns":            func() func(*Fact) { return first("write", func(f *Fact) { f.By = "stun" }) },
		"desyncs":          func() func(*Fact) { return first("shown", func(f *Fact) { f.Bodies[0].X += 0.02 }) },
		"fields_compared":  func() func(*Fact) { return first("shown", func(f *Fact) { f.Bodies = f.Bodies[1:] }) },
		"hits_told": func() func(*Fact) {
			return first("tell", func(f *Fact) { f.Kind = map[bool]string{true: "beat", false: "hurt"}[f.Kind == "hurt"] })
		},
		"hits_heard":      func() func(*Fact) { return first("hurt", func(f *Fact) { f.F = "" }) },
		"hits_rewound":    func() func(*Fact) { return first("hurt", func(f *Fact) { f.Hurt.By ^= 1 }) },
		"hits_where_seen": func() func(*Fact) { return first("hurt", func(f *Fact) { f.Hurt.X += 0.05 }) },
		"rewound_ms_mean": func() func(*Fact) { return first("hurt", func(f *Fact) { f.Hurt.Rewound++ }) },
		"ticks":           func() func(*Fact) { return first("report", func(f *Fact) { f.Report.Ticks++ }) },
	} {
		name := filepath.Join(t.TempDir(), key)
		require.NoError(t, os.WriteFile(name, b, 0o644))
		rewrite(t, name, change())
		require.True(t, once, key)
		out, err := recounted(t, name)
		require.ErrorContains(t, err, key, out)
	}
	for name, content := range map[string]string{"cut short": string(b[:len(b)/2]), "no end": `{"f":"match"}`, "no log": "hello"} {
		f := filepath.Join(t.TempDir(), "x")
		require.NoError(t, os.WriteFile(f, []byte(content), 0o644))
		_, err := recounted(t, f)
		require.Error(t, err, name)
	}
	_, err = recounted(t, filepath.Join(t.TempDir(), "missing"))
	require.Error(t, err)
	require.ErrorContains(t, run(context.Background(), []string{"-check", play, "-json"}, &bytes.Buffer{}), "excludes all other flags")
	require.ErrorContains(t, run(context.Background(), []string{"-log", "x", "-serve", "127.0.0.1:0"}, &bytes.Buffer{}), "both ends")
}
