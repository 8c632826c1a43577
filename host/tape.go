package host

// taped is a server that writes a tape when it panics, such as a flight.Match.
type taped interface {
	File() (path string, err error)
}

// tape notes the file with the tape of a match that panicked. It returns what the log says.
func (m *match) tape(end *End) (line []any) {
	t, ok := m.server.(taped)
	if !ok {
		return nil
	}
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
