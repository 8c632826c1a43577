package flight

import (
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/internal/tape"
	"github.com/foretick/foretick/server"
)

// configure sets the recorded settings.
func (t *Tape) configure(cfg *server.Config) error {
	v := reflect.ValueOf(cfg).Elem()
	for name, value := range t.info.Settings {
		f := setting(v, name)
		switch {
		case !f.IsValid():
			return fmt.Errorf("flight: the tape has server.Config.%s = %s, which this version of the library does not know: replay it with build %q", name, value, t.info.Build)
		case name == "Tags":
			if value != "" {
				cfg.Tags = strings.Split(value, "\n")
			}
		case name == "Observe" && value == "true":
			cfg.Observe = func(server.Observer) (server.Grant, error) { return server.Public(), errNotAsked }
		case f.Kind() == reflect.Bool:
			b, err := strconv.ParseBool(value)
			if err != nil {
				return fmt.Errorf("flight: the tape's server.Config.%s is %q, which is neither true nor false", name, value)
			}
			f.SetBool(b)
		case f.Type() == reflect.TypeFor[time.Duration]():
			d, err := time.ParseDuration(value)
			if err != nil {
				return fmt.Errorf("flight: the tape's server.Config.%s is %q, which is no duration", name, value)
			}
			f.SetInt(int64(d))
		case f.CanInt():
			n, err := strconv.ParseInt(value, 10, 64)
			if err != nil || f.OverflowInt(n) {
				return fmt.Errorf("flight: the tape's server.Config.%s is %q, which is no number", name, value)
			}
			f.SetInt(n)
		case f.CanUint():
			n, err := strconv.ParseUint(value, 10, 64)
			if err != nil || f.OverflowUint(n) {
				return fmt.Errorf("flight: the tape's server.Config.%s is %q, which is no number", name, value)
			}
			f.SetUint(n)
		case f.CanFloat():
			x, err := strconv.ParseFloat(value, 64)
			if err != nil {
				return fmt.Errorf("flight: the tape's server.Config.%s is %q, which is no number", name, value)
			}
			f.SetFloat(x)
		case name == "Observe": // nobody could observe
		default:
			return fmt.Errorf("flight: the tape has server.Config.%s = %s, which is no setting in this version of the library: replay it with build %q", name, value, t.info.Build)
		}
	}
	return nil
}

// setting returns the field of a server's configuration that a tape's setting is for. The three of
// server.Late have the names that they had as fields of the configuration.
func setting(cfg reflect.Value, name string) reflect.Value {
	if field, of := map[string]string{"LateInputs": "Window", "LateWorld": "World", "LateShare": "Share"}[name]; of {
		return cfg.FieldByName("Late").FieldByName(field)
	}
	return cfg.FieldByName(name)
}

var errNotAsked = errors.New("flight: a replay does not ask")

// checkHead compares the server of the replay with the one that was recorded.
func (r *Replay) checkHead(h tape.Head) error {
	in := &r.tape.info
	if h.Protocol != in.Protocol {
		ours, theirs := firstDifference(h.Describe, in.Describe)
		return fmt.Errorf("flight: the tape is of another protocol (%016x, and ours is %016x): first difference: the tape's %q, ours %q; replay it with the game's code of then, build %q", in.Protocol, h.Protocol, theirs, ours, in.Build)
	}
	if r.game.Loose {
		return nil
	}
	for _, s := range h.Settings {
		if was, ok := in.Settings[s.Name]; ok && was != s.Value {
			return fmt.Errorf("flight: server.Config.%s is %q, and was %q when the tape was recorded: change the server.Config that Game.New is given only where the recorded match had other functions", s.Name, s.Value, was)
		}
	}
	return nil
}

func firstDifference(ours, theirs string) (a, b string) {
	x, y := strings.Split(ours, "\n"), strings.Split(theirs, "\n")
	for i := range max(len(x), len(y)) {
		a, b = "", ""
		if i < len(x) {
			a = x[i]
		}
		if i < len(y) {
			b = y[i]
		}
		if a != b {
			break
		}
	}
	return a, b
}

// sameBuild reports whether packets must be the same. They are not if only one of the builds has
// the tag foretick_debug, which sends more.
func (r *Replay) sameBuild() bool { return r.tape.info.Debug == debugBuild }

// otherBuild lists how this build and machine differ from those that recorded the tape.
func (t *Tape) otherBuild() (list []string) {
	in := &t.info
	for _, is := range []struct{ what, was, now string }{{"build", in.Build, game.BuildName()}, {"Go version", in.Go, runtime.Version()}, {"architecture", in.Arch, runtime.GOARCH}} {
		if is.was != is.now {
			list = append(list, fmt.Sprintf("the tape's %s is %q, and this one's %q", is.what, is.was, is.now))
		}
	}
	return list
}
