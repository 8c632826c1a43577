package host

// taped is a recorder that writes a tape when its server panics: a *flight.Recorder.
type taped interface {
	File() (path string, err error)
}

// report logs that a match has ended, and calls Config.OnEnd. After a panic it waits for the match's
// tape.
func (h *Host) report(m *match, end End) {
	if end.Panic != nil && m.server != nil {
		line := []any{"match", m.name, "value", end.Panic, "stack", string(end.Stack)}
		h.cfg.Logger.Error("a panic ended a match", append(line, m.tapeOf(&end)...)...)
	}
	h.cfg.Logger.Info("match ended", "match", m.name)
	h.tellEnd(end)
}

// tapeOf sets end.Tape to the file with the tape of a match that panicked. It returns arguments for the
// log line.
func (m *match) tapeOf(end *End) (line []any) {
	if m.tape == nil {
		return nil
	}
	path, err := m.tape.File()
	if path != "" {
		end.Tape = path
		line = append(line, "tape", path)
	}
	if err != nil {
		line = append(line, "tape_err", err)
	}
	return line
}
