package flight_test

import (
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/flight"
	"github.com/foretick/foretick/internal/tape"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/transport"
)

// A tape of a match with any settings replays although Game.New sets none: the tape holds each
// kind of field.
func TestSettingsAreReplayed(t *testing.T) {
	for name, set := range map[string]func(*server.Config){
		"late":       func(c *server.Config) { c.Late.Window = 100 * time.Millisecond },
		"late share": func(c *server.Config) { c.Late.Window, c.Late.Share = 100*time.Millisecond, 0.05 },
		"late world": func(c *server.Config) {
			c.Late.Window, c.Late.World, c.Late.Share = 100*time.Millisecond, true, 0.1
		},
		"no rewind": func(c *server.Config) { c.NoLagCompensation = true },
		"rates":     func(c *server.Config) { c.SnapshotRate, c.SendRate, c.MaxClients = 15, 9000, 7 },
		"same":      func(c *server.Config) { c.Same = transport.AllowBoth },
		"tags":      func(c *server.Config) { c.Tags = []string{foretick.TagRender} },
		"other times": func(c *server.Config) {
			c.RepeatInput, c.DecayInput, c.Timeout = -1, 50*time.Millisecond, 3*time.Second
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMatch(t, 3, 3, flight.Config{}, &game{config: set})
			m.run(6 * time.Second)
			res, err := flight.Play(m.tape(), replayed(nil))
			require.NoError(t, err)
			require.Greater(t, res.Ticks, 100)
		})
	}
}

// A tape holds the tags of shared systems that the match had, even with spaces in their names.
func TestTagsAreReplayed(t *testing.T) {
	tags := []string{"wind", "strong wind", "strong"}
	for _, on := range [][]string{nil, {"wind"}, {"strong wind"}, tags} {
		m := newMatch(t, 3, 2, flight.Config{}, &game{tags: tags, config: func(c *server.Config) { c.Tags = on }})
		m.run(4 * time.Second)
		require.Len(t, m.srv.Players(nil), 2)
		res, err := flight.Play(m.tape(), replayed(func(g *game) { g.tags = tags }))
		require.NoError(t, err)
		require.Greater(t, res.Ticks, 100)
	}
}

// A call that the replay's server cannot make is an error, and no panic.
func TestCallThatCannotBeMade(t *testing.T) {
	m := newMatch(t, 4, 1, flight.Config{}, &game{config: func(c *server.Config) { c.Tags = []string{foretick.TagRender} }})
	m.srv.Draw(time.Second)
	m.run(time.Second)
	m.srv.Draw(time.Second)
	m.run(time.Second)
	_, err := flight.Play(m.tape(), replayed(nil))
	require.NoError(t, err)
	noTags := flight.Game{Loose: true, New: func(cfg server.Config) (*server.Server, error) {
		cfg.Tags = nil
		return (&game{seed: func() uint64 { return 0 }}).serve(cfg)
	}}
	_, err = flight.Play(m.tape(), noTags)
	require.ErrorContains(t, err, "the tape calls Draw, which fails here: ")
	require.ErrorContains(t, err, "TagRender")
}

// settled is a recorder that adds one setting to the tape's head.
type settled struct {
	io.WriterTo
	one tape.Setting
}

type settledSink struct {
	tape.Sink
	one tape.Setting
}

func init() {
	sinkOf := tape.SinkOf
	tape.SinkOf = func(recorder any) tape.Sink {
		if s, ok := recorder.(settled); ok {
			return settledSink{sinkOf(s.WriterTo), s.one}
		}
		return sinkOf(recorder)
	}
}

func (s settledSink) Begin(h tape.Head, e transport.Endpoint, r io.Reader) (transport.Endpoint, io.Reader, error) {
	h.Settings = append(h.Settings, s.one)
	return s.Sink.Begin(h, e, r)
}

// NewReplay refuses a setting of another version, or one that cannot be read, and names it: of
// each kind of field, and of a field that is no longer a setting.
func TestUnknownSettings(t *testing.T) {
	for name, want := range map[string]string{
		"Gravity":         `the tape has server.Config.Gravity = moon, which this version of the library does not know`,
		"LateShare":       `server.Config.LateShare is "moon", which is no number`,
		"MaxClients":      `server.Config.MaxClients is "moon", which is no number`,
		"Same":            `server.Config.Same is "moon", which is no number`,
		"ReconnectWindow": `server.Config.ReconnectWindow is "moon", which is no duration`,
		"KeepPlaces":      `server.Config.KeepPlaces is "moon", which is neither true nor false`,
		"Tags":            `server.Config.Tags has "moon", and no system has that tag`,
		"Observe":         `server.Config.Observe is "false", and was "moon"`,
		"Logger":          `the tape has server.Config.Logger = moon, which is no setting in this version of the library`,
		"OnTick":          `the tape has server.Config.OnTick = moon, which is no setting in this version of the library`,
	} {
		require.ErrorContains(t, playWith(t, tape.Setting{Name: name, Value: "moon"}), want)
	}
}

// playWith plays a tape whose head has one setting in addition.
func playWith(t *testing.T, one tape.Setting) error {
	r, err := flight.New(flight.Config{})
	require.NoError(t, err)
	m := newMatchWith(t, 5, 1, nil, &game{config: func(c *server.Config) { c.Recorder = settled{r, one} }})
	m.run(time.Second / 10)
	m.rec = r
	_, err = flight.Play(m.tape(), replayed(nil))
	return err
}

// Each setting on a tape is read: with an impossible value, NewReplay returns an error that
// names the setting.
func TestEverySettingIsRead(t *testing.T) {
	m := newMatch(t, 5, 1, flight.Config{}, &game{})
	m.run(time.Second / 10)
	settings := m.tape().Info().Settings
	require.Greater(t, len(settings), 20)
	for name := range settings {
		require.ErrorContains(t, playWith(t, tape.Setting{Name: name, Value: "moon"}), "server.Config."+name)
	}
}
