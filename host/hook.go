package host

import (
	"errors"

	"github.com/foretick/foretick/internal/contain"
	"github.com/foretick/foretick/transport"
)

// hooks limits how often failures of Config.Match, Kind and OnEnd are logged. The host goes on if one
// of these functions panics or calls runtime.Goexit: it counts the failure, and logs it with its stack
// once an hour.
type hooks struct {
	match, kind, onEnd contain.Rarely
}

var errHook = errors.New("the server failed at this client")

// returns calls the hook fn, and reports whether it returned. about says in the log which peer or match
// it was called for.
func (h *Host) returns(rarely *contain.Rarely, name, about string, fn func()) bool {
	failed := contain.Call(fn)
	if failed == nil {
		return true
	}
	h.tally.hookPanics.Add(1)
	if skipped, due := rarely.Due(h.wall()); due {
		h.cfg.Logger.Error("panic in a function of host.Config: the host goes on", "function", name, "about", about, "value", failed.Value, "skipped", skipped, "stack", string(failed.Stack))
	}
	return false
}

// askMatch calls Config.Match. If it fails, the peer is refused.
func (h *Host) askMatch(info *transport.Info) (name string, identity []byte, err error) {
	if !h.returns(&h.hooks.match, "Match", info.Addr, func() { name, identity, err = h.cfg.Match(info) }) {
		return "", nil, errHook
	}
	return name, identity, err
}

// askKind calls Config.Kind. If it fails, the match is not made.
func (h *Host) askKind(match string) (kind string, err error) {
	if !h.returns(&h.hooks.kind, "Kind", match, func() { kind = h.cfg.Kind(match) }) {
		return "", errHook
	}
	return kind, nil
}

// tellEnd calls Config.OnEnd, if there is one.
func (h *Host) tellEnd(end End) {
	if h.cfg.OnEnd != nil {
		h.returns(&h.hooks.onEnd, "OnEnd", end.Match, func() { h.cfg.OnEnd(end) })
	}
}
