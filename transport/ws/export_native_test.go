//go:build !js

package ws

// HalfOpen returns how many connections of a listener have sent no handshake yet.
func HalfOpen(s *Server) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.listener.half.Len()
}

// Pending returns how many connections have not been accepted or refused yet.
func Pending(s *Server) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pending.Len()
}
