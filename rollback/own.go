package rollback

import (
	"unsafe"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/internal/gather"
)

// own reads the own player's input, and makes a command of it for each tick.
type own struct {
	source   Sampler // source is nil for zero commands.
	gathered *gather.Input
	pressed  bool          // pressed is true if a oneshot was pressed since the newest command.
	made     foretick.Tick // made is the newest tick that has a command.
	carried  int           // carried is how many ticks take what is left of a sum.
	value    unsafe.Pointer
}

func newOwn(p *compiled, source Sampler) own {
	return own{source: source, gathered: gather.New(p.Command), carried: max(p.TickRate/4, 1), value: p.Command.New()}
}

// read reads the input, once a Step.
func (o *own) read(v View) {
	if o.source == nil {
		return
	}
	o.source.sample(v, o.gathered.Begin())
	pressed, _ := o.gathered.End()
	o.pressed = o.pressed || pressed
}

// makeCommand makes the command of a tick. further is how many more ticks the same Step makes commands for. It
// returns false if the tick has one, as after a reset of the clock: the relay keeps the first.
func (o *own) makeCommand(t foretick.Tick, further int, in *inputs, to []byte) bool {
	if back := int32(o.made - t); back >= 0 && back < commandsKept {
		return false
	}
	o.made = t
	from := o.gathered.Newest()
	if o.pressed {
		if at, ok := o.gathered.AtPress(); ok {
			from = at
		}
		o.pressed = false
	}
	in.pack(o.gathered.Make(from), to)
	in.unpack(to, o.value)
	o.gathered.Deduct(o.value, further+o.carried)
	in.own.keep(t, to)
	return true
}
