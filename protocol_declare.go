package foretick

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/guard"
	"github.com/foretick/foretick/internal/standard"
)

// late notes a declaration that comes after Err and has no effect.
func (p *Protocol) late(what string) bool {
	if !p.built {
		return false
	}
	p.faultf("%s after Err: declare everything before the first call of Err, Hash, Describe, Schema, NewServer or NewClient", what)
	return true
}

// given notes a nil handle, or a declaration that comes too late.
func (p *Protocol) given(call string, h ecs.Handle) bool {
	if p.late(call) {
		return false
	}
	if guard.Missing(h) {
		p.faultf("%s is given a nil component: pass its address, as in &g.Position", call)
		return false
	}
	return true
}

// givenPrefab is given for a prefab.
func (p *Protocol) givenPrefab(call string, k *ecs.Prefab) bool {
	if p.late(call) {
		return false
	}
	if k == nil {
		p.faultf("%s is given a nil prefab: pass its address, as in &g.Player", call)
		return false
	}
	return true
}

// able notes a nil function, or a declaration that comes too late.
func (p *Protocol) able(call string, has bool) bool {
	if p.late(call) {
		return false
	}
	if !has {
		p.faultf("%s has no function: give it one, or leave the call out", call)
	}
	return has
}

// named notes a name that cannot be sent.
func (p *Protocol) named(what, name string) bool {
	switch {
	case name == "":
		p.faultf("%s needs a name", what)
	case len(name) > standard.MaxText:
		p.faultf("%s %.40q…: the name has %d bytes: use up to %d", what, name, len(name), standard.MaxText)
	case !utf8.ValidString(name) || strings.ContainsFunc(name, func(c rune) bool { return !unicode.IsPrint(c) }):
		p.faultf("%s %q: the name has characters that cannot be printed: use letters, digits and signs", what, name)
	default:
		return true
	}
	return false
}

// checkRequests refuses requests without a handler, for a server.
func (p *Protocol) checkRequests() error {
	if len(p.mute) > 0 {
		return fmt.Errorf("foretick: request %s has no function on the server: give Handle one", p.mute[0])
	}
	return nil
}

// checkMessages refuses messages without a handler, for a client.
func (p *Protocol) checkMessages() error {
	if len(p.deaf) > 0 {
		return fmt.Errorf("foretick: message %s has no function on the client: give OnClient one", p.deaf[0])
	}
	return nil
}
