package agones

// Base returns the address of the SDK server.
func Base(m *Manager) string { return m.base }
