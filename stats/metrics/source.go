package metrics

import (
	"errors"
	"fmt"

	"github.com/foretick/foretick/host"
	"github.com/foretick/foretick/server"
	"github.com/foretick/foretick/stats"
)

// Source supplies the figures. A *host.Host is one, and Of makes one of a single server.
type Source interface {
	// Figures sets dst to the sums by kind of match.
	Figures(dst *stats.Host)
	// EachMatch calls fn with each match that runs, until it returns false.
	EachMatch(fn func(name, kind string, one *stats.Server) bool)
	// Stats returns the counters of the host itself.
	Stats() host.Stats
}

// Config configures what is shown. Zero in a field means the field's default.
type Config struct {
	// MatchLimit is the most running matches for which each match has series with the label match. With
	// more running matches there are no such series, because each match would leave its series in the
	// database. 0 means no such series. Negative is an error. At most 10 000.
	MatchLimit int
}

const mostMatches = 10_000

// Of makes a Source of a single server, which runs without a host. kind is the label kind of its
// metrics.
func Of(kind string, server *server.Server) Source { return single{kind, server} }

type single struct {
	kind   string
	server interface{ Figures(dst *stats.Server) } // a *server.Server, or a test's own
}

func (s single) Figures(dst *stats.Host) {
	k := stats.Kind{Name: s.kind, Matches: 1, Begun: 1}
	s.server.Figures(&k.Sum)
	dst.Matches, dst.Kinds, dst.Endpoint = 1, append(dst.Kinds[:0], k), k.Sum.Endpoint
}

func (s single) EachMatch(func(name, kind string, one *stats.Server) bool) {}

func (s single) Stats() host.Stats { return host.Stats{} }

// Check returns an error that says what is wrong with a source or a configuration.
func Check(source Source, cfg Config) error {
	switch {
	case source == nil:
		return errors.New("there is no source: pass a *host.Host, or Of a server")
	case cfg.MatchLimit < 0 || cfg.MatchLimit > mostMatches:
		return fmt.Errorf("Config.MatchLimit is %d: use up to %d, or 0 for none", cfg.MatchLimit, mostMatches)
	}
	return nil
}
