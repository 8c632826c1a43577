package input

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unsafe"
)

// Fill returns a function that makes a command from the present state of the actions, for
// client.Sample. The fields of T name their actions:
//
//	type Command struct {
//		X      float32 `net:"min=-1,max=1,step=0.0078125" input:"move.x"`
//		Y      float32 `net:"min=-1,max=1,step=0.0078125" input:"move.y"`
//		Turn   float32 `net:"sum" input:"turn"`
//		Fire   bool    `net:"oneshot" input:"fire"`
//		Jump   bool    `net:"oneshot" input:"jump,just_pressed"`
//		Weapon uint8   `net:"oneshot,max=9" input:"weapon,just_pressed"`
//	}
//
// A client samples them:
//
//	read, err := input.Fill[Command, client.View](m)
//	cfg := client.Config{Sample: client.Sample(&game.Command, read)}
//
// A digital action fills a bool: whether it is pressed. With just_pressed or just_released after the
// name, the bool is whether it was just pressed or released. An analogue action fills a float, or a
// signed integer with -1, 0 or 1. Choices, as "weapon" of "weapon.1" and "weapon.2", fill an integer,
// or a bool with whether any is pressed. A relative action fills a float with this frame's movement. Fields
// without the tag stay zero. Fields of structs in T count too. The function ignores its argument.
//
// The function is called once a frame, and a tick may take several frames. So a field of a relative
// action must have the tag sum, or movement is lost. A field with just_pressed or just_released must
// have the tag oneshot, and so must one whose action has a binding for JustPressed or JustReleased:
// without it, Bind refuses such a binding from then on, and Load ignores it. The error names every fault.
func Fill[T, V any](m *Map) (func(V) T, error) {
	f := filling{m: m}
	of := reflect.TypeFor[T]()
	if of.Kind() != reflect.Struct {
		return nil, fmt.Errorf("input: Fill makes a struct, not %v", of)
	}
	f.walk(of, of.Name(), 0, nil)
	if len(f.fields) == 0 && len(f.faults) == 0 {
		f.addFault(of.Name(), "no field has the tag input: write `input:\"move.x\"`")
	}
	if len(f.faults) > 0 {
		return nil, errors.Join(f.faults...)
	}
	fields := f.fields
	return func(V) T {
		var command T
		for i := range fields {
			fields[i].putField(unsafe.Pointer(&command))
		}
		return command
	}, nil
}

// filled is a field of the command with its action.
type filled struct {
	offset uintptr
	action *action
	when   When
	kind   reflect.Kind
}

// filling finds the fields of a command.
type filling struct {
	m      *Map
	fields []filled
	faults []error
}

func (f *filling) addFault(field, format string, args ...any) {
	f.faults = append(f.faults, fmt.Errorf("input: "+field+": "+format, args...))
}

// walk collects the fields of a struct. The net tag of an outer field applies to its fields too.
func (f *filling) walk(of reflect.Type, path string, at uintptr, outer []string) {
	for i := range of.NumField() {
		field := of.Field(i)
		name, at := path+"."+field.Name, at+field.Offset
		// The tag after a semicolon applies to a slice's elements.
		own, _, _ := strings.Cut(field.Tag.Get("net"), ";")
		net := slices.Concat(outer, strings.Split(strings.ReplaceAll(own, " ", ""), ","))
		tag, ok := field.Tag.Lookup("input")
		switch {
		case ok:
			f.field(field.Type, name, at, tag, net)
		case field.Type.Kind() == reflect.Struct:
			f.walk(field.Type, name, at, net)
		}
	}
}

func (f *filling) field(of reflect.Type, path string, at uintptr, tag string, net []string) {
	name, option, hasOption := strings.Cut(tag, ",")
	when := max(slices.Index(whens, option), 0)
	a := f.m.byName[name]
	kind := of.Kind()
	sum, oneshot := slices.Contains(net, "sum"), slices.Contains(net, "oneshot")
	switch {
	case a == nil:
		f.addFault(path, "no action is named %q%s", name, nearest(name, f.m.names()))
	case hasOption && option != whens[when]:
		f.addFault(path, "unknown option %q: use just_pressed or just_released", option)
	case hasOption && a.Kind != Digital:
		f.addFault(path, "%s is for digital actions, and %q is %v", option, name, a.Kind)
	case a.isWhole() && a.Kind == Analogue:
		f.addFault(path, "%q is a vector: take %q and %q in two fields", name, name+".x", name+".y")
	case a.isWhole() && slices.Contains(integers, kind) && When(when) == JustReleased:
		f.addFault(path, "a release chooses nothing: use just_pressed, or make the field a bool")
	case a.isWhole() && slices.Contains(integers, kind) && !holds(of, net, a.whole.most):
		f.addFault(path, "the field does not hold the choices 0 to %d of %q: use a larger type or range", a.whole.most, name)
	case a.Kind == Digital && kind != reflect.Bool && !(a.isWhole() && slices.Contains(integers, kind)):
		f.addFault(path, "%q is digital: make the field a bool%s, not %v", name, map[bool]string{true: ", or a uint8 for its choices"}[a.isWhole()], of)
	case a.Kind == Relative && kind != reflect.Float32 && kind != reflect.Float64:
		f.addFault(path, "%q is relative: make the field a float32, not %v", name, of)
	case a.Kind == Analogue && !slices.Contains(numbers, kind):
		f.addFault(path, "%q is analogue: make the field a float32 or an int8, not %v", name, of)
	case a.Kind == Relative && !sum:
		f.addFault(path, "%q is relative, and a tick would take the last frame's movement only: add sum, as in `net:\"sum\"`", name)
	case a.Kind != Relative && sum:
		f.addFault(path, "%q is %v, and sum would add its state up once a frame: leave sum out", name, a.Kind)
	case When(when) != Pressed && !oneshot:
		f.addFault(path, "%s lasts one frame, and a tick may miss it: add oneshot, as in `net:\"oneshot\"`", option)
	case a.Kind == Digital && When(when) == Pressed && !oneshot && f.momentary(a) != "":
		f.addFault(path, "%q is bound to %s, which lasts one frame, and a tick may miss it: add oneshot, as in `net:\"oneshot\"`", name, f.momentary(a))
	default:
		if a.Kind == Digital && !oneshot {
			for _, part := range a.partsOrSelf() {
				part.lasting = path
			}
		}
		f.fields = append(f.fields, filled{at, a, When(when), kind})
	}
}

// holds reports whether a field holds 0 and a number of choices.
func holds(of reflect.Type, net []string, choices int) bool {
	lo, hi := 0.0, 127.0
	if of.Kind() != reflect.Int8 {
		hi = maxChoices
	}
	for _, item := range net {
		key, text, _ := strings.Cut(item, "=")
		switch v, err := strconv.ParseFloat(text, 64); {
		case err != nil: // the schema says so
		case key == "max":
			hi = min(hi, v)
		case key == "min":
			lo = max(lo, v)
		}
	}
	return lo == 0 && float64(choices) <= hi
}

// partsOrSelf returns the parts of a whole, or an action itself.
func (a *action) partsOrSelf() []*action {
	if a.isWhole() {
		return a.whole.parts
	}
	return []*action{a}
}

// momentary returns a binding of an action that acts for one frame only, with its set, or "".
func (f *filling) momentary(a *action) string {
	for _, s := range f.m.sets {
		for _, e := range s.entries {
			for _, b := range e.bounds {
				if b.When != Pressed && slices.Contains(a.partsOrSelf(), e.action) {
					return fmt.Sprintf("%v of %q in set %q", b.When, b.Key, s.name)
				}
			}
		}
	}
	return ""
}

// putField sets a field of a command.
func (f *filled) putField(command unsafe.Pointer) {
	p := unsafe.Add(command, f.offset)
	switch f.kind {
	case reflect.Bool:
		*(*bool)(p) = f.action.is(f.when)
	case reflect.Float32:
		*(*float32)(p) = f.action.value()
	case reflect.Float64:
		*(*float64)(p) = float64(f.action.value())
	case reflect.Int8:
		*(*int8)(p) = int8(f.number())
	case reflect.Int16:
		*(*int16)(p) = int16(f.number())
	case reflect.Int32:
		*(*int32)(p) = int32(f.number())
	case reflect.Int64:
		*(*int64)(p) = int64(f.number())
	case reflect.Uint8:
		*(*uint8)(p) = uint8(f.number())
	case reflect.Uint16:
		*(*uint16)(p) = uint16(f.number())
	case reflect.Uint32:
		*(*uint32)(p) = uint32(f.number())
	case reflect.Uint64:
		*(*uint64)(p) = uint64(f.number())
	}
}

// number returns what an integer takes: which choice was pressed, or a direction.
func (f *filled) number() int {
	switch a := f.action; {
	case !a.isWhole():
		return int(a.sign())
	case f.when == JustPressed:
		return a.whole.begun
	default:
		return a.whole.chosen()
	}
}

// numbers are the kinds of fields that an analogue action fills, and integers those that choices fill.
var (
	numbers  = []reflect.Kind{reflect.Float32, reflect.Float64, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64}
	integers = append(numbers[2:len(numbers):len(numbers)], reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64)
)

func (a *action) is(when When) bool {
	switch when {
	case JustPressed:
		return a.justPressed
	case JustReleased:
		return a.justReleased
	}
	return a.on || a.justPressed
}

// sign returns the direction of a pressed action, or 0.
func (a *action) sign() int8 {
	switch v := a.value(); {
	case !a.on:
		return 0
	case v < 0:
		return -1
	default:
		return 1
	}
}
