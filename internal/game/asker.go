package game

import "unsafe"

// RequestID is the number of a request in its protocol, from 1. Because the type is internal, games
// cannot implement a Requester.
type RequestID int

// Asker queues a player's requests. An end embeds it, so that the end's documentation does not list the
// method.
type Asker struct {
	queue func(id RequestID, v unsafe.Pointer) error
}

// NewAsker returns an Asker that queues requests with a function of its end.
func NewAsker(queue func(id RequestID, v unsafe.Pointer) error) Asker { return Asker{queue} }

// QueueRequest queues a request that leaves with the next packet, or is handled in the next tick.
func (a *Asker) QueueRequest(id RequestID, v unsafe.Pointer) error { return a.queue(id, v) }

const (
	// RequestRate is how many requests a second a client may send on average.
	RequestRate = 32
	// RequestBurst is how many requests a client may send at once.
	RequestBurst = 64
)
