package campaign

import (
	"github.com/foretick/foretick/internal/probe"
	"github.com/foretick/foretick/server"
)

// Hash returns the digest of a server's world. Equal worlds have equal digests, whatever
// the order of their rows.
func Hash(s *server.Server) uint64 { return probe.OfServer(s).Hash() }
