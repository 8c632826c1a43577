package metrics

import "github.com/foretick/foretick/stats"

// OfFigures is Of with figures that are a test's own.
func OfFigures(kind string, server interface{ Figures(dst *stats.Server) }) Source {
	return single{kind, server}
}
