package host

// taped is a server that writes a tape when it panics, such as a flight.Match.
type taped interface {
	File() (path string, err error)
}

// report logs that a match has ended, and calls Config.OnEnd. After a panic it waits for the match's
// tape.
func (h *Host) report(m *match, end End) {
	if end.Panic != nil && m.server != nil {
		line := []any{"match", m.name, "value", end.Panic, "stack", string(end.Stack)}
		h.cfg.Logger.Error("a panic ended a match", append(line, m.tape(&end)...)...)
	}
	h.cfg.Logger.Info("match ended", "match", m.name)
	h.tellEnd(end)
}

// tape sets end.Tape to the file with the tape of a match that panicked. It returns arguments for the
// log line.
func (m *match) tape(end *End) (line []any) {
	t, ok := m.server.(taped)
	if !ok {
		return nil
	}
	defer func() {
		if v := recover(); v != nil { // File may be the game's own
			line = append(line, "tape_err", v)
		}
	}()
	path, err := t.File()
	if path != "" {
		end.Tape = path
		line = append(line, "tape", path)
	}
	if err != nil {
		line = append(line, "tape_err", err)
	}
	return line
}
