// Package crowd stores a server's connections that have not identified themselves yet, and chooses which one to drop
// when there are too many. It has no lock; an endpoint with goroutines must use its own.
package crowd

import "net/netip"

// Crowd holds connections P by age and address. The zero value is empty.
type Crowd[P comparable] struct {
	rows []row[P] // oldest first
	from map[netip.Addr]int
}

type row[P comparable] struct {
	p   P
	net netip.Addr
}

// Network returns the address range that one client easily controls: the /64 of an IPv6 address. An IPv4 address, in
// either form, is returned as it is.
func Network(a netip.Addr) netip.Addr {
	if a = a.Unmap(); a.Is6() {
		p, _ := a.Prefix(64)
		return p.Addr()
	}
	return a
}

// Len returns the number of connections.
func (c *Crowd[P]) Len() int { return len(c.rows) }

// From returns the number of connections from an address's network.
func (c *Crowd[P]) From(a netip.Addr) int { return c.from[Network(a)] }

// Add adds p as the newest.
func (c *Crowd[P]) Add(p P, a netip.Addr) {
	if c.from == nil {
		c.from = make(map[netip.Addr]int)
	}
	net := Network(a)
	c.rows = append(c.rows, row[P]{p, net})
	c.from[net]++
}

// Remove removes p and reports whether it was present.
func (c *Crowd[P]) Remove(p P) bool {
	for i := range c.rows {
		if c.rows[i].p != p {
			continue
		}
		net := c.rows[i].net
		if c.from[net]--; c.from[net] == 0 {
			delete(c.from, net)
		}
		last := len(c.rows) - 1
		copy(c.rows[i:], c.rows[i+1:])
		c.rows[last] = row[P]{}
		c.rows = c.rows[:last]
		return true
	}
	return false
}

// Oldest returns the oldest connection of the network that has the most. So a flood from one network
// evicts its own connections.
func (c *Crowd[P]) Oldest() (p P, ok bool) {
	most := 0
	for i := range c.rows {
		if n := c.from[c.rows[i].net]; n > most {
			p, most = c.rows[i].p, n
		}
	}
	return p, most > 0
}
