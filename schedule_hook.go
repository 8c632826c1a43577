package foretick

// frameHook passes the start and end of each system to the end that runs it, since all
// worlds of a protocol share one schedule.
type frameHook struct{}

// Before is called before each system.
func (frameHook) Before(f *Frame, system int) { f.end().beforeSystem(system) }

// After is called after each system.
func (frameHook) After(f *Frame, system int) { f.end().afterSystem(system) }

// watch installs the hook for somebody who needs it, or takes it away when nobody does any
// more. Without it a player's systems run on the short way.
func (p *compiled) watch(on bool) {
	if p.watchers == nil {
		p.watchers = new(int)
	}
	if on {
		*p.watchers++
		p.schedule.SetHook(frameHook{})
		return
	}
	if *p.watchers--; *p.watchers == 0 {
		p.schedule.SetHook(nil)
	}
}

// end returns the end that the frame belongs to.
func (f *Frame) end() bothEnds {
	if f.server != nil {
		return f.server
	}
	return f.client
}
