package foretick

import "github.com/foretick/foretick/stats"

// post brings the board up to date.
func (c *Client) post() {
	c.board.mu.Lock()
	defer c.board.mu.Unlock()
	c.board.stats = c.stats
	if c.link.conn != nil {
		c.board.stats.Connection = c.link.conn.Stats()
	}
	if c.link.clock != nil {
		c.board.stats.Clock = c.link.clock.Stats()
	}
}

// Stats returns the client's counters as of the end of the newest Step, or of the newest
// session if that is later. Any goroutine may call it, also while Run runs.
func (c *Client) Stats() stats.Client {
	c.board.mu.Lock()
	defer c.board.mu.Unlock()
	return c.board.stats
}
