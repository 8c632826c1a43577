package foretick

// frameHook passes the start and end of each system to the end that runs it, since all
// worlds of a protocol share one schedule.
type frameHook struct{}

// Before is called before each system.
func (frameHook) Before(f *Frame, system int) { f.end().beforeSystem(system) }

// After is called after each system.
func (frameHook) After(f *Frame, system int) { f.end().afterSystem(system) }

// end returns the end that the frame belongs to.
func (f *Frame) end() bothEnds {
	if f.server != nil {
		return f.server
	}
	return f.client
}
