package foretick

import (
	"fmt"
	"reflect"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/foretick/foretick/ecs"
)

// late notes a declaration that comes after Err, of which nothing would come.
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
	if missing(h) {
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

// named notes a name that cannot travel.
func (p *Protocol) named(what, name string) bool {
	switch {
	case name == "":
		p.faultf("%s needs a name", what)
	case len(name) > maxSchemaText:
		p.faultf("%s %.40q…: the name has %d bytes: use up to %d", what, name, len(name), maxSchemaText)
	case !utf8.ValidString(name) || strings.ContainsFunc(name, func(c rune) bool { return !unicode.IsPrint(c) }):
		p.faultf("%s %q: the name has characters that cannot be printed: use letters, digits and signs", what, name)
	default:
		return true
	}
	return false
}

// checkRequests refuses to serve requests that nothing handles.
func (p *Protocol) checkRequests() error {
	for i := range p.requests {
		if p.requests[i].deaf {
			return fmt.Errorf("foretick: request %s has no function on the server: give OnRequest one", p.requests[i].name)
		}
	}
	return nil
}

// checkMessages refuses to take messages that nothing handles.
func (p *Protocol) checkMessages() error {
	for i := range p.messages {
		if p.messages[i].deaf {
			return fmt.Errorf("foretick: message %s has no function on the client: give OnClient one", p.messages[i].name)
		}
	}
	return nil
}

// missing reports whether an interface holds nothing, or a nil pointer, function or map.
func missing(x any) bool {
	v := reflect.ValueOf(x)
	switch v.Kind() {
	case reflect.Invalid:
		return true
	case reflect.Pointer, reflect.Func, reflect.Map, reflect.Interface, reflect.Chan, reflect.Slice:
		return v.IsNil()
	}
	return false
}
